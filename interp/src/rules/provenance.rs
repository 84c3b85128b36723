//! Where a number comes from: every count in a report can be asked for its source.
//!
//! A report must not let an assumption look like a measurement, and must not print 0 for what nobody modelled.

use std::fmt;

/// The source of a rule; `Display` is the sentence for the report.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Provenance {
    /// The rule reproduces hardware counters read on this device: for an access that the compiled kernel makes as well.
    Measured {
        /// Device, driver and profiler.
        device: &'static str,
    },
    /// The vendor's documentation says so.
    Documented {
        /// Title and section.
        text: &'static str,
    },
    /// Measured on another architecture and taken to hold here.
    ByTheSameRule {
        /// Where it was measured.
        measured_on: &'static str,
        /// Why it is taken to hold.
        because: &'static str,
    },
    /// Nobody's statement but ours.
    Assumed {
        /// Why it is plausible.
        because: &'static str,
    },
    /// Whoever gave the rules says so: see [`RuleSet::given`](super::RuleSet::given).
    Given,
    /// There is no number.
    NotModelled {
        /// Why not.
        why: &'static str,
    },
}

impl Provenance {
    /// Is there a number at all?
    pub const fn is_modelled(self) -> bool {
        !matches!(self, Self::NotModelled { .. })
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measured { device } => write!(
                f,
                "measured: each access costs what the counters of {device} say"
            ),
            Self::Documented { text } => write!(f, "documented: {text}"),
            Self::ByTheSameRule {
                measured_on,
                because,
            } => {
                write!(
                    f,
                    "by the same rule as measured on {measured_on}: {because}"
                )
            }
            Self::Assumed { because } => write!(f, "assumed: {because}"),
            Self::Given => f.write_str("given: as the file of rules says"),
            Self::NotModelled { why } => write!(f, "not modelled: {why}"),
        }
    }
}
