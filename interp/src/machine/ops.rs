//! What instructions do, by family. The engine's dispatch names one function per instruction; these are the bodies.
//!
//! Computing: `int`, `float`, `convert` say what one lane does, `lanes` spreads it over 32; in `exchange` lanes read each other. Memory, all the same way: `address`
//! finds where the lanes go, the space's file checks it (`fault` says what is wrong, `skip` goes on all the same), `observe::charge` charges it, `element` moves the
//! data; `rounds` does it all for many rounds of a loop. Several lanes storing to one address: lanes are written from the highest to the lowest, so the lowest one's stays.

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
