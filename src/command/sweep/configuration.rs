//! The configurations of a sweep: one value of each axis, where the conditions allow the combination.

use report::expr::{Expr, Seen};

use super::spec::{Axes, Axis, Kind, Spec, Value};
use crate::failure::Failure;

/// More configurations could not be run in reasonable time.
const MOST: usize = 10_000_000;

/// A value of each axis, by its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Configuration(Vec<u32>);

/// All configurations that the conditions allow, in order.
pub(super) fn all(spec: &Spec) -> Result<Vec<Configuration>, Failure> {
    let sizes: Vec<usize> = spec.axes.iter().map(|axis| axis.values.len()).collect();
    let count = sizes
        .iter()
        .try_fold(1usize, |product, size| product.checked_mul(*size));
    let count = count.filter(|&count| count <= MOST).ok_or_else(|| {
        Failure::new(format!(
            "the axes have more than {MOST} combinations: make several sweeps of them"
        ))
    })?;
    let mut all = vec![];
    let mut at = vec![0u32; sizes.len()];
    for _ in 0..count {
        let configuration = Configuration(at.clone());
        if configuration.is_allowed(spec) {
            all.push(configuration);
        }
        // The last axis changes fastest.
        for (index, size) in at.iter_mut().zip(&sizes).rev() {
            *index += 1;
            if (*index as usize) < *size {
                break;
            }
            *index = 0;
        }
    }
    Ok(all)
}

/// The number of each configuration's unit, for parts that run elsewhere. Configurations with the same program and macros are one unit, so
/// that it is compiled once, if there are enough units to fill all parts evenly.
pub(super) fn units(spec: &Spec, all: &[Configuration], parts: usize) -> Vec<usize> {
    /// Least units of each part.
    const ENOUGH: usize = 8;
    let mut number = 0;
    let mut units = vec![0; all.len()];
    for (at, pair) in all.windows(2).enumerate() {
        number += usize::from(!pair[0].is_compiled_like(&pair[1], spec));
        units[at + 1] = number;
    }
    match number + 1 >= ENOUGH.saturating_mul(parts) {
        true => units,
        false => (0..all.len()).collect(),
    }
}

impl Configuration {
    /// Whether another configuration compiles the same program.
    fn is_compiled_like(&self, other: &Configuration, spec: &Spec) -> bool {
        let both = self.0.iter().zip(&other.0).zip(&spec.axes);
        let mut compiled = both.filter(|(_, axis)| !matches!(axis.kind, Kind::Value | Kind::Args));
        compiled.all(|((a, b), _)| a == b)
    }

    /// The value of an axis.
    fn value<'a>(&self, axes: &'a [Axis], at: usize) -> &'a Value {
        &axes[at].values[self.0[at] as usize]
    }

    /// The axes with their values.
    pub(super) fn values<'a>(
        &'a self,
        spec: &'a Spec,
    ) -> impl Iterator<Item = (&'a Axis, &'a Value)> {
        let all = spec.axes.iter().enumerate();
        all.map(|(at, axis)| (axis, self.value(&spec.axes, at)))
    }

    /// The text of an axis of which there is only one.
    pub(super) fn text(&self, spec: &Spec, kind: Kind) -> String {
        let mut all = self.values(spec);
        let found = all.find(|(axis, _)| axis.kind == kind);
        found.map_or(String::new(), |(_, value)| value.text())
    }

    fn is_allowed(&self, spec: &Spec) -> bool {
        let value = |at: usize| seen(&spec.axes[at], self.value(&spec.axes, at));
        let mut conditions = spec.conditions.iter();
        conditions.all(|condition| condition.holds(&value) == Ok(Some(true)))
    }
}

/// A text with placeholders for values of axes, `{N}` and `{N / TILE}`; `{{` is a brace.
pub(super) struct Template {
    text: String,
    pieces: Vec<Piece>,
}

/// Whether an expression contains a name.
pub(super) fn has_word(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !is_word(c)).any(|word| word == name)
}

enum Piece {
    Text(String),
    /// The value of an axis of any kind.
    Axis(usize),
    Number(String, Expr),
}

impl Template {
    pub(super) fn parse(text: &str, axes: &[Axis]) -> Result<Template, String> {
        let mut pieces = vec![];
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            pieces.push(Piece::Text(rest[..at].to_string()));
            let brace = &rest[at..at + 1];
            if rest[at + 1..].starts_with(brace) {
                pieces.push(Piece::Text(brace.to_string()));
                rest = &rest[at + 2..];
                continue;
            }
            let end = rest[at..].find('}').filter(|_| brace == "{");
            let end = end.ok_or_else(|| {
                format!("`{text}`: a brace without its partner; `{{{{` and `}}}}` are braces")
            })?;
            let name = rest[at + 1..at + end].trim();
            pieces.push(match axes.iter().position(|axis| axis.name == name) {
                Some(at) => Piece::Axis(at),
                None => {
                    let expr = Expr::number(name, &mut Axes(axes));
                    let expr = expr.map_err(|why| format!("`{text}`: {why}"))?;
                    Piece::Number(name.to_string(), expr)
                }
            });
            rest = &rest[at + end + 1..];
        }
        pieces.push(Piece::Text(rest.to_string()));
        Ok(Template {
            text: text.to_string(),
            pieces,
        })
    }

    /// Whether the template uses an axis.
    pub(super) fn reads(&self, at: usize, name: &str) -> bool {
        self.pieces.iter().any(|piece| match piece {
            Piece::Text(_) => false,
            Piece::Axis(axis) => *axis == at,
            Piece::Number(text, _) => has_word(text, name),
        })
    }

    /// The text for a configuration.
    pub(super) fn filled(
        &self,
        axes: &[Axis],
        configuration: &Configuration,
    ) -> Result<String, String> {
        let mut filled = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => filled += text,
                Piece::Axis(at) => filled += &configuration.value(axes, *at).text(),
                Piece::Number(name, expr) => {
                    let value = |at: usize| seen(&axes[at], configuration.value(axes, at));
                    let number = expr.value(&value).ok().flatten();
                    let why = match number {
                        Some(number) if number.fract() == 0.0 => {
                            filled += &number.to_string();
                            continue;
                        }
                        Some(number) => {
                            format!(
                                "is {number}, not a whole number: `ceil({name})` is the next one"
                            )
                        }
                        None => "divides by zero".to_string(),
                    };
                    return Err(format!("`{}`: `{name}` {why}", self.text));
                }
            }
        }
        Ok(filled)
    }
}

/// A value as a condition sees it.
fn seen(axis: &Axis, value: &Value) -> Seen {
    let number = match axis.kind {
        Kind::Arch => value.text().trim_start_matches("sm_").parse().ok(),
        _ => value.number(),
    };
    number.map_or(Seen::Nothing, Seen::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_stand_for_values() {
        let axis = |name: &str, value: Value| Axis {
            name: name.to_string(),
            kind: Kind::Value,
            values: vec![value],
        };
        let axes = [
            axis("N", Value::Integer(100)),
            axis("TILE", Value::Integer(32)),
            axis("T", Value::Text("float".to_string())),
        ];
        let filled = |text: &str| {
            let template = Template::parse(text, &axes)?;
            template.filled(&axes, &Configuration(vec![0; 3]))
        };
        let cases = [
            (
                "k<{T}><<<{ceil(N / TILE)}, {TILE * 2}>>>",
                Ok("k<float><<<4, 64>>>"),
            ),
            ("{{{N}}} {{", Ok("{100} {")),
            ("", Ok("")),
            (
                "{N / TILE}",
                Err(
                    "`{N / TILE}`: `N / TILE` is 3.125, not a whole number: `ceil(N / TILE)` is the next one",
                ),
            ),
            ("{N / 0}", Err("`{N / 0}`: `N / 0` divides by zero")),
            (
                "{N",
                Err("`{N`: a brace without its partner; `{{` and `}}` are braces"),
            ),
            (
                "N}",
                Err("`N}`: a brace without its partner; `{{` and `}}` are braces"),
            ),
            (
                "{TILF}",
                Err("`{TILF}`: there is no axis `TILF`: did you mean `TILE`?"),
            ),
            ("{T + 1}", Err("`{T + 1}`: `T` is text, not a number")),
        ];
        for (text, expected) in cases {
            assert_eq!(
                filled(text),
                expected.map(str::to_string).map_err(str::to_string),
                "{text}"
            );
        }
    }
}
