//! What can be wrong, as data: traps, findings, why a run was stopped. May use `isa`.

pub(crate) mod address;
pub mod finding;
pub(crate) mod setter;
pub mod stop;
pub mod trap;
