//! `new`, `delete` and calls of destructors.
//!
//! Memory comes from functions of the library part `<new>`; one object is begun here, arrays by templates of that part.

use crate::sema::message::class::ClassError;
use std::sync::Arc;

use crate::sema::check::{
    Checked, Checker, Reported, all,
    construct::{assign_value, comma, local},
    overload::Argument,
};
use crate::{
    sema::{
        classify::{Classify, pointer_to},
        scope::{Callable, Entity},
        ty::{QualTy, Ty},
        typed::{Place, PlaceKind, StmtKind, Value, ValueKind},
    },
    span::Span,
    syntax::ast,
};

impl Checker<'_> {
    /// `new T(args)`.
    pub(crate) fn new_expr(&mut self, new: &ast::New, span: Span) -> Result<Value, Reported> {
        let ty = self.type_name(&new.ty)?.ty;
        let Some(bytes) = self.tables.size_of(&ty) else {
            return self.sizeof(&ty, span);
        };
        if let Some(place) = &new.place {
            if !new.counts.is_empty() {
                return Err(self.unsupported("an array with `new (place)`", span));
            }
            let place = self.value(place)?;
            if !matches!(place.ty, Ty::Pointer(_)) {
                return Err(self.unsupported("`new` with arguments other than a place", place.span));
            }
            let pointer = self.convert(place, &pointer_to(ty.clone().into()));
            return self.begun(pointer, &ty, new.init.as_ref(), span);
        }
        if !new.counts.is_empty() {
            let own = self.own_allocation(&ty, "operator new[]");
            return self.new_array(new, &ty, own.as_ref(), span);
        }
        let bytes = crate::sema::check::int(bytes, Ty::ULong, span);
        let memory = match self.own_allocation(&ty, "operator new") {
            Some(set) => self.allocation_call("operator new", &set, bytes, span)?,
            None => {
                let name = match self.may_be_device() {
                    true => "__dslc_device_new",
                    false => "__dslc_new",
                };
                self.library_call(name, None, vec![bytes], span)?
            }
        };
        let pointer = self.convert(memory, &pointer_to(ty.clone().into()));
        self.begun(pointer, &ty, new.init.as_ref(), span)
    }

    /// The object at a pointer begins; gives the pointer.
    fn begun(
        &mut self,
        pointer: Value,
        ty: &Ty,
        init: Option<&ast::Init>,
        span: Span,
    ) -> Result<Value, Reported> {
        let var = self.unnamed_variable(pointer.ty.clone(), "object", span);
        let kept = local(var, pointer.ty.clone().into(), span);
        let set = assign_value(kept.clone(), pointer, span);
        let load = crate::sema::check::method::place_value(kept);
        let place = Place::new(
            PlaceKind::Deref(Box::new(load.clone())),
            ty.clone().into(),
            span,
        );
        let mut out = Vec::new();
        match init {
            None => self.begin_object(place, "the object", span, &mut out),
            Some(init) => self.member_init(place, init, span, &mut out),
        }
        let mut value = set;
        for stmt in out {
            match stmt.kind {
                StmtKind::Expr(next) => value = comma(value, next),
                _ => {
                    return Err(self.unsupported("`new` of an array's type", span));
                }
            }
        }
        Ok(comma(value, load))
    }

    /// `new T[n]`, `new T[n]()`.
    fn new_array(
        &mut self,
        new: &ast::New,
        ty: &Ty,
        own: Option<&Arc<[Callable]>>,
        span: Span,
    ) -> Result<Value, Reported> {
        let [count] = &new.counts[..] else {
            return Err(self.unsupported("`new` of an array of arrays", span));
        };
        let count = self.value(count)?;
        if !count.ty.is_integral() {
            return Err(self.error(
                count.span,
                ClassError::ElementCountType {
                    ty: count.ty.clone(),
                },
            ));
        }
        let is_zeroed = match &new.init {
            None => false,
            Some(ast::Init::Construct(args)) if args.node.is_empty() => true,
            Some(ast::Init::List(items)) if items.node.is_empty() => true,
            Some(_) => {
                return Err(self.unsupported("`new T[n]` with values", span));
            }
        };
        let begins = is_zeroed || self.tables.has_constructors(ty);
        let name = match (begins, self.may_be_device()) {
            (true, false) => "__dslc_new_array_zero",
            (false, false) => "__dslc_new_array",
            (true, true) => "__dslc_device_new_array_zero",
            (false, true) => "__dslc_device_new_array",
        };
        let count = self.convert(count, &Ty::ULong);
        let explicit = [ast::TemplateArg::Type(new.ty.clone())];
        let Some(own) = own else {
            return self.library_call(name, Some(&explicit), vec![count], span);
        };
        // `n = count, begin_array<T>(T::operator new[](array_bytes<T>(n, cookie)), n, cookie, begins)`.
        let var = self.unnamed_variable(Ty::ULong, "count", span);
        let kept = local(var, Ty::ULong.into(), span);
        let set = assign_value(kept.clone(), count, span);
        let count = crate::sema::check::method::place_value(kept);
        let cookie = crate::sema::check::int(self.cookie_bytes(ty), Ty::ULong, span);
        let values = vec![count.clone(), cookie.clone()];
        let bytes = self.library_call("__dslc_array_bytes", Some(&explicit), values, span)?;
        let memory = self.allocation_call("operator new[]", own, bytes, span)?;
        let begins = crate::sema::check::int(u64::from(begins), Ty::Bool, span);
        let values = vec![memory, count, cookie, begins];
        let begun = self.library_call("__dslc_begin_array", Some(&explicit), values, span)?;
        Ok(comma(set, begun))
    }

    /// What stands before the elements of an array that a class's own function allocated: how many they are, if they have
    /// something to do at their end.
    fn cookie_bytes(&self, ty: &Ty) -> u64 {
        match self.tables.has_destructor(ty) {
            true => self.tables.align_of(ty).max(8),
            false => 0,
        }
    }

    /// `delete p`, `delete[] p`.
    pub(crate) fn delete_expr(
        &mut self,
        is_array: bool,
        expr: &ast::Expr,
        span: Span,
    ) -> Result<Value, Reported> {
        let pointer = self.value(expr)?;
        let word = if is_array { "delete[]" } else { "delete" };
        let pointee = match &pointer.ty {
            Ty::Pointer(pointee) => pointee.ty.clone(),
            other => {
                return Err(self.error(
                    pointer.span,
                    ClassError::DeleteOfNonPointer {
                        word,
                        ty: other.clone(),
                    },
                ));
            }
        };
        if self.tables.size_of(&pointee).is_none() {
            return Err(self.error(
                pointer.span,
                ClassError::DeleteOfIncomplete {
                    word,
                    ty: pointee.clone(),
                },
            ));
        }
        let own = match is_array {
            true => "operator delete[]",
            false => "operator delete",
        };
        if let Some(set) = self.own_allocation(&pointee, own) {
            return self.delete_with(&set, own, pointer, pointee, span);
        }
        let name = if is_array {
            "__dslc_delete_array"
        } else {
            "__dslc_delete"
        };
        // `delete` of a pointer to `const` is as good as any.
        let pointer = self.convert(pointer, &pointer_to(pointee.into()));
        self.library_call(name, None, vec![pointer], span)
    }

    /// The functions that a class has, itself or of its base, for its objects' memory.
    fn own_allocation(&self, ty: &Ty, name: &str) -> Option<Arc<[Callable]>> {
        let Ty::Record(class) = ty else { return None };
        match &self.scopes.find_in_class(*class, name)?.1.entity {
            Entity::Functions(set) => Some(set.clone()),
            _ => None,
        }
    }

    fn allocation_call(
        &mut self,
        name: &str,
        set: &Arc<[Callable]>,
        argument: Value,
        span: Span,
    ) -> Result<Value, Reported> {
        let values = vec![Argument::Value(argument)];
        let ids = self.functions_of(set);
        let crate::sema::check::overload::Resolved::Function(id) =
            self.resolve(name, &ids, &values, span)?
        else {
            return Err(self.reported_before(span));
        };
        let called = self.call_with(id, span, values.len(), values, span)?;
        Ok(self.read_checked(called))
    }

    /// `delete p` by the class's own `operator delete`: `p ? (p->~T(), T::operator delete(p)) : 0`; of an array
    /// `p ? T::operator delete[](end_array(p, cookie)) : 0`.
    fn delete_with(
        &mut self,
        set: &Arc<[Callable]>,
        own: &str,
        pointer: Value,
        pointee: Ty,
        span: Span,
    ) -> Result<Value, Reported> {
        let ty = pointer_to(pointee.clone().into());
        let pointer = self.convert(pointer, &ty);
        let var = self.unnamed_variable(ty.clone(), "object", span);
        let kept = local(var, ty.into(), span);
        let set_kept = assign_value(kept.clone(), pointer, span);
        let load = crate::sema::check::method::place_value(kept);
        let place = Place::new(
            PlaceKind::Deref(Box::new(load.clone())),
            pointee.into(),
            span,
        );
        let mut out = Vec::new();
        let memory = match own {
            "operator delete[]" => {
                let cookie =
                    crate::sema::check::int(self.cookie_bytes(&place.ty.ty), Ty::ULong, span);
                let values = vec![load.clone(), cookie];
                self.library_call("__dslc_end_array", None, values, span)?
            }
            _ => {
                self.destroy(place, span, &mut out);
                self.convert(load.clone(), &pointer_to(Ty::Void.into()))
            }
        };
        let free = self.allocation_call(own, set, memory, span)?;
        let ends = self.as_values(out, span);
        let nothing = || {
            Value::new(
                ValueKind::Convert(Box::new(crate::sema::check::int(0, Ty::Int, span))),
                Ty::Void,
                span,
            )
        };
        let ends = ends.into_iter().chain([free]).fold(nothing(), comma);
        let is_some = self.convert(load, &Ty::Bool);
        let value = Value::new(
            ValueKind::Conditional(Box::new(is_some), Box::new(ends), Box::new(nothing())),
            Ty::Void,
            span,
        );
        Ok(comma(set_kept, value))
    }

    /// A call of a function of the library's own.
    pub(crate) fn library_call(
        &mut self,
        name: &str,
        explicit: Option<&[ast::TemplateArg]>,
        values: Vec<Value>,
        span: Span,
    ) -> Result<Value, Reported> {
        let set = match self.scopes.find(name).map(|binding| binding.entity.clone()) {
            Some(Entity::Functions(set)) => set,
            _ => {
                return Err(self.unsupported("`new` and `delete` here", span));
            }
        };
        let values: Vec<Argument<'_>> = values.into_iter().map(Argument::Value).collect();
        let [id] = self.candidates(name, &set, explicit, &values, span)?[..] else {
            return Err(self.reported_before(span));
        };
        self.need(id);
        let called = self.call_with(id, span, values.len(), values, span)?;
        Ok(self.read_checked(called))
    }

    /// `object.~T()`.
    pub(crate) fn destructor_call(
        &mut self,
        object: Value,
        span: Span,
    ) -> Result<Checked, Reported> {
        let nothing = Value::new(
            ValueKind::Convert(Box::new(crate::sema::check::int(0, Ty::Int, span))),
            Ty::Void,
            span,
        );
        if !self.tables.has_destructor(&object.ty) {
            return Ok(Checked::Value(nothing));
        }
        let mut place = crate::sema::check::method::as_place(object);
        place.ty = QualTy {
            is_const: false,
            ..place.ty
        };
        let mut out = Vec::new();
        self.destroy(place, span, &mut out);
        let ends = self.as_values(out, span);
        Ok(Checked::Value(ends.into_iter().fold(nothing, comma)))
    }

    /// Objects of the type are no more than their bytes.
    pub(crate) fn is_trivial(&self, ty: &Ty) -> bool {
        let assigns = match ty {
            Ty::Record(id) => self.scopes.find_in_class(*id, "operator=").is_some(),
            _ => false,
        };
        !self.tables.needs_copy(ty)
            && !self.tables.has_destructor(ty)
            && !self.tables.has_constructors(ty)
            && !assigns
            && !self.members_assign(ty)
    }

    /// `{a, b, c}` for a class with a constructor that takes an `initializer_list`: an array of the elements and their number. The
    /// constructor takes the elements over.
    pub(crate) fn initializer_list(
        &mut self,
        ty: &Ty,
        items: &[ast::InitItem],
        span: Span,
    ) -> Result<Option<Value>, Reported> {
        let Ty::Record(class) = ty else {
            return Ok(None);
        };
        let Some((list, element)) = self.tables.list_constructor(*class) else {
            return Ok(None);
        };
        if items.is_empty() || items.iter().any(|item| item.designator.is_some()) {
            return Ok(None);
        }
        let n_diagnostics = self.reporter.diagnostics.len();
        let n_temporaries = self.body.flow.temporaries.len();
        let mut values = Vec::new();
        for item in items {
            let value = match &item.value {
                ast::Init::Expr(expr) => self.value(expr),
                ast::Init::List(inner) => self.list_value(&element, &inner.node, inner.span),
                ast::Init::Construct(_) => return Ok(None),
            }?;
            let element = QualTy::from(element.clone());
            if self.tables.rank_type(&value, &element).is_none() {
                // It is for another constructor.
                self.reporter.diagnostics.truncate(n_diagnostics);
                self.body.flow.temporaries.truncate(n_temporaries);
                return Ok(None);
            }
            values.push(self.implicit(
                value,
                &element.ty,
                &crate::sema::check::convert::Why::Operand,
            ));
        }
        let values = all(values)?;
        let n = values.len() as u64;
        let array_ty = Ty::Array(Arc::new(element.clone().into()), Some(n));
        let var = self.unnamed_variable(array_ty.clone(), "list", span);
        let array = local(var, array_ty.into(), span);
        self.take_address(&array);
        let sets: Vec<Value> = (0u64..)
            .zip(values)
            .map(|(i, value)| {
                let index = crate::sema::check::int(i, Ty::Int, span);
                let place = Place::new(
                    PlaceKind::ArrayIndex(Box::new(array.clone()), Box::new(index)),
                    element.clone().into(),
                    span,
                );
                assign_value(place, value, span)
            })
            .collect();
        let items = Value::new(
            ValueKind::Decay(Box::new(array)),
            pointer_to(element.into()),
            span,
        );
        let list = Value::new(
            ValueKind::Aggregate(vec![items, crate::sema::check::int(n, Ty::ULong, span)]),
            Ty::Record(list),
            span,
        );
        let sets = sets.into_iter().rev();
        Ok(Some(sets.fold(list, |then, set| comma(set, then))))
    }
}
