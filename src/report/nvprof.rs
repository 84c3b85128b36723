//! `--metrics`: the table `nvprof --metrics` printed, one block per kernel, over all its launches.

use std::fmt::Write;

use interp::{LaunchReport, metrics};

use super::Input;
use crate::failure::Failure;

/// The metrics of those names, or why there is none of that name.
pub(crate) fn resolve(names: &[String]) -> Result<Vec<&'static metrics::Metric>, Failure> {
    let resolve = |name: &String| {
        metrics::find(name.trim()).ok_or_else(|| {
            let all = metrics::all_metrics().iter().map(|metric| metric.name);
            let hint = match dsl::suggest::nearest(name, all) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "`--metrics list` lists them".to_string(),
            };
            Failure::new(format!("there is no metric `{name}`: {hint}"))
        })
    };
    names.iter().map(resolve).collect()
}

/// Every metric with its description.
pub(crate) fn list() -> String {
    let mut text = String::new();
    for metric in metrics::all_metrics() {
        let _ = writeln!(text, "{:<52} {}", metric.name, metric.description);
    }
    text
}

/// The table.
pub(crate) fn table(input: &Input<'_>, metrics: &[&'static metrics::Metric]) -> String {
    let mut kernels: Vec<(&str, Vec<&LaunchReport>)> = Vec::new();
    for (_, launch) in input.launches() {
        match kernels.iter_mut().find(|(name, _)| *name == launch.kernel_name) {
            Some((_, launches)) => launches.push(launch),
            None => kernels.push((&launch.kernel_name, vec![launch])),
        }
    }
    let width = metrics.iter().map(|metric| metric.name.len()).max().unwrap_or(0).max(38);
    let about = metrics.iter().map(|metric| metric.description.len()).max().unwrap_or(0).max(46);
    let mut text = format!(
        "{:>11} {:>width$} {:>about$} {:>11} {:>11} {:>11}\n",
        "Invocations", "Metric Name", "Metric Description", "Min", "Max", "Avg"
    );
    let _ = writeln!(text, "Device \"dslc simulator, {}\"", input.rules.arch);
    for (kernel, launches) in kernels {
        let _ = writeln!(text, "    Kernel: {kernel}");
        for metric in metrics {
            let values: Vec<f64> = launches.iter().filter_map(|launch| metric.value(&launch.counts, input.rules)).collect();
            let show = |value: Option<f64>| value.map_or_else(|| "n/a".to_string(), |value| metric.format(value));
            let min = values.iter().copied().reduce(f64::min);
            let max = values.iter().copied().reduce(f64::max);
            let average = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
            let _ = writeln!(
                text,
                "{:>11} {:>width$} {:>about$} {:>11} {:>11} {:>11}",
                launches.len(),
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
