//! Inputs that are deep, long or nonsense: never a stack overflow, never a panic, and linear time.

use std::{fmt::Write as _, time::Instant};

use proptest::prelude::*;

use super::{errors, lex, parsed};
use crate::syntax::token::{IntSuffix, Keyword, Punct, Token, TokenKind};
use ir::{
    diagnostic::Code,
    span::{FileId, Span},
};

/// Runs `f` on a stack of 2 MB, the default of a thread.
fn on_small_stack(f: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(2 << 20)
            .spawn_scoped(scope, f)
            .expect("a thread starts");
        thread.join().expect("no panic");
    });
}

/// The text has exactly one error: it nests too deeply.
fn too_deep(text: String) {
    on_small_stack(move || {
        let (unit, diagnostics) = parsed(&text);
        let codes: Vec<Code> = diagnostics
            .iter()
            .map(|diagnostic| diagnostic.code)
            .collect();
        assert_eq!(codes, [Code::NestedTooDeeply], "{:?}", diagnostics.first());
        drop(unit);
    });
}

fn in_function(text: &str) -> String {
    format!("void f() {{ {text} }}")
}

#[test]
fn deep_parentheses() {
    too_deep(in_function(&format!(
        "x = {}1{};",
        "(".repeat(20_000),
        ")".repeat(20_000)
    )));
}

#[test]
fn deep_subscripts_and_calls() {
    too_deep(in_function(&format!(
        "x = {}1{};",
        "a[".repeat(5_000),
        "]".repeat(5_000)
    )));
    too_deep(in_function(&format!(
        "x = {}1{};",
        "f(".repeat(5_000),
        ")".repeat(5_000)
    )));
}

#[test]
fn deep_ifs() {
    too_deep(in_function(&format!("{};", "if (x) ".repeat(5_000))));
    too_deep(in_function(&format!(
        "{}{}",
        "if (x) { ".repeat(5_000),
        "}".repeat(5_000)
    )));
}

#[test]
fn deep_loops() {
    too_deep(in_function(&format!("{};", "for (;;) ".repeat(5_000))));
    too_deep(in_function(&format!("{};", "while (x) ".repeat(5_000))));
    too_deep(in_function(&format!(
        "{}{}",
        "{ ".repeat(5_000),
        "}".repeat(5_000)
    )));
    too_deep(in_function(&format!("{};", "switch (x) ".repeat(5_000))));
}

#[test]
fn deep_declarators() {
    too_deep(format!("int {}x{};", "(*".repeat(5_000), ")".repeat(5_000)));
    too_deep(format!(
        "int f{};",
        "(int g".repeat(5_000) + &")".repeat(5_000)
    ));
    too_deep(format!(
        "{}int x;{}",
        "struct { ".repeat(5_000),
        "} a;".repeat(5_000)
    ));
}

#[test]
fn deep_initialisers() {
    too_deep(format!(
        "int x = {}1{};",
        "{".repeat(5_000),
        "}".repeat(5_000)
    ));
}

#[test]
fn long_chains() {
    too_deep(in_function(&format!("x = 1{};", "+1".repeat(100_000))));
    too_deep(in_function(&format!("x = {}1;", "- ".repeat(10_000))));
    too_deep(in_function(&format!("x = {}1;", "(int)".repeat(10_000))));
    too_deep(in_function(&format!("x = 1{};", " ? 1 : 1".repeat(10_000))));
    too_deep(in_function(&format!(
        "x = {}1{};",
        "1 ? ".repeat(10_000),
        " : 1".repeat(10_000)
    )));
    too_deep(in_function(&format!("{}1;", "x = ".repeat(10_000))));
    too_deep(in_function(&format!("x{};", "[0]".repeat(10_000))));
    too_deep(in_function(&format!("x{};", ".y".repeat(10_000))));
    too_deep(in_function(&format!("x{};", ", x".repeat(10_000))));
    too_deep(in_function(&format!("x = 1{};", "<a".repeat(100_000))));
}

#[test]
fn longest_allowed_chain_fits_a_small_stack() {
    on_small_stack(|| {
        let text = in_function(&format!(
            "x = 1{};",
            "+1".repeat(super::super::MAX_OPERATORS as usize - 1)
        ));
        let (unit, diagnostics) = parsed(&text);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        assert_eq!(unit.clone(), unit);
    });
}

#[test]
fn deepest_allowed_nesting_fits_a_small_stack() {
    on_small_stack(|| {
        let level = "a || b && c | d ^ e & f == g < h << i + j * -(";
        let text = in_function(&format!(
            "{} x = {}1{}; {}",
            "{".repeat(90),
            level.repeat(80),
            ")".repeat(80),
            "}".repeat(90)
        ));
        assert_eq!(errors(&text), "");
    });
}

#[test]
fn long_else_if_chain() {
    on_small_stack(|| {
        let text = in_function(&format!(
            "if (x) a(); {}",
            "else if (x) b(); ".repeat(5_000)
        ));
        assert_eq!(errors(&text), "");
    });
}

#[test]
fn unclosed_brackets_in_thousands() {
    on_small_stack(|| {
        for bracket in ["(", "[", "{", "a<<<", "f({", "<"] {
            assert!(!errors(&in_function(&bracket.repeat(5_000))).is_empty());
        }
        for bracket in [")", "]", "}", ">>>"] {
            assert!(!errors(&in_function(&bracket.repeat(5_000))).is_empty());
        }
    });
}

/// About a megabyte of typical kernels.
fn megabyte() -> String {
    let mut text = String::new();
    let mut n = 0;
    while text.len() < 1 << 20 {
        n += 1;
        let _ = write!(
            text,
            "{}",
            include_str!("typical.txt").replace("KERNEL", &format!("kernel{n}"))
        );
    }
    text
}

#[test]
fn a_megabyte_is_quick() {
    let text = megabyte();
    let tokens = lex::tokens(&text);
    let start = Instant::now();
    let (unit, diagnostics) = super::parse(&tokens, Span::new(FileId(0), text.len(), text.len()));
    let elapsed = start.elapsed();
    assert!(diagnostics.is_empty(), "{:?}", diagnostics.first());
    assert!(unit.items.len() > 1000);
    // Unoptimised and on a busy machine; the limit is there to notice a quadratic step.
    assert!(
        elapsed.as_secs() < 10,
        "{elapsed:?} for {} tokens",
        tokens.len()
    );
    if std::env::var_os("DSLC_TIMES").is_some() {
        panic!("{} bytes, {} tokens, {elapsed:?}", text.len(), tokens.len());
    }
}

fn any_token() -> impl Strategy<Value = TokenKind> {
    prop_oneof![
        6 => (0..Punct::ALL.len()).prop_map(|n| TokenKind::Punct(Punct::ALL[n])),
        3 => (0..Keyword::ALL.len()).prop_map(|n| TokenKind::Keyword(Keyword::ALL[n])),
        2 => Just(TokenKind::Ident("a".into())),
        1 => Just(TokenKind::TypeName("T".into())),
        1 => Just(TokenKind::Int { value: 1, unsigned: false, suffix: IntSuffix::None, decimal: true }),
        1 => Just(TokenKind::Float { value: 1.0, single: true }),
        1 => Just(TokenKind::Str((*b"s").into())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_tokens_parse_without_panic(kinds in prop::collection::vec(any_token(), 0..60), inside in any::<bool>()) {
        let mut tokens = if inside { lex::tokens("void f() {") } else { Vec::new() };
        for kind in kinds {
            let at = tokens.len();
            tokens.push(Token { kind, span: Span::new(FileId(0), at, at + 1) });
        }
        let end = Span::new(FileId(0), tokens.len(), tokens.len());
        let _ = super::parse(&tokens, end);
    }

    /// A program with one token taken out, doubled or changed keeps its items apart: it never hangs or panics.
    #[test]
    fn a_slip_anywhere_is_survived(at in 0usize..400, kind in any_token(), how in 0..3) {
        let mut tokens = lex::tokens(include_str!("typical.txt"));
        let at = at % tokens.len();
        match how {
            0 => { tokens.remove(at); }
            1 => { let token = tokens[at].clone(); tokens.insert(at, token); }
            _ => tokens[at].kind = kind,
        }
        let end = tokens.last().map_or_else(Span::default, |token| token.span.after());
        let (_, diagnostics) = super::parse(&tokens, end);
        prop_assert!(diagnostics.len() <= 12, "{diagnostics:?}");
    }
}
