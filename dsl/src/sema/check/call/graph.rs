//! Checks that need the call graph: functions without a body, and errors in `__host__ __device__` functions that only matter if the side
//! they concern reaches them.

use crate::sema::message::call::CallError;
use std::collections::HashSet;

use crate::sema::check::{FunctionEntry, Reporter, Side, Tables};
use crate::sema::typed::{FunctionId, FunctionSpace};

/// Checks the finished call graph.
pub(crate) fn check(tables: &Tables, reporter: &mut Reporter) {
    check_undefined(tables, reporter);
    report_deferred(tables, reporter);
}

fn check_undefined(tables: &Tables, reporter: &mut Reporter) {
    let mut reported = HashSet::new();
    for caller in tables.functions.ids() {
        for (callee, span) in tables.functions[caller].facts.calls.clone() {
            let FunctionEntry { typed, facts } = &tables.functions[callee];
            if facts.is_defined || !reported.insert(callee) {
                continue;
            }
            let (name, declared) = (typed.name.clone(), facts.declared);
            reporter.error(
                tables,
                span,
                CallError::NoBody {
                    name: name.to_string(),
                    declared,
                },
            );
        }
    }
}

fn report_deferred(tables: &Tables, reporter: &mut Reporter) {
    let on_device = reached(tables, runs_on_device);
    let on_host = reached(tables, |space| space == FunctionSpace::Host);
    for deferred in std::mem::take(&mut reporter.deferred) {
        let reached = match deferred.side {
            Side::Device => &on_device,
            Side::Host => &on_host,
        };
        if reached.contains(&deferred.function) {
            reporter.report(deferred.diagnostic);
        }
    }
}

/// The functions that run on a side: those that start there, and the `__host__ __device__` functions they reach.
fn reached(tables: &Tables, starts: impl Fn(FunctionSpace) -> bool) -> HashSet<FunctionId> {
    let space = |id: FunctionId| tables.functions[id].typed.space;
    let mut queue: Vec<FunctionId> = tables
        .functions
        .ids()
        .filter(|&id| starts(space(id)))
        .collect();
    let mut reached: HashSet<FunctionId> = queue.iter().copied().collect();
    while let Some(id) = queue.pop() {
        for &(callee, _) in &tables.functions[id].facts.calls {
            if space(callee) == FunctionSpace::HostDevice && reached.insert(callee) {
                queue.push(callee);
            }
        }
    }
    reached
}

fn runs_on_device(space: FunctionSpace) -> bool {
    matches!(space, FunctionSpace::Kernel | FunctionSpace::Device)
}
