//! Lowers device functions that may call themselves, directly or through others: each becomes a routine of the kernel, and its calls are
//! real calls. All other device functions are inlined, including those that a routine calls.
//!
//! A reference that such a function takes or returns is a pointer. A record is passed and returned leaf by leaf.

use std::collections::{HashMap, HashSet};

use crate::{
    sema::{
        ty::QualTy,
        typed::{FunctionId, FunctionSpace, Value, Var},
    },
    stack,
};
use ir::{Object, Operand, Routine, RoutineId, SlotId, span::Span};

use super::{
    Lowerer,
    function::{Exit, Frame, FunctionLowerer, Home},
    layout::GENERIC,
    place::{Address, Location},
};

/// The routines of a kernel.
#[derive(Default)]
pub(super) struct Routines {
    ids: HashMap<FunctionId, RoutineId>,
    /// Routines that are called and not lowered yet, with the slots of each parameter.
    pending: Vec<(FunctionId, Vec<Vec<SlotId>>)>,
}

impl Lowerer<'_> {
    /// Finds the device functions that may call themselves, among those that these functions reach.
    pub(super) fn find_recursive(&mut self, ids: &[FunctionId]) {
        let mut calls: HashMap<FunctionId, Vec<FunctionId>> = HashMap::new();
        for id in self.reach(ids.to_vec()) {
            let facts = self.facts(id);
            let device = facts.calls.iter().copied().filter(|&callee| {
                matches!(
                    self.function(callee).space,
                    FunctionSpace::Device | FunctionSpace::HostDevice
                )
            });
            calls.insert(id, device.collect());
        }
        without_ends(&mut calls);
        for &start in calls.keys() {
            let mut reached = HashSet::new();
            let mut todo = vec![start];
            while let Some(id) = todo.pop() {
                let callees = calls.get(&id).into_iter().flatten();
                todo.extend(callees.filter(|callee| reached.insert(**callee)));
            }
            if reached.contains(&start) {
                self.recursive.insert(start);
            }
        }
    }

    /// Whether a device function may call itself.
    pub(super) fn is_recursive(&self, id: FunctionId) -> bool {
        self.recursive.contains(&id)
    }
}

/// Removes functions that call no remaining function, or that no remaining function calls: they are in no cycle. Most often nothing
/// remains.
fn without_ends(calls: &mut HashMap<FunctionId, Vec<FunctionId>>) {
    let reversed = |calls: &HashMap<FunctionId, Vec<FunctionId>>| {
        let mut callers: HashMap<FunctionId, Vec<FunctionId>> = HashMap::new();
        for (&caller, callees) in calls {
            for &callee in callees {
                callers.entry(callee).or_default().push(caller);
            }
        }
        callers
    };
    let callers = reversed(calls);
    without_leaves(calls, &callers);
    let mut callers = reversed(calls);
    callers.retain(|callee, _| calls.contains_key(callee));
    without_leaves(&mut callers, calls);
    calls.retain(|caller, _| callers.contains_key(caller));
}

/// Removes functions without an edge to a remaining one. `back` has the reversed edges.
fn without_leaves(
    edges: &mut HashMap<FunctionId, Vec<FunctionId>>,
    back: &HashMap<FunctionId, Vec<FunctionId>>,
) {
    let lasting = |to: &&FunctionId| edges.contains_key(to);
    let count = |to: &Vec<FunctionId>| to.iter().filter(lasting).count();
    let mut counts: HashMap<FunctionId, usize> =
        edges.iter().map(|(&from, to)| (from, count(to))).collect();
    let ends = counts.iter().filter(|(_, count)| **count == 0);
    let mut ends: Vec<FunctionId> = ends.map(|(&id, _)| id).collect();
    while let Some(end) = ends.pop() {
        edges.remove(&end);
        for from in back.get(&end).into_iter().flatten() {
            if let Some(count) = counts.get_mut(from)
                && *count > 0
            {
                *count -= 1;
                if *count == 0 {
                    ends.push(*from);
                }
            }
        }
    }
}

impl FunctionLowerer<'_, '_> {
    /// Calls a routine; returns the leaves of its result.
    pub(super) fn call_routine(
        &mut self,
        id: FunctionId,
        args: &[Value],
        span: Span,
    ) -> Vec<Operand> {
        let function = self.m.function(id);
        let mut operands = vec![];
        for (arg, param) in args.iter().zip(&function.params) {
            let var = &function.vars[*param];
            if var.is_reference {
                let place = self.referred(arg);
                operands.push(self.address(place, var, arg.span));
            } else {
                operands.extend(self.leaves(arg));
            }
        }
        let routine = self.routine(id);
        self.at(span);
        self.b.call_routine(routine, operands)
    }

    /// The address of the place that a reference is bound to.
    fn address(&mut self, place: Location, var: &Var, span: Span) -> Operand {
        let address = match place {
            Location::Memory(address) => address,
            Location::Values(leaves) => self.spilled(leaves, &var.ty, span),
            Location::Slots(slots) => {
                if !var.ty.is_const {
                    self.m
                        .internal(span, "the address of a variable in registers");
                }
                let leaves = self.get_all(&slots);
                self.spilled(leaves, &var.ty, span)
            }
        };
        self.close(address, span)
    }

    fn routine(&mut self, id: FunctionId) -> RoutineId {
        if let Some(&known) = self.routines.ids.get(&id) {
            return known;
        }
        let function = self.m.function(id);
        let params: Vec<Vec<SlotId>> = function
            .params
            .iter()
            .map(|param| {
                let var = &function.vars[*param];
                match var.is_reference {
                    true => vec![self.b.slot(var.name.clone(), GENERIC)],
                    false => self.slots_of(&var.name, &var.ty),
                }
            })
            .collect();
        let results = self.slots_of(&function.name, &QualTy::from(function.result.clone()));
        let loc = self.m.locs.plain(function.span, None);
        let routine = self.b.routine(Routine {
            name: function.name.clone(),
            params: params.iter().flatten().copied().collect(),
            results,
            loc,
        });
        self.routines.ids.insert(id, routine);
        self.routines.pending.push((id, params));
        routine
    }

    /// Lowers the routines that have been called, and those that they call.
    pub(super) fn lower_routines(&mut self) {
        while let Some((id, params)) = self.routines.pending.pop() {
            self.lower_routine(id, &params);
        }
    }

    fn lower_routine(&mut self, id: FunctionId, params: &[Vec<SlotId>]) {
        let function = self.m.function(id);
        let routine = self.routines.ids[&id];
        let declared = &self.b.function().routines[routine.index()];
        let (loc, results) = (declared.loc, declared.results.clone());
        self.b.set_loc(loc);
        self.b.open_routine(routine);
        let label = self.b.open_scope();
        let exit = Exit::Scope(label, results);
        let frame = Frame::new(self.m, id, true, None, exit);
        let caller = std::mem::replace(&mut self.frame, frame);
        // An array of a function that is inlined both here and elsewhere is separate in each.
        let locals = std::mem::take(&mut self.locals);
        // The body is an inner block, like that of an inlined function: its variables begin at each call.
        let depth = std::mem::replace(&mut self.depth, 1);
        for (&param, slots) in function.params.iter().zip(params) {
            let var = &function.vars[param];
            self.at_access(var.span);
            let leaves = self.get_all(slots);
            match (var.is_reference, leaves.first()) {
                (true, Some(&pointer)) => {
                    self.name_place(param, Location::Memory(Address::at(pointer)));
                }
                _ => {
                    self.begins(param);
                    self.define_var(param, leaves);
                }
            }
        }
        stack::level(|| self.stmts(function.body.as_deref().unwrap_or_default()));
        self.b.set_loc(loc);
        self.b.close();
        let callee = std::mem::replace(&mut self.frame, caller);
        (self.locals, self.depth) = (locals, depth);
        for home in callee.homes.into_iter().flatten() {
            if let Home::Memory(Object::Local(local)) = home {
                self.b.lifetime(local, false);
            }
        }
        self.b.close();
    }
}
