//! What depends on who calls whom: functions without a body, recursion in device code, and errors in
//! `__host__ __device__` functions that matter only if the side they concern gets there.

use super::{Checker, Side};
use crate::{
    diagnostic::{Code, Diagnostic},
    sema::typed::{FunctionId, FunctionSpace},
    span::Span,
};

impl Checker<'_> {
    /// Checks the finished call graph.
    pub(super) fn check_graph(&mut self) {
        self.check_undefined();
        self.check_recursion();
        self.report_deferred();
    }

    fn check_undefined(&mut self) {
        let mut said = vec![false; self.functions.len()];
        for caller in 0..self.functions.len() {
            for (callee, span) in self.function_facts[caller].calls.clone() {
                let index = callee.0 as usize;
                if self.function_facts[index].is_defined
                    || std::mem::replace(&mut said[index], true)
                {
                    continue;
                }
                let name = self.functions[index].name.clone();
                let declared = self.function_facts[index].declared;
                self.report(
                    Diagnostic::error(
                        Code::UndefinedFunction,
                        span,
                        format!("`{name}` is declared but has no body"),
                    )
                    .label(declared, "declared here")
                    .help("define it in this file, or `#include` the file that does"),
                );
            }
        }
    }

    /// Depth first from every function that runs on the device; a call back into the path is a cycle.
    fn check_recursion(&mut self) {
        // 0: not seen, 1: on the path, 2: done.
        let mut state = vec![0u8; self.functions.len()];
        for start in 0..self.functions.len() {
            if self.runs_on_device(start) && state[start] == 0 {
                self.visit(start, &mut state);
            }
        }
    }

    fn runs_on_device(&self, index: usize) -> bool {
        matches!(
            self.functions[index].space,
            FunctionSpace::Kernel | FunctionSpace::Device
        )
    }

    /// A loop rather than recursion: a chain of calls may be long.
    fn visit(&mut self, start: usize, state: &mut [u8]) {
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        state[start] = 1;
        while let Some((function, next)) = path.last_mut() {
            let function = *function;
            let Some((callee, span)) = self.function_facts[function].calls.get(*next).copied()
            else {
                state[function] = 2;
                path.pop();
                continue;
            };
            *next += 1;
            let callee = callee.0 as usize;
            if self.functions[callee].space == FunctionSpace::Host {
                continue;
            }
            match state[callee] {
                0 => {
                    state[callee] = 1;
                    path.push((callee, 0));
                }
                1 => {
                    let from = path
                        .iter()
                        .position(|(function, _)| *function == callee)
                        .unwrap_or(0);
                    let cycle: Vec<usize> =
                        path[from..].iter().map(|(function, _)| *function).collect();
                    self.report_cycle(&cycle, span);
                }
                _ => {}
            }
        }
    }

    fn report_cycle(&mut self, cycle: &[usize], span: Span) {
        let names: Vec<_> = cycle
            .iter()
            .chain(cycle.first())
            .map(|&index| format!("`{}`", self.functions[index].name))
            .collect();
        let message = match &cycle {
            [_] => format!("the device function {} calls itself", names[0]),
            _ => format!(
                "device functions call each other in a circle: {}",
                names.join(" → ")
            ),
        };
        let mut diagnostic = Diagnostic::error(Code::DeviceRecursion, span, message)
            .at("this call closes the circle");
        for &index in cycle {
            diagnostic = diagnostic.label(
                self.functions[index].span,
                format!("`{}`", self.functions[index].name),
            );
        }
        self.report(diagnostic.help("write it as a loop: device calls are expanded in place"));
    }

    fn report_deferred(&mut self) {
        let on_device =
            self.reached(|space| matches!(space, FunctionSpace::Kernel | FunctionSpace::Device));
        let on_host = self.reached(|space| space == FunctionSpace::Host);
        for deferred in std::mem::take(&mut self.deferred) {
            let reached = match deferred.side {
                Side::Device => &on_device,
                Side::Host => &on_host,
            };
            if reached[deferred.function.0 as usize] {
                self.report(deferred.diagnostic);
            }
        }
    }

    /// The functions that run on a side: those that start there, and the `__host__ __device__` ones they call.
    fn reached(&self, starts: impl Fn(FunctionSpace) -> bool) -> Vec<bool> {
        let mut reached: Vec<bool> = self
            .functions
            .iter()
            .map(|function| starts(function.space))
            .collect();
        let mut queue: Vec<FunctionId> = (0..reached.len() as u32)
            .map(FunctionId)
            .filter(|id| reached[id.0 as usize])
            .collect();
        while let Some(id) = queue.pop() {
            for (callee, _) in &self.function_facts[id.0 as usize].calls {
                let index = callee.0 as usize;
                if !reached[index] && self.functions[index].space == FunctionSpace::HostDevice {
                    reached[index] = true;
                    queue.push(*callee);
                }
            }
        }
        reached
    }
}
