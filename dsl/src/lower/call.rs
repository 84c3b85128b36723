//! Lowers calls: inlined in kernels (except `routine`s), real calls on the host (except small functions of the library).
//!
//! Arguments are evaluated from left to right before any parameter exists. A function that returns only at its end is inlined as it is. Any
//! other becomes a scope whose `return`s fill slots and leave it. A parameter that is never written is the argument itself. On the host a
//! record is returned through a pointer that is passed before the other arguments.

use crate::{
    sema::{
        ty::{QualTy, Ty},
        typed::{FunctionId, Value},
    },
    stack,
};
use ir::{Const, Object, Operand, SlotId, span::Span};

use super::{
    function::{Exit, Frame, FunctionLowerer, Home},
    layout,
    place::{Address, Location},
};

/// An argument, evaluated.
enum Argument {
    Leaves(Vec<Operand>),
    /// The argument of a reference parameter.
    Place(Location),
}

/// The result of a call in a kernel.
enum Inlined {
    Leaves(Vec<Operand>),
    /// The function returns a reference to this.
    Place(Location),
}

/// A kernel may have this many temporaries before inlining stops. Functions that call each other twice grow as powers of two.
const MAX_VALUES: usize = 1 << 20;

/// A kernel may have this many inlined calls. Those of constants leave no temporaries, but they take time.
const MAX_INLINED: u32 = 1 << 17;

/// This many blocks may be open around an inlined call: passes over the IR recurse to that depth. A template that needs 1024 instances of
/// itself, each in a few branches, is within the limit.
const MAX_NESTING: usize = 10_000;

impl FunctionLowerer<'_, '_> {
    /// A call of a function of the program; returns the leaves of its result.
    pub(super) fn call(&mut self, id: FunctionId, args: &[Value], span: Span) -> Vec<Operand> {
        let id = match self.is_device {
            true => id,
            false => self.m.on_host(id),
        };
        if !self.is_device && !self.m.is_inlined_on_host(id) {
            let args: Vec<Vec<Operand>> = args.iter().map(|arg| self.leaves(arg)).collect();
            return self.call_host(id, args, span);
        }
        if self.is_device && self.m.is_recursive(id) {
            return self.call_routine(id, args, span);
        }
        let function = self.m.function(id);
        match self.inline(id, args, span) {
            Inlined::Leaves(leaves) => leaves,
            Inlined::Place(Location::Memory(address)) => vec![self.close(address, span)],
            Inlined::Place(Location::Slots(_) | Location::Values(_)) => {
                self.m
                    .internal(span, "the address of a variable in registers");
                self.zeros(&function.result)
            }
        }
    }

    /// The place that a function in a kernel returns by reference or by pointer.
    pub(super) fn call_for_place(
        &mut self,
        id: FunctionId,
        args: &[Value],
        pointer: &Value,
    ) -> Location {
        let inlined = match self.is_device && self.m.is_recursive(id) {
            true => Inlined::Leaves(self.call_routine(id, args, pointer.span)),
            false => self.inline(id, args, pointer.span),
        };
        match inlined {
            Inlined::Place(place) => place,
            Inlined::Leaves(leaves) => {
                let none = Const::zero(layout::GENERIC).into();
                Location::Memory(Address::at(leaves.first().copied().unwrap_or(none)))
            }
        }
    }

    fn arg(&mut self, arg: &Value, is_reference: bool) -> Argument {
        if is_reference {
            Argument::Place(self.referred(arg))
        } else {
            Argument::Leaves(self.leaves(arg))
        }
    }

    fn inline(&mut self, id: FunctionId, args: &[Value], span: Span) -> Inlined {
        let function = self.m.function(id);
        let params = function.params.iter();
        let params = params.map(|id| &function.vars[*id]);
        let args: Vec<Argument> = args
            .iter()
            .zip(params)
            .map(|(arg, var)| self.arg(arg, var.is_reference))
            .collect();
        self.inlined = self.inlined.saturating_add(1);
        if self.b.function().values.len() > MAX_VALUES
            || self.b.nesting() > MAX_NESTING
            || self.inlined > MAX_INLINED
        {
            if !self.is_too_large {
                self.is_too_large = true;
                self.m.too_large(span, &function.name);
            }
            return Inlined::Leaves(self.zeros(&function.result));
        }
        let via = self.m.locs.plain(span, self.frame.via);
        let tail = match function.returns_reference {
            true => Exit::TailPlace(None),
            false => Exit::Tail(vec![]),
        };
        let mut frame = Frame::new(self.m, id, self.is_device, Some(via), tail);
        let scope = (!frame.facts.returns_at_end).then(|| {
            let slots = self.slots_of(&function.name, &function.result.clone().into());
            self.b.set_loc(via);
            (self.b.open_scope(), slots)
        });
        if let Some((label, slots)) = &scope {
            frame.exit = Exit::Scope(*label, slots.clone());
        }
        let caller = std::mem::replace(&mut self.frame, frame);
        for (&param, arg) in function.params.iter().zip(args) {
            self.at_access(function.vars[param].span);
            match arg {
                Argument::Leaves(leaves) => {
                    self.begins(param);
                    self.define_var(param, leaves);
                }
                Argument::Place(place) => self.name_place(param, place),
            }
        }
        stack::level(|| self.stmts(function.body.as_deref().unwrap_or_default()));
        let callee = std::mem::replace(&mut self.frame, caller);
        self.b.set_loc(via);
        let result = match (scope, callee.exit) {
            (Some((_, slots)), _) => {
                self.b.close();
                self.get_all(&slots)
            }
            // The place may be in a variable of the function, which is read later.
            (None, Exit::TailPlace(Some(place))) => return Inlined::Place(place),
            (None, Exit::Tail(leaves)) if !leaves.is_empty() => leaves,
            (None, _) => self.zeros(&function.result),
        };
        // Every `return` of the function leads here.
        for home in callee.homes.into_iter().flatten() {
            if let (Home::Memory(Object::Local(local)), true) = (home, self.is_device) {
                self.b.lifetime(local, false);
            }
        }
        Inlined::Leaves(result)
    }

    fn call_host(&mut self, id: FunctionId, args: Vec<Vec<Operand>>, span: Span) -> Vec<Operand> {
        let function = self.m.function(id);
        let Some(&callee) = self.m.function_ids.get(&id) else {
            self.m
                .internal(span, "a call of a function that was not reached");
            return self.zeros(&function.result);
        };
        let result = match &function.result {
            record @ Ty::Record(_) => Some((self.temporary(record, span), record)),
            _ => None,
        };
        self.at(span);
        let mut operands = vec![];
        if let Some((object, _)) = result {
            operands.push(self.b.addr_of(object));
        }
        operands.extend(args.into_iter().flatten());
        let scalar = layout::mem_type(&function.result).map(|mem| mem.value_type());
        let value = self.b.call(callee, operands, scalar);
        match result {
            Some((object, record)) => self.load_object(object, record),
            None => value.into_iter().collect(),
        }
    }

    /// Stores a record through the pointer the caller passed.
    pub(super) fn store_result(&mut self, pointer: SlotId, leaves: &[Operand]) {
        let ty = QualTy::from(self.frame.function.result.clone());
        let pointer = self.b.get(pointer);
        self.store_memory(pointer, None, &ty, leaves);
    }

    /// A kernel as an argument of a runtime call.
    pub(super) fn kernel_number(&mut self, id: FunctionId, span: Span) -> Operand {
        match self.m.function_ids.get(&id) {
            Some(id) => Const::i32(id.0 as i32).into(),
            None => {
                self.m.internal(span, "a kernel without a number");
                Const::i32(-1).into()
            }
        }
    }
}
