//! Counting: what each site cost, the worst request of each, metrics by their known names. May use `rules`.

pub(crate) mod charge;
pub(crate) mod counters;
pub mod metrics;
pub(crate) mod pattern;
pub mod stats;
pub(crate) mod witness;
