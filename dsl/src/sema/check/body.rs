//! The function whose body is being checked: its variables, and what is open at the current place. Begins and ends bodies.

use std::sync::Arc;

use super::{Checker, Tables, VarFacts, label, lambda, reference, tables::VarEntry};
use crate::arena::Arena;
use crate::sema::{
    ty::RecordId,
    typed::{FunctionId, FunctionSpace, Place, PlaceKind, Stmt, Var, VarId, VarRef},
};
use ir::span::Span;

/// A place that depends on an invalid declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unknown {
    /// Where it is.
    pub at: Span,
    /// The name in the declaration, if it is known.
    pub declared: Option<Span>,
}

/// The function being checked.
#[derive(Default)]
pub(crate) struct Body {
    pub(crate) id: Option<FunctionId>,
    /// The value of `__func__`: the name without scopes and template arguments.
    pub(crate) name: Arc<str>,
    pub(crate) space: Option<FunctionSpace>,
    pub(crate) vars: Arena<VarId, VarEntry>,
    pub(crate) flow: Flow,
    pub(crate) labels: Labels,
    /// The class it is a member of.
    pub(crate) class: Option<RecordId>,
    /// The object, in a member function.
    pub(crate) this: Option<VarId>,
    /// The variables that it captures, if it is a lambda.
    pub(crate) lambda: Option<lambda::Captures>,
    /// Whether the result's type is that of the first `return`.
    pub(crate) deduces: bool,
    /// The variable that is constructed in place of the result (see [`named_result`]).
    pub(crate) named_result: Option<Arc<str>>,
    /// Whether a part of the body is invalid and left out.
    pub(crate) is_incomplete: bool,
    /// The first place that depends on an invalid declaration.
    pub(crate) first_unknown: Option<Unknown>,
    /// The index of its first scope.
    pub(crate) floor: usize,
}

impl Body {
    pub(crate) fn add_var(&mut self, var: Var) -> VarId {
        self.vars.push(VarEntry {
            typed: var,
            facts: VarFacts::default(),
        })
    }

    /// Whether it may run on the device.
    pub(crate) fn may_be_device(&self) -> bool {
        !matches!(self.space, Some(FunctionSpace::Host) | None)
    }

    /// The object that it is called on.
    pub(crate) fn this_place(&self, span: Span) -> Option<Place> {
        let this = self.this?;
        let ty = self.vars[this].typed.ty.clone();
        Some(Place::new(PlaceKind::Var(VarRef::Local(this)), ty, span))
    }
}

/// What is left when control leaves the current place.
#[derive(Default)]
pub(crate) struct Flow {
    pub(crate) loops: u32,
    pub(crate) switches: u32,
    /// The objects with destructors of each open block.
    pub(crate) cleanups: Vec<Vec<VarId>>,
    /// Unnamed objects made by the full expression being checked, which end with it.
    pub(crate) temporaries: Vec<VarId>,
    /// How many blocks are open around the body of each open loop or switch, and whether it is a loop.
    pub(crate) exits: Vec<(usize, bool)>,
}

/// The labels of the function.
#[derive(Default)]
pub(crate) struct Labels {
    /// Labels that follow in the open blocks.
    pub(crate) ahead: Vec<label::Label>,
    /// The names of labels that have been passed.
    pub(crate) passed: Vec<Arc<str>>,
    /// The number of labels so far.
    pub(crate) n_made: u32,
}

impl Checker<'_> {
    /// Begins a function's body: its variables, its scopes. Returns what [`Checker::end_body`] needs.
    pub(crate) fn begin_body(&mut self, id: FunctionId) -> usize {
        let facts = &self.tables.functions[id].facts;
        let class = facts.class;
        let floor = self.scopes.raise_floor();
        let outer = std::mem::replace(
            &mut self.body,
            Body {
                id: Some(id),
                space: Some(self.tables.functions[id].typed.space),
                class,
                floor: self.scopes.floor(),
                lambda: lambda::of_instance(&self.tables, class),
                ..Body::default()
            },
        );
        self.outer_bodies.push(outer);
        floor
    }

    /// Stores a function's body.
    pub(crate) fn end_body(
        &mut self,
        id: FunctionId,
        floor: usize,
        params: Vec<VarId>,
        body: Vec<Stmt>,
    ) {
        self.scopes.set_floor(floor);
        if !self.body.flow.temporaries.is_empty() {
            let span = self.tables.functions[id].typed.span;
            self.unsupported(
                "a temporary object with a destructor in this function",
                span,
            );
        }
        let outer = self.outer_bodies.pop().unwrap_or_default();
        let done = std::mem::replace(&mut self.body, outer);
        let facts = &mut self.tables.functions[id].facts;
        facts.is_incomplete = done.is_incomplete;
        facts.first_unknown = done.first_unknown;
        let typed = &mut self.tables.functions[id].typed;
        typed.params = params;
        typed.vars = done.vars.into_iter().map(|var| var.typed).collect();
        typed.body = Some(body);
    }
}

/// The object's parameter, if the function has one.
pub(crate) fn hidden_param(tables: &Tables, body: &mut Body, id: FunctionId) -> Vec<VarId> {
    let facts = &tables.functions[id].facts;
    if !facts.has_this {
        return Vec::new();
    }
    let (ty, span) = (facts.params[0].ty.clone(), facts.params[0].span);
    let this = reference::variable(tables, body, "this", ty, span);
    body.this = Some(this);
    vec![this]
}
