//! The table of a sweep as a page with plots.

use report::html::sweep::{Point, Strip, Sweep, page as render};

use super::table::{Table, number};

/// The most rows of the page's table.
const MOST_ROWS: usize = 200;

/// The page.
pub(super) fn page(title: &str, table: &Table<'_>) -> String {
    let spec = table.spec;
    let is_pareto = |n: usize| table.pareto.iter().any(|row| row.n == n);
    let points = match spec.pareto.as_slice() {
        [(x, first), (y, second), ..] => {
            let point = |row: &&super::row::Row| {
                Some(Point {
                    x: number(first, spec, row)?,
                    y: number(second, spec, row)?,
                    label: table.cells(row).join("  "),
                    is_best: is_pareto(row.n),
                })
            };
            let points: Vec<Point> = table.good.iter().filter_map(point).collect();
            Some((x.clone(), y.clone(), points))
        }
        _ => None,
    };
    let objective = spec.objective.as_ref();
    let strips = objective.map_or(vec![], |(_, expr)| {
        let axes = spec.axes.iter().filter(|axis| axis.values.len() > 1);
        axes.map(|axis| {
            let values = axis.values.iter().map(|value| {
                let is_of = |row: &&&super::row::Row| {
                    let at = serde_json::to_value(value).unwrap_or_default();
                    row.at.get(&axis.name) == Some(&at)
                };
                let rows = table.good.iter().filter(is_of);
                let all = rows.filter_map(|row| number(expr, spec, row)).collect();
                (value.text(), all)
            });
            Strip {
                axis: axis.name.clone(),
                values: values.collect(),
            }
        })
        .collect()
    });
    let rows = table.good.iter().take(MOST_ROWS);
    let failures = table.failures().into_iter().map(|failed| {
        (
            failed.status.to_string(),
            failed.count,
            failed.error.to_string(),
        )
    });
    render(&Sweep {
        title,
        objective: objective.map(|(text, _)| text.as_str()),
        header: table.header(),
        rows: rows
            .map(|row| (is_pareto(row.n), table.cells(row)))
            .collect(),
        left_out: table.good.len().saturating_sub(MOST_ROWS),
        points,
        strips,
        failures: failures.take(20).collect(),
    })
}
