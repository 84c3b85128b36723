//! Templates of classes: their instances, their specialisations, and members whose bodies wait until somebody needs them.

use super::super::{Checker, FunctionEntry, Reported, unknown::standard_near};
use super::{Arg, ClassInstance, INSTANCE, Known, LazyBody, MAX_DEPTH, SHOWN, shortened};
use crate::sema::message::template::TemplateError;
use crate::sema::path;
use crate::{
    sema::{
        scope::{Entity, TemplateId},
        ty::{QualTy, Record, RecordId, Ty},
        typed::FunctionId,
    },
    span::Span,
    stack,
    syntax::ast::{self, TemplateArg},
};

impl<'a> Checker<'a> {
    /// Members of instances that have been called since the last time.
    pub(crate) fn need_members(&mut self) {
        while self.instances.n_followed < self.tables.functions.len()
            || !self.instances.lazy.is_empty()
        {
            // Calls are noted in the caller's facts; look through those that have grown.
            let mut found = Vec::new();
            for FunctionEntry { facts, .. } in &mut self.tables.functions {
                let new = facts.calls.get(facts.n_followed..).unwrap_or_default();
                let callees = new.iter().map(|(callee, _)| *callee);
                found.extend(callees.filter(|callee| self.instances.lazy.contains_key(callee)));
                facts.n_followed = facts.calls.len();
            }
            self.instances.n_followed = self.tables.functions.len();
            if found.is_empty() {
                return;
            }
            for callee in found {
                if let Some(lazy) = self.instances.lazy.remove(&callee) {
                    self.lazy_body(callee, lazy);
                }
            }
        }
    }

    /// `Tile<float, 4>` as a type; also an alias template's instance.
    pub(crate) fn templated_type(
        &mut self,
        name: &str,
        args: &[TemplateArg],
        span: Span,
    ) -> Result<QualTy, Reported> {
        let found = self.scopes.find(name).map(|found| found.entity.clone());
        let id = match found {
            Some(Entity::Template(id)) => id,
            Some(Entity::Error) => return Err(self.reported_before(span)),
            _ => return Err(self.unknown_template(name, span)),
        };
        let params = self.instances.templates[id].params;
        let args = self.all_args(id, args, span)?;
        if self.instances.is_variable(id) {
            let name = name.to_string();
            return Err(self.error(span, TemplateError::VariableAsType { name }));
        }
        match self.instances.templates[id].item {
            ast::Item::Declaration(declaration)
                if Self::record_of(self.instances.templates[id].item).is_none() =>
            {
                let bound = Self::bindings(params, &args);
                self.bound(id, &bound, |checker| {
                    let base = checker.base_type_not_auto(&declaration.specifiers);
                    match declaration.declarators.first() {
                        Some(first) => checker.declared_type(base, &first.declarator.parts),
                        None => base,
                    }
                })
            }
            _ => self.class_instance(id, args, span),
        }
    }

    pub(crate) fn unknown_template(&mut self, name: &str, span: Span) -> Reported {
        let library = name.strip_prefix("std::").is_some()
            || name.starts_with("thrust::")
            || name.starts_with("cub::")
            || name.starts_with("cuda::");
        let key = format!("template {name}");
        let message = match library {
            true => TemplateError::UnsupportedLibraryType {
                name: name.to_string(),
                near: standard_near(name),
            },
            false => TemplateError::NoClassTemplate {
                name: name.to_string(),
            },
        };
        self.once(key, span, message)
    }

    pub(crate) fn class_instance(
        &mut self,
        id: TemplateId,
        args: Vec<Arg>,
        span: Span,
    ) -> Result<QualTy, Reported> {
        let facts = &self.instances.templates[id];
        if let Some(&record) = facts.records.get(&args) {
            return Ok(Ty::Record(record).into());
        }
        let depth = self.depth_of(self.body.id).max(self.instances.class_depth) + 1;
        let shown = format!("{}{}", facts.name, self.show_args(&args));
        if depth > MAX_DEPTH {
            return Err(self.report_class_depth(id, &shown, span));
        }
        let (special, params, specifier, own_args) = match self.specialisation(id, &args) {
            Some((index, own_args)) => {
                let (params, specifier) = self.instances.templates[id].specialisations[index];
                (Some(index), params, specifier, own_args)
            }
            None => {
                let facts = &self.instances.templates[id];
                let Some(specifier) = Self::record_of(facts.item) else {
                    return Err(self.reported_before(span));
                };
                (None, facts.params, specifier, args.clone())
            }
        };
        let declared = self.instances.templates[id].span;
        let record = self.tables.records.push(Record {
            name: shown,
            is_union: specifier.is_union,
            is_vector: false,
            fields: Vec::new(),
            size_bytes: 0,
            align_bytes: 0,
            span: Some(declared),
        });
        self.instances.templates[id]
            .records
            .insert(args.clone(), record);
        let bound = Self::bindings(params, &own_args);
        let needed = (self.body.id, span);
        self.instances.classes.insert(
            record,
            ClassInstance {
                template: id,
                args,
                bound: bound.clone(),
                special,
                needed,
                depth,
            },
        );
        let Some(members) = &specifier.members else {
            return Ok(Ty::Record(record).into());
        };
        let outer = std::mem::take(&mut self.body);
        let open = std::mem::take(&mut self.open_classes);
        let outside = std::mem::replace(&mut self.instances.class_depth, depth);
        let n_diagnostics = self.reporter.diagnostics.len();
        stack::level(|| {
            self.bound(id, &bound, |checker| {
                checker.instances.class_params = bound.clone();
                checker.complete_record(record, specifier, members, declared);
            });
        });
        self.instances.class_depth = outside;
        self.open_classes = open;
        self.body = outer;
        self.note_instance(n_diagnostics, record, span);
        self.keep_hard(n_diagnostics);
        Ok(Ty::Record(record).into())
    }

    /// Instances of a class that need one another without end are reported once.
    fn report_class_depth(&mut self, id: TemplateId, shown: &str, span: Span) -> Reported {
        let facts = &self.instances.templates[id];
        let name = facts.name.clone();
        let declared = facts.span;
        let key = format!("template depth {name}");
        let message = TemplateError::ClassInstanceDepth {
            most: MAX_DEPTH,
            name: name.to_string(),
            last: shortened(shown).to_string(),
            declared,
        };
        self.once(key, span, message)
    }

    /// What has been reported since the message `from` is about the instance `record`, needed at `span`.
    fn note_instance(&mut self, from: usize, record: RecordId, span: Span) {
        if self.reporter.diagnostics.len() == from {
            return;
        }
        let site = self.map.use_site(span);
        let line = self.map.file(site.file).line_column(site.start).0;
        let name = shortened(&self.tables.records[record].name);
        for diagnostic in &mut self.reporter.diagnostics[from..] {
            let notes = &mut diagnostic.notes;
            let said = notes.iter().filter(|note| note.starts_with(INSTANCE));
            match said.count() {
                n if n < SHOWN => notes.push(format!("{INSTANCE} `{name}`, needed at line {line}")),
                _ if notes.last().is_some_and(|last| last == "and so on") => {}
                _ => notes.push("and so on".to_string()),
            }
        }
    }

    /// The specialisation of a class that fits best, and what its own parameters stand for.
    pub(crate) fn specialisation(
        &mut self,
        id: TemplateId,
        args: &[Arg],
    ) -> Option<(usize, Vec<Arg>)> {
        let all = &self.instances.templates[id].specialisations;
        let all = all.iter();
        let all = all.map(|(params, specifier)| (*params, specifier.args.as_deref()));
        let all = all.collect();
        self.best_specialisation(id, all, args)
    }

    /// The specialisation that fits best among these, each with its own parameters and the arguments written after its name.
    pub(crate) fn best_specialisation(
        &mut self,
        id: TemplateId,
        all: Vec<(&'a [ast::TemplateParam], Option<&'a [TemplateArg]>)>,
        args: &[Arg],
    ) -> Option<(usize, Vec<Arg>)> {
        let mut found: Option<(usize, Vec<Arg>)> = None;
        for (index, (params, written)) in all.into_iter().enumerate() {
            let Some(written) = written else {
                continue;
            };
            let mut known = vec![Known::Nothing; params.len()];
            if !self.deduce_args(params, written, args, &mut known) {
                continue;
            }
            let own = known.into_iter().map(Known::arg);
            let Some(own) = own.collect::<Option<Vec<Arg>>>() else {
                continue;
            };
            // With its parameters known, it must say exactly these arguments.
            let template_params = self.instances.templates[id].params;
            let bound = Self::bindings(params, &own);
            let said = self.attempt(|checker| {
                checker.bound(id, &bound, |checker| {
                    let given = checker.explicit_args(template_params, written).ok()?;
                    let known = given.into_iter().map(Some).collect();
                    checker.complete_args(id, template_params, known).ok()
                })
            });
            if said.ok().as_deref() != Some(args) {
                continue;
            }
            // The one with fewer parameters of its own is the more special one.
            if found
                .as_ref()
                .is_none_or(|(_, best)| own.len() < best.len())
            {
                found = Some((index, own));
            }
        }
        found
    }

    pub(crate) fn specialise_class(
        &mut self,
        params: &'a [ast::TemplateParam],
        declaration: &'a ast::Declaration,
        span: Span,
    ) {
        let ast::TypeSpecifier::Record(record) = &declaration.specifiers.ty.node else {
            self.unsupported("this form of a template", span);
            return;
        };
        let Some(name) = &record.name else {
            self.unsupported("a template without a name", span);
            return;
        };
        match self
            .scopes
            .find(&name.node)
            .map(|found| found.entity.clone())
        {
            Some(Entity::Template(id)) => self.instances.templates[id]
                .specialisations
                .push((params, record)),
            Some(Entity::Error) => {}
            _ => {
                self.unknown_template(&name.node, name.span);
            }
        }
    }

    /// `template <typename T> void Tile<T>::f() { … }`.
    pub(crate) fn member_of_template(
        &mut self,
        params: &'a [ast::TemplateParam],
        function: &'a ast::Function,
    ) {
        let Some((class, _)) = path::split(&function.name.node) else {
            return;
        };
        match self.scopes.find(class).map(|found| found.entity.clone()) {
            Some(Entity::Template(id)) => self.instances.templates[id]
                .members
                .push((params, function)),
            Some(Entity::Error) => {}
            _ => {
                self.unknown_template(class, function.name.span);
            }
        }
    }

    /// The body of a member function of an instance, in its class or outside.
    pub(crate) fn lazy_body(&mut self, id: FunctionId, lazy: LazyBody) {
        let Some(instance) = self.instances.classes.get(&lazy.class).cloned() else {
            return;
        };
        let (bound, function) = match lazy.function {
            Some(function) => (instance.bound.clone(), function),
            None => {
                if instance.special.is_some() {
                    return;
                }
                let own = &self.tables.functions[id].typed.name;
                let last = path::last(own).to_string();
                let facts = &self.tables.functions[id].facts;
                let n_params = facts.params.len() - usize::from(facts.has_this);
                let members = &self.instances.templates[instance.template].members;
                let found = members.iter().find(|(_, function)| {
                    let name = Some(path::last(&function.name.node));
                    name == Some(&last) && function.params.len() == n_params
                });
                let Some(&(params, function)) = found else {
                    return;
                };
                let bound = Self::bindings(params, &instance.args);
                (bound, function.clone())
            }
        };
        self.tables.functions[id].facts.is_defined = true;
        self.in_instance(id, instance.template, &bound, &function, instance.needed);
    }
}
