//! Places: indexing, members, `*` and `&`, and who may be assigned to.

use crate::sema::check::{
    Checked, Checker, Reported, Side,
    expr::{special_value, with_qualifiers},
    int,
    pointer_call::{known_function, pointed_function},
};
use crate::sema::message::expr::ExprError;
use crate::sema::path;
use crate::{
    sema::{
        builtin::{self, Entry},
        classify::{Classify, pointer_to, promoted},
        const_eval::{self, Const},
        scope::Entity,
        ty::{QualTy, RecordId, Ty},
        typed::{FunctionId, GlobalSpace, Place, PlaceKind, Value, ValueKind, VarRef},
    },
    span::Span,
    syntax::ast::{self, ExprKind},
};

impl Checker<'_> {
    /// `a[i]`.
    pub(crate) fn index(
        &mut self,
        base: &ast::Expr,
        index: &ast::Expr,
        span: Span,
    ) -> Result<Checked, Reported> {
        let base = self.expr(base);
        let index = self.value(index);
        let (base, index) = (base?, index?);
        if matches!(base.ty(), Ty::Record(_)) {
            let object = base.into_value();
            let at = object.span;
            let operands = [object, index];
            if let Some(called) = self.operator_call("[]", &operands, at, span)? {
                return Ok(called);
            }
            let [object, index] = operands;
            let pointer = self.as_pointer(object)?;
            return self.pointer_index(pointer, index, span);
        }
        let index = self.as_number(index)?;
        // `i[a]` is `a[i]`.
        if base.ty().is_integral() && matches!(index.ty, Ty::Pointer(_)) {
            let number = self.read_checked(base);
            return self.pointer_index(index, number, span);
        }
        match base {
            Checked::Place(place) if let Some(ty) = element_type(&place) => {
                let index = self.index_value(index)?;
                Ok(Checked::Place(element(place, index, ty, span)))
            }
            other => {
                let pointer = self.read_checked(other);
                self.pointer_index(pointer, index, span)
            }
        }
    }

    /// An object whose class converts to a pointer, as that.
    fn as_pointer(&mut self, object: Value) -> Result<Value, Reported> {
        let Ty::Record(class) = &object.ty else {
            return Ok(object);
        };
        let conversions = self
            .tables
            .classes
            .get(class)
            .map(|facts| facts.conversions.clone());
        let mut pointers = conversions.unwrap_or_default();
        pointers.retain(|id| matches!(self.tables.functions[*id].typed.result, Ty::Pointer(_)));
        // Of `operator T *()` and `operator const T *() const` the object's own constness decides.
        let is_const = Checker::place_of(&object).is_some_and(|place| place.ty.is_const);
        let takes_const = |id: &FunctionId| {
            let this = self.tables.functions[*id].facts.params.first();
            this.is_some_and(|this| this.ty.is_const)
        };
        if pointers.iter().any(|id| takes_const(id) == is_const) {
            pointers.retain(|id| takes_const(id) == is_const);
        }
        match pointers[..] {
            [id] => self.call_conversion(id, object),
            _ => Ok(object),
        }
    }

    fn pointer_index(
        &mut self,
        pointer: Value,
        index: Value,
        span: Span,
    ) -> Result<Checked, Reported> {
        let pointee = self.pointee(&pointer, "indexed")?;
        let index = self.index_value(index)?;
        let kind = PlaceKind::PointerIndex(Box::new(pointer), Box::new(index));
        Ok(Checked::Place(Place::new(kind, pointee, span)))
    }

    /// What a pointer points to, if that has a size; reports otherwise.
    pub(crate) fn pointee(
        &mut self,
        pointer: &Value,
        done: &'static str,
    ) -> Result<QualTy, Reported> {
        let message = match &pointer.ty {
            Ty::Pointer(pointee) if pointee.ty == Ty::Void => {
                ExprError::VoidPointerHasNoElements { done }
            }
            Ty::Pointer(pointee)
                if self.tables.size_of(&pointee.ty).is_none()
                    && !matches!(pointee.ty, Ty::Array(..)) =>
            {
                let ty = pointee.ty.clone();
                ExprError::PointerToIncomplete { ty, done }
            }
            Ty::Pointer(pointee) => return Ok(pointee.as_ref().clone()),
            other => {
                let ty = other.clone();
                ExprError::NoArrayOrPointer { ty, done }
            }
        };
        Err(self.error(pointer.span, message))
    }

    fn index_value(&mut self, index: Value) -> Result<Value, Reported> {
        if !index.ty.is_integral() {
            let ty = index.ty.clone();
            return Err(self.error(index.span, ExprError::IndexType { ty }));
        }
        let to = promoted(&index.ty);
        Ok(self.convert(index, &to))
    }

    /// `*p`.
    pub(crate) fn deref(&mut self, inner: &ast::Expr, span: Span) -> Result<Checked, Reported> {
        if matches!(inner.kind, ExprKind::This) {
            return match self.this_place(span) {
                Some(place) => Ok(Checked::Place(place)),
                None => Err(self.no_this("`this`", inner.span)),
            };
        }
        let pointer = match self.expr(inner)? {
            Checked::Place(place) if let Some(ty) = element_type(&place) => {
                let first = element(place, int(0, Ty::Int, span), ty, span);
                return Ok(Checked::Place(first));
            }
            operand if matches!(operand.ty(), Ty::Record(_)) => {
                let object = operand.into_value();
                let operands = std::slice::from_ref(&object);
                if let Some(called) = self.operator_call("*", operands, span, span)? {
                    return Ok(called);
                }
                match self.operator_call("->", operands, span, span)? {
                    Some(called) => self.read_checked(called),
                    None => self.as_pointer(object)?,
                }
            }
            operand => {
                let value = self.read_checked(operand);
                // A function is its address, however often it is followed.
                if pointed_function(&value.ty).is_some() {
                    return Ok(Checked::Value(Value { span, ..value }));
                }
                if let ValueKind::AddressOf(place) = value.kind {
                    return Ok(Checked::Place(Place { span, ..*place }));
                }
                value
            }
        };
        let ty = self.pointee(&pointer, "dereferenced")?;
        let kind = PlaceKind::Deref(Box::new(pointer));
        Ok(Checked::Place(Place::new(kind, ty, span)))
    }

    /// `&e`.
    pub(crate) fn address_of(&mut self, inner: &ast::Expr, span: Span) -> Result<Value, Reported> {
        let place = match self.expr(inner)? {
            Checked::Place(place) if !is_temporary(&place) => place,
            Checked::Value(value) if pointed_function(&value.ty).is_some() => return Ok(value),
            _ => {
                let text = self.map.snippet(inner.span).to_string();
                return Err(self.error(span, ExprError::NoAddress { text }));
            }
        };
        self.take_address(&place);
        if let Some(VarRef::Global(global)) = root(&place) {
            let global = &self.tables.globals[global].typed;
            if global.space == GlobalSpace::Host {
                let diagnostic = self.diagnostic(
                    span,
                    ExprError::HostVariableAddressInDevice {
                        name: global.name.to_string(),
                        declared: global.span,
                    },
                );
                self.on_side(Side::Device, diagnostic);
            }
        }
        let ty = pointer_to(place.ty.clone());
        let kind = match place.kind {
            // `&*p` and `&p[i]` do not touch memory.
            PlaceKind::Deref(pointer) if pointer.ty == ty => pointer.kind,
            kind => ValueKind::AddressOf(Box::new(Place { kind, ..place })),
        };
        Ok(Value::new(kind, ty, span))
    }

    /// The variable a place is in needs memory.
    pub(crate) fn take_address(&mut self, place: &Place) {
        if let Some(VarRef::Local(var)) = root(place)
            && self.mode.unevaluated == 0
        {
            self.body.vars[var].typed.address_taken = true;
        }
    }

    /// `e.name`.
    pub(crate) fn member(
        &mut self,
        base: &ast::Expr,
        name: &ast::Name,
        span: Span,
    ) -> Result<Checked, Reported> {
        if let ExprKind::Name(of) = &base.kind
            && self.scopes.find(of).is_none()
            && let Some(Entry::Index(special, _)) = builtin::find(of)
        {
            let of = of.clone();
            let Some(axis) = ["x", "y", "z"].iter().position(|axis| **axis == *name.node) else {
                let members = ["x", "y", "z"].map(String::from);
                return Err(self.unknown_member(
                    &format!("`{of}`"),
                    &name.node,
                    name.span,
                    &members,
                    None,
                ));
            };
            self.require_device(&of, base.span);
            return Ok(Checked::Value(special_value(special[axis], span)));
        }
        let place = match self.expr(base)? {
            Checked::Place(place) => place,
            Checked::Value(value) => {
                let value = self.discarded(value);
                crate::sema::check::method::as_place(value)
            }
        };
        if let Ty::Pointer(_) = &place.ty.ty {
            let text = self.map.snippet(base.span).to_string();
            return Err(self.error(
                span,
                ExprError::PointerHasNoMembers {
                    text: text.to_string(),
                    name: name.node.to_string(),
                },
            ));
        }
        self.field(place, name, span)
    }

    /// `e->name`.
    pub(crate) fn arrow(
        &mut self,
        base: &ast::Expr,
        name: &ast::Name,
        span: Span,
    ) -> Result<Checked, Reported> {
        if matches!(base.kind, ExprKind::This) {
            return match self.deref(base, base.span)? {
                Checked::Place(place) => self.field(place, name, span),
                value => Ok(value),
            };
        }
        let mut pointer = self.value(base)?;
        if matches!(pointer.ty, Ty::Record(_))
            && let Some(called) =
                self.operator_call("->", std::slice::from_ref(&pointer), span, span)?
        {
            pointer = self.read_checked(called);
        }
        if matches!(pointer.ty, Ty::Record(_)) {
            let text = self.map.snippet(base.span).to_string();
            let name = name.node.to_string();
            return Err(self.error(span, ExprError::NotAPointer { text, name }));
        }
        let ty = self.pointee(&pointer, "followed with `->`")?;
        let place = Place::new(PlaceKind::Deref(Box::new(pointer)), ty, base.span);
        self.field(place, name, span)
    }

    pub(crate) fn field(
        &mut self,
        place: Place,
        name: &ast::Name,
        span: Span,
    ) -> Result<Checked, Reported> {
        let id = match &place.ty.ty {
            Ty::Record(id) => {
                let (class, last) = match path::split(&name.node) {
                    Some((_, last)) => (self.scopes.split_path(&name.node).map(|(id, _)| id), last),
                    None => (None, &*name.node),
                };
                self.check_access(*id, last, name.span);
                if let Some(member) = self.static_member_of(*id, last, name.span)? {
                    return Ok(member);
                }
                if let Some(class) = class {
                    let name = ast::Name::new(last.into(), name.span);
                    if matches!(&place.ty.ty, Ty::Record(id) if *id != class) {
                        return self.field(self.tables.base_place(place, class), &name, span);
                    }
                }
                *id
            }
            other => {
                return Err(self.error(name.span, ExprError::HasNoMembers { ty: other.clone() }));
            }
        };
        let mut path = Vec::new();
        if !self.tables.find_field(id, &name.node, &mut path) {
            let record = self.tables.record(id);
            let members: Vec<_> = record
                .fields
                .iter()
                .map(|field| field.name.clone())
                .filter(|name| !name.is_empty())
                .collect();
            let (of, declared) = (format!("`{}`", record.name), record.span);
            return Err(self.unknown_member(&of, &name.node, name.span, &members, declared));
        }
        let mut place = place;
        for index in path {
            place = self.tables.field_place(place, index, span);
        }
        self.known(&place.ty.ty, span)?;
        Ok(Checked::Place(place))
    }

    /// What a class has under a name that belongs to no object: a static member, an enumerator; or a function, which is not
    /// called here.
    fn static_member_of(
        &mut self,
        class: RecordId,
        name: &str,
        span: Span,
    ) -> Result<Option<Checked>, Reported> {
        let found = self.scopes.find_in_class(class, name);
        match found.map(|(_, binding)| binding.entity.clone()) {
            Some(entity @ (Entity::Global(_) | Entity::Enumerator(..) | Entity::Error)) => {
                self.entity(&name.into(), Some(entity), span).map(Some)
            }
            Some(Entity::Functions(_)) => {
                let name = name.to_string();
                Err(self.error(span, ExprError::FunctionNotCalled { name }))
            }
            _ => Ok(None),
        }
    }

    /// What an expression gave as a place that may be written; reports otherwise.
    pub(crate) fn target_of(
        &mut self,
        checked: Checked,
        expr: &ast::Expr,
        done: &'static str,
    ) -> Result<Place, Reported> {
        let checked = match checked {
            Checked::Value(value) if matches!(value.kind, ValueKind::Conditional(..)) => {
                let value = self.as_place_value(value);
                match Self::place_of(&value) {
                    Some(place) => Checked::Place(place.clone()),
                    None => Checked::Value(value),
                }
            }
            place => place,
        };
        let place = match checked {
            Checked::Place(place) if !is_temporary(&place) => place,
            Checked::Value(value) if known_function(&value).is_some() => {
                let text = self.map.snippet(expr.span).to_string();
                return Err(self.error(expr.span, ExprError::FunctionChanged { text, done }));
            }
            _ => {
                let text = self.map.snippet(expr.span).to_string();
                return Err(self.error(expr.span, ExprError::ValueChanged { text, done }));
            }
        };
        if let Ty::Array(..) = place.ty.ty {
            let text = self.map.snippet(expr.span).to_string();
            return Err(self.error(expr.span, ExprError::WholeArrayChanged { text, done }));
        }
        if place.ty.is_const {
            return Err(self.report_const(&place, expr, done));
        }
        if let Some(VarRef::Global(global)) = root(&place) {
            let global = &self.tables.globals[global].typed;
            if global.space == GlobalSpace::Constant {
                let diagnostic = self.diagnostic(
                    expr.span,
                    ExprError::ConstantMemoryWritten {
                        name: global.name.to_string(),
                        declared: global.span,
                    },
                );
                self.on_side(Side::Device, diagnostic);
            }
        }
        self.check_bounds(&place);
        Ok(place)
    }

    fn report_const(&mut self, place: &Place, expr: &ast::Expr, done: &'static str) -> Reported {
        let text = self.map.snippet(expr.span).to_string();
        let declared = match root(place).or_else(|| pointer_root(place)) {
            Some(VarRef::Local(var)) => Some(self.body.vars[var].typed.span),
            Some(VarRef::Global(global)) => Some(self.tables.globals[global].typed.span),
            None => None,
        };
        self.error(
            expr.span,
            ExprError::ConstChanged {
                text,
                done,
                declared,
            },
        )
    }

    /// Warns about a constant index outside of a declared array.
    pub(crate) fn check_bounds(&mut self, place: &Place) {
        let (PlaceKind::ArrayIndex(base, _) | PlaceKind::Field(base, _)) = &place.kind else {
            return;
        };
        self.check_bounds(base);
        let PlaceKind::ArrayIndex(base, index) = &place.kind else {
            return;
        };
        let Ty::Array(_, Some(n)) = base.ty.ty else {
            return;
        };
        let Ok(Const::Int(bits)) = const_eval::evaluate(index) else {
            return;
        };
        let is_negative = index.ty.is_signed() && (bits as i64) < 0;
        if self.mode.unevaluated > 0 || (!is_negative && bits < n) {
            return;
        }
        let text = self.map.snippet(base.span);
        let shown = if is_negative {
            (bits as i64).to_string()
        } else {
            bits.to_string()
        };
        let message = ExprError::IndexOutOfBounds {
            index: shown,
            text: text.to_string(),
            n,
            last: n - 1,
        };
        self.error(place.span, message);
    }
}

/// The type of an array's elements.
fn element_type(place: &Place) -> Option<QualTy> {
    match &place.ty.ty {
        Ty::Array(element, _) => Some(with_qualifiers(element, &place.ty)),
        _ => None,
    }
}

/// `a[i]` of an array place.
fn element(base: Place, index: Value, ty: QualTy, span: Span) -> Place {
    Place::new(
        PlaceKind::ArrayIndex(Box::new(base), Box::new(index)),
        ty,
        span,
    )
}

/// The variable a place is a part of; `None` behind a pointer.
pub(crate) fn root(place: &Place) -> Option<VarRef> {
    match &place.kind {
        PlaceKind::Var(var) => Some(*var),
        PlaceKind::ArrayIndex(base, _) | PlaceKind::Field(base, _) => root(base),
        PlaceKind::Deref(_)
        | PlaceKind::ReadOnly(_)
        | PlaceKind::PointerIndex(..)
        | PlaceKind::Temporary(_) => None,
    }
}

/// The pointer variable a place is behind.
fn pointer_root(place: &Place) -> Option<VarRef> {
    match &place.kind {
        PlaceKind::Deref(pointer)
        | PlaceKind::ReadOnly(pointer)
        | PlaceKind::PointerIndex(pointer, _) => match &pointer.kind {
            ValueKind::Load(place) => root(place),
            _ => None,
        },
        PlaceKind::ArrayIndex(base, _) | PlaceKind::Field(base, _) => pointer_root(base),
        PlaceKind::Var(_) | PlaceKind::Temporary(_) => None,
    }
}

pub(crate) fn is_temporary(place: &Place) -> bool {
    match &place.kind {
        PlaceKind::Temporary(_) => true,
        PlaceKind::ArrayIndex(base, _) | PlaceKind::Field(base, _) => is_temporary(base),
        PlaceKind::Var(_)
        | PlaceKind::Deref(_)
        | PlaceKind::ReadOnly(_)
        | PlaceKind::PointerIndex(..) => false,
    }
}
