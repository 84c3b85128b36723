//! What depends on who calls whom: functions without a body, recursion in device code, and errors in
//! `__host__ __device__` functions that matter only if the side they concern gets there.

use crate::sema::message::call::{CallError, with_circle};
use std::collections::{HashMap, HashSet};

use crate::sema::check::{Checker, FunctionEntry, Side};
use crate::{
    sema::typed::{FunctionId, FunctionSpace},
    span::Span,
};

impl Checker<'_> {
    /// Checks the finished call graph.
    pub(crate) fn check_graph(&mut self) {
        self.check_undefined();
        self.check_recursion();
        self.report_deferred();
    }

    fn check_undefined(&mut self) {
        let mut reported = HashSet::new();
        for caller in self.tables.functions.ids() {
            for (callee, span) in self.tables.functions[caller].facts.calls.clone() {
                let FunctionEntry { typed, facts } = &self.tables.functions[callee];
                if facts.is_defined || !reported.insert(callee) {
                    continue;
                }
                let (name, declared) = (typed.name.clone(), facts.declared);
                self.error(
                    span,
                    CallError::NoBody {
                        name: name.to_string(),
                        declared,
                    },
                );
            }
        }
    }

    /// Depth first from every function that runs on the device; a call back into the path is a cycle.
    fn check_recursion(&mut self) {
        let mut seen = HashMap::new();
        for start in self.tables.functions.ids() {
            if runs_on_device(self.tables.functions[start].typed.space)
                && !seen.contains_key(&start)
            {
                self.visit(start, &mut seen);
            }
        }
    }

    /// A loop rather than recursion: a chain of calls may be long.
    fn visit(&mut self, start: FunctionId, seen: &mut HashMap<FunctionId, Visit>) {
        let mut path = vec![(start, 0)];
        seen.insert(start, Visit::OnPath);
        while let Some((function, next)) = path.last_mut() {
            let function = *function;
            let Some((callee, span)) = self.tables.functions[function]
                .facts
                .calls
                .get(*next)
                .copied()
            else {
                seen.insert(function, Visit::Done);
                path.pop();
                continue;
            };
            *next += 1;
            if self.tables.functions[callee].typed.space == FunctionSpace::Host {
                continue;
            }
            match seen.get(&callee) {
                None => {
                    seen.insert(callee, Visit::OnPath);
                    path.push((callee, 0));
                }
                Some(Visit::Done) => {}
                Some(Visit::OnPath) => {
                    let from = path
                        .iter()
                        .position(|(function, _)| *function == callee)
                        .unwrap_or(0);
                    let cycle: Vec<FunctionId> =
                        path[from..].iter().map(|(function, _)| *function).collect();
                    self.report_cycle(&cycle, span);
                }
            }
        }
    }

    fn report_cycle(&mut self, cycle: &[FunctionId], span: Span) {
        let mut names: Vec<_> = cycle
            .iter()
            .chain(cycle.first())
            .map(|&id| self.tables.functions[id].typed.name.clone())
            .collect();
        let message = match &cycle {
            [_] => CallError::CallsItself {
                name: names.swap_remove(0),
            },
            _ => {
                let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                CallError::CallsInACircle {
                    names: names.join(" → "),
                }
            }
        };
        let functions = cycle.iter().map(|&id| {
            let function = &self.tables.functions[id].typed;
            (function.span, function.name.clone())
        });
        self.report(with_circle(self.diagnostic(span, message), functions));
    }

    fn report_deferred(&mut self) {
        let on_device = self.reached(runs_on_device);
        let on_host = self.reached(|space| space == FunctionSpace::Host);
        for deferred in std::mem::take(&mut self.reporter.deferred) {
            let reached = match deferred.side {
                Side::Device => &on_device,
                Side::Host => &on_host,
            };
            if reached.contains(&deferred.function) {
                self.report(deferred.diagnostic);
            }
        }
    }

    /// The functions that run on a side: those that start there, and the `__host__ __device__` ones they call.
    fn reached(&self, starts: impl Fn(FunctionSpace) -> bool) -> HashSet<FunctionId> {
        let space = |id: FunctionId| self.tables.functions[id].typed.space;
        let mut queue: Vec<FunctionId> = self
            .tables
            .functions
            .ids()
            .filter(|&id| starts(space(id)))
            .collect();
        let mut reached: HashSet<FunctionId> = queue.iter().copied().collect();
        while let Some(id) = queue.pop() {
            for &(callee, _) in &self.tables.functions[id].facts.calls {
                if space(callee) == FunctionSpace::HostDevice && reached.insert(callee) {
                    queue.push(callee);
                }
            }
        }
        reached
    }
}

/// How far the search for recursion is with a function.
#[derive(Clone, Copy)]
enum Visit {
    OnPath,
    Done,
}

fn runs_on_device(space: FunctionSpace) -> bool {
    matches!(space, FunctionSpace::Kernel | FunctionSpace::Device)
}
