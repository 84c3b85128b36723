//! What depends on who calls whom: functions without a body, and errors in
//! `__host__ __device__` functions that matter only if the side they concern gets there.

use crate::sema::message::call::CallError;
use std::collections::HashSet;

use crate::sema::check::{Checker, FunctionEntry, Side};
use crate::sema::typed::{FunctionId, FunctionSpace};

impl Checker<'_> {
    /// Checks the finished call graph.
    pub(crate) fn check_graph(&mut self) {
        self.check_undefined();
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

fn runs_on_device(space: FunctionSpace) -> bool {
    matches!(space, FunctionSpace::Kernel | FunctionSpace::Device)
}
