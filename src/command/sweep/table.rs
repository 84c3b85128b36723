//! What is shown of the results: the best, the Pareto set, and the failures.

use std::{collections::BTreeMap, fmt::Write};

use report::{
    expr::{Expr, Seen},
    require::shown,
    text::{Paint, Style},
};
use serde_json::Value;

use super::{
    row::{Row, Status},
    spec::Spec,
};

/// Most kinds of errors shown.
const SHOWN: usize = 5;

/// The rows of a sweep, sorted into good and bad ones.
pub(super) struct Table<'a> {
    pub(super) spec: &'a Spec,
    /// The axes that have several values.
    pub(super) axes: Vec<&'a str>,
    /// Those that ended well and meet the requirements, the best first.
    pub(super) good: Vec<&'a Row>,
    /// Those of them that no other row beats.
    pub(super) pareto: Vec<&'a Row>,
    /// The number of rows that ended well without a value of the objective.
    pub(super) unranked: usize,
    /// The number of rows that ended well and fail a requirement, by requirement.
    pub(super) unmet: BTreeMap<&'a str, usize>,
    /// The failed ones.
    pub(super) failed: Vec<&'a Row>,
}

impl<'a> Table<'a> {
    pub(super) fn new(spec: &'a Spec, rows: &'a [Row]) -> Table<'a> {
        let axes = spec.axes.iter().filter(|axis| axis.values.len() > 1);
        let (mut good, mut failed, mut unmet) = (vec![], vec![], BTreeMap::new());
        for row in rows {
            let misses =
                |(_, expr): &&(String, Expr)| expr.holds(&seen(spec, row)) != Ok(Some(true));
            if row.status != Status::Ok {
                failed.push(row);
            } else if let Some((text, _)) = spec.required.iter().find(misses) {
                *unmet.entry(text.as_str()).or_insert(0) += 1;
            } else {
                good.push(row);
            }
        }
        let mut unranked = 0;
        if let Some((_, objective)) = &spec.objective {
            let value = |row: &Row| number(objective, spec, row);
            let before = good.len();
            good.retain(|row| value(row).is_some());
            unranked = before - good.len();
            let value = |row: &Row| value(row).unwrap_or(f64::INFINITY);
            good.sort_by(|a, b| value(a).total_cmp(&value(b)).then(a.n.cmp(&b.n)));
        }
        let pareto = pareto(spec, &good);
        Table {
            spec,
            axes: axes.map(|axis| axis.name.as_str()).collect(),
            good,
            pareto,
            unranked,
            unmet,
            failed,
        }
    }

    /// The names of the columns.
    pub(super) fn header(&self) -> Vec<String> {
        let axes = self.axes.iter().map(|name| name.to_string());
        let measures = self.spec.measures.iter().map(|(name, _)| name.clone());
        let objective = self.objective().map(str::to_string);
        axes.chain(measures).chain(objective).collect()
    }

    /// The objective, unless it is a measure, which has a column already.
    fn objective(&self) -> Option<&str> {
        let (text, _) = self.spec.objective.as_ref()?;
        let is_measure = self.spec.measures.iter().any(|(name, _)| name == text);
        (!is_measure).then_some(text)
    }

    /// The cells of a row.
    pub(super) fn cells(&self, row: &Row) -> Vec<String> {
        let text = |value: Option<&Value>| match value {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.as_f64().map_or(number.to_string(), shown),
            Some(Value::Bool(is)) => is.to_string(),
            Some(_) | None => "–".to_string(),
        };
        let axes = self.axes.iter().map(|name| text(row.at.get(*name)));
        let measures = self.spec.measures.iter();
        let measures = measures.map(|(name, _)| text(row.measured.get(name)));
        let objective = self
            .spec
            .objective
            .as_ref()
            .filter(|_| self.objective().is_some());
        let objective =
            objective.map(|(_, expr)| number(expr, self.spec, row).map_or("–".to_string(), shown));
        axes.chain(measures).chain(objective).collect()
    }

    /// The table for a terminal.
    pub(super) fn text(&self, top: usize, style: Style) -> String {
        let mut text = String::new();
        if let Some((objective, _)) = &self.spec.objective {
            let n = self.good.len().min(top);
            if n > 0 {
                let best = match n {
                    1 => format!("the best by {objective}"),
                    _ => format!("the best {n} by {objective}, least first"),
                };
                text += &style.paint(Paint::Bold, &best);
                text += "\n";
                text += &self.lines(&self.good[..n], style);
            }
        }
        if !self.spec.pareto.is_empty() {
            let names: Vec<&str> = self
                .spec
                .pareto
                .iter()
                .map(|(text, _)| text.as_str())
                .collect();
            let title = format!(
                "\nthe Pareto set of {}: {}",
                names.join(", "),
                self.pareto.len()
            );
            text += &style.paint(Paint::Bold, &title);
            text += "\n";
            let n = self.pareto.len().min(top);
            text += &self.lines(&self.pareto[..n], style);
            if self.pareto.len() > n {
                let _ = writeln!(text, "  and {} more (--top)", self.pareto.len() - n);
            }
        }
        if self.good.is_empty() {
            text += "no configuration is good\n";
        } else if self.spec.objective.is_none() && self.spec.pareto.is_empty() {
            text += "no configuration is called the best: the specification has neither `objective` nor `pareto`\n";
            text += &self.lines(&self.good[..self.good.len().min(top)], style);
            if self.good.len() > top {
                let _ = writeln!(text, "  and {} more (--top)", self.good.len() - top);
            }
        }
        if let Some((objective, _)) = &self.spec.objective
            && self.unranked > 0
        {
            let kernel = match &self.spec.kernel {
                Some(kernel) => format!("no launch is one of `{kernel}` that has it"),
                None => "no launch has it".to_string(),
            };
            let have = if self.unranked == 1 { "has" } else { "have" };
            let _ = writeln!(
                text,
                "{} {have} no value of `{objective}`: {kernel}",
                self.unranked
            );
        }
        for (requirement, count) in &self.unmet {
            let _ = writeln!(text, "{count} do not meet `{requirement}`");
        }
        let failures = self.failures();
        for failure in failures.iter().take(SHOWN) {
            text += &style.paragraph("", &failure.text(), Some(Paint::Yellow));
        }
        let more: usize = failures
            .iter()
            .skip(SHOWN)
            .map(|failure| failure.count)
            .sum();
        if more > 0 {
            let _ = writeln!(
                text,
                "and {more} more that did not end well: the file of results has them"
            );
        }
        text
    }

    /// The failures, the most frequent first.
    pub(super) fn failures(&self) -> Vec<Failed<'a>> {
        let mut all: BTreeMap<(&str, &str), Failed<'a>> = BTreeMap::new();
        for &row in &self.failed {
            let error = row.error.as_deref().unwrap_or_default();
            let failed = all.entry((row.status.name(), error)).or_insert(Failed {
                status: row.status.name(),
                error,
                count: 0,
                first: row,
            });
            failed.count += 1;
        }
        let mut all: Vec<Failed<'a>> = all.into_values().collect();
        all.sort_by_key(|failed| std::cmp::Reverse(failed.count));
        all
    }

    fn lines(&self, rows: &[&Row], style: Style) -> String {
        let mut all = vec![self.header()];
        all.extend(rows.iter().map(|row| self.cells(row)));
        let width = |at: usize| {
            let cells = all.iter().map(|cells| cells[at].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..all[0].len()).map(width).collect();
        let mut text = String::new();
        for (n, cells) in all.iter().enumerate() {
            let mut line = String::new();
            for (cell, width) in cells.iter().zip(&widths) {
                let _ = write!(line, "  {cell:>width$}");
            }
            let paint = if n == 0 {
                style.paint(Paint::Dim, &line)
            } else {
                line
            };
            text += &paint;
            text += "\n";
        }
        text
    }
}

/// Configurations that failed in the same way.
pub(super) struct Failed<'a> {
    pub(super) status: &'static str,
    pub(super) error: &'a str,
    pub(super) count: usize,
    /// The first of them.
    first: &'a Row,
}

impl Failed<'_> {
    /// `TILE=33 PAD=1 ended with `trap`: …`; of several, their number and the first.
    pub(super) fn text(&self) -> String {
        let values = self.first.at.iter().map(|(name, value)| match value {
            Value::String(text) => format!("{name}={text}"),
            value => format!("{name}={value}"),
        });
        let at: Vec<String> = values.collect();
        let who = match (self.count, at.join(" ")) {
            (1, at) if at.is_empty() => "1".to_string(),
            (1, at) => at,
            (count, at) if at.is_empty() => count.to_string(),
            (count, at) => format!("{count}, the first with {at},"),
        };
        format!("{who} ended with `{}`: {}", self.status, self.error)
    }
}

/// The value of an expression over measures.
pub(super) fn number(expr: &Expr, spec: &Spec, row: &Row) -> Option<f64> {
    expr.value(&seen(spec, row)).ok().flatten()
}

fn seen<'a>(spec: &'a Spec, row: &'a Row) -> impl Fn(usize) -> Seen + 'a {
    |at| {
        let (name, _) = &spec.measures[at];
        row.measure(name).map_or(Seen::Nothing, Seen::Number)
    }
}

/// The rows that no other row beats: no other has less of one metric and no more of any. Sorted by the first metric.
fn pareto<'a>(spec: &Spec, rows: &[&'a Row]) -> Vec<&'a Row> {
    let values = |row: &Row| -> Option<Vec<f64>> {
        let all = spec.pareto.iter();
        all.map(|(_, expr)| number(expr, spec, row)).collect()
    };
    let known = rows.iter().filter_map(|row| Some((*row, values(row)?)));
    let mut known: Vec<(&Row, Vec<f64>)> = known.collect();
    if spec.pareto.is_empty() {
        return vec![];
    }
    known.sort_by(|(a, x), (b, y)| {
        let by_values = x.iter().zip(y).map(|(x, y)| x.total_cmp(y));
        by_values
            .reduce(std::cmp::Ordering::then)
            .unwrap_or(std::cmp::Ordering::Equal)
            .then(a.n.cmp(&b.n))
    });
    // In this order, no row is beaten by a later one.
    let mut set: Vec<(&Row, Vec<f64>)> = vec![];
    for (row, values) in known {
        let beats = |other: &[f64]| {
            let no_more = other.iter().zip(&values).all(|(a, b)| a <= b);
            no_more && other.iter().zip(&values).any(|(a, b)| a < b)
        };
        if !set.iter().any(|(_, other)| beats(other)) {
            set.push((row, values));
        }
    }
    set.into_iter().map(|(row, _)| row).collect()
}
