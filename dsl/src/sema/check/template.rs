//! Templates: what they declare, and their instances.
//!
//! An instance is the template's tree checked again with its parameters bound to types and values: a function of its own, or a
//! record. Instances are made once for each list of arguments; a function's body is checked when the item that needs it is done, so
//! that templates that use themselves do not recurse here. Errors inside an instance say which one it is and who needed it.

use std::{cell::OnceCell, collections::HashMap, sync::Arc};

use super::{
    Checker,
    function::reference_part,
    overload::Argument,
    pointer_call::{known_function, pointed_function},
};
use crate::{
    diagnostic::{Code, Diagnostic, Severity},
    sema::{
        classify::Classify,
        const_eval::{self, Const},
        scope::{Binding, Callable, Entity, TemplateId},
        ty::{QualTy, Record, RecordId, Ty},
        typed::{FunctionId, FunctionSpace, Value},
    },
    span::Span,
    syntax::ast::{self, DeclaratorPart, ExprKind, TemplateArg, TemplateKind, TemplateParamKind},
};

/// How a note begins that says in which instance a message is.
const INSTANCE: &str = "in the instance";

/// How many of a chain of instances a message names.
const SHOWN: usize = 6;

/// How many instances may need one another in a row.
const MAX_DEPTH: u32 = 256;

/// A template.
pub(super) struct TemplateFacts<'a> {
    pub(super) name: Arc<str>,
    pub(super) span: Span,
    pub(super) params: &'a [ast::TemplateParam],
    pub(super) item: &'a ast::Item,
    /// The function with its body, where `item` is only a prototype.
    definition: Option<(&'a [ast::TemplateParam], &'a ast::Function)>,
    functions: HashMap<Vec<Arg>, FunctionId>,
    records: HashMap<Vec<Arg>, RecordId>,
    /// Explicit and partial specialisations of a class.
    specialisations: Vec<(&'a [ast::TemplateParam], &'a ast::RecordSpecifier)>,
    /// Explicit and partial specialisations of a variable.
    pub(super) variables: Vec<(&'a [ast::TemplateParam], &'a ast::Declaration)>,
    /// Member functions defined outside of the class.
    members: Vec<(&'a [ast::TemplateParam], &'a ast::Function)>,
    /// Namespace it is in.
    namespace: Arc<str>,
    /// The class whose member it is.
    class: Option<RecordId>,
}

/// What a template parameter stands for in an instance.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Arg {
    Type(QualTy),
    Value(Ty, u64),
    Template(TemplateId),
    /// All that a parameter pack stands for.
    Pack(Vec<Arg>),
}

/// What is known of a template parameter while a call is looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Known {
    Nothing,
    /// Written in `<…>`.
    Given(Arg),
    /// It follows from an argument's type.
    Deduced(Arg),
}

impl Known {
    fn arg(self) -> Option<Arg> {
        match self {
            Known::Nothing => None,
            Known::Given(arg) | Known::Deduced(arg) => Some(arg),
        }
    }
}

/// Where an instance's body is, and who needed it first.
#[derive(Clone)]
pub(super) struct Instance {
    template: TemplateId,
    args: Vec<Arg>,
    /// The function that needed it, and where.
    needed: (Option<FunctionId>, Span),
    depth: u32,
    /// Has a body of its own: an explicit specialisation.
    is_special: bool,
    /// Its body has been asked for.
    is_queued: bool,
}

/// A member function of a class's instance, whose body waits for the first call.
pub(super) struct LazyBody {
    pub(super) function: Option<ast::Function>,
    pub(super) class: RecordId,
}

/// A class's instance.
#[derive(Clone)]
pub(super) struct ClassInstance {
    pub(super) template: TemplateId,
    pub(super) args: Vec<Arg>,
    /// The parameters as bound in its body: a specialisation has its own.
    bound: Vec<(Arc<str>, Entity)>,
    /// Which of the template's specialisations it is.
    special: Option<usize>,
    needed: (Option<FunctionId>, Span),
    depth: u32,
}

/// A list that only grows, of what the checker makes and refers to.
#[derive(Default)]
pub(in crate::sema) struct Kept {
    template: OnceCell<ast::Template>,
    next: OnceCell<Box<Kept>>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        // One after the other: a long list would be deep.
        let mut next = self.next.take();
        while let Some(mut node) = next {
            next = node.next.take();
        }
    }
}

impl<'a> Checker<'a> {
    /// `template …` at file scope.
    pub(super) fn template(&mut self, template: &'a ast::Template) {
        match (&template.kind, &template.item) {
            (TemplateKind::Generic(params), ast::Item::Function(function))
                if function.name.node.contains("::") =>
            {
                self.member_of_template(params, function);
            }
            (TemplateKind::Generic(params), item) => {
                self.declare_template(params, item, template.span)
            }
            (TemplateKind::Specialisation, ast::Item::Function(function)) => {
                self.specialise_function(function);
            }
            (TemplateKind::Specialisation, ast::Item::Declaration(declaration))
                if Self::record_of(&template.item).is_none() =>
            {
                self.specialise_variable(&[], declaration);
            }
            (TemplateKind::Specialisation, ast::Item::Declaration(declaration)) => {
                self.specialise_class(&[], declaration, template.span);
            }
            (TemplateKind::Instantiation, ast::Item::Function(function)) => {
                if let Some(id) = self.specialised(function) {
                    self.need(id);
                }
            }
            (TemplateKind::Instantiation, ast::Item::Declaration(declaration)) => {
                if let ast::TypeSpecifier::Record(record) = &declaration.specifiers.ty.node
                    && let (Some(name), Some(args)) = (&record.name, &record.args)
                {
                    self.templated_type(&name.node, args, name.span);
                }
            }
            (_, ast::Item::Template(_)) => self.unsupported("a member template", template.span),
            _ => self.unsupported("this form of a template", template.span),
        }
    }

    /// `template <typename T> void f(T x) { … }` in a class.
    pub(super) fn member_template(&mut self, class: RecordId, template: &ast::Template) {
        let template = self.keep(template);
        let (TemplateKind::Generic(params), ast::Item::Function(function)) =
            (&template.kind, &template.item)
        else {
            return self.unsupported("this form of a member template", template.span);
        };
        let name = &function.name;
        if function.method.kind != ast::MethodKind::Plain {
            return self.unsupported("a template of a constructor or a conversion", name.span);
        }
        self.note_access(&name.node);
        self.note_operator(&name.node, name.span);
        let id = TemplateId(self.templates.len() as u32);
        let owner = &self.record(class).name;
        self.templates.push(TemplateFacts {
            name: format!("{owner}::{}", name.node).into(),
            span: name.span,
            params,
            item: &template.item,
            definition: function.body.is_some().then_some((params, function)),
            functions: HashMap::new(),
            records: HashMap::new(),
            specialisations: Vec::new(),
            variables: Vec::new(),
            members: Vec::new(),
            namespace: self.scopes.namespace(),
            class: Some(class),
        });
        self.scopes
            .add_method(name.node.clone(), Callable::Template(id), name.span);
    }

    /// A template that belongs to an instance of a class, for as long as the checker runs.
    fn keep(&mut self, template: &ast::Template) -> &'a ast::Template {
        let node = self.kept;
        let kept = node.template.get_or_init(|| template.clone());
        self.kept = node.next.get_or_init(Box::default);
        kept
    }

    /// The class whose member templates these are.
    pub(super) fn class_of_templates(&self, set: &[Callable]) -> Option<RecordId> {
        set.iter().find_map(|callable| match callable {
            Callable::Template(id) => self.templates[id.0 as usize].class,
            _ => None,
        })
    }

    /// The specifier of the class that a declaration declares.
    fn record_of(item: &ast::Item) -> Option<&ast::RecordSpecifier> {
        match item {
            ast::Item::Declaration(declaration) => match &declaration.specifiers.ty.node {
                ast::TypeSpecifier::Record(record) => Some(record),
                _ => None,
            },
            _ => None,
        }
    }

    fn declare_template(
        &mut self,
        params: &'a [ast::TemplateParam],
        item: &'a ast::Item,
        span: Span,
    ) {
        let early = params[..params.len().saturating_sub(1)]
            .iter()
            .find(|param| param.is_pack);
        if let Some(param) = early {
            let name = match item {
                ast::Item::Function(function) => Some(&function.name),
                _ => Self::record_of(item).and_then(|record| record.name.as_ref()),
            };
            if let Some(name) = name {
                self.declare_name(name, Entity::Error);
            }
            return self.unsupported(
                "a parameter pack that is not the last parameter",
                param.span,
            );
        }
        let name = match item {
            ast::Item::Function(function) => function.name.clone(),
            ast::Item::Declaration(declaration) => {
                if let Some(record) = Self::record_of(item) {
                    if record.args.is_some() {
                        return self.specialise_class(params, declaration, span);
                    }
                    match &record.name {
                        Some(name) => name.clone(),
                        None => return self.unsupported("a template without a name", span),
                    }
                } else if let [declarator] = &declaration.declarators[..]
                    && declaration
                        .specifiers
                        .word(ast::SpecifierWord::Typedef)
                        .is_some()
                    && let Some(name) = &declarator.declarator.name
                {
                    name.clone()
                } else if let [declarator] = &declaration.declarators[..]
                    && let Some(name) = &declarator.declarator.name
                {
                    if declarator.declarator.args.is_some() {
                        return self.specialise_variable(params, declaration);
                    }
                    name.clone()
                } else {
                    return self.unsupported("this form of a template", span);
                }
            }
            _ => return self.unsupported("this form of a template", span),
        };
        let in_prelude = self.in_prelude(name.span);
        if let ast::Item::Function(function) = item {
            self.note_operator(&name.node, name.span);
            if let Some(id) = self.same_template(&name.node, params, function) {
                let facts = &mut self.templates[id.0 as usize];
                if function.body.is_some() && facts.definition.is_none() {
                    facts.definition = Some((params, function));
                }
                return;
            }
        } else if let Some(Entity::Template(id)) = self
            .scopes
            .find_here(&name.node, in_prelude)
            .map(|found| found.entity.clone())
        {
            // A second declaration; the one with the members is the template.
            let has_members = Self::record_of(item).is_some_and(|record| record.members.is_some());
            if has_members {
                let facts = &mut self.templates[id.0 as usize];
                (facts.params, facts.item) = (params, item);
            }
            return;
        }
        let id = TemplateId(self.templates.len() as u32);
        let definition = match item {
            ast::Item::Function(function) if function.body.is_some() => Some((params, function)),
            _ => None,
        };
        self.templates.push(TemplateFacts {
            name: name.node.clone(),
            span: name.span,
            params,
            item,
            definition,
            functions: HashMap::new(),
            records: HashMap::new(),
            specialisations: Vec::new(),
            variables: Vec::new(),
            members: Vec::new(),
            namespace: self.scopes.namespace(),
            class: None,
        });
        match item {
            ast::Item::Function(_) => {
                let callable = Callable::Template(id);
                self.scopes
                    .add_function(name.node.clone(), callable, name.span, in_prelude);
            }
            _ => self.declare_name(&name, Entity::Template(id)),
        }
    }

    /// The template that a second declaration is of: as many parameters, and the same text of its functions' parameters.
    fn same_template(
        &self,
        name: &str,
        params: &[ast::TemplateParam],
        function: &ast::Function,
    ) -> Option<TemplateId> {
        let Entity::Functions(set) = &self.scopes.find_at_file(name)?.entity else {
            return None;
        };
        let text = self.canonical(params, function);
        set.iter().find_map(|callable| match callable {
            Callable::Template(id) => {
                let facts = &self.templates[id.0 as usize];
                let ast::Item::Function(old) = facts.item else {
                    return None;
                };
                let same =
                    facts.params.len() == params.len() && self.canonical(facts.params, old) == text;
                same.then_some(*id)
            }
            _ => None,
        })
    }

    /// The parameters of a function template as text, with the template's parameters numbered.
    fn canonical(&self, params: &[ast::TemplateParam], function: &ast::Function) -> String {
        let mut out = String::new();
        for param in &function.params {
            let text = self.map.snippet(param.span);
            let own = param.declarator.name.as_ref().map(|name| &*name.node);
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let mut rest = text;
            while let Some(c) = rest.chars().next() {
                let n = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                if n == 0 {
                    if c == '=' {
                        break;
                    }
                    if !c.is_whitespace() {
                        out.push(c);
                    }
                    rest = &rest[c.len_utf8()..];
                    continue;
                }
                let (word, after) = rest.split_at(n);
                let index = params
                    .iter()
                    .position(|param| param.name.as_ref().is_some_and(|name| &*name.node == word));
                match index {
                    Some(index) => out.push_str(&format!("${index}")),
                    None if Some(word) == own => {}
                    None => {
                        out.push(' ');
                        out.push_str(word);
                    }
                }
                rest = after;
            }
            out.push(';');
        }
        out
    }

    // Arguments.

    /// Template arguments as written, each as far as its parameter allows; `None` if one is wrong, which has been reported.
    pub(super) fn explicit_args(
        &mut self,
        params: &[ast::TemplateParam],
        args: &[TemplateArg],
    ) -> Option<Vec<Arg>> {
        let mut args = self.expanded_template_args(args)?.into_iter();
        let mut out = Vec::new();
        for param in params {
            if param.is_pack {
                let mut pack = Vec::new();
                for (arg, element) in args.by_ref() {
                    pack.push(self.explicit_element(param, arg, element)?);
                }
                out.push(Arg::Pack(pack));
                break;
            }
            let Some((arg, element)) = args.next() else {
                break;
            };
            out.push(self.explicit_element(param, arg, element)?);
        }
        if let Some((arg, _)) = args.next() {
            let span = super::pack::arg_span(arg);
            let message = format!("more than {} template arguments are given", params.len());
            self.report(Diagnostic::error(Code::TemplateArgument, span, message));
            return None;
        }
        Some(out)
    }

    pub(super) fn explicit_arg(
        &mut self,
        param: &ast::TemplateParam,
        arg: &TemplateArg,
    ) -> Option<Arg> {
        match (&param.kind, arg) {
            (TemplateParamKind::Type(_), TemplateArg::Type(ty)) => {
                let ty = self.type_name(ty);
                (ty.ty != Ty::Error).then_some(Arg::Type(ty))
            }
            (TemplateParamKind::Type(_), TemplateArg::Value(expr)) => match &expr.kind {
                ExprKind::Name(name) => {
                    let ty = self.named_type(name, expr.span);
                    (ty.ty != Ty::Error).then_some(Arg::Type(ty))
                }
                _ => {
                    self.template_argument("a type", expr.span);
                    None
                }
            },
            (TemplateParamKind::Value { .. }, TemplateArg::Value(expr)) => {
                self.naming_constant += 1;
                let arg = self.constant_arg(expr);
                self.naming_constant -= 1;
                arg
            }
            (TemplateParamKind::Value { .. }, TemplateArg::Type(ty)) => {
                self.template_argument("a value", ty.span);
                None
            }
            // Expansions have been made into their elements.
            (_, TemplateArg::Expansion(_)) => None,
            (TemplateParamKind::Template, arg) => {
                let name = match arg {
                    TemplateArg::Expansion(_) => None,
                    TemplateArg::Type(ty) => match &ty.specifiers.ty.node {
                        ast::TypeSpecifier::Named(name) if ty.declarator.parts.is_empty() => {
                            Some((name, ty.span))
                        }
                        _ => None,
                    },
                    TemplateArg::Value(expr) => match &expr.kind {
                        ExprKind::Name(name) => Some((name, expr.span)),
                        _ => None,
                    },
                };
                let (name, span) = match name {
                    Some((name, span)) => (Some(name), span),
                    None => (None, param.span),
                };
                match name.and_then(|name| Some(&self.scopes.find(name)?.entity)) {
                    Some(Entity::Template(id)) => Some(Arg::Template(*id)),
                    Some(Entity::Error) => None,
                    _ => {
                        self.template_argument("a class template", span);
                        None
                    }
                }
            }
        }
    }

    fn template_argument(&mut self, what: &str, span: Span) {
        self.report(Diagnostic::error(
            Code::TemplateArgument,
            span,
            format!("the template's parameter is {what}, and this is not"),
        ));
    }

    /// A constant as a template argument, of its own type as yet.
    fn constant_arg(&mut self, expr: &ast::Expr) -> Option<Arg> {
        let value = self.value(expr);
        if value.ty == Ty::Error {
            return None;
        }
        if let Some(id) = known_function(&value) {
            return Some(Arg::Value(value.ty, u64::from(id.0) + 1));
        }
        match self.integer_constant(&value) {
            Ok(bits) => Some(Arg::Value(value.ty, bits)),
            Err(why) => {
                self.report_not_constant(expr.span, "a template argument must be a constant", why);
                None
            }
        }
    }

    /// Runs `f` where a template stands, with its first parameters bound.
    pub(super) fn bound<R>(
        &mut self,
        id: TemplateId,
        bound: &[(Arc<str>, Entity)],
        f: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let namespace = self.templates[id.0 as usize].namespace.clone();
        let hidden = self.scopes.only_file();
        let outside = self.scopes.set_namespace(namespace);
        let element = self.scopes.at_element(None);
        // What a member template names in its class.
        let depth = self.enter_class_scopes(self.templates[id.0 as usize].class);
        self.scopes.enter();
        for (name, entity) in bound {
            self.scopes
                .bind(name.clone(), entity.clone(), Span::default(), false);
        }
        let result = f(self);
        for _ in 0..=depth {
            self.scopes.leave();
        }
        self.scopes.leave_element(element);
        self.scopes.set_namespace(outside);
        self.scopes.show(hidden);
        result
    }

    pub(super) fn bindings(params: &[ast::TemplateParam], args: &[Arg]) -> Vec<(Arc<str>, Entity)> {
        params
            .iter()
            .zip(args)
            .filter_map(|(param, arg)| Some((param.name.as_ref()?.node.clone(), entity_of(arg))))
            .collect()
    }

    /// All arguments of an instance: the known ones in their parameters' types, defaults for the others. `Err` names the
    /// parameter that nothing says what it is.
    pub(super) fn complete_args(
        &mut self,
        id: TemplateId,
        params: &[ast::TemplateParam],
        known: Vec<Option<Arg>>,
    ) -> Result<Vec<Arg>, String> {
        let mut args: Vec<Arg> = Vec::new();
        for (i, param) in params.iter().enumerate() {
            let bound = Self::bindings(params, &args);
            let given = known.get(i).cloned().flatten();
            let name = || {
                let name = param.name.as_ref().map_or("a parameter", |name| &name.node);
                name.to_string()
            };
            if param.is_pack {
                let items = match given {
                    Some(Arg::Pack(items)) => items,
                    _ => Vec::new(),
                };
                args.push(
                    self.complete_pack(id, &bound, param, items)
                        .ok_or_else(name)?,
                );
                continue;
            }
            let arg = match (&param.kind, given) {
                (TemplateParamKind::Type(_), Some(arg @ Arg::Type(_))) => Some(arg),
                (TemplateParamKind::Type(Some(default)), None) => self
                    .bound(id, &bound, |checker| checker.type_name(default))
                    .into_arg(),
                (TemplateParamKind::Template, Some(arg @ Arg::Template(_))) => Some(arg),
                // `template <auto N>`: of the argument's own type.
                (TemplateParamKind::Value { ty, .. }, Some(arg @ Arg::Value(..)))
                    if matches!(ty.specifiers.ty.node, ast::TypeSpecifier::Auto) =>
                {
                    Some(arg)
                }
                (TemplateParamKind::Value { ty, default }, given) => {
                    let to = self.bound(id, &bound, |checker| checker.type_name(ty)).ty;
                    let value = match (given, default) {
                        (Some(arg), _) => Some(arg),
                        (None, Some(default)) => {
                            self.bound(id, &bound, |checker| checker.constant_arg(default))
                        }
                        (None, None) => None,
                    };
                    match value {
                        Some(Arg::Value(from, bits)) if to.is_integral() => {
                            match const_eval::convert(Const::Int(bits), &from, &to) {
                                Const::Int(bits) => Some(Arg::Value(to, bits)),
                                Const::Float(_) => None,
                            }
                        }
                        Some(Arg::Value(from, bits)) if from == to => Some(Arg::Value(to, bits)),
                        _ => None,
                    }
                }
                _ => None,
            };
            args.push(arg.ok_or_else(name)?);
        }
        Ok(args)
    }

    /// `<float, 32>`.
    pub(super) fn show_args(&self, args: &[Arg]) -> String {
        let one = |arg: &Arg| match arg {
            Arg::Pack(args) => {
                let text = self.show_args(args);
                text[1..text.len() - 1].to_string()
            }
            Arg::Type(ty) => self.show_qualified(ty).replace(" *", "*"),
            Arg::Template(id) => self.templates[id.0 as usize].name.to_string(),
            Arg::Value(ty, bits) if pointed_function(ty).is_some() => {
                let id = (*bits as usize).wrapping_sub(1);
                let function = self.functions.get(id);
                function.map_or_else(|| "nullptr".to_string(), |function| function.name.clone())
            }
            Arg::Value(Ty::Bool, bits) => (*bits != 0).to_string(),
            Arg::Value(ty, bits) if ty.is_signed() => (*bits as i64).to_string(),
            Arg::Value(_, bits) => bits.to_string(),
        };
        let args = args.iter().map(one);
        let args: Vec<String> = args.filter(|text| !text.is_empty()).collect();
        format!("<{}>", args.join(", "))
    }

    pub(super) fn template_facts(&mut self, id: TemplateId) -> &mut TemplateFacts<'a> {
        &mut self.templates[id.0 as usize]
    }

    /// The template is one of a variable.
    pub(super) fn is_variable(&self, id: TemplateId) -> bool {
        let item = self.templates[id.0 as usize].item;
        match item {
            ast::Item::Declaration(declaration) => {
                Self::record_of(item).is_none()
                    && declaration
                        .specifiers
                        .word(ast::SpecifierWord::Typedef)
                        .is_none()
            }
            _ => false,
        }
    }

    /// The command line asks for this.
    fn is_request(&self, span: Span) -> bool {
        self.map.file(span.file).name == crate::compile::COMMAND_LINE
    }

    /// Where a template is declared.
    pub(super) fn template_span(&self, id: TemplateId) -> Span {
        self.templates[id.0 as usize].span
    }

    // Paths.

    /// A path as a plain name, the classes in it by their numbers, and the arguments of its last part.
    pub(super) fn path_name<'p>(
        &mut self,
        path: &'p ast::Path,
    ) -> Option<(Arc<str>, Option<&'p [TemplateArg]>)> {
        let (last, scopes) = path.segments.split_last()?;
        let mut text = String::new();
        for segment in scopes {
            text.push_str(&segment.name.node);
            if let Some(args) = &segment.args {
                let ty = self.templated_type(&text, args, segment.name.span);
                let Ty::Record(class) = ty.ty else {
                    if ty.ty != Ty::Error {
                        let shown = self.show(&ty.ty);
                        self.report(Diagnostic::error(
                            Code::WrongKindOfName,
                            segment.name.span,
                            format!("`{shown}` is no class and has no members"),
                        ));
                    }
                    return None;
                };
                text = format!("#{}", class.0);
                self.scopes
                    .bind_class(text.as_str().into(), class, segment.name.span);
            }
            text.push_str("::");
        }
        text.push_str(&last.name.node);
        Some((text.into(), last.args.as_deref()))
    }

    /// A path in an expression: a member of a class's instance.
    pub(super) fn path_expr(&mut self, path: &ast::Path, span: Span) -> super::Checked {
        match self.path_name(path) {
            Some((name, None)) => self.name(&name, span),
            Some((name, Some(args))) => {
                let found = self.scopes.find(&name).map(|found| found.entity.clone());
                if let Some(Entity::Functions(set)) = found {
                    let value = self.function_value(&name, &set, Some(args), span);
                    return super::Checked::Value(value);
                }
                if let Some(Entity::Template(id)) = found
                    && self.is_variable(id)
                {
                    return super::Checked::Value(self.variable_instance(id, args, span));
                }
                self.report(Diagnostic::error(
                    Code::WrongKindOfName,
                    span,
                    format!("`{name}` with its arguments is no value"),
                ));
                super::Checked::Value(super::wrong(span))
            }
            None => super::Checked::Value(super::wrong(span)),
        }
    }

    /// A path as a type.
    pub(super) fn path_type(&mut self, path: &ast::Path) -> QualTy {
        match self.path_name(path) {
            Some((name, Some(args))) => self.templated_type(&name, args, path.span),
            Some((name, None)) => self.named_type(&name, path.span),
            None => Ty::Error.into(),
        }
    }

    /// `decltype(e)`: a name's type as declared, another expression's value's type.
    pub(super) fn decltype(&mut self, expr: &ast::Expr) -> QualTy {
        self.unevaluated += 1;
        let checked = self.expr(expr);
        self.unevaluated -= 1;
        match checked {
            super::Checked::Place(place)
                if matches!(
                    expr.kind,
                    ExprKind::Name(_) | ExprKind::Member(..) | ExprKind::Arrow(..)
                ) =>
            {
                place.ty
            }
            super::Checked::Place(place) => place.ty.ty.into(),
            super::Checked::Value(value) => value.ty.into(),
        }
    }

    // Functions.

    /// The instances that a call of a name can mean: of each template that its arguments fit, one.
    pub(super) fn instances(
        &mut self,
        set: &[Callable],
        explicit: Option<&[TemplateArg]>,
        args: &[Argument<'_>],
        at: Span,
    ) -> Vec<FunctionId> {
        let mut ids = Vec::new();
        for callable in set {
            let Callable::Template(id) = callable else {
                continue;
            };
            if let Some(id) = self.deduce_call(*id, explicit.unwrap_or_default(), args, at) {
                ids.push(id);
            }
        }
        ids
    }

    fn deduce_call(
        &mut self,
        id: TemplateId,
        explicit: &[TemplateArg],
        args: &[Argument<'_>],
        at: Span,
    ) -> Option<FunctionId> {
        let facts = &self.templates[id.0 as usize];
        let (params, item) = (facts.params, facts.item);
        let ast::Item::Function(function) = item else {
            return None;
        };
        let has_pack = params.last().is_some_and(|param| param.is_pack);
        let takes_pack = function.params.last().is_some_and(|param| param.is_pack);
        if (explicit.len() > params.len() && !has_pack)
            || (args.len() > function.params.len() && !takes_pack)
        {
            return None;
        }
        let n_diagnostics = self.diagnostics.len();
        let Some(given) = self.explicit_args(params, explicit) else {
            // The arguments are read again for each candidate; what is wrong with them is said once.
            let first = self.diagnostics.len().min(n_diagnostics + 1);
            self.diagnostics.truncate(first);
            return None;
        };
        let mut known: Vec<Known> = given.into_iter().map(Known::Given).collect();
        known.resize(params.len(), Known::Nothing);
        let mut pack: Vec<Arg> = match known.last() {
            Some(Known::Given(Arg::Pack(given))) => given.clone(),
            _ => Vec::new(),
        };
        let n_given = pack.len();
        for (index, arg) in args.iter().enumerate() {
            let last = function.params.len().saturating_sub(1);
            let param = &function.params[index.min(last)];
            let Argument::Value(value) = arg else {
                if param.is_pack {
                    return None;
                }
                continue;
            };
            if param.is_pack && index - last < n_given {
                continue;
            }
            let (reference, parts) = reference_part(&param.declarator.parts);
            let ty = match (reference, Self::place_of(value)) {
                (Some(_), Some(place)) => place.ty.clone(),
                _ => value.ty.clone().into(),
            };
            let is_pointer =
                reference.is_none() && matches!(parts.first(), Some(DeclaratorPart::Array(..)));
            let mut as_pointer = Vec::new();
            let parts = if is_pointer {
                as_pointer.push(DeclaratorPart::Pointer {
                    is_const: false,
                    is_volatile: false,
                    is_restrict: false,
                });
                as_pointer.extend_from_slice(&parts[1..]);
                &as_pointer[..]
            } else {
                parts
            };
            let by_value = reference.is_none() && parts.is_empty();
            if param.is_pack && has_pack {
                let mut of_element = known.clone();
                let slot = of_element.len() - 1;
                of_element[slot] = Known::Nothing;
                let specifiers = &param.specifiers;
                if !self.deduce(params, specifiers, parts, &ty, by_value, &mut of_element) {
                    return None;
                }
                pack.push(of_element.swap_remove(slot).arg()?);
                continue;
            }
            if !self.deduce(params, &param.specifiers, parts, &ty, by_value, &mut known) {
                return None;
            }
        }
        if has_pack
            && (takes_pack || !pack.is_empty())
            && let Some(slot) = known.last_mut()
        {
            *slot = Known::Deduced(Arg::Pack(pack));
        }
        let n_diagnostics = self.diagnostics.len();
        let known = known.into_iter().map(Known::arg).collect();
        let args = self.complete_args(id, params, known);
        // What a parameter cannot stand for takes the template out of the choice, and is no error.
        let fails = self.diagnostics.len() > n_diagnostics;
        self.diagnostics.truncate(n_diagnostics);
        let args = args.ok().filter(|_| !fails)?;
        self.declare_instance(id, args, at)
    }

    /// Finds what the parameters stand for where a type as written is to be `ty`; `false` if it cannot be.
    fn deduce(
        &self,
        params: &[ast::TemplateParam],
        specifiers: &ast::Specifiers,
        parts: &[DeclaratorPart],
        ty: &QualTy,
        by_value: bool,
        known: &mut [Known],
    ) -> bool {
        if ty.ty == Ty::Error {
            return true;
        }
        let index = |name: &str| {
            params
                .iter()
                .position(|param| param.name.as_ref().is_some_and(|own| &*own.node == name))
        };
        let Some((part, rest)) = parts.split_first() else {
            return match &specifiers.ty.node {
                ast::TypeSpecifier::Named(name) => match index(name) {
                    Some(i) => {
                        let found = QualTy {
                            ty: ty.ty.clone(),
                            is_const: ty.is_const && !specifiers.is_const && !by_value,
                            is_volatile: ty.is_volatile && !specifiers.is_volatile && !by_value,
                        };
                        learn(known, i, Arg::Type(found), &params[i])
                    }
                    None => true,
                },
                ast::TypeSpecifier::Path(path) => self.deduce_path(params, path, ty, known),
                _ => true,
            };
        };
        match (part, &ty.ty) {
            (DeclaratorPart::Pointer { .. }, Ty::Pointer(pointee)) => {
                self.deduce(params, specifiers, rest, pointee, false, known)
            }
            (DeclaratorPart::Array(size, _), Ty::Array(element, n)) => {
                if let (Some(size), Some(n)) = (size, n)
                    && let ExprKind::Name(name) = &size.kind
                    && let Some(i) = index(name)
                    && !learn(known, i, Arg::Value(Ty::ULong, *n), &params[i])
                {
                    return false;
                }
                let element = QualTy {
                    is_const: element.is_const || ty.is_const,
                    ..element.as_ref().clone()
                };
                self.deduce(params, specifiers, rest, &element, false, known)
            }
            // Nothing to find out: an ordinary conversion may do, or the explicit arguments have said all.
            _ => match &specifiers.ty.node {
                ast::TypeSpecifier::Named(name) => {
                    index(name).is_none_or(|i| known[i] != Known::Nothing)
                }
                ast::TypeSpecifier::Path(_) => false,
                _ => true,
            },
        }
    }

    /// `Tile<T, N>` against the instance that a type is.
    fn deduce_path(
        &self,
        params: &[ast::TemplateParam],
        path: &ast::Path,
        ty: &QualTy,
        known: &mut [Known],
    ) -> bool {
        let [
            ast::Segment {
                name,
                args: Some(written),
            },
        ] = &path.segments[..]
        else {
            return true;
        };
        // `C<T>` where `C` is a parameter: the template that the class is an instance of.
        let own = params.iter().position(|param| {
            matches!(param.kind, TemplateParamKind::Template)
                && param.name.as_ref().is_some_and(|own| own.node == name.node)
        });
        if let Some(own) = own {
            let instance = match &ty.ty {
                Ty::Record(class) => self.class_instances.get(class),
                _ => None,
            };
            let Some(instance) = instance else {
                return false;
            };
            return learn(known, own, Arg::Template(instance.template), &params[own])
                && self.deduce_args(params, written, &instance.args, known);
        }
        let found = self.scopes.find(&name.node).map(|found| &found.entity);
        let Some(Entity::Template(template)) = found else {
            return true;
        };
        // What an alias stands for is not looked into: the other arguments have to say it.
        if Self::record_of(self.templates[template.0 as usize].item).is_none() {
            return true;
        }
        // The class itself, or the first of its bases that is an instance.
        let mut class = match &ty.ty {
            Ty::Record(class) => Some(*class),
            _ => None,
        };
        let instance = loop {
            let Some(id) = class else { return false };
            match self.class_instances.get(&id) {
                Some(instance) if instance.template == *template => break instance,
                _ => class = self.classes.get(&id).and_then(|facts| facts.base),
            }
        };
        self.deduce_args(params, written, &instance.args, known)
    }

    /// Template arguments as written against those of an instance.
    fn deduce_args(
        &self,
        params: &[ast::TemplateParam],
        written: &[TemplateArg],
        args: &[Arg],
        known: &mut [Known],
    ) -> bool {
        let index = |name: &str| {
            params
                .iter()
                .position(|param| param.name.as_ref().is_some_and(|own| &*own.node == name))
        };
        let flat: Vec<Arg> = args
            .iter()
            .flat_map(|arg| match arg {
                Arg::Pack(args) => args.clone(),
                other => vec![other.clone()],
            })
            .collect();
        let mut written = written;
        let mut args = &flat[..];
        // `Ts...` at the end takes all that is left.
        if let [before @ .., TemplateArg::Expansion(pattern)] = written {
            let Some(slot) = params.len().checked_sub(1) else {
                return false;
            };
            if args.len() < before.len() {
                return false;
            }
            let (first, rest) = args.split_at(before.len());
            let mut pack = Vec::new();
            for arg in rest {
                let mut of_element = known.to_vec();
                of_element[slot] = Known::Nothing;
                let one = std::slice::from_ref(&**pattern);
                if !self.deduce_args(params, one, std::slice::from_ref(arg), &mut of_element) {
                    return false;
                }
                pack.extend(of_element.swap_remove(slot).arg());
            }
            if params[slot].is_pack {
                known[slot] = Known::Deduced(Arg::Pack(pack));
            }
            written = before;
            args = first;
        }
        if written.len() > args.len() {
            return false;
        }
        written
            .iter()
            .zip(args)
            .all(|(written, arg)| match (written, arg) {
                (TemplateArg::Expansion(_), _) | (_, Arg::Pack(_)) => false,
                (TemplateArg::Type(name), Arg::Type(ty)) => {
                    let parts = &name.declarator.parts;
                    self.deduce(params, &name.specifiers, parts, ty, false, known)
                }
                (TemplateArg::Value(expr), arg) => match &expr.kind {
                    ExprKind::Name(name) => match index(name) {
                        Some(i) => learn(known, i, arg.clone(), &params[i]),
                        None => true,
                    },
                    _ => true,
                },
                (TemplateArg::Type(name), Arg::Template(_)) => match &name.specifiers.ty.node {
                    ast::TypeSpecifier::Named(name) => {
                        index(name).is_none_or(|i| learn(known, i, arg.clone(), &params[i]))
                    }
                    _ => true,
                },
                (TemplateArg::Type(_), Arg::Value(..)) => false,
            })
    }

    /// The function that a template is with these arguments, declared only; `None` if its signature makes no sense then.
    fn declare_instance(&mut self, id: TemplateId, args: Vec<Arg>, at: Span) -> Option<FunctionId> {
        let facts = &self.templates[id.0 as usize];
        if let Some(&known) = facts.functions.get(&args) {
            return Some(known);
        }
        let ast::Item::Function(function) = facts.item else {
            return None;
        };
        let depth = self.depth_of(self.body.id) + 1;
        let name = facts.name.clone();
        let shown = format!("{}{}", name, self.show_args(&args));
        if depth > MAX_DEPTH {
            if self.said.insert((None, format!("template depth {name}"))) {
                let diagnostic = Diagnostic::error(
                    Code::TemplateDepth,
                    at,
                    format!(
                        "more than {MAX_DEPTH} instances of templates need one another, the last is `{shown}`"
                    ),
                );
                self.report(
                    diagnostic
                        .label(self.templates[id.0 as usize].span, "the template")
                        .help("end the recursion with `if constexpr` or with a specialisation"),
                );
            }
            return None;
        }
        let bound = Self::bindings(facts.params, &args);
        let n_diagnostics = self.diagnostics.len();
        let outer = std::mem::take(&mut self.body);
        let class = facts.class;
        let declared = self.bound(id, &bound, |checker| match class {
            Some(class) => checker.new_method(class, function, &shown),
            None => checker.new_function(function, &shown),
        });
        self.body = outer;
        let declared = declared?;
        let errors = self.diagnostics[n_diagnostics..]
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error);
        if errors {
            self.diagnostics.truncate(n_diagnostics);
            return None;
        }
        self.function_instances.insert(
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
        self.templates[id.0 as usize]
            .functions
            .insert(args, declared);
        Some(declared)
    }

    /// The parameters of a kernel template that has no instance.
    pub(super) fn unused_kernel(&self, id: TemplateId) -> Option<&'a [ast::TemplateParam]> {
        let facts = &self.templates[id.0 as usize];
        let ast::Item::Function(function) = facts.item else {
            return None;
        };
        let is_used = |id: &FunctionId| {
            let instance = self.function_instances.get(id);
            instance.is_some_and(|instance| instance.is_queued)
        };
        let is_unused =
            !facts.functions.values().any(is_used) && super::survey::is_kernel(function);
        (is_unused && facts.definition.is_some()).then_some(facts.params)
    }

    /// Makes the instance with these arguments, and asks for its body.
    pub(super) fn instantiate_with(
        &mut self,
        id: TemplateId,
        params: &'a [ast::TemplateParam],
        known: Vec<Option<Arg>>,
    ) -> Option<FunctionId> {
        let n_diagnostics = self.diagnostics.len();
        let args = self.complete_args(id, params, known);
        self.diagnostics.truncate(n_diagnostics);
        let args = args.ok()?;
        let span = self.templates[id.0 as usize].span;
        let shown = self.show_args(&args);
        let function = self.declare_instance(id, args, span)?;
        self.made_up.insert(function, shown);
        self.need(function);
        Some(function)
    }

    fn depth_of(&self, function: Option<FunctionId>) -> u32 {
        let Some(id) = function else { return 0 };
        if let Some(instance) = self.function_instances.get(&id) {
            return instance.depth;
        }
        let class = self.function_facts[id.0 as usize].class;
        class
            .and_then(|class| self.class_instances.get(&class))
            .map_or(0, |instance| instance.depth)
    }

    /// What decides between candidates that fit equally well: no template before a template, then the more special one.
    pub(super) fn specificity(&self, id: FunctionId) -> u32 {
        let Some(instance) = self.function_instances.get(&id) else {
            return 1000;
        };
        let facts = &self.templates[instance.template.0 as usize];
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
        // One that says how many arguments it takes goes before one that takes any number.
        2 * sum + u32::from(!has_pack)
    }

    /// An instance or a member of one is used: its body will be checked.
    pub(super) fn need(&mut self, id: FunctionId) {
        if let Some(instance) = self.function_instances.get_mut(&id)
            && !instance.is_queued
        {
            instance.is_queued = true;
            self.needed.push(id);
            let template = instance.template;
            let is_auto = matches!(
                &self.templates[template.0 as usize].item,
                ast::Item::Function(function)
                    if matches!(function.specifiers.ty.node, ast::TypeSpecifier::Auto)
            );
            if is_auto {
                // Its type is needed now.
                self.needed.pop();
                self.check_instance(id);
            }
        }
    }

    /// Checks the body of an instance, or of a member of one, before its turn.
    pub(super) fn check_early(&mut self, id: FunctionId) {
        let unevaluated = std::mem::take(&mut self.unevaluated);
        match self.lazy.remove(&id) {
            Some(lazy) => self.lazy_body(id, lazy),
            None => {
                self.check_instance(id);
            }
        }
        self.unevaluated = unevaluated;
    }

    /// Checks the bodies of the instances that are needed, and of those that these need.
    pub(super) fn check_needed(&mut self, is_end: bool) {
        let mut waiting = Vec::new();
        loop {
            self.need_members();
            let Some(id) = self.needed.pop() else { break };
            if !self.check_instance(id) && !is_end {
                waiting.push(id);
            }
        }
        self.needed = waiting;
    }

    /// Members of instances that have been called since the last time.
    fn need_members(&mut self) {
        while self.n_followed < self.functions.len() || !self.lazy.is_empty() {
            // Calls are noted in the caller's facts; look through those that have grown.
            let mut found = Vec::new();
            for index in 0..self.function_facts.len() {
                let calls = &self.function_facts[index].calls;
                let from = self.followed.get(index).copied().unwrap_or(0);
                for (callee, _) in &calls[from.min(calls.len())..] {
                    if self.lazy.contains_key(callee) {
                        found.push((*callee, index));
                    }
                }
            }
            self.followed = self
                .function_facts
                .iter()
                .map(|facts| facts.calls.len())
                .collect();
            self.n_followed = self.functions.len();
            if found.is_empty() {
                return;
            }
            for (callee, _) in found {
                if let Some(lazy) = self.lazy.remove(&callee) {
                    self.lazy_body(callee, lazy);
                }
            }
        }
    }

    fn check_instance(&mut self, id: FunctionId) -> bool {
        let Some(instance) = self.function_instances.get(&id).cloned() else {
            return true;
        };
        if instance.is_special || self.function_facts[id.0 as usize].is_defined {
            return true;
        }
        let facts = &self.templates[instance.template.0 as usize];
        let Some((params, function)) = facts.definition else {
            return false;
        };
        self.function_facts[id.0 as usize].is_defined = true;
        let bound = Self::bindings(params, &instance.args);
        self.in_instance(id, instance.template, &bound, function, instance.needed);
        true
    }

    /// Checks a body with a template's parameters bound; what is wrong in it says so.
    fn in_instance(
        &mut self,
        id: FunctionId,
        template: TemplateId,
        bound: &[(Arc<str>, Entity)],
        function: &ast::Function,
        needed: (Option<FunctionId>, Span),
    ) {
        let is_host = self.functions[id.0 as usize].space == FunctionSpace::Host;
        if self.options.skip_host && is_host && !self.function_facts[id.0 as usize].is_constexpr {
            self.function_facts[id.0 as usize].is_skipped = true;
            return;
        }
        // The definition may name the parameters otherwise than the declaration.
        let hidden = usize::from(self.function_facts[id.0 as usize].has_this);
        let own = &mut self.function_facts[id.0 as usize].params[hidden..];
        let declared = super::pack::declared(own, &function.params);
        for (own, param) in own.iter_mut().zip(declared) {
            own.name = param.declarator.name.as_ref().map(|name| name.node.clone());
        }
        let n_diagnostics = self.diagnostics.len();
        let outer = std::mem::take(&mut self.body);
        self.bound(template, bound, |checker| {
            checker.function_body(id, function)
        });
        self.body = outer;
        self.explain_instance(n_diagnostics, id, needed);
    }

    /// Adds to the messages since `from` which instance they are in; what another instance has said already is left out.
    fn explain_instance(
        &mut self,
        from: usize,
        id: FunctionId,
        mut needed: (Option<FunctionId>, Span),
    ) {
        let mut notes = Vec::new();
        let mut name = self.functions[id.0 as usize].name.clone();
        loop {
            let site = self.map.use_site(needed.1);
            let line = self.map.file(site.file).line_column(site.start).0;
            notes.push(format!("{INSTANCE} `{name}`, needed at line {line}"));
            let Some(outer) = needed.0 else { break };
            let Some(instance) = self.function_instances.get(&outer) else {
                break;
            };
            name = self.functions[outer.0 as usize].name.clone();
            needed = instance.needed;
        }
        if notes.len() > SHOWN {
            let more = notes.len() - SHOWN;
            notes.truncate(SHOWN);
            notes.push(format!("and so on, {more} more"));
        }
        let own = self.diagnostics.split_off(from);
        for mut diagnostic in own {
            let key = (diagnostic.code, diagnostic.primary.span);
            if self.said_in_instances.insert(key) {
                if diagnostic
                    .notes
                    .iter()
                    .all(|note| !note.starts_with(INSTANCE))
                {
                    diagnostic.notes.extend(notes.iter().cloned());
                }
                self.diagnostics.push(diagnostic);
            }
        }
    }

    // Specialisations of functions.

    /// The instance that `template <> void f<float>(float x)` is about.
    fn specialised(&mut self, function: &ast::Function) -> Option<FunctionId> {
        let name = &function.name;
        let set = match self
            .scopes
            .find(&name.node)
            .map(|found| found.entity.clone())
        {
            Some(Entity::Functions(set)) => set,
            _ => Arc::from([]),
        };
        // Its parameters' types stand for arguments of these types.
        let values: Vec<Argument<'_>> = function
            .params
            .iter()
            .map(|param| {
                let ty = self.param_type(param);
                Argument::Value(Value {
                    kind: crate::sema::typed::ValueKind::Int(0),
                    ty: ty.ty,
                    span: param.span,
                })
            })
            .collect();
        let explicit = function.declarator.args.as_deref().unwrap_or_default();
        let ids = self.instances(&set, Some(explicit), &values, name.span);
        // Of several the one with the same parameters.
        let types: Vec<Ty> = values
            .iter()
            .map(|value| match value {
                Argument::Value(value) => value.ty.clone(),
                Argument::List(..) => Ty::Error,
            })
            .collect();
        let same = |id: &&FunctionId| {
            let params = &self.function_facts[id.0 as usize].params;
            params.iter().map(|param| &param.ty.ty).eq(types.iter())
        };
        let found = ids
            .iter()
            .filter(same)
            .max_by_key(|id| self.specificity(**id));
        if let Some(id) = found {
            return Some(*id);
        }
        // What the command line asks for has no parameters written.
        if let ([id], true) = (&ids[..], self.is_request(name.span)) {
            return Some(*id);
        }
        self.report(Diagnostic::error(
            Code::TemplateArgument,
            name.span,
            format!(
                "there is no template `{}` that this could be an instance of",
                name.node
            ),
        ));
        None
    }

    fn specialise_function(&mut self, function: &'a ast::Function) {
        if function.name.node.contains("::") {
            return self.unsupported("a specialisation of a member function", function.name.span);
        }
        let Some(id) = self.specialised(function) else {
            return;
        };
        if let Some(instance) = self.function_instances.get_mut(&id) {
            instance.is_special = true;
            instance.is_queued = true;
        }
        let facts = &mut self.function_facts[id.0 as usize];
        for (own, param) in facts.params.iter_mut().zip(&function.params) {
            own.name = param.declarator.name.as_ref().map(|name| name.node.clone());
            own.span = param
                .declarator
                .name
                .as_ref()
                .map_or(param.span, |name| name.span);
        }
        facts.declared = function.name.span;
        self.functions[id.0 as usize].span = function.name.span;
        if function.body.is_none() || facts.is_defined {
            return;
        }
        facts.is_defined = true;
        if self.options.skip_host && self.functions[id.0 as usize].space == FunctionSpace::Host {
            self.function_facts[id.0 as usize].is_skipped = true;
            return;
        }
        self.function_body(id, function);
    }

    // Classes.

    /// `Tile<float, 4>` as a type; also an alias template's instance.
    pub(super) fn templated_type(
        &mut self,
        name: &str,
        args: &[TemplateArg],
        span: Span,
    ) -> QualTy {
        let found = self.scopes.find(name).map(|found| found.entity.clone());
        let id = match found {
            Some(Entity::Template(id)) => id,
            Some(Entity::Error) => return Ty::Error.into(),
            _ => {
                self.unknown_template(name, span);
                return Ty::Error.into();
            }
        };
        let params = self.templates[id.0 as usize].params;
        let Some(args) = self.all_args(id, args, span) else {
            return Ty::Error.into();
        };
        if self.is_variable(id) {
            self.report(Diagnostic::error(
                Code::WrongKindOfName,
                span,
                format!("`{name}` is a variable, but a type is needed here"),
            ));
            return Ty::Error.into();
        }
        match self.templates[id.0 as usize].item {
            ast::Item::Declaration(declaration)
                if Self::record_of(self.templates[id.0 as usize].item).is_none() =>
            {
                let bound = Self::bindings(params, &args);
                self.bound(id, &bound, |checker| {
                    let base = checker.base_type_not_auto(&declaration.specifiers);
                    match declaration.declarators.first() {
                        Some(first) => {
                            checker.declared_type(base, &first.declarator.parts, first.span)
                        }
                        None => base,
                    }
                })
            }
            _ => self.class_instance(id, args, span),
        }
    }

    fn unknown_template(&mut self, name: &str, span: Span) {
        if !self.said.insert((None, format!("template {name}"))) {
            return;
        }
        let library = name.strip_prefix("std::").is_some()
            || name.starts_with("thrust::")
            || name.starts_with("cub::")
            || name.starts_with("cuda::");
        let diagnostic = if library {
            Diagnostic::error(
                Code::Unsupported,
                span,
                format!("`{name}` of C++'s libraries is not supported yet"),
            )
        } else {
            Diagnostic::error(
                Code::UnknownType,
                span,
                format!("there is no class template `{name}`"),
            )
        };
        self.report(diagnostic);
    }

    fn class_instance(&mut self, id: TemplateId, args: Vec<Arg>, span: Span) -> QualTy {
        let facts = &self.templates[id.0 as usize];
        if let Some(&record) = facts.records.get(&args) {
            return Ty::Record(record).into();
        }
        let depth = self.depth_of(self.body.id).max(self.class_depth) + 1;
        let shown = format!("{}{}", facts.name, self.show_args(&args));
        if depth > MAX_DEPTH / 4 {
            let name = facts.name.clone();
            let declared = facts.span;
            if self.said.insert((None, format!("template depth {name}"))) {
                let diagnostic = Diagnostic::error(
                    Code::TemplateDepth,
                    span,
                    format!(
                        "instances of `{name}` need one another without end, the last is `{shown}`"
                    ),
                );
                self.report(diagnostic.label(declared, "the template"));
            }
            return Ty::Error.into();
        }
        let (special, params, specifier, own_args) = match self.specialisation(id, &args) {
            Some((index, own_args)) => {
                let (params, specifier) = self.templates[id.0 as usize].specialisations[index];
                (Some(index), params, specifier, own_args)
            }
            None => {
                let facts = &self.templates[id.0 as usize];
                let Some(specifier) = Self::record_of(facts.item) else {
                    return Ty::Error.into();
                };
                (None, facts.params, specifier, args.clone())
            }
        };
        let declared = self.templates[id.0 as usize].span;
        let record = RecordId(self.records.len() as u32);
        self.records.push(Record {
            name: shown,
            is_union: specifier.is_union,
            is_vector: false,
            fields: Vec::new(),
            size_bytes: 0,
            align_bytes: 0,
            span: Some(declared),
        });
        self.templates[id.0 as usize]
            .records
            .insert(args.clone(), record);
        let bound = Self::bindings(params, &own_args);
        let needed = (self.body.id, span);
        self.class_instances.insert(
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
            return Ty::Record(record).into();
        };
        let outer = std::mem::take(&mut self.body);
        let open = std::mem::take(&mut self.open_classes);
        let outside = std::mem::replace(&mut self.class_depth, depth);
        let n_diagnostics = self.diagnostics.len();
        self.bound(id, &bound, |checker| {
            checker.class_params = bound.clone();
            checker.complete_record(record, specifier, members, declared);
        });
        self.class_depth = outside;
        self.open_classes = open;
        self.body = outer;
        if self.diagnostics.len() > n_diagnostics {
            let site = self.map.use_site(span);
            let line = self.map.file(site.file).line_column(site.start).0;
            let name = self.records[record.0 as usize].name.clone();
            for diagnostic in &mut self.diagnostics[n_diagnostics..] {
                let notes = &mut diagnostic.notes;
                let said = notes.iter().filter(|note| note.starts_with(INSTANCE));
                match said.count() {
                    n if n < SHOWN => {
                        notes.push(format!("{INSTANCE} `{name}`, needed at line {line}"))
                    }
                    _ if notes.last().is_some_and(|last| last == "and so on") => {}
                    _ => notes.push("and so on".to_string()),
                }
            }
        }
        Ty::Record(record).into()
    }

    /// The specialisation of a class that fits best, and what its own parameters stand for.
    fn specialisation(&mut self, id: TemplateId, args: &[Arg]) -> Option<(usize, Vec<Arg>)> {
        let all = &self.templates[id.0 as usize].specialisations;
        let all = all.iter();
        let all = all.map(|(params, specifier)| (*params, specifier.args.as_deref()));
        let all = all.collect();
        self.best_specialisation(id, all, args)
    }

    /// The specialisation that fits best among these, each with its own parameters and the arguments written after its name.
    pub(super) fn best_specialisation(
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
            let template_params = self.templates[id.0 as usize].params;
            let bound = Self::bindings(params, &own);
            let n_diagnostics = self.diagnostics.len();
            let said = self.bound(id, &bound, |checker| {
                let given = checker.explicit_args(template_params, written)?;
                let known = given.into_iter().map(Some).collect();
                checker.complete_args(id, template_params, known).ok()
            });
            self.diagnostics.truncate(n_diagnostics);
            if said.as_deref() != Some(args) {
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

    fn specialise_class(
        &mut self,
        params: &'a [ast::TemplateParam],
        declaration: &'a ast::Declaration,
        span: Span,
    ) {
        let ast::TypeSpecifier::Record(record) = &declaration.specifiers.ty.node else {
            return self.unsupported("this form of a template", span);
        };
        let Some(name) = &record.name else {
            return self.unsupported("a template without a name", span);
        };
        match self
            .scopes
            .find(&name.node)
            .map(|found| found.entity.clone())
        {
            Some(Entity::Template(id)) => self.templates[id.0 as usize]
                .specialisations
                .push((params, record)),
            Some(Entity::Error) => {}
            _ => self.unknown_template(&name.node, name.span),
        }
    }

    /// `template <typename T> void Tile<T>::f() { … }`.
    fn member_of_template(
        &mut self,
        params: &'a [ast::TemplateParam],
        function: &'a ast::Function,
    ) {
        let Some((class, _)) = function.name.node.rsplit_once("::") else {
            return;
        };
        match self.scopes.find(class).map(|found| found.entity.clone()) {
            Some(Entity::Template(id)) => self.templates[id.0 as usize]
                .members
                .push((params, function)),
            Some(Entity::Error) => {}
            _ => self.unknown_template(class, function.name.span),
        }
    }

    /// The body of a member function of an instance, in its class or outside.
    fn lazy_body(&mut self, id: FunctionId, lazy: LazyBody) {
        let Some(instance) = self.class_instances.get(&lazy.class).cloned() else {
            return;
        };
        let (bound, function) = match lazy.function {
            Some(function) => (instance.bound.clone(), function),
            None => {
                if instance.special.is_some() {
                    return;
                }
                let own = &self.functions[id.0 as usize].name;
                let last = own.rsplit("::").next().unwrap_or(own).to_string();
                let facts = &self.function_facts[id.0 as usize];
                let n_params = facts.params.len() - usize::from(facts.has_this);
                let members = &self.templates[instance.template.0 as usize].members;
                let found = members.iter().find(|(_, function)| {
                    let name = function.name.node.rsplit("::").next();
                    name == Some(&last) && function.params.len() == n_params
                });
                let Some(&(params, function)) = found else {
                    return;
                };
                let bound = Self::bindings(params, &instance.args);
                (bound, function.clone())
            }
        };
        self.function_facts[id.0 as usize].is_defined = true;
        self.in_instance(id, instance.template, &bound, &function, instance.needed);
    }
}

/// What a parameter's name means where the parameter stands for this.
fn entity_of(arg: &Arg) -> Entity {
    match arg {
        Arg::Type(ty) => Entity::Typedef(ty.clone()),
        Arg::Value(ty, bits) => Entity::Constant(ty.clone(), *bits),
        Arg::Template(id) => Entity::Template(*id),
        Arg::Pack(args) => Entity::Pack(
            args.iter()
                .map(|arg| Binding {
                    entity: entity_of(arg),
                    span: Span::default(),
                })
                .collect(),
        ),
    }
}

trait IntoArg {
    fn into_arg(self) -> Option<Arg>;
}

impl IntoArg for QualTy {
    fn into_arg(self) -> Option<Arg> {
        (self.ty != Ty::Error).then_some(Arg::Type(self))
    }
}

/// Notes what a parameter stands for; `false` if it is something else already.
fn learn(known: &mut [Known], index: usize, arg: Arg, param: &ast::TemplateParam) -> bool {
    let fits = matches!(
        (&param.kind, &arg),
        (_, Arg::Pack(_))
            | (TemplateParamKind::Type(_), Arg::Type(_))
            | (TemplateParamKind::Value { .. }, Arg::Value(..))
            | (TemplateParamKind::Template, Arg::Template(_))
    );
    if !fits {
        return false;
    }
    match (&known[index], &arg) {
        (Known::Nothing, _) => {
            known[index] = Known::Deduced(arg);
            true
        }
        // What is given is not deduced: the argument will be converted.
        (Known::Given(_), _) => true,
        // The type of a value follows from its parameter.
        (Known::Deduced(Arg::Value(_, old)), Arg::Value(_, new)) => old == new,
        (Known::Deduced(old), new) => old == new,
    }
}
