//! Analyses one access and one thread in a function's IR. It is used only to explain faults, never for results or
//! counts.
//!
//! [`listing`] has the function's instructions in order, with the statements around each. [`evaluate`] computes a value
//! of one thread from what the caller knows of the thread.

pub(crate) mod evaluate;
pub(crate) mod listing;
