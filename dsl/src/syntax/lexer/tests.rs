//! Texts and their tokens, and the errors of invalid texts.

use super::*;
use crate::syntax::{Options, tokenize};
use ir::diagnostic::{Diagnostic, render};
use ir::source::{NoFiles, SourceFile, SourceMap};

/// The texts of the tokens, and the problems.
fn check(text: &str, expected: &[&str]) {
    let mut names = Interner::default();
    let lexed = lex(text, FileId(0), &mut names);
    let texts: Vec<_> = lexed
        .tokens
        .iter()
        .map(|token| token.text(&names))
        .collect();
    assert_eq!(texts, expected, "{text}");
}

fn diagnostics(text: &str) -> (SourceMap, Vec<Diagnostic>) {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("t.k", text));
    let tokenized = tokenize(&mut map, file, &Options::default(), &NoFiles);
    (map, tokenized.diagnostics)
}

fn rendered(text: &str) -> String {
    let (map, diagnostics) = diagnostics(text);
    render::render(&diagnostics, &map, false, None)
}

#[test]
fn longest_punctuator() {
    check(
        "a<<<b>>>c<<=d>>=e>>>=f",
        &[
            "a", "<<<", "b", ">>>", "c", "<<=", "d", ">>=", "e", ">>>", "=", "f",
        ],
    );
    check(
        "a---b+++c->d...e..f::g",
        &[
            "a", "--", "-", "b", "++", "+", "c", "->", "d", "...", "e", ".", ".", "f", "::", "g",
        ],
    );
}

#[test]
fn comments_and_line_ends() {
    check("a/* b\r\n * c */d// e\r\nf//g", &["a", "d", "f"]);
    check("a /**/ b /***/ c /*/ d */ e", &["a", "b", "c", "e"]);
    check("// 注释 ； “ \\\n still comment\nx /* “ */ y", &["x", "y"]);
}

#[test]
fn numbers_and_literals() {
    check(
        "1.5e-3f 0x1.8p+3 1'000'000 .5 1..2",
        &["1.5e-3f", "0x1.8p+3", "1'000'000", ".5", "1..2"],
    );
    check(
        r#""a\"b" '\'' "；“" 'x'"#,
        &[r#""a\"b""#, r"'\''", "\"；“\"", "'x'"],
    );
}

#[test]
fn names_of_any_script() {
    check("int 线程 = naïve;", &["int", "线程", "=", "naïve", ";"]);
}

#[test]
fn full_width_is_read_as_ascii() {
    check(
        "f（a，b［０］）；",
        &["f", "(", "a", ",", "b", "[", "0", "]", ")", ";"],
    );
    check("a ＝＝ b　＋＋ c", &["a", "==", "b", "++", "c"]);
    check(
        "printf(“你好，%d\\n”, x)",
        &["printf", "(", "\"你好，%d\\n\"", ",", "x", ")"],
    );
    check(
        "puts(\"hi”);\n\"a“b”\"",
        &["puts", "(", "\"hi\"", ")", ";", "\"a“b”\""],
    );
    check("‘a’ don’t", &["'a'", "don", "t"]);
    check("／／ comment ；\nx", &["x"]);
    check("＃define", &["#", "define"]);
}

#[test]
fn full_width_message() {
    insta::assert_snapshot!(rendered("int a = 1；\nint\u{a0}b;\n"), @r#"
    [E0102] Error: `；` (U+FF1B, full-width semicolon) in the program text
       ╭─[ t.k:1:10 ]
       │
     1 │ int a = 1；
       │          ┬─
       │          ╰─── read as `;`
       │
       │ Help: write `;`
    ───╯

    [E0102] Error: U+00A0 (a no-break space) in the program text
       ╭─[ t.k:2:4 ]
       │
     2 │ int b;
       │    ┬
       │    ╰── read as a blank
       │
       │ Help: delete it, or write an ASCII space
    ───╯
    "#);
}

#[test]
fn many_full_width_are_folded() {
    let text = "f（a，b）；\n".repeat(10);
    let (_, diagnostics) = diagnostics(&text);
    assert_eq!(diagnostics.len(), 4);
    assert_eq!(
        diagnostics[3].notes,
        ["36 more characters like these not shown"]
    );
}

#[test]
fn quotes_of_one_pair_are_one_message() {
    assert_eq!(diagnostics("puts(“a”);").1.len(), 1);
    assert_eq!(diagnostics("puts(\"a”);").1.len(), 1);
}

#[test]
fn unterminated() {
    insta::assert_snapshot!(rendered("int a; /* no end\nint b;"), @r#"
    [E0103] Error: this comment never ends
       ╭─[ t.k:1:8 ]
       │
     1 │ int a; /* no end
       │        ─┬
       │         ╰── begins here
       │
       │ Help: add `*/` where it should end
    ───╯
    "#);
    insta::assert_snapshot!(rendered("puts(\"abc);\nchar c = 'x;\nint 你 = 1 \\ 2 ```;"), @r#"
    [E0104] Error: this string does not end on its line
       ╭─[ t.k:1:6 ]
       │
     1 │ puts("abc);
       │      ┬
       │      ╰── begins here
       │
       │ Help: add `"` where it should end
    ───╯

    [E0104] Error: this character literal does not end on its line
       ╭─[ t.k:2:10 ]
       │
     2 │ char c = 'x;
       │          ┬
       │          ╰── begins here
       │
       │ Help: add `'` after the character
    ───╯

    [E0101] Error: these characters mean nothing here
       ╭─[ t.k:3:11 ]
       │
     3 │ int 你 = 1 \ 2 ```;
       │            ┬
       │            ╰── not part of the language
       │
       │ Help: a backslash continues a line only as the last character of the line
    ───╯

    [E0101] Error: these characters mean nothing here
       ╭─[ t.k:3:15 ]
       │
     3 │ int 你 = 1 \ 2 ```;
       │                ─┬─
       │                 ╰─── not part of the language
       │
       │ Help: text that is not program goes in a comment (`// …`) or a string
    ───╯
    "#);
    check("\"abc\\", &["\"abc\""]);
}

#[test]
fn binary_text() {
    let text: String = (0..2000_u32)
        .filter_map(|i| char::from_u32(i * 37 % 0x11_0000))
        .collect();
    rendered(&text);
}
