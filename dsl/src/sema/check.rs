//! The checker's state and the order of its work.
//!
//! The items of a unit are checked in source order, as C wants: a name means what has been declared so far. Functions of
//! the prelude are the exception: they get an id when first used and their bodies are checked at the end. What depends
//! on who calls whom (recursion in device code, host calls from `__host__ __device__` functions) is decided last, in `graph`.
//! After an error checking goes on with `Ty::Error`, which agrees with everything, so that one mistake is one message.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{
    Options,
    const_eval::Const,
    layout,
    scope::{Callable, Entity, Scopes, TemplateId},
    show,
    ty::{EnumId, QualTy, Record, RecordId, Ty},
    typed::{self, FunctionId, FunctionSpace, GlobalVarId, Program, Value, ValueKind, VarId},
};
use crate::{
    arena::Arena,
    diagnostic::{Code, Diagnostic, Severity},
    source::SourceMap,
    span::Span,
    syntax::ast,
};

mod access;
mod allocate;
mod asm;
mod atomic;
mod builtin_call;
mod call;
mod cast;
mod class;
mod cleanup;
mod constant;
mod construct;
mod convert;
mod decl;
mod exchange;
mod expr;
mod format;
mod function;
mod graph;
mod host_call;
pub(crate) use host_call::host_assert;
mod binding;
mod forward;
mod implicit;
mod init;
mod label;
mod lambda;
mod launch;
mod launch_call;
mod method;
mod named_result;
mod operator;
mod overload;
mod pack;
mod pointer_call;
mod range;
mod record;
mod reference;
mod size_of_pointer;
mod specifier;
mod startup;
mod stmt;
pub(super) mod survey;
mod switch;
mod template;
mod template_variable;
mod unknown;
mod variable;

pub(super) use template::Kept;

/// What the checker knows and has made so far.
pub(super) struct Checker<'a> {
    pub(super) map: &'a SourceMap,
    unit: &'a ast::Unit,
    options: Options,
    pub(super) diagnostics: Vec<Diagnostic>,
    scopes: Scopes,
    records: Arena<RecordId, Record>,
    /// Names of the enumerations by id.
    enums: Vec<String>,
    globals: Arena<GlobalVarId, GlobalEntry>,
    functions: Arena<FunctionId, FunctionEntry>,
    /// The function whose body is being checked.
    body: Body,
    /// The records of vector types that are in use.
    vectors: HashMap<String, RecordId>,
    /// What has been said and is said once only: unknown names, unsupported constructs.
    said: HashSet<(Option<FunctionId>, String)>,
    /// For how many unknown names a near one has been looked for.
    n_guesses: u32,
    /// Prelude functions whose bodies are still to be checked.
    queue: Vec<(FunctionId, usize)>,
    /// Where each function of the program is first declared, for uses before that.
    later: HashMap<Arc<str>, Span>,
    /// Errors that hold only if a `__host__ __device__` function is reached from one side.
    deferred: Vec<Deferred>,
    /// Classes by their records.
    classes: HashMap<RecordId, class::ClassFacts>,
    /// Those whose members are being read, outermost first.
    open_classes: Vec<class::OpenClass>,
    /// The functions around the one being checked, outermost first, for what a lambda captures.
    outer_bodies: Vec<Body>,
    /// The classes of lambdas that have been checked, by their place.
    lambdas: HashMap<(Option<FunctionId>, Span), lambda::LambdaFacts>,
    /// The operators that the program gives to any type: `operator+`.
    operators: HashSet<Arc<str>>,
    /// The enumerations that are `enum class`.
    scoped_enums: HashSet<EnumId>,
    templates: Arena<TemplateId, template::TemplateFacts<'a>>,
    /// Where the next template goes that belongs to an instance of a class.
    kept: &'a Kept,
    function_instances: HashMap<FunctionId, template::Instance>,
    class_instances: HashMap<RecordId, template::ClassInstance>,
    /// Instances of functions that are used and whose bodies are still to be checked.
    needed: Vec<FunctionId>,
    /// Member functions of classes' instances that nobody has called yet.
    lazy: HashMap<FunctionId, template::LazyBody>,
    /// How many functions' calls have been followed to those.
    n_followed: usize,
    /// How many instances of classes are being made inside one another.
    class_depth: u32,
    /// The parameters of the class's instance that is made next.
    class_params: template::Bound,
    /// The functions that items of the prelude have become.
    used_prelude: HashMap<usize, FunctionId>,
    /// The functions whose addresses the program takes.
    address_taken: Vec<FunctionId>,
    dispatchers: Vec<pointer_call::Dispatcher>,
    /// Inside a template's argument, where both sides may name functions of either.
    naming_constant: u32,
    /// Instances that the caller asked for.
    requested: Vec<(Span, FunctionId)>,
    /// Arguments of instances that a survey made up.
    made_up: HashMap<FunctionId, String>,
    /// Records whose layout is not known, because this is wrong with their base or a member.
    pub(super) broken_records: HashMap<RecordId, Diagnostic>,
    /// How many attempts are open inside each other, and what is wrong inside of classes that they need.
    attempts: template::attempt::Attempts,
    /// What has been said about a place in an instance: other instances need not repeat it.
    said_in_instances: HashSet<(Code, Span)>,
    /// Objects at file scope whose constructors run when `main` begins.
    at_start: Vec<startup::AtStart>,
    main_is_checked: bool,
    /// In the initialiser of a variable of the device: addresses in it are the device's.
    device_init: bool,
    /// Inside `sizeof`: nothing is evaluated, so memory spaces do not matter.
    unevaluated: u32,
}

/// A function: what the lowering will see of it, and what the check knows besides.
struct FunctionEntry {
    typed: typed::Function,
    facts: FunctionFacts,
}

/// A variable that outlives functions, likewise.
struct GlobalEntry {
    typed: typed::Global,
    facts: VarFacts,
}

/// A variable of a function, likewise.
struct VarEntry {
    typed: typed::Var,
    facts: VarFacts,
}

/// What is known of a variable besides its typed form.
#[derive(Clone, Default, Debug)]
struct VarFacts {
    /// Its value, if it is `const` with a constant initialiser.
    constant: Option<Const>,
    /// Its initialiser was wrong and has been reported.
    is_wrong: bool,
    /// `extern`, without an initialiser: a definition may follow.
    is_only_declared: bool,
}

/// What is known of a function besides its typed form.
#[derive(Clone, Default, Debug)]
struct FunctionFacts {
    params: Vec<ParamFacts>,
    /// The prototype's or the definition's name.
    declared: Span,
    /// The class it is a member of.
    class: Option<RecordId>,
    /// Its first parameter is the object.
    has_this: bool,
    /// A member function without an object.
    is_static: bool,
    /// `explicit`.
    is_explicit: bool,
    /// From its first word to the end of its body.
    extent: Option<Span>,
    /// `= delete`.
    is_deleted: bool,
    /// `auto f()`: its type is that of its first `return`.
    deduces: bool,
    /// `constexpr`: it may be called where a constant is needed.
    is_constexpr: bool,
    /// Its body does nothing.
    is_empty: bool,
    is_defined: bool,
    /// Defined, but its body was not looked at.
    is_skipped: bool,
    calls: Vec<(FunctionId, Span)>,
    /// How many of them have been followed to member functions that are checked on their first call.
    n_followed: usize,
}

/// A parameter as declared.
#[derive(Clone, Debug)]
struct ParamFacts {
    name: Option<Arc<str>>,
    /// Of a reference: what it refers to.
    ty: QualTy,
    span: Span,
    /// What it is if the call leaves it out.
    default: Option<Arc<ast::Expr>>,
    /// `T &`: another name for the argument.
    is_reference: bool,
    /// `T &&`: a value of its own, which no variable may be given for.
    is_rvalue: bool,
    /// The object of a member function: any value will do.
    is_this: bool,
    /// One of those that `Ts... rest` stands for.
    is_of_pack: bool,
}

/// The function being checked.
#[derive(Default)]
struct Body {
    id: Option<FunctionId>,
    space: Option<FunctionSpace>,
    vars: Arena<VarId, VarEntry>,
    loops: u32,
    switches: u32,
    /// The objects with destructors of each open block.
    cleanups: Vec<Vec<VarId>>,
    /// Objects without a name that the full expression being checked has made, and that end with it.
    temporaries: Vec<VarId>,
    /// How many blocks are open around the body of each open loop or switch, and whether it is a loop.
    exits: Vec<(usize, bool)>,
    /// The labels further down in the open blocks.
    labels: Vec<label::Label>,
    /// The names of those that have been passed.
    past_labels: Vec<Arc<str>>,
    /// How many labels there have been.
    n_labels: u32,
    /// The class it is a member of.
    class: Option<RecordId>,
    /// The object, in a member function.
    this: Option<VarId>,
    /// What a lambda captures.
    lambda: Option<lambda::Captures>,
    /// The result's type is that of the first `return`.
    deduces: bool,
    /// The variable that is the result itself (see [`named_result`]).
    named_result: Option<Arc<str>>,
    /// Where its scopes begin.
    floor: usize,
}

/// An error that waits for the call graph.
struct Deferred {
    function: FunctionId,
    side: Side,
    diagnostic: Diagnostic,
}

/// Where code runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Host,
    Device,
}

/// Something in memory or a value.
enum Checked {
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
}

impl<'a> Checker<'a> {
    pub(super) fn new(
        unit: &'a ast::Unit,
        map: &'a SourceMap,
        kept: &'a Kept,
        options: Options,
    ) -> Checker<'a> {
        Checker {
            kept,
            map,
            unit,
            options,
            diagnostics: Vec::new(),
            scopes: Scopes::new(),
            records: Arena::new(),
            enums: Vec::new(),
            globals: Arena::new(),
            functions: Arena::new(),
            body: Body::default(),
            vectors: HashMap::new(),
            said: HashSet::new(),
            n_guesses: 0,
            queue: Vec::new(),
            later: HashMap::new(),
            deferred: Vec::new(),
            at_start: Vec::new(),
            main_is_checked: false,
            device_init: false,
            templates: Arena::new(),
            function_instances: HashMap::new(),
            class_instances: HashMap::new(),
            needed: Vec::new(),
            lazy: HashMap::new(),
            n_followed: 0,
            class_depth: 0,
            class_params: Vec::new(),
            attempts: template::attempt::Attempts::default(),
            requested: Vec::new(),
            said_in_instances: HashSet::new(),
            used_prelude: HashMap::new(),
            address_taken: Vec::new(),
            dispatchers: Vec::new(),
            naming_constant: 0,
            made_up: HashMap::new(),
            broken_records: HashMap::new(),
            unevaluated: 0,
            scoped_enums: HashSet::new(),
            operators: HashSet::new(),
            lambdas: HashMap::new(),
            classes: HashMap::new(),
            open_classes: Vec::new(),
            outer_bodies: Vec::new(),
        }
    }

    /// Checks everything.
    pub(super) fn unit(&mut self) {
        let unit = self.unit;
        for item in &unit.items {
            if let ast::Item::Function(function) = item {
                self.later
                    .entry(function.name.node.clone())
                    .or_insert(function.name.span);
            }
        }
        for (index, item) in unit.items.iter().enumerate() {
            match item {
                ast::Item::Function(function) if self.in_prelude(function.name.span) => {
                    let name = function.name.clone();
                    self.note_operator(&name.node, name.span);
                    let callable = Callable::Unused(index);
                    self.scopes
                        .add_function(name.node, callable, name.span, true);
                }
                item => self.item(item),
            }
        }
        self.check_needed(true);
        if self.options.survey {
            self.instantiate_unused();
            self.check_needed(true);
        }
        let hidden = self.scopes.only_prelude();
        while let Some((id, index)) = self.queue.pop() {
            if let ast::Item::Function(function) = &unit.items[index] {
                self.function_body(id, function);
            }
        }
        self.scopes.restore(hidden);
        self.finish_dispatchers();
        self.check_needed(true);
        self.check_graph();
        self.name_overloaded_kernels();
    }

    fn item(&mut self, item: &'a ast::Item) {
        self.forget_said();
        match item {
            ast::Item::Function(function) => self.function(function),
            ast::Item::Declaration(declaration) => self.file_declaration(declaration),
            ast::Item::Template(template) => self.template(template),
            ast::Item::Namespace(namespace) => self.namespace(namespace),
            ast::Item::Using(using) => self.using(using),
            ast::Item::StaticAssert(assertion) => self.static_assert(assertion),
            ast::Item::Unsupported {
                construct,
                span,
                name,
            } => {
                self.unsupported(construct, *span);
                if let Some(name) = name {
                    self.declare_name(name, Entity::Error);
                }
            }
        }
        self.check_needed(false);
    }

    /// In a survey each function is told what is wrong with it, also if another one was told the same.
    fn forget_said(&mut self) {
        if self.options.survey {
            self.said.clear();
        }
    }

    /// `namespace a { … }`. What has no name, or is `inline`, belongs to the namespace around it.
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
                let last = name.node.rsplit("::").next().unwrap_or_default();
                // What is built in has its name everywhere.
                let is_known = self.scopes.use_name(&name.node)
                    || name.node.starts_with("std::")
                    || super::builtin::find(last).is_some();
                if !is_known {
                    self.report(Diagnostic::error(
                        Code::UnknownName,
                        name.span,
                        format!("there is no `{}`", name.node),
                    ));
                }
            }
        }
    }

    /// `static_assert(condition, "message");`
    pub(super) fn static_assert(&mut self, assertion: &ast::StaticAssert) {
        let value = self.value(&assertion.condition);
        let value = self.truth_value(value);
        if value.ty == Ty::Error {
            return;
        }
        let text = self.map.snippet(assertion.condition.span).to_string();
        match self.integer_constant(&value) {
            Ok(0) => {
                let message = match &assertion.message {
                    Some(bytes) if !bytes.is_empty() => String::from_utf8_lossy(bytes).into_owned(),
                    _ => format!("`{text}` does not hold"),
                };
                let diagnostic =
                    Diagnostic::error(Code::StaticAssert, assertion.condition.span, message);
                self.report(diagnostic.at("this is false"));
            }
            Ok(_) => {}
            Err(why) => self.report_not_constant(
                assertion.condition.span,
                "the condition of `static_assert` must be a constant",
                why,
            ),
        }
    }

    /// The program, unless there was an error.
    pub(super) fn finish(mut self) -> (Option<Program>, Vec<Diagnostic>) {
        self.diagnostics.sort_by_key(|diagnostic| {
            (diagnostic.primary.span.file, diagnostic.primary.span.start)
        });
        let has_error = self
            .diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error);
        let program = Program {
            records: self.records,
            globals: self
                .globals
                .into_iter()
                .map(|global| global.typed)
                .collect(),
            functions: self
                .functions
                .into_iter()
                .map(|function| function.typed)
                .collect(),
            requested: self.requested,
        };
        ((!has_error).then_some(program), self.diagnostics)
    }

    /// A declaration here belongs to the prelude's file scope, not to the user's program.
    fn in_prelude(&self, span: Span) -> bool {
        self.is_own(span) && self.body.id.is_none() && self.open_classes.is_empty()
    }

    /// A place in the prelude.
    fn is_own(&self, span: Span) -> bool {
        self.options.prelude.contains(&span.file)
    }

    // Messages.

    fn report(&mut self, mut diagnostic: Diagnostic) {
        diagnostic.message = with_articles(&diagnostic.message);
        if diagnostic.message.contains('#') {
            diagnostic.message = self.with_class_names(&diagnostic.message);
        }
        self.diagnostics.push(diagnostic);
    }

    /// Instances of classes go by a number inside, `#12`; a message has their names.
    fn with_class_names(&self, message: &str) -> String {
        let mut parts = message.split('#');
        let mut out = parts.next().unwrap_or_default().to_string();
        for part in parts {
            let n = part
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(part.len());
            let record = part[..n]
                .parse::<usize>()
                .ok()
                .and_then(|id| self.records.get(id));
            match record {
                Some(record) => out.push_str(&record.name),
                None => {
                    out.push('#');
                    out.push_str(&part[..n]);
                }
            }
            out.push_str(&part[n..]);
        }
        out
    }

    /// A constant divides by zero where its value is needed; the warning about the same operator is then one too many.
    fn report_constant_division(&mut self, span: Span, message: String) {
        self.diagnostics.retain(|old| {
            let place = old.primary.span;
            old.code != Code::DividesByZero
                || place.file != span.file
                || place.start < span.start
                || place.end > span.end
        });
        self.report(Diagnostic::error(Code::ConstantDivision, span, message));
    }

    /// True the first time in this function (or at file scope) that `what` is asked about.
    fn first_time(&mut self, what: &str) -> bool {
        self.said.insert((self.body.id, what.to_string()))
    }

    /// Says once that a construct is not supported.
    fn unsupported(&mut self, construct: &str, span: Span) {
        if self.said.insert((None, construct.to_string())) {
            self.report(Diagnostic::error(
                Code::Unsupported,
                span,
                format!("{construct} is not supported yet"),
            ));
        }
    }

    /// An error if this code runs on `side`: now if that is certain, later if it depends on the callers.
    fn on_side(&mut self, side: Side, diagnostic: Diagnostic) {
        if self.unevaluated > 0 {
            return;
        }
        let certain = match self.body.space {
            Some(FunctionSpace::Kernel | FunctionSpace::Device) => side == Side::Device,
            Some(FunctionSpace::Host) | None => side == Side::Host,
            Some(FunctionSpace::HostDevice) => {
                if let Some(function) = self.body.id {
                    self.deferred.push(Deferred {
                        function,
                        side,
                        diagnostic,
                    });
                }
                return;
            }
        };
        if certain {
            self.report(diagnostic);
        }
    }

    /// The function being checked may run on the device.
    fn may_be_device(&self) -> bool {
        !matches!(self.body.space, Some(FunctionSpace::Host) | None)
    }

    /// A type's text.
    fn show(&self, ty: &Ty) -> String {
        show::show(&ty.clone().into(), &self.records, &self.enums)
    }

    /// A qualified type's text.
    fn show_qualified(&self, ty: &QualTy) -> String {
        show::show(ty, &self.records, &self.enums)
    }

    // Tables.

    fn size_of(&self, ty: &Ty) -> Option<u64> {
        layout::size_of(ty, &self.records)
    }

    fn align_of(&self, ty: &Ty) -> u64 {
        layout::align_of(ty, &self.records)
    }

    fn record(&self, id: RecordId) -> &Record {
        &self.records[id]
    }

    /// The record of a vector type or `dim3`, made when first used.
    fn vector(&mut self, name: &str) -> Option<RecordId> {
        if let Some(&id) = self.vectors.get(name) {
            return Some(id);
        }
        let record = layout::vector_record(name)?;
        let id = self.records.push(record);
        self.vectors.insert(name.to_string(), id);
        Some(id)
    }

    fn dim3(&mut self) -> Ty {
        self.vector("dim3").map_or(Ty::Error, Ty::Record)
    }

    /// It is this vector type.
    fn is_vector(&self, ty: &Ty, name: &str) -> bool {
        matches!(ty, Ty::Record(id) if self.vectors.get(name) == Some(id))
    }

    fn add_var(&mut self, var: typed::Var) -> VarId {
        self.body.vars.push(VarEntry {
            typed: var,
            facts: VarFacts::default(),
        })
    }

    fn add_global(&mut self, global: typed::Global, facts: VarFacts) -> GlobalVarId {
        self.globals.push(GlobalEntry {
            typed: global,
            facts,
        })
    }
}

/// A value that is wrong and has been reported.
fn wrong(span: Span) -> Value {
    Value {
        kind: ValueKind::Int(0),
        ty: Ty::Error,
        span,
    }
}

/// An integer constant.
fn int(bits: u64, ty: Ty, span: Span) -> Value {
    Value {
        kind: ValueKind::Int(bits),
        ty,
        span,
    }
}

/// Types are put into messages after an "a"; before `int` and other vowels it is "an".
fn with_articles(message: &str) -> String {
    let mut out = String::with_capacity(message.len() + 2);
    let mut rest = message;
    while let Some(at) = rest.find("a `") {
        let is_word = at == 0 || rest[..at].ends_with(' ');
        let name = &rest[at + 3..];
        let is_vowel = name.starts_with(['a', 'e', 'i', 'o']) || name.starts_with("unsigned");
        out.push_str(&rest[..at]);
        out.push_str(if is_word && is_vowel { "an `" } else { "a `" });
        rest = name;
    }
    out.push_str(rest);
    out
}
