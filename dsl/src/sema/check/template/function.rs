//! Templates of functions: their instances, when bodies are checked, and which instance a message is about.

use crate::sema::message::template::TemplateError;
use crate::sema::path;
use std::sync::Arc;

use super::super::{
    Checker, FunctionEntry, all, function::reference_part, overload::Argument, pack, survey,
};
use super::{Arg, Bound, INSTANCE, Instance, MAX_DEPTH, SHOWN, attempt::Misfit, shortened};
use crate::{
    sema::{
        scope::{Entity, TemplateId},
        ty::Ty,
        typed::{FunctionId, FunctionSpace, Value, ValueKind},
    },
    span::Span,
    stack,
    syntax::ast,
};

impl<'a> Checker<'a> {
    /// The function that a template is with these arguments, declared only; an error if its signature makes no sense then.
    pub(crate) fn declare_instance(
        &mut self,
        id: TemplateId,
        args: Vec<Arg>,
        at: Span,
    ) -> Result<FunctionId, Box<Misfit>> {
        let facts = &self.instances.templates[id];
        if let Some(&known) = facts.functions.get(&args) {
            return Ok(known);
        }
        let ast::Item::Function(function) = facts.item else {
            return Err(Box::default());
        };
        let depth = self.depth_of(self.body.id) + 1;
        let name = facts.name.clone();
        let shown = format!("{}{}", name, self.show_args(&args));
        if depth > MAX_DEPTH {
            if self
                .reporter
                .reported_once
                .insert((None, format!("template depth {name}")))
            {
                self.error(
                    at,
                    TemplateError::InstanceDepth {
                        most: MAX_DEPTH,
                        last: shortened(&shown).to_string(),
                        declared: self.instances.templates[id].span,
                    },
                );
            }
            return Err(Box::default());
        }
        let bound = Self::bindings(facts.params, &args);
        let outer = std::mem::take(&mut self.body);
        let class = facts.class;
        let declared = self.attempt(|checker| {
            checker.bound(id, &bound, |checker| match class {
                Some(class) => checker.new_method(class, function, &shown),
                None => checker.new_function(function, &shown),
            })
        });
        self.body = outer;
        let declared = declared.map_err(Misfit::of)?;
        self.instances.functions.insert(
            declared,
            Instance {
                template: id,
                args: args.clone(),
                needed: (self.body.id, at),
                depth,
                is_special: false,
                is_queued: false,
            },
        );
        self.instances.templates[id]
            .functions
            .insert(args, declared);
        Ok(declared)
    }

    /// The parameters of a kernel template that has no instance.
    pub(crate) fn unused_kernel(&self, id: TemplateId) -> Option<&'a [ast::TemplateParam]> {
        let facts = &self.instances.templates[id];
        let ast::Item::Function(function) = facts.item else {
            return None;
        };
        let is_used = |id: &FunctionId| {
            let instance = self.instances.functions.get(id);
            instance.is_some_and(|instance| instance.is_queued)
        };
        let is_unused = !facts.functions.values().any(is_used) && survey::is_kernel(function);
        (is_unused && facts.definition.is_some()).then_some(facts.params)
    }

    /// Makes the instance with these arguments, and asks for its body.
    pub(crate) fn instantiate_with(
        &mut self,
        id: TemplateId,
        params: &'a [ast::TemplateParam],
        known: Vec<Option<Arg>>,
    ) -> Option<FunctionId> {
        let args = self
            .attempt(|checker| checker.complete_args(id, params, known).ok())
            .ok()?;
        let span = self.instances.templates[id].span;
        let shown = self.show_args(&args);
        let function = self.declare_instance(id, args, span).ok()?;
        self.instances.made_up.insert(function, shown);
        self.need(function);
        Some(function)
    }

    /// The template that a function or its class is an instance of, with what stands for its parameters and the members of the
    /// class.
    pub(crate) fn bindings_of(&self, id: FunctionId) -> Option<(TemplateId, Bound)> {
        if let Some(instance) = self.instances.functions.get(&id) {
            let params = self.instances.templates[instance.template].params;
            return Some((instance.template, Self::bindings(params, &instance.args)));
        }
        let class = self.tables.functions[id].facts.class?;
        let instance = self.instances.classes.get(&class)?;
        Some((instance.template, instance.bound.clone()))
    }

    /// Whether it was said of a template of this name that it needs itself without end.
    pub(crate) fn is_endless(&self, name: &str) -> bool {
        self.reporter
            .reported_once
            .contains(&(None, format!("template depth {name}")))
    }

    pub(crate) fn depth_of(&self, function: Option<FunctionId>) -> u32 {
        let Some(id) = function else { return 0 };
        if let Some(instance) = self.instances.functions.get(&id) {
            return instance.depth;
        }
        let class = self.tables.functions[id].facts.class;
        class
            .and_then(|class| self.instances.classes.get(&class))
            .map_or(0, |instance| instance.depth)
    }

    /// An instance or a member of one is used: its body will be checked.
    pub(crate) fn need(&mut self, id: FunctionId) {
        if let Some(instance) = self.instances.functions.get_mut(&id)
            && !instance.is_queued
        {
            instance.is_queued = true;
            self.instances.needed.push(id);
            let template = instance.template;
            let is_auto = matches!(
                &self.instances.templates[template].item,
                ast::Item::Function(function)
                    if matches!(function.specifiers.ty.node, ast::TypeSpecifier::Auto)
            );
            if is_auto {
                // Its type is needed now.
                self.instances.needed.pop();
                self.check_instance(id);
            }
        }
    }

    /// Checks the body of an instance, or of a member of one, before its turn.
    pub(crate) fn check_early(&mut self, id: FunctionId) {
        let unevaluated = std::mem::take(&mut self.mode.unevaluated);
        match self.instances.lazy.remove(&id) {
            Some(lazy) => self.lazy_body(id, lazy),
            None => {
                self.check_instance(id);
            }
        }
        self.mode.unevaluated = unevaluated;
    }

    /// Checks the bodies of the instances that are needed, and of those that these need.
    pub(crate) fn check_needed(&mut self, is_end: bool) {
        let mut waiting = Vec::new();
        loop {
            self.need_members();
            let Some(id) = self.instances.needed.pop() else {
                break;
            };
            if !self.check_instance(id) && !is_end {
                waiting.push(id);
            }
        }
        self.instances.needed = waiting;
    }

    pub(crate) fn check_instance(&mut self, id: FunctionId) -> bool {
        let Some(instance) = self.instances.functions.get(&id).cloned() else {
            return true;
        };
        if instance.is_special || self.tables.functions[id].facts.is_defined {
            return true;
        }
        let facts = &self.instances.templates[instance.template];
        let Some((params, function)) = facts.definition else {
            return false;
        };
        self.tables.functions[id].facts.is_defined = true;
        let bound = Self::bindings(params, &instance.args);
        self.in_instance(id, instance.template, &bound, function, instance.needed);
        true
    }

    /// Checks a body with a template's parameters bound; what is wrong in it says so.
    pub(crate) fn in_instance(
        &mut self,
        id: FunctionId,
        template: TemplateId,
        bound: &[(Arc<str>, Entity)],
        function: &ast::Function,
        needed: (Option<FunctionId>, Span),
    ) {
        let is_host = self.tables.functions[id].typed.space == FunctionSpace::Host;
        if self.options.skip_host && is_host && !self.tables.functions[id].facts.is_constexpr {
            self.tables.functions[id].facts.is_skipped = true;
            return;
        }
        // The definition may name the parameters otherwise than the declaration.
        let hidden = usize::from(self.tables.functions[id].facts.has_this);
        let own = &mut self.tables.functions[id].facts.params[hidden..];
        let declared = pack::declared(own, &function.params);
        for (own, param) in own.iter_mut().zip(declared) {
            own.name = param.declarator.name.as_ref().map(|name| name.node.clone());
        }
        let n_diagnostics = self.reporter.diagnostics.len();
        let outer = std::mem::take(&mut self.body);
        self.reporter.attempts.bodies += 1;
        stack::level(|| {
            self.bound(template, bound, |checker| {
                checker.function_body(id, function)
            })
        });
        self.body = outer;
        self.explain_instance(n_diagnostics, id, needed);
        self.reporter.attempts.bodies -= 1;
        self.keep_explained(n_diagnostics);
    }

    /// Adds to the messages since `from` which instance they are in; what another instance has said already is left out.
    pub(crate) fn explain_instance(
        &mut self,
        from: usize,
        id: FunctionId,
        mut needed: (Option<FunctionId>, Span),
    ) {
        if self.reporter.diagnostics.len() == from {
            return;
        }
        let mut notes = Vec::new();
        let mut n_more = 0;
        let mut name = self.tables.functions[id].typed.name.clone();
        // Where the user's own code asks for a function of the library, and for which.
        let mut asked = None;
        loop {
            if asked.is_none() && !self.is_own(needed.1) {
                asked = Some((needed.1, name.clone(), notes.len() + n_more + 1));
            }
            if notes.len() < SHOWN {
                let site = self.map.use_site(needed.1);
                let line = self.map.file(site.file).line_column(site.start).0;
                let shown = shortened(&name);
                notes.push(format!("{INSTANCE} `{shown}`, needed at line {line}"));
            } else {
                n_more += 1;
            }
            let Some(outer) = needed.0 else { break };
            let Some(instance) = self.instances.functions.get(&outer) else {
                break;
            };
            name = self.tables.functions[outer].typed.name.clone();
            needed = instance.needed;
        }
        if n_more > 0 {
            notes.push(format!("and so on, {n_more} more"));
        }
        let own = self.reporter.diagnostics.split_off(from);
        for mut diagnostic in own {
            if self.is_own(diagnostic.primary.span)
                && let Some((span, name, n_inner)) = &asked
            {
                let library = self.map.file(diagnostic.primary.span.file).name.clone();
                diagnostic.primary.span = *span;
                diagnostic.labels.clear();
                diagnostic.notes = vec![format!("{INSTANCE} `{name}` of {library}")];
                let outer = notes.iter().skip(*n_inner).cloned();
                diagnostic.notes.extend(outer);
            }
            let key = (diagnostic.code, diagnostic.primary.span);
            if self.reporter.reported_in_instances.insert(key) {
                if diagnostic
                    .notes
                    .iter()
                    .all(|note| !note.starts_with(INSTANCE))
                {
                    diagnostic.notes.extend(notes.iter().cloned());
                }
                self.reporter.diagnostics.push(diagnostic);
            }
        }
    }

    /// The instance that `template <> void f<float>(float x)` is about.
    pub(crate) fn specialised(&mut self, function: &ast::Function) -> Option<FunctionId> {
        let name = &function.name;
        let set = match self
            .scopes
            .find(&name.node)
            .map(|found| found.entity.clone())
        {
            Some(Entity::Functions(set)) => set,
            _ => Arc::from([]),
        };
        let params = function.params.iter();
        let types = all(params.map(|param| self.param_type(param)));
        let explicit = function.declarator.args.as_deref().unwrap_or_default();
        let (_, parts) = reference_part(&function.declarator.parts);
        let result = match function.specifiers.ty.node {
            ast::TypeSpecifier::Auto => None,
            _ => {
                let base = self.base_type_not_auto(&function.specifiers);
                Some(self.declared_type(base, parts))
            }
        };
        let types: Vec<Ty> = types.ok()?.into_iter().map(|ty| ty.ty).collect();
        let result = result.transpose().ok()?;
        // Its parameters' types stand for arguments of these types.
        let values: Vec<Argument<'_>> = types
            .iter()
            .zip(&function.params)
            .map(|(ty, param)| {
                Argument::Value(Value::new(ValueKind::Int(0), ty.clone(), param.span))
            })
            .collect();
        // What the command line asks for has no result written.
        let result = result.filter(|_| !self.is_request(name.span));
        let mut misfits = Vec::new();
        let ids = self.instances_giving(
            &set,
            Some(explicit),
            &values,
            result.as_ref(),
            name.span,
            &mut misfits,
        );
        // Of several the one with the same parameters.
        let same = |id: &&FunctionId| {
            let params = &self.tables.functions[**id].facts.params;
            params.iter().map(|param| &param.ty.ty).eq(types.iter())
        };
        let found = ids
            .iter()
            .filter(same)
            .max_by_key(|id| self.instances.specificity(**id));
        if let Some(id) = found {
            return Some(*id);
        }
        // What the command line asks for has no parameters written.
        if let ([id], true) = (&ids[..], self.is_request(name.span)) {
            return Some(*id);
        }
        if self.report_written(misfits) {
            return None;
        }
        self.error(
            name.span,
            TemplateError::NoTemplateForInstance {
                name: name.node.to_string(),
            },
        );
        None
    }

    pub(crate) fn specialise_function(&mut self, function: &'a ast::Function) {
        if path::is_qualified(&function.name.node) {
            self.unsupported("a specialisation of a member function", function.name.span);
            return;
        }
        let Some(id) = self.specialised(function) else {
            return;
        };
        if let Some(instance) = self.instances.functions.get_mut(&id) {
            instance.is_special = true;
            instance.is_queued = true;
        }
        let FunctionEntry { typed, facts } = &mut self.tables.functions[id];
        for (own, param) in facts.params.iter_mut().zip(&function.params) {
            own.name = param.declarator.name.as_ref().map(|name| name.node.clone());
            own.span = param
                .declarator
                .name
                .as_ref()
                .map_or(param.span, |name| name.span);
        }
        facts.declared = function.name.span;
        typed.span = function.name.span;
        if function.body.is_none() || facts.is_defined {
            return;
        }
        facts.is_defined = true;
        if self.options.skip_host && typed.space == FunctionSpace::Host {
            facts.is_skipped = true;
            return;
        }
        self.function_body(id, function);
    }
}
