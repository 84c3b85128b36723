//! Counts as data: what each site cost, the worst request of each, metrics by their known names. `observe::counters` fills them in.

pub mod metrics;
pub(crate) mod pattern;
pub mod reuse;
pub mod stats;
pub(crate) mod witness;
