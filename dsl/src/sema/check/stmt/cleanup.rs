//! Destructors: what runs when the block of an object ends, however it is left.
//!
//! Each open block has a list of its objects. Its end, a `return`, a `break` or a `continue` destroys those of the blocks that
//! are left, the youngest first; a returned value is computed before.
//!
//! A value of a class belongs to whoever takes it: the variable, member or parameter that it begins, or the caller it is returned
//! to. A value whose place is asked for instead (a member function's object, an argument for a reference) becomes a temporary
//! variable, which is destroyed when the full expression ends.

use crate::sema::check::{
    Checked, Checker, Reported,
    construct::{assign_value, comma, local},
};
use crate::{
    sema::{
        classify::pointer_to,
        ty::{QualTy, Ty},
        typed::{Init, Place, PlaceKind, Stmt, StmtKind, Value, ValueKind, VarId, VarRef},
    },
    span::Span,
};

impl Checker<'_> {
    pub(crate) fn cleanups_enter(&mut self) {
        self.body.flow.cleanups.push(Vec::new());
    }

    /// The block ends here, unless its last statement has left it already.
    pub(crate) fn cleanups_leave(&mut self, out: &mut Vec<Stmt>, span: Span) {
        let objects = self.body.flow.cleanups.pop().unwrap_or_default();
        if !objects.is_empty() && crate::sema::check::stmt::falls_through(out) {
            self.destroy_all(&objects, span, out);
        }
    }

    /// The variable is destroyed when its block ends.
    pub(crate) fn note_object(&mut self, var: VarId) {
        let ty = self.body.vars[var].typed.ty.ty.clone();
        if !self.tables.has_destructor(&ty) {
            return;
        }
        if let Some(block) = self.body.flow.cleanups.last_mut() {
            block.push(var);
        }
    }

    /// Destroys the objects of the blocks from `depth` on, but for one that is returned.
    pub(crate) fn destroy_from(
        &mut self,
        depth: usize,
        returned: Option<VarId>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let mut blocks: Vec<Vec<VarId>> = self
            .body
            .flow
            .cleanups
            .get(depth..)
            .unwrap_or_default()
            .to_vec();
        for objects in blocks.iter_mut().rev() {
            objects.retain(|&var| Some(var) != returned);
            self.destroy_all(objects, span, out);
        }
    }

    /// Whether leaving the function destroys anything.
    pub(crate) fn has_cleanups(&self) -> bool {
        self.body
            .flow
            .cleanups
            .iter()
            .any(|block| !block.is_empty())
    }

    /// The value is an object of its own, which nobody else will destroy.
    pub(crate) fn is_unowned(&self, value: &Value) -> bool {
        self.tables.has_destructor(&value.ty) && is_prvalue(value)
    }

    /// Makes a temporary of an object that is only a value.
    pub(crate) fn temporary_place(&mut self, value: Value) -> Place {
        let (ty, span) = (value.ty.clone(), value.span);
        if self.body.id.is_none() {
            self.unsupported("a temporary object with a destructor at file scope", span);
        }
        // What a constructor has made is in a variable already.
        let (var, first) = match value.kind {
            ValueKind::Comma(first, object) if self.made_variable(&object).is_some() => {
                let made = self.made_variable(&object);
                (made.unwrap_or(VarId(0)), *first)
            }
            kind => {
                let var = self.unnamed_variable(ty.clone(), "temporary", span);
                let place = local(var, ty.clone().into(), span);
                (var, assign_value(place, Value { kind, ..value }, span))
            }
        };
        let place = local(var, ty.clone().into(), span);
        self.take_address(&place);
        if self.mode.unevaluated == 0 {
            self.body.flow.temporaries.push(var);
        }
        let address = Value::new(
            ValueKind::AddressOf(Box::new(place)),
            pointer_to(ty.clone().into()),
            span,
        );
        Place::new(
            PlaceKind::Deref(Box::new(comma(first, address))),
            ty.into(),
            span,
        )
    }

    fn made_variable(&self, object: &Value) -> Option<VarId> {
        match &object.kind {
            ValueKind::Load(place) => match place.kind {
                PlaceKind::Var(VarRef::Local(var))
                    if self.body.vars[var].typed.name == "temporary" =>
                {
                    Some(var)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A value nobody uses: an object is destroyed all the same.
    pub(crate) fn discarded(&mut self, value: Value) -> Value {
        if !self.is_unowned(&value) {
            return value;
        }
        let place = self.temporary_place(value);
        crate::sema::check::method::place_value(place)
    }

    /// Destroys the temporaries of a statement that ends here.
    pub(crate) fn end_temporaries(&mut self, span: Span, out: &mut Vec<Stmt>) {
        let temporaries = std::mem::take(&mut self.body.flow.temporaries);
        if !temporaries.is_empty() && crate::sema::check::stmt::falls_through(out) {
            self.destroy_all(&temporaries, span, out);
        }
    }

    /// The value, after which the temporaries made since there were `mark` of them are destroyed.
    pub(crate) fn ended(&mut self, mark: usize, value: Value) -> Result<Value, Reported> {
        if self.body.flow.temporaries.len() <= mark {
            return Ok(value);
        }
        let temporaries = self.body.flow.temporaries.split_off(mark);
        let (ty, span) = (value.ty.clone(), value.span);
        if matches!(ty, Ty::Pointer(_)) || (self.tables.needs_copy(&ty) && !is_prvalue(&value)) {
            return Err(self.unsupported("a temporary object with a destructor here", span));
        }
        let mut stmts = Vec::new();
        self.destroy_all(&temporaries, span, &mut stmts);
        let ends = self.as_values(stmts, span);
        if ty == Ty::Void {
            return Ok(ends.into_iter().fold(value, comma));
        }
        let var = self.unnamed_variable(ty.clone(), "value", span);
        let place = local(var, ty.into(), span);
        let kept = assign_value(place.clone(), value, span);
        let ended = ends.into_iter().fold(kept, comma);
        Ok(comma(ended, crate::sema::check::method::place_value(place)))
    }

    /// Calls of destructors inside an expression.
    pub(crate) fn as_values(&mut self, stmts: Vec<Stmt>, span: Span) -> Vec<Value> {
        let mut values = Vec::new();
        for stmt in stmts {
            match stmt.kind {
                StmtKind::Expr(value) => values.push(value),
                _ => {
                    self.unsupported(
                        "a temporary with an array of objects with destructors",
                        span,
                    );
                }
            }
        }
        values
    }

    /// A value that is returned past destructors, kept in a variable.
    pub(crate) fn kept(&mut self, value: Value, out: &mut Vec<Stmt>) -> Value {
        let span = value.span;
        let ty = value.ty.clone();
        let var = self.unnamed_variable(ty.clone(), "result", span);
        out.push(Stmt::new(
            StmtKind::Declare(var, Some(Init::Value(value))),
            span,
        ));
        Value::load(local(var, ty.into(), span), span)
    }

    fn destroy_all(&mut self, objects: &[VarId], span: Span, out: &mut Vec<Stmt>) {
        for &var in objects.iter().rev() {
            let ty = self.body.vars[var].typed.ty.clone();
            let place = local(
                var,
                QualTy {
                    is_const: false,
                    ..ty
                },
                span,
            );
            self.destroy(place, span, out);
        }
    }

    /// Ends an object: its destructor, or those of its members.
    pub(crate) fn destroy(&mut self, place: Place, span: Span, out: &mut Vec<Stmt>) {
        if let Ty::Array(_, n) = place.ty.ty {
            let n = n.unwrap_or(0);
            return self.each(n, span, out, &mut |checker, index, out| {
                let element =
                    crate::sema::check::implicit::element_from_end(&place, n, index, span);
                checker.destroy(element, span, out);
            });
        }
        let Ty::Record(class) = place.ty.ty else {
            return;
        };
        let destructor = self
            .tables
            .classes
            .get(&class)
            .and_then(|facts| facts.destructor);
        let Some(id) = destructor else {
            return self.destroy_members(place, span, out);
        };
        let name = self.tables.functions[id].typed.name.clone();
        let object = crate::sema::check::method::place_value(place);
        let called = self.call_member(Some(object), &[id], &name, span, Vec::new(), span);
        if let Some(Checked::Value(value)) = self.body_part(called) {
            out.push(Stmt::new(StmtKind::Expr(value), span));
        }
    }

    /// What a destructor does after its own code.
    pub(crate) fn destroy_members(&mut self, place: Place, span: Span, out: &mut Vec<Stmt>) {
        let Ty::Record(class) = place.ty.ty else {
            return;
        };
        let n = self.tables.record(class).fields.len() as u32;
        for index in (0..n).rev() {
            let member = self.tables.field_place(place.clone(), index, span);
            if !self.tables.has_destructor(&member.ty.ty) {
                continue;
            }
            self.destroy(member, span, out);
        }
    }
}

/// The value is no place's: it is made here.
pub(crate) fn is_prvalue(value: &Value) -> bool {
    match &value.kind {
        ValueKind::Load(place) => crate::sema::check::access::is_temporary(place),
        ValueKind::Conditional(_, yes, no) => is_prvalue(yes) || is_prvalue(no),
        ValueKind::Assign(..) => false,
        _ => true,
    }
}
