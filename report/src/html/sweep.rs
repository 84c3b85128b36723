//! The page of a sweep: the Pareto set as a scatter plot, strips that show the effect of each axis on the objective, and the table.

use std::fmt::Write;

use super::{THEMES, escape, footer, head};
use crate::require::shown;

/// The content of the page.
pub struct Sweep<'a> {
    /// The page's title.
    pub title: &'a str,
    /// The metric to minimise.
    pub objective: Option<&'a str>,
    /// The columns of the table.
    pub header: Vec<String>,
    /// The rows, the best first, and whether each is in the Pareto set.
    pub rows: Vec<(bool, Vec<String>)>,
    /// The number of rows that are left out.
    pub left_out: usize,
    /// Two metrics and the configurations' points.
    pub points: Option<(String, String, Vec<Point>)>,
    /// The effect of each axis.
    pub strips: Vec<Strip>,
    /// The failures: how they ended, how many there are, and why.
    pub failures: Vec<(String, usize, String)>,
}

/// A configuration in a plot of two metrics.
pub struct Point {
    /// The value on the x axis.
    pub x: f64,
    /// The value on the y axis.
    pub y: f64,
    /// The configuration.
    pub label: String,
    /// Whether no other configuration beats it.
    pub is_best: bool,
}

/// The values of an axis, with the objective of each configuration that has the value.
pub struct Strip {
    /// Its name.
    pub axis: String,
    /// A value and the objectives.
    pub values: Vec<(String, Vec<f64>)>,
}

/// Size of a plot, and its margins.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 90.0;
const BELOW: f64 = 44.0;
const ABOVE: f64 = 14.0;

/// No eye can distinguish more points.
const MOST_POINTS: usize = 5_000;

/// The page.
pub fn page(sweep: &Sweep<'_>) -> String {
    let mut text = head(sweep.title);
    let _ = write!(
        text,
        "<div class=bar><div><nav></nav>{THEMES}</div></div>\n<main>\n<h1>{}</h1>\n",
        escape(sweep.title)
    );
    if let Some((x, y, points)) = &sweep.points {
        let _ = writeln!(
            text,
            "<section class=card><header><h3>{} and {}</h3></header>{}<p class=dim>Filled: no other configuration has less of one and no more of any.</p></section>",
            escape(x),
            escape(y),
            plot(x, y, points)
        );
    }
    if let Some(objective) = sweep.objective {
        for strip in &sweep.strips {
            let _ = writeln!(
                text,
                "<section class=card><header><h3>{} by {}</h3></header>{}</section>",
                escape(objective),
                escape(&strip.axis),
                strip_plot(strip, objective)
            );
        }
    }
    table(&mut text, sweep);
    if !sweep.failures.is_empty() {
        text += "<h2>Did not end well</h2>\n<ul>";
        for (status, count, first) in &sweep.failures {
            let (status, first) = (escape(status), escape(first));
            let _ = write!(text, "<li>{count} <code>{status}</code>: {first}</li>");
        }
        text += "</ul>\n";
    }
    footer(&mut text, None, false);
    text
}

fn table(text: &mut String, sweep: &Sweep<'_>) {
    *text += "<h2>Configurations</h2>\n<div style=\"overflow-x:auto\"><table class=t><thead><tr>";
    for name in &sweep.header {
        let _ = write!(text, "<th>{}</th>", escape(name));
    }
    *text += "</tr></thead><tbody>\n";
    for (is_best, cells) in &sweep.rows {
        *text += if *is_best {
            "<tr style=\"font-weight:600\">"
        } else {
            "<tr>"
        };
        for cell in cells {
            let _ = write!(text, "<td>{}</td>", escape(cell));
        }
        *text += "</tr>\n";
    }
    *text += "</tbody></table></div>\n";
    if sweep.left_out > 0 {
        let _ = writeln!(
            text,
            "<p class=dim>{} more are left out.</p>",
            sweep.left_out
        );
    }
}

/// Maps numbers to a line of pixels.
struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Scale {
    fn new(values: impl Iterator<Item = f64>, start: f64, end: f64) -> Scale {
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            (from, to) = (from.min(value), to.max(value));
        }
        if from > to {
            (from, to) = (0.0, 1.0);
        }
        if from == to {
            (from, to) = (from - 0.5, to + 0.5);
        }
        Scale {
            from,
            to,
            start,
            end,
        }
    }

    fn at(&self, value: f64) -> f64 {
        self.start + (value - self.from) / (self.to - self.from) * (self.end - self.start)
    }

    /// Round numbers in the range.
    fn ticks(&self) -> Vec<f64> {
        let rough = (self.to - self.from) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
        let step = step
            .into_iter()
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step).floor() as i64;
        (first..=last).map(|n| n as f64 * step).collect()
    }
}

fn svg(width: f64, height: f64, inside: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" style=\"max-width:100%\" role=img font-size=11 \
         fill=currentColor stroke=none>{inside}</svg>"
    )
}

fn vertical(scale: &Scale, name: &str) -> String {
    let mut text = String::new();
    for tick in scale.ticks() {
        let y = scale.at(tick);
        let _ = write!(
            text,
            "<line x1={LEFT} x2={WIDTH} y1={y:.1} y2={y:.1} stroke=currentColor stroke-opacity=.15 /><text x={:.1} y={:.1} text-anchor=end>{}</text>",
            LEFT - 6.0,
            y + 4.0,
            shown(tick)
        );
    }
    let _ = write!(
        text,
        "<text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=middle>{}</text>",
        (HEIGHT - BELOW + ABOVE) / 2.0,
        escape(name)
    );
    text
}

fn dot(x: f64, y: f64, is_best: bool, label: &str) -> String {
    let (fill, radius) = if is_best {
        ("currentColor", 5)
    } else {
        ("none", 3)
    };
    format!(
        "<circle cx={x:.1} cy={y:.1} r={radius} fill={fill} stroke=currentColor stroke-opacity=.6><title>{}</title></circle>",
        escape(label)
    )
}

fn plot(x_name: &str, y_name: &str, points: &[Point]) -> String {
    let x = Scale::new(
        points.iter().map(|point| point.x),
        LEFT + 10.0,
        WIDTH - 10.0,
    );
    let y = Scale::new(
        points.iter().map(|point| point.y),
        HEIGHT - BELOW - 6.0,
        ABOVE,
    );
    let mut text = vertical(&y, y_name);
    for tick in x.ticks() {
        let _ = write!(
            text,
            "<text x={:.1} y={:.1} text-anchor=middle>{}</text>",
            x.at(tick),
            HEIGHT - BELOW + 14.0,
            shown(tick)
        );
    }
    let _ = write!(
        text,
        "<text x={:.1} y={:.1} text-anchor=middle>{}</text>",
        f64::midpoint(LEFT, WIDTH),
        HEIGHT - 8.0,
        escape(x_name)
    );
    // The best are drawn last, on top of the others.
    for is_best in [false, true] {
        let drawn = points.iter().filter(|point| point.is_best == is_best);
        for point in drawn.take(MOST_POINTS) {
            text += &dot(x.at(point.x), y.at(point.y), is_best, &point.label);
        }
    }
    svg(WIDTH, HEIGHT, &text)
}

/// The objectives of each value as a column; the least one of each is filled.
fn strip_plot(strip: &Strip, objective: &str) -> String {
    let all = strip
        .values
        .iter()
        .flat_map(|(_, values)| values.iter().copied());
    let y = Scale::new(all, HEIGHT - BELOW - 6.0, ABOVE);
    let mut text = vertical(&y, objective);
    let room = (WIDTH - LEFT) / strip.values.len().max(1) as f64;
    for (n, (name, values)) in strip.values.iter().enumerate() {
        let x = LEFT + (n as f64 + 0.5) * room;
        let _ = write!(
            text,
            "<text x={x:.1} y={:.1} text-anchor=middle>{}</text>",
            HEIGHT - BELOW + 14.0,
            escape(name)
        );
        let mut values = values.clone();
        values.sort_by(f64::total_cmp);
        values.dedup();
        for (at, value) in values.iter().enumerate().rev().take(MOST_POINTS) {
            let label = format!("{name}: {}", shown(*value));
            text += &dot(x, y.at(*value), at == 0, &label);
        }
    }
    let _ = write!(
        text,
        "<text x={:.1} y={:.1} text-anchor=middle>{}</text>",
        f64::midpoint(LEFT, WIDTH),
        HEIGHT - 8.0,
        escape(&strip.axis)
    );
    svg(WIDTH, HEIGHT, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        let ticks = |from: f64, to: f64| Scale::new([from, to].into_iter(), 0.0, 1.0).ticks();
        assert_eq!(ticks(0.0, 100.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(31.0, 4096.0), [1000.0, 2000.0, 3000.0, 4000.0]);
        assert_eq!(ticks(5.0, 5.0).len(), 5);
    }
}
