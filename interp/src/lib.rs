//! The SIMT machine.

pub mod mask;
pub mod metrics;
pub mod rules;
pub mod stats;
