//! Shuffles, matches and reductions over a warp: which forms CUDA has, chosen by the value's type.

use crate::sema::message::call::CallError;
use std::sync::Arc;

use crate::sema::check::{Checker, builtin_call::Called, convert::Why, int, wrong};
use crate::{
    ir::{ReduceOp, ShuffleMode},
    sema::{
        classify::{Classify, pointer_to, promoted},
        scope::{Callable, Entity},
        ty::Ty,
        typed::{Builtin, Value, ValueKind},
    },
};

impl Checker<'_> {
    /// `__shfl_down_sync(mask, value, delta, width)`, or without the mask.
    pub(crate) fn shuffle(
        &mut self,
        mode: ShuffleMode,
        masked: bool,
        called: &Called<'_>,
    ) -> Value {
        let first = usize::from(masked);
        let Some(args) = self.exchange_args(first + 2, first + 3, called) else {
            return wrong(called.span);
        };
        let mut args = args.into_iter().enumerate();
        let mut next = |checker: &mut Self, ty: Option<&Ty>| {
            let (i, arg) = args.next()?;
            let why = Why::Argument(i + 1, called.name, None);
            Some(match ty {
                Some(ty) => checker.implicit(arg, ty, &why),
                None => checker.promote(arg),
            })
        };
        let mask = if masked {
            next(self, Some(&Ty::UInt))
        } else {
            None
        };
        let lane_ty = match mode {
            ShuffleMode::Up | ShuffleMode::Down => Ty::UInt,
            ShuffleMode::Idx | ShuffleMode::Xor => Ty::Int,
        };
        let (Some(value), Some(lane)) = (next(self, None), next(self, Some(&lane_ty))) else {
            return wrong(called.span);
        };
        let width = next(self, Some(&Ty::Int)).unwrap_or_else(|| int(32, Ty::Int, called.span));
        if let Ty::Record(_) = value.ty
            && let Some(shuffled) = self.library_form(called)
        {
            return shuffled;
        }
        if !value.ty.is_arithmetic() {
            return self.no_exchange("numbers of 32 and 64 bits", &value, called);
        }
        let ty = value.ty.clone();
        let args = [value, lane, width].into_iter().chain(mask).collect();
        exchange(Builtin::Shuffle(mode), args, ty, called)
    }

    /// `__match_any_sync(mask, value)`, `__match_all_sync(mask, value, &truth)`.
    pub(crate) fn match_values(&mut self, all: bool, called: &Called<'_>) -> Value {
        let n = if all { 3 } else { 2 };
        let Some(args) = self.exchange_args(n, n, called) else {
            return wrong(called.span);
        };
        let mut args = args.into_iter();
        let (Some(mask), Some(value)) = (args.next(), args.next()) else {
            return wrong(called.span);
        };
        let mask = self.implicit(mask, &Ty::UInt, &Why::Argument(1, called.name, None));
        let value = self.promote(value);
        if !value.ty.is_arithmetic() {
            return self.no_exchange("numbers of 32 and 64 bits", &value, called);
        }
        let mut operands = vec![value, mask];
        let mut builtin = Builtin::MatchAny;
        if let Some(truth) = args.next() {
            let pointer = pointer_to(Ty::Int.into());
            operands.push(self.implicit(truth, &pointer, &Why::Argument(3, called.name, None)));
            builtin = Builtin::MatchAll;
        }
        exchange(builtin, operands, Ty::UInt, called)
    }

    /// `__reduce_add_sync(mask, value)`.
    pub(crate) fn reduce(&mut self, op: ReduceOp, called: &Called<'_>) -> Value {
        let Some(args) = self.exchange_args(2, 2, called) else {
            return wrong(called.span);
        };
        let mut args = args.into_iter();
        let (Some(mask), Some(value)) = (args.next(), args.next()) else {
            return wrong(called.span);
        };
        let mask = self.implicit(mask, &Ty::UInt, &Why::Argument(1, called.name, None));
        let (op, ty) = match (op, promoted(&value.ty)) {
            // Bitwise ones exist for `unsigned` alone.
            (ReduceOp::And | ReduceOp::Or | ReduceOp::Xor, ty) if ty.is_arithmetic() => {
                (op, Ty::UInt)
            }
            (ReduceOp::UMin, Ty::Int) => (ReduceOp::SMin, Ty::Int),
            (ReduceOp::UMax, Ty::Int) => (ReduceOp::SMax, Ty::Int),
            (op, ty @ (Ty::Int | Ty::UInt)) => (op, ty),
            _ => {
                return self.no_exchange("`int` and `unsigned`", &value, called);
            }
        };
        let value = self.implicit(value, &ty, &Why::Argument(2, called.name, None));
        exchange(Builtin::Reduce(op), vec![value, mask], ty, called)
    }

    /// The same call of the library's function `__dslc_NAME`, which has forms for its own classes: half precision and bfloat16.
    pub(crate) fn library_form(&mut self, called: &Called<'_>) -> Option<Value> {
        let name: Arc<str> = format!("__dslc_{}", called.name).into();
        let set = self.prelude_functions(&name)?;
        let values = self.arguments(called.args);
        let ids = self.functions_of(&set);
        if !ids.iter().any(|id| self.ranks(*id, &values).is_some()) {
            return None;
        }
        Some(self.call_prelude(&name, &set, called))
    }

    /// The functions of the library by this name.
    pub(crate) fn prelude_functions(&self, name: &str) -> Option<Arc<[Callable]>> {
        match &self.scopes.find_in_prelude(name)?.entity {
            Entity::Functions(set) => Some(set.clone()),
            _ => None,
        }
    }

    /// The call, of the library's functions `set` by the name `name`.
    pub(crate) fn call_prelude(
        &mut self,
        name: &Arc<str>,
        set: &[Callable],
        called: &Called<'_>,
    ) -> Value {
        let result =
            self.call_overloaded(name, set, None, called.name_span, called.args, called.span);
        self.read_checked(result)
    }

    /// The arguments; reports a wrong number of them, and host code.
    fn exchange_args(
        &mut self,
        least: usize,
        most: usize,
        called: &Called<'_>,
    ) -> Option<Vec<Value>> {
        self.require_device_call(called);
        if !(least..=most).contains(&called.args.len()) {
            self.wrong_count(called, least, most, false);
            return None;
        }
        let args: Vec<Value> = called.args.iter().map(|arg| self.value(arg)).collect();
        let fine = args.iter().all(|arg| arg.ty != Ty::Error);
        fine.then_some(args)
    }

    fn no_exchange(&mut self, forms: &'static str, value: &Value, called: &Called<'_>) -> Value {
        if value.ty != Ty::Error {
            self.error(
                called.name_span,
                CallError::NoExchangeFor {
                    name: called.name.to_string(),
                    ty: value.ty.clone(),
                    value: value.span,
                    forms,
                },
            );
        }
        wrong(called.span)
    }
}

fn exchange(builtin: Builtin, args: Vec<Value>, ty: Ty, called: &Called<'_>) -> Value {
    Value::new(ValueKind::Builtin(builtin, args), ty, called.span)
}
