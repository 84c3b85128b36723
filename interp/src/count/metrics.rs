//! Metrics by their known names: those of nvprof and ncu, derived from a launch's counts.
//!
//! The input is a name. The output is a [`Metric`] whose value depends on the rule set, because a name can mean
//! different things: nvprof's `gld_transactions` counted 128-byte lines up to sm_37 and 32-byte sectors since sm_50,
//! and `shared_efficiency` compares with 256 bytes per transaction on Kepler and 128 elsewhere. A value is `None` if
//! the rule set does not model an access that it depends on. All names work for every architecture, even if the
//! profiler did not offer the name there.
//!
//! An example: 32 warps each load a column of a 32x32 tile, which has 32-way conflicts: 32 requests, 1024 transactions.
//!
//! ```
//! use interp::{mask::LaneMask, metrics, rules::{Arch, RuleSet, bank::Cost}, stats::LaunchCounts};
//! let mut counts = LaunchCounts::default();
//! for _ in 0..32 {
//!     counts.shared_load.add_shared(Some(Cost { transactions: 32, ideal: 1, degree: 32 }), 4, LaneMask::FULL);
//! }
//! let rules = RuleSet::for_arch(Arch::SM_90);
//! let value = |name| metrics::find(name).unwrap().value(&counts, &rules).unwrap().to_string();
//! assert_eq!(value("shared_load_transactions_per_request"), "32.000000");
//! assert_eq!(value("shared_efficiency"), "3.12%");
//! assert_eq!(value("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"), "992");
//! ```

/// The metrics of a profiler. Each group has names with descriptions and what they are about, a field of the counts or
/// all of them; then what the group shares: unit, architectures and value.
macro_rules! metrics {
    ($family:ident $($($name:literal $description:literal $($site:ident)?)+ => $unit:ident, $offered:ident, |$counts:ident, $rules:pat_param| $value:expr;)*) => {
        &[$($(Metric {
            name: $name,
            family: Family::$family,
            unit: Unit::$unit,
            description: $description,
            offered: $offered,
            compute: |counts, $rules| {
                let $counts = &counts$(.$site)?;
                $value
            },
        },)+)*]
    };
}

mod ncu;
mod nvprof;

use std::fmt;

use crate::count::stats::{LaunchCounts, SiteCounts};
use crate::rules::{Arch, RuleSet};

/// The profiler that a name belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// A metric or event of nvprof.
    Nvprof,
    /// A metric of Nsight Compute.
    Ncu,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nvprof => "nvprof",
            Self::Ncu => "ncu",
        })
    }
}

/// The unit of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// A number of things.
    Count,
    /// A ratio of two numbers.
    Ratio,
    /// Hundredths.
    Percent,
}

/// The value of a metric. `Display` formats it like nvprof: `1024`, `1.500000`, `100.00%`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// A number of things.
    Count(u64),
    /// A ratio of two numbers; 0 if the divisor is 0, as nvprof prints.
    Ratio(f64),
    /// Hundredths.
    Percent(f64),
}

impl Value {
    /// The number, for comparisons and for JSON.
    pub fn number(self) -> f64 {
        match self {
            Self::Count(count) => count as f64,
            Self::Ratio(value) | Self::Percent(value) => value,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Ratio(value) => write!(f, "{value:.6}"),
            Self::Percent(value) => write!(f, "{value:.2}%"),
        }
    }
}

/// A named quantity that a launch's counts determine.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The profiler's name.
    pub name: &'static str,
    /// The profiler.
    pub family: Family,
    /// What it counts.
    pub unit: Unit,
    /// The profiler's description, if it had one.
    pub description: &'static str,
    /// The oldest and the newest architecture for which the profiler offered the name.
    pub offered: (u32, u32),
    compute: fn(&LaunchCounts, &RuleSet) -> Option<Value>,
}

impl Metric {
    /// The value for a launch; `None` if part of it is not modelled.
    pub fn value(&self, counts: &LaunchCounts, rules: &RuleSet) -> Option<Value> {
        (self.compute)(counts, rules)
    }

    /// Whether the profiler offered this name for `arch`.
    pub fn is_offered_on(&self, arch: Arch) -> bool {
        (self.offered.0..=self.offered.1).contains(&arch.number())
    }
}

/// All metrics, nvprof's first.
pub fn all_metrics() -> impl Iterator<Item = &'static Metric> {
    nvprof::METRICS.iter().chain(ncu::METRICS)
}

/// A name that is not a metric, with similar names.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown metric `{given}`; near it: {}", nearest.join(", "))]
pub struct UnknownMetric {
    /// The name given.
    pub given: String,
    /// Up to three names, nearest first.
    pub nearest: Vec<&'static str>,
}

/// The metric with that name. A trailing `.sum` of ncu's names may be omitted.
///
/// ```
/// let error = interp::metrics::find("shared_load_transaction").unwrap_err();
/// assert_eq!(error.nearest[0], "shared_load_transactions");
/// ```
pub fn find(name: &str) -> Result<&'static Metric, UnknownMetric> {
    let matches =
        |metric: &&Metric| metric.name == name || metric.name.strip_suffix(".sum") == Some(name);
    all_metrics().find(matches).ok_or_else(|| {
        let mut names: Vec<&'static str> = all_metrics().map(|metric| metric.name).collect();
        let likeness = |candidate: &str| strsim::jaro_winkler(candidate, name);
        names.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
        names.truncate(3);
        UnknownMetric {
            given: name.to_owned(),
            nearest: names,
        }
    })
}

fn count(number: u64) -> Option<Value> {
    Some(Value::Count(number))
}

fn ratio(part: u64, whole: u64) -> Option<Value> {
    Some(Value::Ratio(if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }))
}

fn percent(part: u64, whole: u64) -> Option<Value> {
    Some(Value::Percent(if whole == 0 {
        0.0
    } else {
        100.0 * part as f64 / whole as f64
    }))
}

/// The site's counts, if all of them are modelled.
fn known(site: &SiteCounts) -> Option<&SiteCounts> {
    (!site.not_modelled()).then_some(site)
}

#[cfg(test)]
mod tests;
