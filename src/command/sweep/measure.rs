//! What a sweep measures of a run: metrics over all launches of the selected kernels, and quantities of the whole run.

use interp::Severity;
use report::{
    expr::{Expr, Names, Seen, Unknown},
    findings::Found,
    measure::Measure,
    require::is_match,
};
use runtime::launches::IdenticalLaunches;

use crate::batch::Ran;

/// A quantity to measure.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Quantity {
    /// Over all launches.
    Metric(Measure),
    /// Of the whole run.
    Run(&'static str),
}

/// The quantities of a whole run.
const OF_RUN: [&str; 4] = ["findings", "errors", "warnings", "launches"];

/// The quantities that expressions name, each once.
#[derive(Default)]
pub(super) struct Quantities(pub(super) Vec<Quantity>);

impl Names for Quantities {
    fn number_of(&mut self, name: &str, access: Option<&str>) -> Result<usize, Unknown> {
        let of_run = OF_RUN.iter().find(|known| **known == name);
        let quantity = match of_run.filter(|_| access.is_none()) {
            Some(of_run) => Quantity::Run(of_run),
            None => Quantity::Metric(Measure::named(name, access)?),
        };
        let known = self.0.iter().position(|known| *known == quantity);
        Ok(known.unwrap_or_else(|| {
            self.0.push(quantity);
            self.0.len() - 1
        }))
    }
}

/// The values of a run's quantities; `None` where there was nothing to look at, or the rules do not model it.
pub(super) fn values(
    measures: &[(String, Expr)],
    quantities: &[Quantity],
    kernel: Option<&str>,
    ran: &Ran,
) -> Vec<Option<f64>> {
    let all = ran.outcome.launches.kept().iter();
    let is_meant = |kept: &&IdenticalLaunches| {
        kernel.is_none_or(|pattern| is_match(pattern, &kept.report.kernel_name))
    };
    let kept: Vec<&IdenticalLaunches> = all.filter(is_meant).collect();
    let seen: Vec<Seen> = quantities
        .iter()
        .map(|quantity| match quantity {
            Quantity::Metric(measure) => measure.over(&kept, &ran.rules),
            Quantity::Run("launches") => {
                Seen::Number(kept.iter().map(|kept| kept.count as f64).sum())
            }
            Quantity::Run(name) => Seen::Number(findings(&ran.found, name) as f64),
        })
        .collect();
    let value = |(_, expr): &(String, Expr)| expr.value(&|at| seen[at]).ok().flatten();
    measures.iter().map(value).collect()
}

fn findings(found: &[Found], name: &str) -> usize {
    let is_meant = |found: &&Found| match name {
        "errors" => found.severity == Severity::Error,
        "warnings" => found.severity == Severity::Warning,
        _ => found.severity >= Severity::Warning,
    };
    found.iter().filter(is_meant).count()
}
