//! Destructors: what runs when the block of an object ends, however it is left.
//!
//! Each open block has a list of its objects. Its end, a `return`, a `break` or a `continue` destroys those of the blocks that
//! are left, the youngest first; a returned value is computed before.

use super::{Checked, Checker, construct::local};
use crate::{
    sema::{
        ty::{QualTy, Ty},
        typed::{Init, Place, Stmt, StmtKind, Value, ValueKind, VarId},
    },
    span::Span,
};

impl Checker<'_> {
    pub(super) fn cleanups_enter(&mut self) {
        self.body.cleanups.push(Vec::new());
    }

    /// The block ends here, unless its last statement has left it already.
    pub(super) fn cleanups_leave(&mut self, out: &mut Vec<Stmt>, span: Span) {
        let objects = self.body.cleanups.pop().unwrap_or_default();
        if !objects.is_empty() && super::stmt::falls_through(out) {
            self.destroy_all(&objects, span, out);
        }
    }

    /// The variable is destroyed when its block ends.
    pub(super) fn note_object(&mut self, var: VarId, span: Span) {
        let ty = self.body.vars[var.0 as usize].ty.ty.clone();
        if !self.has_destructor(&ty) {
            return;
        }
        if matches!(ty, Ty::Array(..)) {
            return self.unsupported("an array of objects with destructors", span);
        }
        if let Some(block) = self.body.cleanups.last_mut() {
            block.push(var);
        }
    }

    /// Destroys the objects of the blocks from `depth` on.
    pub(super) fn destroy_from(&mut self, depth: usize, span: Span, out: &mut Vec<Stmt>) {
        let blocks: Vec<Vec<VarId>> = self.body.cleanups.get(depth..).unwrap_or_default().to_vec();
        for objects in blocks.iter().rev() {
            self.destroy_all(objects, span, out);
        }
    }

    /// Whether leaving the function destroys anything.
    pub(super) fn has_cleanups(&self) -> bool {
        self.body.cleanups.iter().any(|block| !block.is_empty())
    }

    /// A value that is returned past destructors, kept in a variable.
    pub(super) fn kept(&mut self, value: Value, out: &mut Vec<Stmt>) -> Value {
        let span = value.span;
        let ty = value.ty.clone();
        let var = self.unnamed_variable(ty.clone(), "result", span);
        out.push(Stmt {
            kind: StmtKind::Declare(var, Some(Init::Value(value))),
            span,
        });
        Value {
            kind: ValueKind::Load(Box::new(local(var, ty.clone().into(), span))),
            ty,
            span,
        }
    }

    fn destroy_all(&mut self, objects: &[VarId], span: Span, out: &mut Vec<Stmt>) {
        for &var in objects.iter().rev() {
            let ty = self.body.vars[var.0 as usize].ty.clone();
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
    fn destroy(&mut self, place: Place, span: Span, out: &mut Vec<Stmt>) {
        let Ty::Record(class) = place.ty.ty else {
            return;
        };
        let destructor = self.classes.get(&class).and_then(|facts| facts.destructor);
        let Some(id) = destructor else {
            return self.destroy_members(place, span, out);
        };
        let name = self.functions[id.0 as usize].name.clone();
        let object = super::method::place_value(place);
        if let Checked::Value(value) =
            self.call_member(Some(object), &[id], &name, span, Vec::new(), span)
            && value.ty != Ty::Error
        {
            out.push(Stmt {
                kind: StmtKind::Expr(value),
                span,
            });
        }
    }

    /// What a destructor does after its own code.
    pub(super) fn destroy_members(&mut self, place: Place, span: Span, out: &mut Vec<Stmt>) {
        let Ty::Record(class) = place.ty.ty else {
            return;
        };
        let n = self.record(class).fields.len() as u32;
        for index in (0..n).rev() {
            let member = self.field_place(place.clone(), index, span);
            if !self.has_destructor(&member.ty.ty) {
                continue;
            }
            if matches!(member.ty.ty, Ty::Array(..)) {
                self.unsupported("an array of objects with destructors", span);
                continue;
            }
            self.destroy(member, span, out);
        }
    }
}
