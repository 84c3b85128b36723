//! What a class says of conversions: constructors of one argument, conversion functions; copies, and objects without a name.

use super::{assign_value, comma, local};
use crate::sema::check::{Checker, Reported, overload::Argument};
use crate::{
    sema::{
        classify::Classify,
        ty::{RecordId, Ty},
        typed::{FunctionId, Storage, Value, ValueKind, Var},
    },
    span::Span,
};

impl Checker<'_> {
    /// A value of this type is one of the class already, or of one derived from it.
    pub(crate) fn converts_to_class(&self, ty: &Ty, class: RecordId) -> bool {
        matches!(ty, Ty::Record(id) if self.is_derived(*id, class))
    }

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
        if args.is_empty() && !self.has_constructors(&ty) {
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
            align_bytes: self.align_of(&ty),
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
        if !self.needs_copy(&value.ty) {
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

    /// The class, or a member of it, copies itself in its own way.
    pub(crate) fn needs_copy(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Record(id) => self.tables.classes.get(id).is_some_and(|facts| {
                facts.copy.is_some()
                    || self
                        .record(*id)
                        .fields
                        .iter()
                        .any(|field| self.needs_copy(&field.ty.ty))
            }),
            Ty::Array(element, _) => self.needs_copy(&element.ty),
            _ => false,
        }
    }

    /// The constructor that makes an object of `class` of a value of another type without being asked.
    pub(crate) fn converting_constructor(
        &self,
        value: &Value,
        class: RecordId,
        explicit: bool,
    ) -> Option<FunctionId> {
        let facts = self.tables.classes.get(&class)?;
        if matches!(value.ty, Ty::Record(id) if id == class) {
            return None;
        }
        let fits = |id: &&FunctionId| {
            let facts = &self.tables.functions[**id].facts;
            let params = &facts.params;
            let takes_one =
                params.len() >= 2 && params[2..].iter().all(|param| param.default.is_some());
            let is_own = params
                .get(1)
                .is_some_and(|param| param.ty.ty == Ty::Record(class));
            takes_one
                && !is_own
                && (explicit || !facts.is_explicit)
                && self
                    .rank_standard(value, &params[1])
                    .is_some_and(|rank| rank < crate::sema::check::overload::Rank::User)
        };
        facts.constructors.iter().find(fits).copied()
    }

    /// The function of a class that makes a value of type `to` of an object.
    pub(crate) fn conversion_function(
        &self,
        from: &Ty,
        to: &Ty,
        explicit: bool,
    ) -> Option<FunctionId> {
        let Ty::Record(class) = from else { return None };
        let mut next = Some(*class);
        let mut all = Vec::new();
        while let Some(id) = next {
            let facts = self.tables.classes.get(&id)?;
            all.extend(facts.conversions.iter().copied());
            next = facts.base;
        }
        let usable = |id: &&FunctionId| {
            let is_explicit = self.tables.functions[**id].facts.is_explicit;
            explicit || !is_explicit
        };
        let result = |id: &FunctionId| self.tables.functions[*id].typed.result.clone();
        let exact = all.iter().filter(usable).find(|id| result(id) == *to);
        if let Some(id) = exact {
            return Some(*id);
        }
        let mut converts = all.iter().filter(usable).filter(|id| {
            let ty = result(id);
            (ty.is_arithmetic() && to.is_arithmetic())
                || (matches!(ty, Ty::Pointer(_)) && *to == Ty::Bool)
        });
        match (converts.next(), converts.next()) {
            (Some(id), None) => Some(*id),
            _ => None,
        }
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
