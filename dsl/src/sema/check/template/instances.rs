//! Templates and what has been made of them.

use std::collections::HashMap;

use super::{Bound, ClassInstance, Instance, Kept, LazyBody, TemplateFacts};
use crate::{
    arena::Arena,
    sema::{scope::TemplateId, ty::RecordId, typed::FunctionId},
    span::Span,
};

/// Templates: which there are, what has been made of them, what is still needed.
pub(crate) struct Instances<'a> {
    pub(crate) templates: Arena<TemplateId, TemplateFacts<'a>>,
    /// Where the next template goes that belongs to an instance of a class.
    pub(crate) kept: &'a Kept,
    pub(crate) functions: HashMap<FunctionId, Instance>,
    pub(crate) classes: HashMap<RecordId, ClassInstance>,
    /// Instances of functions that are used and whose bodies are still to be checked.
    pub(crate) needed: Vec<FunctionId>,
    /// Member functions of classes' instances that nobody has called yet.
    pub(crate) lazy: HashMap<FunctionId, LazyBody>,
    /// How many functions' calls have been followed to those.
    pub(crate) n_followed: usize,
    /// How many instances of classes are being made inside one another.
    pub(crate) class_depth: u32,
    /// The parameters of the class's instance that is made next.
    pub(crate) class_params: Bound,
    /// Instances that the caller asked for.
    pub(crate) requested: Vec<(Span, FunctionId)>,
    /// Arguments of instances that a survey made up.
    pub(crate) made_up: HashMap<FunctionId, String>,
}

impl<'a> Instances<'a> {
    pub(crate) fn new(kept: &'a Kept) -> Instances<'a> {
        Instances {
            templates: Arena::new(),
            kept,
            functions: HashMap::new(),
            classes: HashMap::new(),
            needed: Vec::new(),
            lazy: HashMap::new(),
            n_followed: 0,
            class_depth: 0,
            class_params: Vec::new(),
            requested: Vec::new(),
            made_up: HashMap::new(),
        }
    }
}
