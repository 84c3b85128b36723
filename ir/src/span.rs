//! Places in the source: a byte range of one file, and the macro expansion that it came through.

use std::fmt;

/// A file of a [`SourceMap`](crate::source::SourceMap).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct FileId(pub u32);

/// A macro expansion of a [`SourceMap`](crate::source::SourceMap); `0` means "not from a macro".
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct ExpansionId(pub u32);

impl ExpansionId {
    /// The text is in the file as written.
    pub const NONE: ExpansionId = ExpansionId(0);
}

/// A half-open byte range `start..end` of `file`. With an `expansion`, the range is where the token is *spelled* (in the macro's
/// definition, or in the argument at its use), and the expansion identifies the use of the macro.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// The file the bytes are in.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// The expansion that produced the token, if any.
    pub expansion: ExpansionId,
}

impl Span {
    /// A range as written in a file.
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        Span {
            file,
            start: start as u32,
            end: end as u32,
            expansion: ExpansionId::NONE,
        }
    }

    /// From the start of `self` to the end of `other`. If the two come from different files or expansions, there is no such range, and
    /// `self` is returned.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file || self.expansion != other.expansion || other.end < self.start {
            return self;
        }
        Span {
            end: other.end.max(self.end),
            ..self
        }
    }

    /// The empty range just after this one: where a missing `;` belongs.
    pub fn after(self) -> Span {
        Span {
            start: self.end,
            ..self
        }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}..{}", self.file.0, self.start, self.end)?;
        if self.expansion != ExpansionId::NONE {
            write!(f, "@{}", self.expansion.0)?;
        }
        Ok(())
    }
}

/// A value and its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub node: T,
    /// Its place.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Pairs a value with its place.
    pub fn new(node: T, span: Span) -> Spanned<T> {
        Spanned { node, span }
    }
}
