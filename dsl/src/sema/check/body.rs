//! The function whose body is being checked: its variables, and what is open at the place that the check has come to.

use std::sync::Arc;

use super::{label, lambda, tables::VarEntry};
use crate::{
    arena::Arena,
    sema::{
        ty::RecordId,
        typed::{FunctionId, FunctionSpace, VarId},
    },
    span::Span,
};

/// The function being checked.
#[derive(Default)]
pub(crate) struct Body {
    pub(crate) id: Option<FunctionId>,
    pub(crate) space: Option<FunctionSpace>,
    pub(crate) vars: Arena<VarId, VarEntry>,
    pub(crate) flow: Flow,
    pub(crate) labels: Labels,
    /// The class it is a member of.
    pub(crate) class: Option<RecordId>,
    /// The object, in a member function.
    pub(crate) this: Option<VarId>,
    /// What a lambda captures.
    pub(crate) lambda: Option<lambda::Captures>,
    /// The result's type is that of the first `return`.
    pub(crate) deduces: bool,
    /// The variable that is the result itself (see [`named_result`]).
    pub(crate) named_result: Option<Arc<str>>,
    /// A part of it is wrong and left out.
    pub(crate) is_incomplete: bool,
    /// The first place that depends on a declaration that is not understood.
    pub(crate) first_unknown: Option<Span>,
    /// Where its scopes begin.
    pub(crate) floor: usize,
}

/// What control may leave here.
#[derive(Default)]
pub(crate) struct Flow {
    pub(crate) loops: u32,
    pub(crate) switches: u32,
    /// The objects with destructors of each open block.
    pub(crate) cleanups: Vec<Vec<VarId>>,
    /// Objects without a name that the full expression being checked has made, and that end with it.
    pub(crate) temporaries: Vec<VarId>,
    /// How many blocks are open around the body of each open loop or switch, and whether it is a loop.
    pub(crate) exits: Vec<(usize, bool)>,
}

/// The labels of the function.
#[derive(Default)]
pub(crate) struct Labels {
    /// Those further down in the open blocks.
    pub(crate) ahead: Vec<label::Label>,
    /// The names of those that have been passed.
    pub(crate) passed: Vec<Arc<str>>,
    /// How many there have been.
    pub(crate) n_made: u32,
}
