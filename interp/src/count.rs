//! Counts as data: the costs of each site and its worst request, and metrics by their known names. `observe::counters`
//! fills them in.

pub mod metrics;
pub(crate) mod pattern;
pub mod reuse;
pub mod stats;
pub(crate) mod witness;
