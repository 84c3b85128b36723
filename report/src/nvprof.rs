//! `--metrics`: the table `nvprof --metrics` printed, one block per kernel, over all its launches.

use std::fmt::Write;

use interp::{
    LaunchReport,
    metrics::{self, Value},
};

use super::Input;
use crate::error::ReportError;

/// The metrics of those names, or why there is none of that name. `all` means every metric.
pub fn resolve(names: &[String]) -> Result<Vec<&'static metrics::Metric>, ReportError> {
    if names.iter().any(|name| name.trim() == "all") {
        return Ok(metrics::all_metrics().collect());
    }
    let resolve = |name: &String| {
        let name = name.trim();
        metrics::find(name).map_err(|error| match is_of_time(name) {
            true => ReportError::new(format!(
                "`{name}` needs a clock, and a simulator that counts has none: `--device gpu --launches` times launches on a GPU, \
                 `--metrics list` lists what is counted"
            )),
            false => ReportError::new(format!("{error}; `--metrics list` lists them")),
        })
    };
    names.iter().map(resolve).collect()
}

/// What of the profilers' names is a measure of time: rates, shares of cycles, waiting.
const OF_TIME: &[&str] = &[
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
    "sm_efficiency",
    "achieved_occupancy",
    "warps_active",
    "pct_of_peak",
];

pub(crate) fn is_of_time(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    OF_TIME.iter().any(|part| name.contains(part))
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
    // A sum over different launches has no least and no most.
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
