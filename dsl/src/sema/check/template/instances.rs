//! Templates and their instances.

use crate::sema::check::{Checker, template};
use std::{collections::HashMap, sync::Arc};

use super::{Bound, ClassInstance, Instance, LazyBody, TemplateFacts, TreeList, limit::Limit};
use crate::arena::Arena;
use crate::{
    sema::{
        scope::{Blocks, Callable, TemplateId},
        ty::RecordId,
        typed::FunctionId,
    },
    syntax::ast::{self, DeclaratorPart, TemplateKind},
};
use ir::span::Span;

/// The templates, their instances, and the instances that are still needed.
pub(crate) struct Instances<'a> {
    pub(crate) templates: Arena<TemplateId, TemplateFacts<'a>>,
    /// Where to store the next template that belongs to an instance of a class.
    pub(crate) kept: &'a TreeList,
    pub(crate) functions: HashMap<FunctionId, Instance>,
    pub(crate) classes: HashMap<RecordId, ClassInstance>,
    /// Instances of functions that are used and whose bodies are still to be checked.
    pub(crate) needed: Vec<FunctionId>,
    /// Member functions of classes' instances that no checked code has called yet.
    pub(crate) lazy: HashMap<FunctionId, LazyBody>,
    /// The depth of instances of classes that are being made inside one another.
    pub(crate) class_depth: u32,
    /// The parameters of the class's instance that is being made.
    pub(crate) class_params: Bound,
    /// Instances that the caller asked for.
    pub(crate) requested: Vec<(Span, FunctionId)>,
    /// Whether the parameters being declared are visible in later types: `decltype(x)`.
    pub(crate) names_params: bool,
    /// How many instances are allowed.
    pub(crate) limit: Limit,
    /// The arguments that a survey chose for instances.
    pub(crate) made_up: HashMap<FunctionId, String>,
}

impl<'a> Instances<'a> {
    pub(crate) fn new(kept: &'a TreeList) -> Instances<'a> {
        Instances {
            templates: Arena::new(),
            kept,
            functions: HashMap::new(),
            classes: HashMap::new(),
            needed: Vec::new(),
            lazy: HashMap::new(),
            class_depth: 0,
            class_params: Vec::new(),
            requested: Vec::new(),
            names_params: false,
            limit: Limit::default(),
            made_up: HashMap::new(),
        }
    }

    /// Where a template is declared.
    pub(crate) fn template_span(&self, id: TemplateId) -> Span {
        self.templates[id].span
    }

    /// The class whose member templates these are.
    pub(crate) fn class_of_templates(&self, set: &[Callable]) -> Option<RecordId> {
        set.iter().find_map(|callable| match callable {
            Callable::Template(id) => self.templates[*id].class,
            _ => None,
        })
    }

    /// Whether it is a variable template.
    pub(crate) fn is_variable(&self, id: TemplateId) -> bool {
        let item = self.templates[id].item;
        match item {
            ast::Item::Declaration(declaration) => {
                template::record_of(item).is_none()
                    && declaration
                        .specifiers
                        .word(ast::SpecifierWord::Typedef)
                        .is_none()
            }
            _ => false,
        }
    }

    /// Decides between candidates that fit equally well: a plain function before a template, then the more specialised one.
    pub(crate) fn specificity(&self, id: FunctionId) -> u32 {
        let Some(instance) = self.functions.get(&id) else {
            return 1000;
        };
        let facts = &self.templates[instance.template];
        let ast::Item::Function(function) = facts.item else {
            return 0;
        };
        let names: Vec<&str> = facts
            .params
            .iter()
            .filter_map(|param| Some(&*param.name.as_ref()?.node))
            .collect();
        let has_pack = function.params.iter().any(|param| param.is_pack);
        let fixed = function.params.iter().filter(|param| !param.is_pack);
        let sum: u32 = fixed
            .map(|param| {
                let parts = param.declarator.parts.iter();
                let parts = parts.filter(|part| {
                    !matches!(
                        part,
                        DeclaratorPart::Reference(_) | DeclaratorPart::RvalueReference(_)
                    )
                });
                let base = match &param.specifiers.ty.node {
                    ast::TypeSpecifier::Named(name) if names.contains(&&**name) => 0,
                    ast::TypeSpecifier::Path(_) => 4,
                    _ => 8,
                };
                2 * parts.count() as u32 + base + u32::from(param.specifiers.is_const)
            })
            .sum();
        // A template with a fixed number of parameters comes before one with a pack.
        2 * sum + u32::from(!has_pack)
    }

    /// The name in the definition of the template that a function is an instance of.
    pub(crate) fn defined_at(&self, id: FunctionId) -> Option<Span> {
        let instance = self.functions.get(&id)?;
        let (_, function) = self.templates[instance.template].definition?;
        Some(function.name.span)
    }

    pub(crate) fn template_facts(&mut self, id: TemplateId) -> &mut TemplateFacts<'a> {
        &mut self.templates[id]
    }
}

/// The template of a generic lambda's code, in these blocks.
pub(crate) fn of_lambda(
    cx: &mut Checker<'_>,
    class: RecordId,
    params: Vec<ast::TemplateParam>,
    function: ast::Function,
    blocks: Blocks,
) -> TemplateId {
    let span = function.span;
    let template = ast::Template {
        kind: TemplateKind::Generic(params),
        item: ast::Item::Function(function),
        span,
    };
    let template = keep(&mut cx.instances, &template);
    let params = match &template.kind {
        TemplateKind::Generic(params) => &params[..],
        TemplateKind::Specialisation | TemplateKind::Instantiation => &[],
    };
    let namespace = cx.scopes.namespace();
    cx.instances.templates.push(TemplateFacts {
        class: Some(class),
        blocks: Some(Arc::new(blocks)),
        ..TemplateFacts::new("lambda".into(), span, params, &template.item, namespace)
    })
}

/// Stores a template that belongs to an instance of a class for as long as the checker runs.
pub(super) fn keep<'a>(
    instances: &mut Instances<'a>,
    template: &ast::Template,
) -> &'a ast::Template {
    let node = instances.kept;
    let kept = node.template.get_or_init(|| template.clone());
    instances.kept = node.next.get_or_init(Box::default);
    kept
}
