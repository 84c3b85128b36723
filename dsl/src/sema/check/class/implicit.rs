//! What the compiler writes for a class whose members copy or assign themselves: the copy of the whole, member by member.
//!
//! A class without such members needs neither: its objects are copied as bytes.

use crate::sema::check::{
    Checker, FunctionEntry, FunctionFacts, ParamFacts, Reported,
    construct::{assign_value, local},
    overload::Argument,
};
use crate::{
    sema::{
        ty::{QualTy, RecordId, Ty},
        typed::{
            Function, FunctionId, FunctionSpace, Init, Place, PlaceKind, Relation, Stmt, StmtKind,
            Value, ValueKind, VarId,
        },
    },
    span::Span,
};

/// What is done with a member: where it is in the new object and in the old one, and what comes of it.
type MemberWriter<'w> = dyn Fn(&mut Checker<'_>, Place, Place, Span, &mut Vec<Stmt>) + 'w;

impl Checker<'_> {
    /// The constructor that copies an object of the class.
    pub(crate) fn implicit_copy(&mut self, class: RecordId, span: Span) -> FunctionId {
        let name = self.tables.record(class).name.clone();
        let (id, params) = self.implicit_function(class, format!("{name}::{name}"), span);
        if let Some(facts) = self.tables.classes.get_mut(&class) {
            facts.copy = Some(id);
        }
        self.write_members(id, class, params, span, &|checker, to, from, span, out| {
            checker.copy_member(to, from, span, out);
        });
        id
    }

    /// `object = value` where members have their own `=`.
    pub(crate) fn assign_members(
        &mut self,
        class: RecordId,
        place: Place,
        value: Value,
        span: Span,
    ) -> Result<Value, Reported> {
        let written = self
            .tables
            .classes
            .get(&class)
            .and_then(|facts| facts.assign);
        let id = written.unwrap_or_else(|| self.implicit_assign(class, span));
        let object = crate::sema::check::method::place_value(place);
        let name = self.tables.functions[id].typed.name.clone();
        let args = vec![Argument::Value(value)];
        let called = self.call_member(Some(object), &[id], &name, span, args, span)?;
        Ok(self.read_checked(called))
    }

    fn implicit_assign(&mut self, class: RecordId, span: Span) -> FunctionId {
        let name = self.tables.record(class).name.clone();
        let (id, params) = self.implicit_function(class, format!("{name}::operator="), span);
        if let Some(facts) = self.tables.classes.get_mut(&class) {
            facts.assign = Some(id);
        }
        self.write_members(id, class, params, span, &|checker, to, from, span, out| {
            checker.assign_member(to, from, span, out);
        });
        id
    }

    fn implicit_function(
        &mut self,
        class: RecordId,
        name: String,
        span: Span,
    ) -> (FunctionId, Vec<ParamFacts>) {
        let declared = self.tables.record(class).span.unwrap_or(span);
        let typed = Function {
            name,
            space: FunctionSpace::HostDevice,
            span: declared,
            ..Function::default()
        };
        let this = Self::this_param(class, false, declared);
        let other = ParamFacts {
            name: Some("other".into()),
            is_this: false,
            ty: QualTy {
                is_const: true,
                ..this.ty.clone()
            },
            ..this.clone()
        };
        let params = vec![this, other];
        let facts = FunctionFacts {
            params: params.clone(),
            declared,
            class: Some(class),
            has_this: true,
            is_defined: true,
            ..FunctionFacts::default()
        };
        let id = self.tables.functions.push(FunctionEntry { typed, facts });
        (id, params)
    }

    fn write_members(
        &mut self,
        id: FunctionId,
        class: RecordId,
        params: Vec<ParamFacts>,
        span: Span,
        member: &MemberWriter<'_>,
    ) {
        let floor = self.begin_body(id);
        let depth = self.enter_class_scopes(Some(class));
        let mut vars = self.hidden_param(id);
        let other = params[1].clone();
        let from = self.reference_variable("other", other.ty.clone(), other.span);
        vars.push(from);
        let from = local(from, other.ty, span);
        let mut body = Vec::new();
        if let Some(to) = self.this_place(span) {
            for index in 0..self.tables.record(class).fields.len() as u32 {
                let to = self.tables.field_place(to.clone(), index, span);
                let from = self.tables.field_place(from.clone(), index, span);
                member(self, to, from, span, &mut body);
                self.end_temporaries(span, &mut body);
            }
        }
        for _ in 0..depth {
            self.scopes.leave();
        }
        self.end_body(id, floor, vars, body);
    }

    fn copy_member(&mut self, to: Place, from: Place, span: Span, out: &mut Vec<Stmt>) {
        match &to.ty.ty {
            Ty::Array(_, n) => {
                let n = n.unwrap_or(0);
                self.each(n, span, out, &mut |checker, index, out| {
                    let (to, from) = (element(&to, index, span), element(&from, index, span));
                    checker.copy_member(to, from, span, out);
                });
            }
            Ty::Record(_) if self.tables.needs_copy(&to.ty.ty) => {
                let value = crate::sema::check::method::place_value(from);
                self.construct_into(to, vec![Argument::Value(value)], span, out);
            }
            _ => out.push(copy(to, from, span)),
        }
    }

    fn assign_member(&mut self, to: Place, from: Place, span: Span, out: &mut Vec<Stmt>) {
        match to.ty.ty.clone() {
            Ty::Array(_, n) => {
                let n = n.unwrap_or(0);
                self.each(n, span, out, &mut |checker, index, out| {
                    let (to, from) = (element(&to, index, span), element(&from, index, span));
                    checker.assign_member(to, from, span, out);
                });
            }
            Ty::Record(class) => {
                let value = crate::sema::check::method::place_value(from.clone());
                let operands = [
                    crate::sema::check::method::place_value(to.clone()),
                    value.clone(),
                ];
                let value = match self.operator_call("=", &operands, span, span) {
                    Ok(Some(called)) => Ok(self.read_checked(called)),
                    Ok(None) if self.members_assign(&to.ty.ty) => {
                        self.assign_members(class, to, value, span)
                    }
                    Ok(None) => return out.push(copy(to, from, span)),
                    Err(reported) => Err(reported),
                };
                if let Some(value) = self.body_part(value) {
                    out.push(Stmt::new(StmtKind::Expr(value), span));
                }
            }
            _ => out.push(copy(to, from, span)),
        }
    }

    /// `for (i = 0; i < n; i++) body`
    pub(crate) fn each(
        &mut self,
        n: u64,
        span: Span,
        out: &mut Vec<Stmt>,
        body: &mut dyn FnMut(&mut Self, VarId, &mut Vec<Stmt>),
    ) {
        let index = self.unnamed_variable(Ty::Int, "i", span);
        let place = local(index, Ty::Int.into(), span);
        let cond = Value::new(
            ValueKind::Compare(
                Relation::Lt,
                Box::new(crate::sema::check::method::place_value(place.clone())),
                Box::new(crate::sema::check::int(n, Ty::Int, span)),
            ),
            Ty::Bool,
            span,
        );
        let step = Value::new(
            ValueKind::IncDec {
                place: Box::new(place),
                decrement: false,
                prefix: true,
            },
            Ty::Int,
            span,
        );
        let mut inner = Vec::new();
        body(self, index, &mut inner);
        let zero = crate::sema::check::int(0, Ty::Int, span);
        let stmts = vec![
            Stmt::new(StmtKind::Declare(index, Some(Init::Value(zero))), span),
            Stmt::new(
                StmtKind::Loop {
                    cond: Some(cond),
                    test_first: true,
                    body: inner,
                    step: Some(step),
                    unroll: None,
                },
                span,
            ),
        ];
        out.push(Stmt::new(StmtKind::Block(stmts), span));
    }
}

/// The element of an array with the index in a variable.
pub(crate) fn element(array: &Place, index: VarId, span: Span) -> Place {
    let ty = match &array.ty.ty {
        Ty::Array(element, _) => element.as_ref().clone(),
        other => other.clone().into(),
    };
    let index = crate::sema::check::method::place_value(local(index, Ty::Int.into(), span));
    Place::new(
        PlaceKind::ArrayIndex(Box::new(array.clone()), Box::new(index)),
        ty,
        span,
    )
}

/// The same, counted from the end.
pub(crate) fn element_from_end(array: &Place, n: u64, index: VarId, span: Span) -> Place {
    let mut place = element(array, index, span);
    if let PlaceKind::ArrayIndex(_, index) = &mut place.kind {
        let last = crate::sema::check::int(n.saturating_sub(1), Ty::Int, span);
        let back = Value::new(
            ValueKind::Binary(
                crate::sema::typed::Arith::Sub,
                Box::new(last),
                index.clone(),
            ),
            Ty::Int,
            span,
        );
        **index = back;
    }
    place
}

fn copy(to: Place, from: Place, span: Span) -> Stmt {
    let value = crate::sema::check::method::place_value(from);
    Stmt::new(StmtKind::Expr(assign_value(to, value, span)), span)
}
