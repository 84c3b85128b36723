//! Provides enough stack for recursion as deep as a program is nested, on any thread that calls the front end: a test's has 2 MiB.
//!
//! The parser limits how deep one function or class is nested (`MAX_NESTING`), and instances of templates and inlined calls multiply that.
//! So a stage has room for one level, and grows the stack before the next.

/// More than one function or class at maximal depth takes, in a build without optimisation.
const LEVEL_BYTES: usize = 8 << 20;

/// The size by which the stack grows. Pages that are not touched take no memory.
const PIECE_BYTES: usize = 64 << 20;

/// The stages that walk the finished IR recurse as deep as it is nested, without growing the stack.
const WHOLE_BYTES: usize = 256 << 20;

/// Runs the front end, or a walk over its output.
pub(crate) fn whole<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(WHOLE_BYTES / 2, WHOLE_BYTES, work)
}

/// Runs one more level of an instance inside an instance, or of a call inside a call.
pub(crate) fn level<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(LEVEL_BYTES, PIECE_BYTES, work)
}
