//! Warns about names that a program uses without including the header that declares them.
//!
//! dslc declares the library by itself, nvcc does not: a program that runs here and misses an `#include` would not compile there.
//! `dsl/library/headers.txt` says what each header brings, as found by asking nvcc. In doubt there is no warning: not if a program includes
//! a header that is not in that file, and not for a name that the program seems to declare anywhere.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    message::{Fact, Message as _, messages},
    syntax::{
        preprocess::Tokenized,
        token::{Keyword, Punct, Token, TokenKind},
    },
};
use ir::{
    diagnostic::Diagnostic,
    source::{PREDEFINED, SourceMap},
    span::Span,
};

/// All headers that nvcc was asked about, sorted.
static KNOWN: &[&str] = include!(concat!(env!("OUT_DIR"), "/headers.rs"));

/// Sets of headers, the one to recommend first.
static ROWS: &[&[&str]] = include!(concat!(env!("OUT_DIR"), "/header_rows.rs"));

/// By name, the row of the headers that bring it.
static HEADERS_OF: &[(&str, usize)] = include!(concat!(env!("OUT_DIR"), "/headers_of.rs"));

/// Where each word of a program is looked up.
struct Table {
    headers_of: FxHashMap<&'static str, usize>,
    /// The names without `std::`, to reject most words of a program quickly.
    words: FxHashSet<&'static str>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let names = HEADERS_OF.iter().map(|(name, _)| *name);
        Table {
            headers_of: HEADERS_OF.iter().copied().collect(),
            words: names.map(|name| name.trim_start_matches("std::")).collect(),
        }
    })
}

fn is_known(header: &str) -> bool {
    KNOWN.binary_search(&header).is_ok()
}

/// One warning per header that is missing, at the first use of one of its names.
pub(crate) fn missing(program: &Tokenized, map: &SourceMap) -> Vec<Diagnostic> {
    let missing = missing_headers(program, map).into_iter();
    missing.map(Missing::warning).collect()
}

/// A header that the program does not include.
struct Missing {
    header: &'static str,
    /// The first use of one of its names.
    at: Span,
    /// The names of it that the program uses, in order.
    names: Vec<&'static str>,
}

impl Missing {
    fn warning(mut self) -> Diagnostic {
        let others = self.names.split_off(1);
        let warning = HeaderWarning::Missing {
            name: self.names[0],
            header: self.header,
            others: (!others.is_empty()).then_some(Names(others)),
        };
        warning.diagnostic(self.at, &())
    }
}

fn missing_headers(program: &Tokenized, map: &SourceMap) -> Vec<Missing> {
    let table = table();
    let included: FxHashSet<&str> = program.headers.iter().map(String::as_str).collect();
    if !included.iter().all(|header| is_known(header)) {
        return Vec::new();
    }
    let mut missing: Vec<Missing> = Vec::new();
    // Computed only once a name that may need a header is found.
    let mut found = None;
    let uses = Uses {
        tokens: &program.tokens,
        map,
        uses_std: uses_namespace_std(&program.tokens),
    };
    for at in 0..program.tokens.len() {
        let Some((name, at)) = uses.name_at(at) else {
            continue;
        };
        let Some((&name, &row)) = table.headers_of.get_key_value(&*name) else {
            continue;
        };
        let headers = ROWS[row];
        if headers.iter().any(|header| included.contains(header)) {
            continue;
        }
        let declared = found.get_or_insert_with(|| declared(&program.tokens));
        if declared.contains(name.trim_start_matches("std::")) {
            continue;
        }
        // A header that the program must add anyway may bring this name, too.
        match missing
            .iter_mut()
            .find(|added| headers.contains(&added.header))
        {
            None => missing.push(Missing {
                header: headers[0],
                at,
                names: vec![name],
            }),
            Some(added) if !added.names.contains(&name) => added.names.push(name),
            Some(_) => {}
        }
    }
    missing
}

/// Names in a sentence: "`a`", "`a`, and `b`".
pub(crate) struct Names(Vec<&'static str>);

impl Fact<()> for Names {
    fn shown(&self, (): &()) -> String {
        match &self.0[..] {
            [] => String::new(),
            [only] => format!("`{only}`"),
            [others @ .., last] => {
                let others: String = others.iter().map(|name| format!("`{name}`, ")).collect();
                format!("{others}and `{last}`")
            }
        }
    }
}

messages! {
    ();
    /// Headers that nvcc would need.
    HeaderWarning {
        Missing { name: &'static str, header: &'static str, others: Option<Names> } => MissingInclude
            "`{name}` needs `#include <{header}>`",
            at "used here",
            help "add `#include <{header}>` at the top of the file; nvcc refuses the program without it",
            note "the program also uses {others} of this header" if others;
    }
}

/// The tokens of a program, seen as uses of names.
struct Uses<'a> {
    tokens: &'a [Token],
    map: &'a SourceMap,
    uses_std: bool,
}

impl Uses<'_> {
    /// The name that a token uses, as `headers.txt` writes it: `printf`, `std::sort`, or the predefined macro that it comes from.
    fn name_at(&self, at: usize) -> Option<(String, Span)> {
        let token = &self.tokens[at];
        if let Some(name) = self.predefined_macro(token.span) {
            return Some((name.to_string(), token.span));
        }
        let name = ident(token).filter(|name| table().words.contains(name))?;
        let before = at.checked_sub(1).map(|before| &self.tokens[before].kind);
        let after = self.tokens.get(at + 1).map(|token| &token.kind);
        let is = |kind: Option<&TokenKind>, punct| kind == Some(&TokenKind::Punct(punct));
        if is(before, Punct::Dot) || is(before, Punct::Arrow) {
            return None;
        }
        if is(before, Punct::ColonColon) {
            let space = at.checked_sub(2).and_then(|at| ident(&self.tokens[at]));
            return match space {
                Some("std") => Some((format!("std::{name}"), token.span)),
                Some(_) => None,
                None => Some((name.to_string(), token.span)),
            };
        }
        let qualified = format!("std::{name}");
        let is_used_as_std = is(after, Punct::AngleOpen)
            || is(after, Punct::Lt)
            || is(after, Punct::LParen)
            || is(after, Punct::Shl)
            || is(before, Punct::Shl);
        let known = &table().headers_of;
        let is_std = self.uses_std && is_used_as_std && known.contains_key(&*qualified);
        let name = match is_std && !known.contains_key(name) {
            true => qualified,
            false => name.to_string(),
        };
        Some((name, token.span))
    }

    /// The macro of a header that dslc defines by itself, if the token comes from one.
    fn predefined_macro(&self, mut span: Span) -> Option<&str> {
        while let Some(expansion) = self.map.expansion(span.expansion) {
            if self.map.file(expansion.defined_at.file).name == PREDEFINED {
                return Some(&expansion.name);
            }
            span = expansion.used_at;
        }
        None
    }
}

fn ident(token: &Token) -> Option<&str> {
    match &token.kind {
        TokenKind::Ident(name) | TokenKind::TypeName(name) => Some(name),
        TokenKind::Keyword(_)
        | TokenKind::Int { .. }
        | TokenKind::Float { .. }
        | TokenKind::Char(_)
        | TokenKind::Str(_)
        | TokenKind::Punct(_) => None,
    }
}

/// Whether there is a `using namespace std`.
fn uses_namespace_std(tokens: &[Token]) -> bool {
    tokens.windows(3).any(|three| {
        three[0].kind == TokenKind::Keyword(Keyword::Using)
            && three[1].kind == TokenKind::Keyword(Keyword::Namespace)
            && ident(&three[2]) == Some("std")
    })
}

/// The names in positions where a declaration has its names: after a type, after a type and `*` or `&`, after a comma that follows such a
/// name, in the brackets of `auto [a, b]`.
fn declared(tokens: &[Token]) -> FxHashSet<&str> {
    let is_type = |token: &Token| match &token.kind {
        TokenKind::Ident(_) | TokenKind::TypeName(_) => true,
        TokenKind::Keyword(keyword) => !matches!(
            keyword,
            Keyword::Return
                | Keyword::Else
                | Keyword::Do
                | Keyword::Case
                | Keyword::Throw
                | Keyword::Sizeof
                | Keyword::New
                | Keyword::Delete
                | Keyword::Const
                | Keyword::Constexpr
                | Keyword::Static
        ),
        TokenKind::Punct(punct) => *punct == Punct::AngleClose,
        TokenKind::Int { .. }
        | TokenKind::Float { .. }
        | TokenKind::Char(_)
        | TokenKind::Str(_) => false,
    };
    let is_pointer = |token: &Token| {
        matches!(
            token.kind,
            TokenKind::Punct(Punct::Star | Punct::Amp | Punct::AmpAmp)
        )
    };
    let mut declared = FxHashSet::default();
    for (at, token) in tokens.iter().enumerate().skip(1) {
        let mut before = at - 1;
        while before > 0 && is_pointer(&tokens[before]) {
            before -= 1;
        }
        if token.kind == TokenKind::Punct(Punct::LBracket)
            && tokens[before].kind == TokenKind::Keyword(Keyword::Auto)
        {
            let names = tokens[at..].iter();
            let names = names.take_while(|token| token.kind != TokenKind::Punct(Punct::RBracket));
            declared.extend(names.filter_map(ident));
        } else if let Some(name) = ident(token)
            && is_type(&tokens[before])
        {
            declared.insert(name);
            declared.extend(further_names(&tokens[at + 1..]));
        }
    }
    declared
}

/// How many tokens of a declaration are read, so that the time stays linear.
const LOOK_AHEAD: usize = 64;

/// The names after the commas of a declaration: `b` and `c` of `= f(x), *b, c[2];`.
fn further_names(tokens: &[Token]) -> Vec<&str> {
    let mut names = Vec::new();
    let mut depth = 0;
    let mut is_next = false;
    for pair in tokens.windows(2).take(LOOK_AHEAD) {
        match &pair[0].kind {
            TokenKind::Punct(Punct::LParen | Punct::LBracket | Punct::LBrace) => depth += 1,
            TokenKind::Punct(Punct::RParen | Punct::RBracket | Punct::RBrace) => depth -= 1,
            TokenKind::Punct(Punct::Semi) => break,
            TokenKind::Punct(Punct::Comma) if depth == 0 => {
                is_next = true;
                continue;
            }
            TokenKind::Punct(Punct::Star | Punct::Amp) if is_next => continue,
            _ => {}
        }
        if depth < 0 {
            break;
        }
        let ends = matches!(
            pair[1].kind,
            TokenKind::Punct(
                Punct::Comma
                    | Punct::Semi
                    | Punct::Eq
                    | Punct::LBracket
                    | Punct::LBrace
                    | Punct::LParen
            )
        );
        if let Some(name) = ident(&pair[0])
            && is_next
            && ends
        {
            names.push(name);
        }
        is_next = false;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Options, tokenize};
    use ir::{
        diagnostic::Code,
        source::{NoFiles, SourceFile},
    };

    /// The headers that the warnings tell a program to include, in order.
    fn missing_of(text: &str) -> Vec<String> {
        let mut map = SourceMap::new();
        let file = map.add(SourceFile::new("t.k", text));
        let program = tokenize(&mut map, file, &Options::default(), &NoFiles);
        let missing = missing_headers(&program, &map).into_iter();
        missing.map(|missing| missing.header.to_string()).collect()
    }

    #[test]
    fn a_name_without_its_header() {
        let print = "int main() { printf(\"\\n\"); }";
        assert_eq!(missing_of(print), ["cstdio"]);
        assert_eq!(missing_of(Code::MissingInclude.bad_example()), ["cstdio"]);
        assert!(missing_of(Code::MissingInclude.good_example()).is_empty());
        for header in ["stdio.h", "cstdio", "iostream"] {
            assert!(
                missing_of(&format!("#include <{header}>\n{print}")).is_empty(),
                "{header}"
            );
        }
        // An unknown header may bring anything.
        assert!(missing_of(&format!("#include <mine.h>\n{print}")).is_empty());
        // nvcc includes these by itself.
        assert!(
            missing_of("int main() { free(malloc(4)); return abs(INT_MAX) + (int)sqrtf(2); }")
                .is_empty()
        );
    }

    #[test]
    fn names_of_std() {
        let text = "using namespace std;\nint main() { vector<int> v; cout << v[0] << endl; std::sort(v.begin(), v.end()); }";
        assert_eq!(missing_of(text), ["vector", "iostream", "algorithm"]);
        assert!(
            missing_of("struct S { int sort(); };\nint f(S s) { return s.sort() + mine::sort(); }")
                .is_empty()
        );
    }

    #[test]
    fn macros() {
        assert_eq!(
            missing_of("#define TOP FLT_MAX\nfloat f() { return TOP; }"),
            ["cfloat"]
        );
        assert!(missing_of("#define FLT_MAX 3.0f\nfloat f() { return FLT_MAX; }").is_empty());
    }

    #[test]
    fn names_that_the_program_declares() {
        for text in [
            "void puts(int);\nvoid f() { puts(1); }",
            "int f(int n) { int low = 0, half = n / 2; return half; }",
            "void f(P p) { auto [half, rest] = p; g(half); }",
            "typedef unsigned uint32_t;\nuint32_t f() { return 1; }",
        ] {
            assert!(missing_of(text).is_empty(), "{text}");
        }
        assert_eq!(
            missing_of("void f(int a, half *b) { *b = a; }"),
            ["cuda_fp16.h"]
        );
    }

    #[test]
    fn every_header_of_the_table_is_known() {
        let table = table();
        assert!(KNOWN.len() > 100 && table.headers_of.len() > 150);
        assert_eq!(table.headers_of.len(), HEADERS_OF.len());
        // nvcc was not asked about the samples' own headers, which no compiler brings.
        for header in ROWS.iter().copied().flatten() {
            let is_own = header.starts_with("helper_") || header.starts_with("cub/");
            assert_eq!(is_known(header), !is_own, "{header}");
        }
    }
}
