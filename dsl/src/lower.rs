//! Turns the typed tree into IR: kernels with the device functions they call inlined (except functions that may call themselves:
//! `routine`), host functions with calls, and the data that both name.
//!
//! Only this stage decides which variables are slots and which are memory (`layout`), how many accesses a source expression makes
//! (`place`), where a multiply and an add become one `fma` (`contract`), and how `&&`, `?:` and `switch` branch (`branch`, `switch`). It
//! lowers every kernel, and the host functions that `main` reaches.
//!
//! Where C leaves the order of evaluation open, the right side of an assignment comes before the place on its left, and arguments are
//! evaluated from left to right. Every access of the source is one access of the IR, with two exceptions that compilers share: a value that
//! is read only to be discarded (`a[i];`) is not read unless it is `volatile`, and the members of a vector type that are moved together are
//! one access.
//!
//! All pointers are generic at first; `infer_spaces` finds the spaces of a kernel's. If a module fails to verify, that is a bug in this
//! crate.

mod assign;
mod bits;
mod branch;
mod builtin;
mod bulk;
mod call;
mod contract;
mod convert;
mod exchange;
mod expr;
mod facts;
mod function;
mod global;
mod init;
mod launch;
mod layout;
mod lifetimes;
mod loc;
mod message;
mod place;
mod routine;
mod stmt;
mod switch;
#[cfg(test)]
mod tests;
mod text;
mod tidy;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    rc::Rc,
    sync::Arc,
};

use crate::{
    message::Message as _,
    sema::{
        self,
        typed::{
            Function, FunctionId, FunctionSpace, GlobalSpace, GlobalVarId, Init, Program, Stmt,
            StmtKind, Storage, Value, ValueKind, VarId,
        },
    },
};
use facts::{Binder, Facts, Item};
use ir::{
    FuncId, GlobalId, MemType, Module, StringId, diagnostic::Diagnostic,
    infer_spaces::infer_spaces, locate::is_library, source::SourceMap, span::Span, verify::verify,
};
use layout::Layout;
use loc::Locs;
use message::LowerError;

/// What the user can choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Fuse `a * b + c` in device code, as nvcc does by default.
    pub fmad: bool,
    /// Keep variables of the device that no kernel names: host code that another compiler compiles may copy them.
    pub all_globals: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            fmad: true,
            all_globals: false,
        }
    }
}

/// Lowers a program that sema found no error in.
pub fn lower(program: &Program, map: &SourceMap, options: &Options) -> (Module, Vec<Diagnostic>) {
    let mut lowerer = Lowerer::new(program, map, *options);
    let ids: Vec<FunctionId> = lowerer.number_functions();
    let too_large = lowerer.values_too_large(&ids);
    if !too_large.is_empty() {
        return (Module::default(), too_large);
    }
    lowerer.number_globals(&ids);
    lowerer.find_recursive(&ids);
    let globals = global::lower_globals(&mut lowerer);
    let functions = ids
        .iter()
        .map(|&id| function::lower_function(&mut lowerer, id))
        .collect();
    let files: Vec<String> = map.files().map(|(_, file)| file.name.clone()).collect();
    let mut module = Module {
        name: program_name(&files),
        files,
        locs: lowerer.locs.finish(),
        strings: lowerer.strings,
        globals,
        functions,
    };
    let mut diagnostics = lowerer.diagnostics;
    name_apart(&mut module);
    infer_spaces(&mut module);
    if let Err(violations) = verify(&module) {
        let internal = violations
            .iter()
            .map(|v| internal(Span::default(), &v.to_string()));
        diagnostics.extend(internal);
    }
    (module, diagnostics)
}

/// The largest number of scalars in a value that is moved as one: each is an operand, and an access or two.
const MAX_LEAVES: u64 = 1 << 20;

/// The scalars of a type in memory order, each with its offset. A kernel has one parameter for each scalar of its parameters.
pub fn scalars(program: &Program, ty: &sema::ty::Ty) -> Vec<(u64, MemType)> {
    let leaves = Layout::new(&program.records).leaves(ty);
    leaves
        .into_iter()
        .map(|leaf| (leaf.offset_bytes, leaf.ty))
        .collect()
}

/// For each parameter of a kernel its scalars; a reference is a pointer.
pub fn parameters(program: &Program, kernel: &Function) -> Vec<Vec<(u64, MemType)>> {
    let params = kernel.params.iter().map(|&id| &kernel.vars[id]);
    let scalars = params.map(|param| match param.is_reference {
        true => scalars(program, &sema::ty::Ty::Pointer(Arc::new(param.ty.clone()))),
        false => scalars(program, &param.ty.ty),
    });
    scalars.collect()
}

/// A type as a C programmer writes it: `const float *`.
pub fn written(program: &Program, ty: &sema::ty::QualTy) -> String {
    Layout::new(&program.records).c_type(ty)
}

/// The size of a type in bytes.
pub fn size_bytes(program: &Program, ty: &sema::ty::Ty) -> u64 {
    Layout::new(&program.records).size(ty)
}

/// The alignment of a type in bytes.
pub fn align_bytes(program: &Program, ty: &sema::ty::Ty) -> u64 {
    Layout::new(&program.records).align(ty)
}

/// The place of the first node without a type.
pub(crate) fn walk_typed(
    body: &[Stmt],
    is_wrong: &mut dyn FnMut(&sema::ty::Ty) -> bool,
) -> Option<Span> {
    let mut found = None;
    facts::walk(body, &mut |item| {
        let wrong = match item {
            Item::Value(value) if is_wrong(&value.ty) => Some(value.span),
            Item::Place(place) if is_wrong(&place.ty.ty) => Some(place.span),
            _ => None,
        };
        found = found.or(wrong);
    });
    found
}

/// The first file that the user wrote.
fn program_name(files: &[String]) -> String {
    let written = files.iter().find(|name| !is_library(name));
    written.cloned().unwrap_or_default()
}

/// Appends numbers to the names that overloads and instances share.
fn name_apart(module: &mut Module) {
    let mut taken = HashSet::new();
    // The next number to try for each name: thousands of lambdas share one.
    let mut last: HashMap<_, u32> = HashMap::new();
    for function in &mut module.functions {
        let mut name = function.name.clone();
        let n = last.entry((name.clone(), function.kind)).or_insert(1);
        while !taken.insert((name.clone(), function.kind)) {
            *n += 1;
            name = format!("{}_{n}", function.name);
        }
        function.name = name;
    }
}

/// Reports a bug in this crate, without a panic.
fn internal(span: Span, what: &str) -> Diagnostic {
    let what = what.to_string();
    LowerError::Internal { what }.diagnostic(span, &())
}

/// State shared by all functions of a module.
struct Lowerer<'p> {
    program: &'p Program,
    layout: Layout<'p>,
    options: Options,
    locs: Locs<'p>,
    strings: Vec<Arc<[u8]>>,
    string_ids: HashMap<Arc<[u8]>, StringId>,
    function_ids: HashMap<FunctionId, FuncId>,
    /// In order of declaration, without shared variables at file scope: each kernel has a separate copy of those.
    global_ids: Vec<(GlobalVarId, GlobalId)>,
    facts: HashMap<FunctionId, Rc<Facts>>,
    /// By function, and whether it is lowered in a kernel (`true`) or on the host.
    in_memory: HashMap<(FunctionId, bool), Rc<BTreeSet<VarId>>>,
    /// Whether host code inlines the function.
    inlined: HashMap<FunctionId, bool>,
    /// Device functions that may call themselves.
    recursive: HashSet<FunctionId>,
    diagnostics: Vec<Diagnostic>,
}

impl<'p> Lowerer<'p> {
    fn new(program: &'p Program, map: &'p SourceMap, options: Options) -> Lowerer<'p> {
        Lowerer {
            program,
            layout: Layout::new(&program.records),
            options,
            locs: Locs::new(map),
            strings: vec![],
            string_ids: HashMap::new(),
            function_ids: HashMap::new(),
            global_ids: vec![],
            facts: HashMap::new(),
            in_memory: HashMap::new(),
            inlined: HashMap::new(),
            recursive: HashSet::new(),
            diagnostics: vec![],
        }
    }

    fn function(&self, id: FunctionId) -> &'p Function {
        &self.program.functions[id]
    }

    fn facts(&mut self, id: FunctionId) -> Rc<Facts> {
        let function = self.function(id);
        let facts = self.facts.entry(id);
        Rc::clone(facts.or_insert_with(|| Rc::new(Facts::of(self.program, function))))
    }

    /// The variables of a function that need memory because of what their references are used for. In a kernel a reference is another name
    /// for a slot, unless its address is taken somewhere, it is chosen at run time or passed to a routine. On the host a reference that is
    /// passed on is a pointer.
    fn in_memory(&mut self, id: FunctionId, is_device: bool) -> Rc<BTreeSet<VarId>> {
        if let Some(found) = self.in_memory.get(&(id, is_device)) {
            return Rc::clone(found);
        }
        // Ends recursion over a cycle of calls.
        self.in_memory
            .insert((id, is_device), Rc::new(BTreeSet::new()));
        let function = self.function(id);
        let facts = self.facts(id);
        let mut found = facts.in_memory.clone();
        let mut locals = Vec::new();
        for &(binder, var) in &facts.bindings {
            let needs = match binder {
                Binder::Local(reference) => {
                    locals.push((reference, var));
                    function.vars[reference].address_taken
                }
                Binder::Param(..) | Binder::Result if !is_device => true,
                Binder::Param(callee, _) if self.is_recursive(callee) => true,
                Binder::Result if self.is_recursive(id) => true,
                Binder::Param(callee, i) => {
                    let inner = self.in_memory(callee, is_device);
                    let callee = self.function(callee);
                    let param = callee.params[i];
                    callee.vars[param].address_taken || inner.contains(&param)
                }
                Binder::Result => !facts.returns_at_end,
            };
            if needs {
                found.insert(var);
            }
        }
        let mut grows = true;
        while grows {
            let before = found.len();
            for &(reference, var) in &locals {
                if found.contains(&reference) {
                    found.insert(var);
                }
            }
            grows = found.len() > before;
        }
        let found = Rc::new(found);
        self.in_memory.insert((id, is_device), Rc::clone(&found));
        found
    }

    /// Whether host code inlines the function: it is a few straight-line statements, such as a container's `operator[]` or a generator of
    /// random numbers. A function of the program must also have no variables in memory and none without an initial value, because each call
    /// begins with new variables and the checks rely on that. If it calls nothing, it may have loops and branches, too.
    fn is_inlined_on_host(&mut self, id: FunctionId) -> bool {
        const MAX_STATEMENTS: usize = 3;
        const MAX_OWN_STATEMENTS: usize = 8;
        if let Some(&is_inlined) = self.inlined.get(&id) {
            return is_inlined;
        }
        // Ends recursion over a cycle of calls.
        self.inlined.insert(id, false);
        let function = self.function(id);
        let body = function.body.as_deref().unwrap_or_default();
        let file = self.locs.map.file(function.span.file).name.clone();
        let is_own = !is_library(&file);
        let statements = match is_own {
            true => MAX_OWN_STATEMENTS,
            false => MAX_STATEMENTS,
        };
        let mut is_inlined = function.body.is_some()
            && body.len() <= statements
            && self.facts(id).returns_at_end
            && (!is_own || self.has_plain_variables(id));
        let (mut count, mut is_straight, mut calls_others) = (0, true, false);
        facts::walk(body, &mut |item| match item {
            Item::Stmt(stmt) => {
                count += 1;
                match stmt.kind {
                    StmtKind::Expr(_) | StmtKind::Return(_) => {}
                    StmtKind::Declare(_, ref init) => is_inlined &= !is_own || init.is_some(),
                    StmtKind::If { .. }
                    | StmtKind::Loop { .. }
                    | StmtKind::Block(_)
                    | StmtKind::Break
                    | StmtKind::Continue => is_straight = false,
                    StmtKind::Switch { .. } | StmtKind::Goto(_) | StmtKind::Labelled { .. } => {
                        is_inlined = false;
                    }
                }
            }
            Item::Value(value) => {
                calls_others |= matches!(
                    value.kind,
                    ValueKind::Call(..)
                        | ValueKind::Builtin(..)
                        | ValueKind::Host(..)
                        | ValueKind::Launch(_)
                );
            }
            Item::Place(_) => {}
        });
        is_inlined &= is_straight || is_own && !calls_others && count <= MAX_OWN_STATEMENTS;
        if is_inlined {
            let calls: Vec<FunctionId> = self.facts(id).calls.iter().copied().collect();
            // Chains of calls in the program are not inlined: they may be long.
            is_inlined = calls.into_iter().all(|callee| {
                self.is_inlined_on_host(callee) && (!is_own || self.facts(callee).calls.is_empty())
            });
        }
        self.inlined.insert(id, is_inlined);
        is_inlined
    }

    /// Whether all variables of a host function are scalars in registers, or references.
    fn has_plain_variables(&mut self, id: FunctionId) -> bool {
        let in_memory = self.in_memory(id, false);
        let mut vars = self.function(id).vars.entries();
        vars.all(|(id, var)| {
            let is_plain = var.is_reference || layout::mem_type(&var.ty.ty).is_some();
            let needs_memory = var.address_taken || in_memory.contains(&id);
            var.storage == Storage::Auto && !needs_memory && is_plain
        })
    }

    fn string(&mut self, bytes: &Arc<[u8]>) -> StringId {
        if let Some(&id) = self.string_ids.get(bytes) {
            return id;
        }
        let id = StringId(self.strings.len() as u32);
        self.strings.push(Arc::clone(bytes));
        self.string_ids.insert(Arc::clone(bytes), id);
        id
    }

    fn global(&self, id: GlobalVarId) -> Option<GlobalId> {
        let index = self.global_ids.binary_search_by_key(&id, |&(id, _)| id);
        Some(self.global_ids[index.ok()?].1)
    }

    /// Kernels, and the host functions that `main` needs, in source order.
    fn number_functions(&mut self) -> Vec<FunctionId> {
        let all = || (0..).map(FunctionId).zip(&self.program.functions);
        let is_main =
            |function: &Function| function.name == "main" && function.space == FunctionSpace::Host;
        let main = all().filter(|(_, function)| is_main(function));
        let main: Vec<FunctionId> = main.map(|(id, _)| id).collect();
        // A template that is never launched may have only a declaration.
        let is_kernel = |function: &Function| {
            function.space == FunctionSpace::Kernel && function.body.is_some()
        };
        let kernels = all().filter(|(_, function)| is_kernel(function));
        let kernels: Vec<FunctionId> = kernels.map(|(id, _)| id).collect();
        let mut ids = self.reach_on_host(main);
        ids.extend(kernels);
        let numbers = ids.iter().enumerate();
        self.function_ids = numbers.map(|(i, &id)| (id, FuncId(i as u32))).collect();
        ids.into_iter().collect()
    }

    /// For each function, the first value that is too large to move as one, since it would need an operand for each of its scalars. Copies
    /// from one place to another are moved in bulk.
    fn values_too_large(&mut self, ids: &[FunctionId]) -> Vec<Diagnostic> {
        let layout = self.layout;
        let program = self.program;
        let is_too_large = |ty: &sema::ty::Ty| layout.leaf_count(ty) > MAX_LEAVES;
        let is_place = |value: &Value| matches!(value.kind, ValueKind::Load(_));
        let in_function = |id: FunctionId| {
            let function = &program.functions[id];
            let mut params = function.params.iter().map(|id| &function.vars[*id]);
            let param = params.find(|var| is_too_large(&var.ty.ty));
            let mut found = param.map(|var| var.span);
            if is_too_large(&function.result) {
                found = Some(function.span);
            }
            let body = function.body.as_deref().unwrap_or_default();
            let mut in_bulk: HashSet<*const Value> = HashSet::new();
            // The walk visits an expression before its parts.
            facts::walk(body, &mut |item| match item {
                Item::Stmt(stmt) => {
                    if let StmtKind::Declare(_, Some(Init::Value(value))) = &stmt.kind
                        && is_place(value)
                    {
                        in_bulk.insert(value);
                    }
                }
                Item::Value(value) => {
                    if let ValueKind::Assign(_, right) = &value.kind
                        && is_place(right)
                    {
                        in_bulk.extend([std::ptr::from_ref(value), std::ptr::from_ref(&**right)]);
                    }
                    let is_moved = !in_bulk.contains(&std::ptr::from_ref(value));
                    if is_moved && found.is_none() && is_too_large(&value.ty) {
                        found = Some(value.span);
                    }
                }
                Item::Place(_) => {}
            });
            found
        };
        let spans = self.reach(ids.to_vec()).into_iter().filter_map(in_function);
        let refuse = |span| {
            let limit = MAX_LEAVES;
            LowerError::ValueTooLarge { limit }.diagnostic(span, &())
        };
        spans.map(refuse).collect()
    }

    /// Numbers the variables that these functions and their callees name, and the variables in their initial values.
    fn number_globals(&mut self, ids: &[FunctionId]) {
        let mut globals = BTreeSet::new();
        for id in self.reach(ids.to_vec()) {
            globals.extend(&self.facts(id).globals);
        }
        if self.options.all_globals {
            globals.extend(self.program.globals.ids().filter(|id| self.is_whole(*id)));
        }
        let mut todo: Vec<GlobalVarId> = globals.iter().copied().collect();
        while let Some(id) = todo.pop() {
            let Some(init) = &self.program.globals[id].init else {
                continue;
            };
            facts::walk_init(init, &mut |item| {
                if let Some(id) = global_of(item)
                    && globals.insert(id)
                {
                    todo.push(id);
                }
            });
        }
        let is_shared = |id: &GlobalVarId| {
            let space = self.program.globals[*id].space;
            matches!(space, GlobalSpace::Shared | GlobalSpace::SharedDynamic)
        };
        globals.retain(|id| !is_shared(id));
        self.global_ids = globals.into_iter().zip((0..).map(GlobalId)).collect();
    }

    /// Whether a variable is the device's, and its type has a size.
    fn is_whole(&self, id: GlobalVarId) -> bool {
        let global = &self.program.globals[id];
        global.space.is_device() && self.layout.size(&global.ty.ty) > 0
    }

    fn reach(&mut self, mut todo: Vec<FunctionId>) -> BTreeSet<FunctionId> {
        let mut reached: BTreeSet<FunctionId> = todo.iter().copied().collect();
        while let Some(id) = todo.pop() {
            for &callee in &self.facts(id).calls {
                if reached.insert(callee) {
                    todo.push(callee);
                }
            }
        }
        reached
    }

    /// The host functions that these need. A function with a version for the host is replaced by that version.
    fn reach_on_host(&mut self, mut todo: Vec<FunctionId>) -> BTreeSet<FunctionId> {
        let mut reached: BTreeSet<FunctionId> = todo.iter().copied().collect();
        while let Some(id) = todo.pop() {
            for callee in self.facts(id).calls.clone() {
                let callee = self.on_host(callee);
                if reached.insert(callee) {
                    todo.push(callee);
                }
            }
        }
        reached
    }

    /// The function that host code calls instead of this one.
    fn on_host(&self, id: FunctionId) -> FunctionId {
        self.function(id).on_host.unwrap_or(id)
    }

    /// Reports inlining that makes a kernel too large.
    fn too_large(&mut self, span: Span, name: &str) {
        let name = name.to_string();
        let error = LowerError::KernelTooLarge { name };
        self.diagnostics.push(error.diagnostic(span, &()));
    }

    /// Reports something that sema should have rejected.
    fn internal(&mut self, span: Span, what: &str) {
        self.diagnostics.push(internal(span, what));
    }
}

fn global_of(item: Item<'_>) -> Option<GlobalVarId> {
    use crate::sema::typed::{PlaceKind, ValueKind, VarRef};
    match item {
        Item::Place(place) => match place.kind {
            PlaceKind::Var(VarRef::Global(id)) => Some(id),
            _ => None,
        },
        Item::Value(value) => match value.kind {
            ValueKind::Symbol(id) => Some(id),
            _ => None,
        },
        Item::Stmt(_) => None,
    }
}
