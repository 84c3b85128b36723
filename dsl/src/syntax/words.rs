//! Splits a text into words as written, before macros, for tools that edit programs.

use std::ops::Range;

use super::lexer::{intern::Interner, lex, pp_token::PpToken};
use ir::{source::SourceFile, span::FileId};

/// A word: a name, a number, a literal, an operator or a bracket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// The range of its bytes in the text.
    pub range: Range<usize>,
    /// Whether it is the first of its line.
    pub starts_line: bool,
}

/// The words of a text, without comments and without text that is not a word.
pub fn words(file: &SourceFile) -> Vec<Word> {
    words_of(&file.text)
}

/// The same for a part of a text.
pub(crate) fn words_of(text: &str) -> Vec<Word> {
    let lexed = lex(text, FileId(0), &mut Interner::default());
    let word = |token: &PpToken| Word {
        range: token.span.start as usize..token.span.end as usize,
        starts_line: token.has(PpToken::LINE_START),
    };
    lexed.tokens.iter().map(word).collect()
}
