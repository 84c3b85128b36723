//! What a function's IR says of one access and of one thread: for words about a fault only, never for a result or a count.
//!
//! [`listing`] has the function's instructions in order, with what stands around each; [`evaluate`] computes a value of one thread from
//! what the asker knows of it.

pub(crate) mod evaluate;
pub(crate) mod listing;
