//! The preprocessor's token, which is small and copied freely; its spelling is an id.

use super::intern::{Interner, Sym};
use crate::syntax::token::Punct;
use ir::span::Span;

/// What a preprocessing token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PpKind {
    /// A name or keyword: to the preprocessor they are the same.
    Name(Sym),
    /// A number as spelled, valid or not.
    Number(Sym),
    /// A character literal with its quotes.
    Char(Sym),
    /// A string literal with its quotes.
    Str(Sym),
    /// An operator or bracket.
    Punct(Punct),
    /// `#pragma unroll`, with its count if it has one.
    Unroll(Option<u32>),
}

/// A preprocessing token.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct PpToken {
    /// What it is.
    pub(crate) kind: PpKind,
    /// A set of the constants below.
    pub(crate) flags: u8,
    /// Where it is spelled and which macro it comes from.
    pub(crate) span: Span,
}

impl PpToken {
    /// First on its line.
    pub(crate) const LINE_START: u8 = 1;
    /// Blank or comment before it.
    pub(crate) const SPACE: u8 = 2;
    /// The name of a macro inside its own expansion: never expanded again.
    pub(crate) const PAINTED: u8 = 4;

    /// Whether a flag is set.
    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether it is this operator or bracket.
    pub(crate) fn is(&self, punct: Punct) -> bool {
        self.kind == PpKind::Punct(punct)
    }

    /// The name, if it is one.
    pub(crate) fn name(&self) -> Option<Sym> {
        match self.kind {
            PpKind::Name(sym) => Some(sym),
            PpKind::Number(_)
            | PpKind::Char(_)
            | PpKind::Str(_)
            | PpKind::Punct(_)
            | PpKind::Unroll(_) => None,
        }
    }

    /// The spelling.
    pub(crate) fn text<'a>(&self, names: &'a Interner) -> &'a str {
        match self.kind {
            PpKind::Name(sym) | PpKind::Number(sym) | PpKind::Char(sym) | PpKind::Str(sym) => {
                names.text(sym)
            }
            PpKind::Punct(punct) => punct.text(),
            PpKind::Unroll(_) => "",
        }
    }

    /// The same token with a blank before it exactly if `like` has one.
    pub(crate) fn spaced_like(mut self, like: u8) -> PpToken {
        self.flags =
            (self.flags & !(PpToken::SPACE | PpToken::LINE_START)) | (like & PpToken::SPACE);
        self
    }
}
