//! What instructions do, by family. The engine's dispatch names one function per instruction; these are the bodies.

pub(crate) mod atomic;
pub(crate) mod convert;
pub(crate) mod fault;
pub(crate) mod float;
pub(crate) mod int;
pub(crate) mod lanes;
pub(crate) mod memory;
pub(crate) mod print;
