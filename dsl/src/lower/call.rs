//! Calls: inlined in kernels, real on the host.
//!
//! Arguments are evaluated from left to right before any parameter exists. A function that returns only at its end is put in
//! place as it is; any other becomes a scope whose `return`s fill slots and leave it. A parameter that is never written is
//! the argument itself. On the host a record is returned through a pointer that is passed before the other arguments.

use crate::{
    ir::{Const, Operand, SlotId},
    sema::{
        ty::{QualTy, Ty},
        typed::{FunctionId, Value},
    },
    span::Span,
};

use super::{
    function::{Exit, Frame, FunctionLowerer},
    layout,
};

/// A kernel may have so many temporaries before inlining stops. Functions that call each other twice grow as powers of two.
const MAX_VALUES: usize = 1 << 20;

impl FunctionLowerer<'_, '_> {
    /// A call of a function of the program; gives the leaves of its result.
    pub(super) fn call(&mut self, id: FunctionId, args: &[Value], span: Span) -> Vec<Operand> {
        let args: Vec<Vec<Operand>> = args.iter().map(|arg| self.leaves(arg)).collect();
        if self.is_device {
            self.inline(id, args, span)
        } else {
            self.call_host(id, args, span)
        }
    }

    fn inline(&mut self, id: FunctionId, args: Vec<Vec<Operand>>, span: Span) -> Vec<Operand> {
        let function = self.m.function(id);
        if self.b.function().values.len() > MAX_VALUES {
            if !self.is_too_large {
                self.is_too_large = true;
                self.m.too_large(span, &function.name);
            }
            return self.zeros(&function.result);
        }
        let via = self.m.locs.plain(span, self.frame.via);
        let mut frame = Frame::new(self.m, id, Some(via), Exit::Tail(vec![]));
        let scope = (!frame.facts.returns_at_end).then(|| {
            let slots = self.slots_of(&function.name, &function.result.clone().into());
            self.b.set_loc(via);
            (self.b.open_scope(), slots)
        });
        if let Some((label, slots)) = &scope {
            frame.exit = Exit::Scope(*label, slots.clone());
        }
        let caller = std::mem::replace(&mut self.frame, frame);
        for (&param, leaves) in function.params.iter().zip(args) {
            self.at_access(function.vars[param.0 as usize].span);
            self.define_var(param, leaves);
        }
        self.stmts(function.body.as_deref().unwrap_or_default());
        let callee = std::mem::replace(&mut self.frame, caller);
        self.b.set_loc(via);
        match (scope, callee.exit) {
            (Some((_, slots)), _) => {
                self.b.close();
                self.get_all(&slots)
            }
            (None, Exit::Tail(leaves)) if !leaves.is_empty() => leaves,
            (None, _) => self.zeros(&function.result),
        }
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
