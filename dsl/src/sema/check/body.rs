//! The function whose body is being checked: its variables, and what is open at the place that the check has come to.

use std::sync::Arc;

use super::{label, lambda, tables::VarEntry};
use crate::{
    arena::Arena,
    sema::{
        ty::RecordId,
        typed::{FunctionId, FunctionSpace, VarId},
    },
};

/// The function being checked.
#[derive(Default)]
pub(super) struct Body {
    pub(super) id: Option<FunctionId>,
    pub(super) space: Option<FunctionSpace>,
    pub(super) vars: Arena<VarId, VarEntry>,
    pub(super) flow: Flow,
    pub(super) labels: Labels,
    /// The class it is a member of.
    pub(super) class: Option<RecordId>,
    /// The object, in a member function.
    pub(super) this: Option<VarId>,
    /// What a lambda captures.
    pub(super) lambda: Option<lambda::Captures>,
    /// The result's type is that of the first `return`.
    pub(super) deduces: bool,
    /// The variable that is the result itself (see [`named_result`]).
    pub(super) named_result: Option<Arc<str>>,
    /// Where its scopes begin.
    pub(super) floor: usize,
}

/// What control may leave here.
#[derive(Default)]
pub(super) struct Flow {
    pub(super) loops: u32,
    pub(super) switches: u32,
    /// The objects with destructors of each open block.
    pub(super) cleanups: Vec<Vec<VarId>>,
    /// Objects without a name that the full expression being checked has made, and that end with it.
    pub(super) temporaries: Vec<VarId>,
    /// How many blocks are open around the body of each open loop or switch, and whether it is a loop.
    pub(super) exits: Vec<(usize, bool)>,
}

/// The labels of the function.
#[derive(Default)]
pub(super) struct Labels {
    /// Those further down in the open blocks.
    pub(super) ahead: Vec<label::Label>,
    /// The names of those that have been passed.
    pub(super) passed: Vec<Arc<str>>,
    /// How many there have been.
    pub(super) n_made: u32,
}
