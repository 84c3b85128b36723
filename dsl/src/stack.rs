//! Stack for what recurses as deep as a program is nested, whatever thread calls the front end: a test's has 2 MiB.
//!
//! The parser bounds how deep one function or class is nested (`MAX_NESTING`), and instances of templates and inlined calls multiply that.
//! So a stage has room for one level, and asks for more before the next.

/// One function or class at its deepest, in a build without optimisation, takes less.
const LEVEL_BYTES: usize = 8 << 20;

/// What is asked for at a time. Pages that are not touched take no memory.
const PIECE_BYTES: usize = 64 << 20;

/// The stages that walk the finished IR recurse as deep as it is nested, without asking.
const WHOLE_BYTES: usize = 256 << 20;

/// Runs the front end, or a walk over what it made.
pub(crate) fn whole<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(WHOLE_BYTES / 2, WHOLE_BYTES, work)
}

/// Runs one more level of an instance in an instance, or of a call in a call.
pub(crate) fn level<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(LEVEL_BYTES, PIECE_BYTES, work)
}
