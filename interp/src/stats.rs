//! Counts (placeholder until the counters are merged).
/// Counts of one access.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteCounts {}
/// Counts of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaunchCounts {}
