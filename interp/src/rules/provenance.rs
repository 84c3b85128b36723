//! The source of a number: every count in a report has one.
//!
//! A report must not present an assumption as a measurement, and must not print 0 for what is not modelled.

use std::fmt;

/// The source of a rule. `Display` gives the sentence for the report.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Provenance {
    /// The rule reproduces hardware counters that were read on this device, for an access that the compiled kernel also
    /// makes.
    Measured {
        /// Device, driver and profiler.
        device: &'static str,
    },
    /// The vendor documents it.
    Documented {
        /// Title and section.
        text: &'static str,
    },
    /// Measured on another architecture and assumed to hold here.
    ByTheSameRule {
        /// The architecture on which it was measured.
        measured_on: &'static str,
        /// Why it is assumed to hold.
        because: &'static str,
    },
    /// Our own assumption, which no document or measurement supports.
    Assumed {
        /// Why it is plausible.
        because: &'static str,
    },
    /// The author of the rules states it: see [`RuleSet::given`](super::RuleSet::given).
    Given,
    /// There is no number.
    NotModelled {
        /// Why not.
        why: &'static str,
    },
}

impl Provenance {
    /// Whether there is a number.
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
