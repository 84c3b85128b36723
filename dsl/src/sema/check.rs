//! The checker's state and the order of its work.
//!
//! The items of a unit are checked in source order, as C requires: a name means what has been declared so far. Functions of the prelude are
//! the exception: they get an id when first used, and their bodies are checked at the end. Checks that need the call graph (functions
//! without a body, host calls from `__host__ __device__` functions) are made last, in `graph`.
//!
//! An error is reported where it is found and propagates as [`Reported`]: a check returns `Result<_, Reported>`, and `?` passes the error
//! up to the statement or declaration, which continues without that part. If there may be more errors (in the other operand, the next
//! argument), all parts are checked before the first `?`. Only declarations outlive their statement: the name of a variable or a type that
//! is invalid is bound to [`Entity::Error`]; a parameter, a member or a function keeps its place and has the type [`Ty::Error`], which
//! `reporter::marked` makes. Every use of them is [`Reported`] at once, without another message.
//!
//! The rules are functions, a module for each construct: `switch::check` checks a `switch`. A function's parameters say what it needs.
//!
//! - A function that only looks something up takes `&Tables`, `&Scopes` or `&Instances`. One that also reports takes `&mut Reporter`. One
//!   that opens a block or makes a variable takes `&mut Body`.
//! - The others take `cx: &mut Checker`, because C++ nests without end: an expression can hold a lambda, whose body declares a class, whose
//!   template is instantiated by the next call. So checking an expression may declare a name, enter a scope or report.
//!
//! `impl Checker` holds only code that keeps several of its fields in step: the order of the work and the result (here), where a body
//! begins and ends (`body`), messages that depend on the body (`reporter`) and the survey's result. `tests/checker.rs` enforces this.

use crate::sema::message::decl::DeclError;
use crate::sema::path;
use std::collections::HashMap;

use super::{
    Options,
    scope::{Callable, Entity, Scopes},
    ty::Ty,
    typed::{self, FunctionId, Program, Value, ValueKind},
};
use crate::syntax::ast;
use ir::{
    diagnostic::{Diagnostic, Severity},
    source::SourceMap,
    span::Span,
};

mod body;
mod call;
mod class;
mod decl;
mod expr;
mod reporter;
mod stmt;
mod tables;
mod template;

use body::Body;
pub use body::Unknown;
pub(crate) use call::host_call::host_assert;
use call::{
    atomic, builtin_call, exchange, format, forward, graph, host_call, launch, launch_call,
    overload, pointer_call,
};
use class::construct::{members, temporary};
pub(crate) use class::lambda::generic::Captured;
use class::{allocate, construct, implicit, lambda, method, this, virtuals};
use decl::{binding, function, init, list, record, specifier, startup, variable};
use expr::operator::assign;
use expr::{access, bits, constant, convert, operator, reference, size_of_pointer, unknown};
pub(crate) use reporter::Reported;
use reporter::{Reporter, all, marked};
use stmt::{cleanup, label, named_result};
pub(crate) use tables::Tables;
use tables::{FunctionEntry, FunctionFacts, GlobalEntry, ParamFacts, VarEntry, VarFacts};
use template::{
    Instances, arguments, attempt, class_template, deduce, function_template, pack,
    variable_template,
};
pub(crate) use template::{TreeList, survey};

/// The check of one program: what is known so far, and the current place.
pub(crate) struct Checker<'a> {
    pub(crate) map: &'a SourceMap,
    /// The items of all units, in order.
    items: Vec<&'a ast::Item>,
    options: Options,
    pub(crate) tables: Tables,
    scopes: Scopes,
    instances: Instances<'a>,
    pub(crate) reporter: Reporter,
    prelude: Prelude,
    startup: startup::Startup,
    pointers: pointer_call::Pointers,
    dispatchers: virtuals::dispatch::Dispatchers,
    mode: Mode,
    /// The function whose body is being checked.
    body: Body,
    /// The functions around it, outermost first: a lambda captures from them, and an instance is checked where it is first needed.
    outer_bodies: Vec<Body>,
    /// The classes whose members are being read, outermost first.
    open_classes: Vec<class::OpenClass>,
}

/// Functions of the prelude, which are checked once they are used.
#[derive(Default)]
struct Prelude {
    /// The prelude's items that were used, and their functions.
    used: HashMap<usize, FunctionId>,
    /// The functions whose bodies are still to be checked.
    queue: Vec<(FunctionId, usize)>,
}

/// Rules for the code being checked.
#[derive(Default)]
struct Mode {
    /// Inside a template's argument, where code for either side may name functions of the other.
    naming_constant: u32,
    /// In the initialiser of a device variable: addresses in it are the device's.
    device_init: bool,
    /// Inside `sizeof`: nothing is evaluated, so memory spaces do not matter.
    unevaluated: u32,
}

/// Where code runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Host,
    Device,
}

/// Something in memory or a value.
pub(crate) enum Checked {
    Place(typed::Place),
    Value(Value),
}

impl Checked {
    fn ty(&self) -> &Ty {
        match self {
            Checked::Place(place) => &place.ty.ty,
            Checked::Value(value) => &value.ty,
        }
    }

    /// Reads the place, if it is one.
    fn into_value(self) -> Value {
        match self {
            Checked::Place(place) => method::place_value(place),
            Checked::Value(value) => value,
        }
    }
}

impl<'a> Checker<'a> {
    pub(crate) fn new(
        units: &[&'a ast::Unit],
        map: &'a SourceMap,
        kept: &'a TreeList,
        options: Options,
    ) -> Checker<'a> {
        Checker {
            map,
            items: units.iter().flat_map(|unit| &unit.items).collect(),
            options,
            tables: Tables::default(),
            scopes: Scopes::new(),
            instances: Instances::new(kept),
            reporter: Reporter::default(),
            prelude: Prelude::default(),
            startup: startup::Startup::default(),
            pointers: pointer_call::Pointers::default(),
            dispatchers: virtuals::dispatch::Dispatchers::default(),
            mode: Mode::default(),
            body: Body::default(),
            outer_bodies: Vec::new(),
            open_classes: Vec::new(),
        }
    }

    /// Checks everything.
    pub(crate) fn program(&mut self) {
        for item in &self.items {
            if let ast::Item::Function(function) = item {
                self.tables
                    .declared_later
                    .entry(function.name.node.clone())
                    .or_insert(function.name.span);
            }
        }
        for index in 0..self.items.len() {
            match self.items[index] {
                ast::Item::Function(function) if self.in_prelude(function.name.span) => {
                    let name = function.name.clone();
                    method::note_operator(self, &name.node, name.span);
                    let callable = Callable::Unused(index);
                    self.scopes
                        .add_function(name.node, callable, name.span, true);
                }
                item => self.item(item),
            }
        }
        function_template::check_needed(self, true);
        if self.options.survey {
            survey::instantiate_unused(self);
            function_template::check_needed(self, true);
        }
        virtuals::dispatch::need_targets(self);
        let hidden = self.scopes.only_prelude();
        while let Some((id, index)) = self.prelude.queue.pop() {
            if let ast::Item::Function(function) = self.items[index] {
                function::body(self, id, function);
            }
        }
        self.scopes.restore(hidden);
        virtuals::dispatch::need_targets(self);
        virtuals::dispatch::finish(self);
        pointer_call::finish_dispatchers(&mut self.tables, &self.pointers);
        function_template::check_needed(self, true);
        if !template::limit::report(self) {
            graph::check(&self.tables, &mut self.reporter);
        }
        function_template::count_instances(&mut self.reporter);
        overload::name_overloaded_kernels(&mut self.tables);
    }

    fn item(&mut self, item: &'a ast::Item) {
        self.forget_reported();
        match item {
            ast::Item::Function(function) => function::check(self, function),
            ast::Item::Declaration(declaration) => decl::file_declaration(self, declaration),
            ast::Item::Template(template) => template::check(self, template),
            ast::Item::Namespace(namespace) => self.namespace(namespace),
            ast::Item::Using(using) => self.using(using),
            ast::Item::StaticAssert(assertion) => decl::static_assert(self, assertion),
            ast::Item::Unsupported {
                construct,
                span,
                name,
            } => {
                self.unsupported(construct, *span);
                if let Some(name) = name {
                    decl::declare_name(self, name, Entity::Error);
                }
            }
        }
        function_template::check_needed(self, false);
    }

    /// In a survey every function gets its own messages, even if another function had the same ones.
    fn forget_reported(&mut self) {
        if self.options.survey {
            self.reporter.reported_once.clear();
        }
    }

    /// `namespace a { … }`. The contents of an unnamed or `inline` namespace belong to the namespace around it.
    fn namespace(&mut self, namespace: &'a ast::Namespace) {
        let outside = self.scopes.namespace();
        if let (Some(name), false) = (&namespace.name, namespace.is_inline) {
            let inner = match &*outside {
                "" => name.node.clone(),
                _ => format!("{outside}::{}", name.node).into(),
            };
            self.scopes.set_namespace(inner);
        }
        for item in &namespace.items {
            self.item(item);
        }
        self.scopes.set_namespace(outside);
    }

    /// `using` in its forms.
    fn using(&mut self, using: &ast::Using) {
        match using {
            ast::Using::Namespace(name) => self.scopes.use_namespace(name.node.clone()),
            ast::Using::NamespaceAlias(alias, of) => {
                self.scopes
                    .alias_namespace(alias.node.clone(), of.node.clone());
            }
            ast::Using::Name(name) => {
                let last = path::last(&name.node);
                // Built-in names are visible everywhere.
                let is_known = self.scopes.use_name(&name.node)
                    || name.node.starts_with("std::")
                    || super::builtin::find(last).is_some();
                if !is_known {
                    self.error(
                        name.span,
                        DeclError::NoSuchName {
                            name: name.node.to_string(),
                        },
                    );
                }
            }
        }
    }

    /// The program, unless there was an error.
    pub(crate) fn finish(mut self) -> (Option<Program>, Vec<Diagnostic>) {
        self.reporter.diagnostics.sort_by_key(|diagnostic| {
            (diagnostic.primary.span.file, diagnostic.primary.span.start)
        });
        let has_error = self
            .reporter
            .diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error);
        let program = Program {
            records: self.tables.records,
            lambdas: self.tables.lambda_functions,
            generic_lambdas: self.tables.named_generic_lambdas,
            globals: self
                .tables
                .globals
                .into_iter()
                .map(|global| global.typed)
                .collect(),
            functions: self
                .tables
                .functions
                .into_iter()
                .map(|function| function.typed)
                .collect(),
            requested: self.instances.requested,
        };
        ((!has_error).then_some(program), self.reporter.diagnostics)
    }

    /// A declaration here belongs to the prelude's file scope, not to the user's program.
    fn in_prelude(&self, span: Span) -> bool {
        self.options.is_own(span) && self.body.id.is_none() && self.open_classes.is_empty()
    }
}

/// An integer constant.
fn int(bits: u64, ty: Ty, span: Span) -> Value {
    Value::new(ValueKind::Int(bits), ty, span)
}
