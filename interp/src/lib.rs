//! The SIMT machine.

pub mod mask;
pub mod rules;
pub mod stats;
