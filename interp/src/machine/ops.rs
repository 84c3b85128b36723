//! The bodies of instructions, by family. The engine's dispatch names one function per instruction.
//!
//! Computation: `int`, `float` and `convert` define what one lane does, and `lanes` applies it to 32. In `exchange`
//! lanes read each other.
//!
//! All memory spaces work alike: `address` finds where the lanes go, the space's file checks it (`fault` says what is
//! wrong, `skip` continues anyway), `observe::charge` charges it, and `element` moves the data. `rounds` does all this
//! for many iterations of a loop. If several lanes store to one address, lanes are written from the highest to the
//! lowest, so that the lowest one's value stays.

pub(crate) mod address;
pub(crate) mod atomic;
pub(crate) mod convert;
pub(crate) mod element;
pub(crate) mod exchange;
pub(crate) mod fault;
pub(crate) mod float;
pub(crate) mod generic;
pub(crate) mod global;
pub(crate) mod heap;
pub(crate) mod int;
pub(crate) mod lanes;
pub(crate) mod local;
pub(crate) mod overflow;
pub(crate) mod print;
pub(crate) mod rounds;
pub(crate) mod routine;
pub(crate) mod shared;
pub(crate) mod skip;
pub(crate) mod together;
