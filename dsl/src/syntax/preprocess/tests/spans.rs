//! The origin of tokens: the chain of uses and definitions, and how messages show it.

use super::*;

/// For each token: its text where it is spelled, then the text of each use on the way out.
fn chains(text: &str) -> String {
    let (map, tokenized) = run(text);
    let mut out = String::new();
    for token in &tokenized.tokens {
        out.push_str(&format!("{:8} {}", spell(token), map.snippet(token.span)));
        let mut span = token.span;
        while let Some(expansion) = map.expansion(span.expansion) {
            span = expansion.used_at;
            out.push_str(&format!(" <{}< {}", expansion.name, map.snippet(span)));
        }
        out.push('\n');
    }
    out
}

#[test]
fn chain_of_nested_macros() {
    insta::assert_snapshot!(chains("#define N 8\n#define TWICE(x) x + x\n#define G(y) TWICE(y) * N\nG(a N) N"), @r#"
    a        a <TWICE< TWICE(y) <G< G(a N)
    8        8 <N< N <TWICE< TWICE(y) <G< G(a N)
    +        + <TWICE< TWICE(y) <G< G(a N)
    a        a <TWICE< TWICE(y) <G< G(a N)
    8        8 <N< N <TWICE< TWICE(y) <G< G(a N)
    *        * <G< G(a N)
    8        8 <N< N <G< G(a N)
    8        8 <N< N
    "#);
}

#[test]
fn pasted_and_stringified() {
    insta::assert_snapshot!(chains("#define F(a) a ## 1 #a\n#define G F(x)\nG"), @r#"
    x1       ## <F< F(x) <G< G
    "x"      # <F< F(x) <G< G
    "#);
}

#[test]
fn copies_of_an_argument_differ() {
    let (_, tokenized) = run("#define TWICE(x) x x\nTWICE(a)");
    assert_ne!(tokenized.tokens[0].span, tokenized.tokens[1].span);
}

#[test]
fn spans_skip_line_splices_and_byte_order_mark() {
    let (map, tokenized) = run("\u{feff}int ab\\\r\ncd\\\n = 1；");
    let snippets: Vec<_> = tokenized
        .tokens
        .iter()
        .map(|token| map.snippet(token.span))
        .collect();
    assert_eq!(snippets, ["int", "ab\\\r\ncd", "=", "1", "；"]);
    assert_eq!(spelled(&tokenized.tokens), "int abcd = 1 ;");
}
