// PTX's tokens, as input for logos. It is not compiled: `raw.rs` is generated from it
// (`INSTA_UPDATE=always cargo test -p dslc-ptx --test it`), so that a build of dslc does not need logos' generator.

#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\x0b\x0c]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub(crate) enum Token {
    #[token("/*", block_comment)]
    OpenComment,
    #[regex(r"[A-Za-z_$][A-Za-z0-9_$]*")]
    #[regex(r"%[A-Za-z0-9_$]+")]
    Name,
    #[regex(r"\.[A-Za-z0-9_$]+(::[A-Za-z0-9_$]+)*")]
    Dotted,
    #[regex(r"0[fF][0-9A-Fa-f]+")]
    Single,
    #[regex(r"0[dD][0-9A-Fa-f]+")]
    Double,
    #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?")]
    Decimal,
    #[regex(r"[0-9]+U?")]
    #[regex(r"0[xX][0-9A-Fa-f]+U?")]
    #[regex(r"0[bB][01]+U?")]
    Int,
    #[regex("\"[^\"\n]*\"")]
    Str,
    #[token(";")]
    Semi,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("@")]
    At,
    #[token("!")]
    Bang,
    #[token("|")]
    Bar,
    #[token("=")]
    Equal,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("~")]
    Tilde,
    #[token("*")]
    Star,
}
