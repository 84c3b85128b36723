//! `--metrics`: the table that `nvprof --metrics` printed, one section per kernel, over all launches of the kernel.

use std::fmt::Write;

use interp::{
    LaunchReport,
    metrics::{self, Value},
};

use super::Input;
use crate::error::ReportError;

/// The metrics of these names, or why a name is unknown. `all` means every metric.
pub fn resolve(names: &[String]) -> Result<Vec<&'static metrics::Metric>, ReportError> {
    if names.iter().any(|name| name.trim() == "all") {
        return Ok(metrics::all_metrics().collect());
    }
    let resolve = |name: &String| {
        let name = name.trim();
        metrics::find(name).map_err(|error| {
            match why_not(name).filter(|_| !is_slip(name, error.nearest[0])) {
                Some(why) => ReportError::new(format!(
                    "`{name}` {why}; `--metrics list` lists what is counted"
                )),
                None => ReportError::new(format!("{error}; `--metrics list` lists them")),
            }
        })
    };
    names.iter().map(resolve).collect()
}

/// Parts of profilers' metric names, and why a simulator of accesses has no such metric. The first match gives the reason.
const NOT_COUNTED: &[(&[&str], &str)] = &[
    (
        &[
            "throughput",
            "per_second",
            "duration",
            "elapsed",
            "cycles",
            "ipc",
            "utilization",
            "stall",
            "eligible",
            "issue_slot",
            "issue_active",
            "sm_efficiency",
            "achieved_occupancy",
            "warps_active",
            "pct_of_peak",
            "gpu__time",
        ],
        "needs a clock, and a simulator that counts has none: `--device gpu --launches` times launches on a GPU",
    ),
    (
        &[
            "hit_rate",
            "_hit",
            "_miss",
            "lts__",
            "l2_",
            "dram",
            "fbpa",
            "sysmem",
            "ecc_",
            "tex_cache",
        ],
        "is about caches or what is behind them, which dslc does not model: it counts the sectors that warps ask for",
    ),
    (
        &["register", "spill", "local_memory_overhead"],
        "is what ptxas decides, and dslc does not run it",
    ),
    (
        &[
            "inst_", "smsp__", "sm__inst", "sm__sass", "sm__pipe", "flop", "ldst_", "cf_", "tensor",
        ],
        "counts compiled instructions, and dslc counts the accesses of the source",
    ),
];

/// Why a profiler's metric of this name does not exist here.
pub(crate) fn why_not(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let mut all = NOT_COUNTED.iter();
    let found = all.find(|(parts, _)| parts.iter().any(|part| name.contains(part)));
    found.map(|(_, why)| *why)
}

/// Whether a name differs from another one by no more than one or two adjacent letters.
fn is_slip(name: &str, other: &str) -> bool {
    let (a, b) = (name.as_bytes(), other.as_bytes());
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same..], &b[same..]);
    let behind = a.iter().rev().zip(b.iter().rev());
    let behind = behind.take_while(|(a, b)| a == b).count();
    a.len() - behind <= 2 && b.len() - behind <= 2
}

/// Every metric with its description.
pub fn list() -> String {
    let mut text = String::new();
    for metric in metrics::all_metrics() {
        let _ = writeln!(text, "{:<62} {}", metric.name, metric.description);
    }
    text
}

/// The table.
pub fn table(input: &Input<'_>, metrics: &[&'static metrics::Metric]) -> String {
    let mut kernels: Vec<(&str, Vec<(&LaunchReport, u64)>)> = Vec::new();
    // A sum over different launches has no minimum and no maximum.
    for kept in input.kept().filter(|kept| !kept.is_sum) {
        let launch = &kept.report;
        match kernels
            .iter_mut()
            .find(|(name, _)| *name == launch.kernel_name)
        {
            Some((_, launches)) => launches.push((launch, kept.count)),
            None => kernels.push((&launch.kernel_name, vec![(launch, kept.count)])),
        }
    }
    let width = metrics
        .iter()
        .map(|metric| metric.name.len())
        .max()
        .unwrap_or(0)
        .max(38);
    let about = metrics
        .iter()
        .map(|metric| metric.description.len())
        .max()
        .unwrap_or(0)
        .max(46);
    let mut text = format!(
        "{:>11} {:>width$} {:>about$} {:>11} {:>11} {:>11}\n",
        "Invocations", "Metric Name", "Metric Description", "Min", "Max", "Avg"
    );
    let _ = writeln!(text, "Device \"dslc simulator, {}\"", input.rules.title());
    for (kernel, launches) in kernels {
        let _ = writeln!(text, "    Kernel: {kernel}");
        for metric in metrics {
            let values: Vec<(Value, u64)> = launches
                .iter()
                .filter_map(|(launch, times)| {
                    let value = metric.value(&launch.counts, input.rules)?;
                    Some((value, *times))
                })
                .collect();
            let show = |value: Option<Value>| {
                value.map_or_else(|| "n/a".to_string(), |value| value.to_string())
            };
            let by_number = |a: &Value, b: &Value| a.number().total_cmp(&b.number());
            let min = values.iter().map(|(value, _)| *value).min_by(by_number);
            let max = values.iter().map(|(value, _)| *value).max_by(by_number);
            let sum = |(value, times): &(Value, u64)| value.number() * *times as f64;
            let count = values.iter().map(|(_, times)| times).sum::<u64>();
            let mean = values.iter().map(sum).sum::<f64>() / count.max(1) as f64;
            let average = min.map(|like| match like {
                Value::Count(_) => Value::Count(mean.round() as u64),
                Value::Ratio(_) => Value::Ratio(mean),
                Value::Percent(_) => Value::Percent(mean),
            });
            let _ = writeln!(
                text,
                "{:>11} {:>width$} {:>about$} {:>11} {:>11} {:>11}",
                launches.iter().map(|(_, times)| times).sum::<u64>(),
                metric.name,
                metric.description,
                show(min),
                show(max),
                show(average)
            );
        }
    }
    text
}
