//! Messages as the user sees them.

use proptest::prelude::*;

use dsl::syntax::{Options, tokenize};
use ir::diagnostic::{
    Code, Diagnostic,
    render::{render, short},
};
use ir::source::{Expansion, NoFiles, SourceFile, SourceMap};
use ir::span::{FileId, Span};

fn error_at(text: &str, start: usize, end: usize) -> String {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("t.k", text));
    let error = Diagnostic::new(Code::Syntax, Span::new(file, start, end), "wrong").at("here");
    render(&[error], &map, false, None)
}

#[test]
fn wide_characters_before_the_place() {
    insta::assert_snapshot!(error_at("/* 注释 */ int\tx = y;\n", 21, 22), @r#"
    [E0300] Error: wrong
       ╭─[ t.k:1:18 ]
       │
     1 │ /* 注释 */ int    x = y;
       │                       ┬
       │                       ╰── here
    ───╯
    "#);
}

#[test]
fn end_of_line_and_of_text() {
    insta::assert_snapshot!(error_at("int a\nint b;\n", 5, 5), @r#"
    [E0300] Error: wrong
       ╭─[ t.k:1:6 ]
       │
     1 │ int a
       │      ┬
       │      ╰── here
    ───╯
    "#);
    insta::assert_snapshot!(error_at("int a {\n\n\n", 10, 10), @r#"
    [E0300] Error: wrong
       ╭─[ t.k:1:8 ]
       │
     1 │ int a {
       │        ┬
       │        ╰── here
    ───╯
    "#);
    insta::assert_snapshot!(error_at("", 0, 0), @r#"
    [E0300] Error: wrong
       ╭─[ t.k:1:1 ]
       │
     1 │
       │ ┬
       │ ╰── here
    ───╯
    "#);
}

#[test]
fn long_lines_are_cut() {
    let text = format!("{}x = 1;{}", "int a; ".repeat(1000), " int b;".repeat(1000));
    insta::assert_snapshot!(error_at(&text, 7000, 7001), @r#"
    [E0300] Error: wrong
       ╭─[ t.k:1:7001 ]
       │
     1 │ …; int a; int a; int a; int a; int a; x = 1; int b; int b; int b; int b; int b; int b; int b; int b; int b; int b; int b; int b; int b; int b; int b;…
       │                                       ┬
       │                                       ╰── here
    ───╯
    "#);
}

#[test]
fn macro_places() {
    let text = "#define INDEX(i) s[i + 1]\n#define LOAD(p) (INDEX(p) * 2)\nint x = LOAD(t);\n";
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("t.k", text));
    let tokens = tokenize(&mut map, file, &Options::default(), &NoFiles).tokens;
    let at = |text: &str| {
        tokens
            .iter()
            .find(|token| map.snippet(token.span) == text)
            .unwrap()
            .span
    };
    let diagnostics = [
        Diagnostic::new(Code::Syntax, at("s"), "`s` is not declared").at("not found"),
        Diagnostic::new(Code::Syntax, at("t"), "`t` may be negative")
            .as_warning()
            .help("check it"),
    ];
    insta::assert_snapshot!(render(&diagnostics, &map, false, None), @r#"
    [E0300] Error: `s` is not declared
       ╭─[ t.k:3:9 ]
       │
     1 │ #define INDEX(i) s[i + 1]
       │                  ┬
       │                  ╰── in the definition of macro `INDEX`
     2 │ #define LOAD(p) (INDEX(p) * 2)
       │                  ────┬───
       │                      ╰───── in the definition of macro `LOAD`
     3 │ int x = LOAD(t);
       │         ───┬───
       │            ╰───── not found
    ───╯

    [E0300] Warning: `t` may be negative
       ╭─[ t.k:3:14 ]
       │
     2 │ #define LOAD(p) (INDEX(p) * 2)
       │                  ────┬───
       │                      ╰───── in the definition of macro `LOAD`
     3 │ int x = LOAD(t);
       │              ┬
       │
       │ Help: check it
    ───╯
    "#);
    assert_eq!(
        short(&diagnostics[0], &map),
        "t.k:3:9: error[E0300]: `s` is not declared"
    );
}

#[test]
fn predefined_macros_show_their_use() {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("t.k", "int x = INT_MAX + y;"));
    let tokens = tokenize(&mut map, file, &Options::default(), &NoFiles).tokens;
    let error = Diagnostic::new(Code::Syntax, tokens[3].span, "too large").at("this");
    insta::assert_snapshot!(render(&[error], &map, false, None), @r#"
    [E0300] Error: too large
       ╭─[ t.k:1:9 ]
       │
     1 │ int x = INT_MAX + y;
       │         ───┬───
       │            ╰───── this
    ───╯
    "#);
}

#[test]
fn control_characters_are_shown() {
    assert!(error_at("a \u{1b}[31m b", 2, 3).contains("a ␛[31m b"));
}

proptest! {
    #[test]
    fn any_span_of_any_text(text in "[a\n\r\t é中\u{b}\u{2028}“]{0,40}", start in 0_u32..60, end in 0_u32..60, file in 0_u32..3, depth in 0_u32..4) {
        let mut map = SourceMap::new();
        map.add(SourceFile::new("a", text.clone()));
        map.add(SourceFile::new("b", text));
        let mut span = Span { file: FileId(file), start, end, ..Span::default() };
        for _ in 0..depth {
            let id = map.add_expansion(Expansion { name: "M".into(), used_at: span, defined_at: span });
            span = Span { expansion: id, start: span.start / 2, file: FileId(file / 2), ..span };
        }
        let error = Diagnostic::new(Code::Syntax, span, "m").at("x").label(Span { start: end, end: start, ..span }, "y").note("n");
        render(std::slice::from_ref(&error), &map, true, Some(40));
        short(&error, &map);
    }
}
