//! What a class says of conversions: constructors of one argument, conversion functions; copies, and objects without a name.

use super::{assign_value, comma, local};
use crate::sema::check::{Checker, Reported, overload::Argument};
use crate::{
    sema::{
        ty::{RecordId, Ty},
        typed::{FunctionId, Storage, Value, ValueKind, Var},
    },
    span::Span,
};

impl Checker<'_> {
    /// `S(a, b)`: an object without a name.
    pub(crate) fn construct_temporary(
        &mut self,
        class: RecordId,
        args: Vec<Argument<'_>>,
        span: Span,
    ) -> Result<Value, Reported> {
        let ty = Ty::Record(class);
        let var = self.unnamed_variable(ty.clone(), "temporary", span);
        let place = local(var, ty.clone().into(), span);
        let load = Value::load(place.clone(), span);
        if args.is_empty() && !self.tables.has_constructors(&ty) {
            // `S()` of a class without constructors is all zero first.
            let zero = Value::new(ValueKind::Aggregate(Vec::new()), ty.clone(), span);
            let Some(call) = self.construction(place.clone(), args, span)? else {
                return Ok(zero);
            };
            let zero = assign_value(place, zero, span);
            return Ok(comma(comma(zero, call), load));
        }
        match self.construction(place, args, span)? {
            Some(call) => Ok(comma(call, load)),
            None => Err(self.reported_before(span)),
        }
    }

    /// A variable of the function that the program does not name.
    pub(crate) fn unnamed_variable(
        &mut self,
        ty: Ty,
        name: &str,
        span: Span,
    ) -> crate::sema::typed::VarId {
        self.add_var(self.plain_variable(ty, name, span))
    }

    /// The facts of a variable that has nothing but its type and its name.
    pub(crate) fn plain_variable(&self, ty: Ty, name: &str, span: Span) -> Var {
        Var {
            name: name.to_string(),
            align_bytes: self.tables.align_of(&ty),
            ty: ty.into(),
            storage: Storage::Auto,
            address_taken: false,
            is_reference: false,
            is_restrict: false,
            span,
        }
    }

    /// A class's value where another object of it is made: the class may want its own way of copying.
    pub(crate) fn copied(&mut self, value: Value) -> Result<Value, Reported> {
        let Ty::Record(class) = value.ty else {
            return Ok(value);
        };
        if !self.tables.needs_copy(&value.ty) {
            return Ok(value);
        }
        let span = value.span;
        if let ValueKind::Conditional(cond, yes, no) = value.kind {
            let (yes, no) = (self.copied(*yes)?, self.copied(*no)?);
            let kind = ValueKind::Conditional(cond, Box::new(yes), Box::new(no));
            return Ok(Value::new(kind, Ty::Record(class), span));
        }
        if matches!(value.kind, ValueKind::Assign(..)) {
            return Err(self.unsupported("copying what an assignment of an object gives", span));
        }
        if Self::place_of(&value).is_none() {
            return Ok(value);
        }
        if self.body.id.is_none() {
            return Err(self.unsupported("a copy of an object at file scope", span));
        }
        self.construct_temporary(class, vec![Argument::Value(value)], span)
    }

    /// An object as a value of the type that its conversion gives.
    pub(crate) fn call_conversion(
        &mut self,
        id: FunctionId,
        value: Value,
    ) -> Result<Value, Reported> {
        let span = value.span;
        let name = self.tables.functions[id].typed.name.clone();
        let called = self.call_member(Some(value), &[id], &name, span, Vec::new(), span)?;
        Ok(self.read_checked(called))
    }
}
