//! Collects facts about a function before it is lowered: which functions it calls, what it writes, how it returns.
//!
//! The walk has an explicit stack, so that a chain of thousands of operators does not overflow the call stack.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::sema::typed::{
    Builtin, Function, FunctionId, GlobalVarId, Init, Place, PlaceKind, Program, Stmt, StmtKind,
    Value, ValueKind, VarId, VarRef,
};

/// What a reference is bound to, or passed as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Binder {
    /// Another reference in the same function.
    Local(VarId),
    /// A function's parameter, by its position.
    Param(FunctionId, usize),
    /// The function's result.
    Result,
}

/// Facts about one function.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Functions it calls.
    pub(super) calls: BTreeSet<FunctionId>,
    /// Globals it names.
    pub(super) globals: BTreeSet<GlobalVarId>,
    /// Variables whose value may differ from the one in their declaration.
    changes: BTreeSet<VarId>,
    /// Variables with a declaration; temporaries do not have one.
    declared: BTreeSet<VarId>,
    /// Which references are bound to which variables.
    pub(super) bindings: Vec<(Binder, VarId)>,
    /// Variables whose address is taken through a call: `&f(x)`.
    pub(super) in_memory: BTreeSet<VarId>,
    /// Whether the only `return` is at the very end.
    pub(super) returns_at_end: bool,
}

impl Facts {
    pub(super) fn of(program: &Program, function: &Function) -> Facts {
        let mut facts = Facts::default();
        let body = function.body.as_deref().unwrap_or_default();
        let mut n_returns = 0;
        let mut bound = FxHashSet::default();
        walk(body, &mut |item| match item {
            Item::Stmt(stmt) => {
                facts.stmt(stmt, &mut n_returns);
                facts.bindings_of_stmt(function, stmt, &mut bound);
            }
            Item::Value(value) => {
                facts.value(value);
                facts.bindings_of_value(program, value, &mut bound);
            }
            Item::Place(place) => {
                if let PlaceKind::Var(VarRef::Global(id)) = place.kind {
                    facts.globals.insert(id);
                }
            }
        });
        facts.returns_at_end = n_returns == 0 || n_returns == 1 && ends_in_return(body);
        facts
    }

    /// Whether the variable always has the value of its declaration (or argument), so that it needs no slot.
    pub(super) fn is_fixed(&self, var: VarId) -> bool {
        !self.changes.contains(&var)
    }

    /// Whether a statement declares the variable.
    pub(super) fn is_declared(&self, var: VarId) -> bool {
        self.declared.contains(&var)
    }

    fn bindings_of_stmt(
        &mut self,
        function: &Function,
        stmt: &Stmt,
        bound: &mut FxHashSet<*const Value>,
    ) {
        match &stmt.kind {
            StmtKind::Declare(var, Some(Init::Value(value))) => {
                let var_info = &function.vars[*var];
                if var_info.is_reference {
                    self.bind(Binder::Local(*var), value, var_info.ty.is_const, bound);
                }
            }
            StmtKind::Return(Some(value)) if function.returns_reference => {
                self.bind(Binder::Result, value, false, bound);
            }
            _ => {}
        }
    }

    fn bindings_of_value(
        &mut self,
        program: &Program,
        value: &Value,
        bound: &mut FxHashSet<*const Value>,
    ) {
        match &value.kind {
            ValueKind::Call(id, args) => {
                let callee = &program.functions[*id];
                for (i, (arg, param)) in args.iter().zip(&callee.params).enumerate() {
                    let var = &callee.vars[*param];
                    if var.is_reference {
                        self.bind(Binder::Param(*id, i), arg, var.ty.is_const, bound);
                    }
                }
            }
            ValueKind::AddressOf(place)
                if !bound.contains(&std::ptr::from_ref(value)) && root(place).is_none() =>
            {
                let mut found = Vec::new();
                roots(place, &mut found);
                self.in_memory.extend(found);
            }
            _ => {}
        }
    }

    fn bind(
        &mut self,
        binder: Binder,
        value: &Value,
        is_const: bool,
        bound: &mut FxHashSet<*const Value>,
    ) {
        bound.insert(std::ptr::from_ref(value));
        let ValueKind::AddressOf(place) = &value.kind else {
            return;
        };
        let mut found = Vec::new();
        roots(place, &mut found);
        for var in found {
            self.bindings.push((binder, var));
            if !is_const {
                self.changes.insert(var);
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt, n_returns: &mut u32) {
        if let StmtKind::Declare(var, _) = stmt.kind {
            self.declared.insert(var);
        }
        match &stmt.kind {
            StmtKind::Declare(var, None | Some(Init::Bytes(_))) => {
                self.changes.insert(*var);
            }
            // The sections of a switch are lowered separately: an operand of one is not visible in the next, so their variables need slots.
            StmtKind::Switch { sections, .. } => {
                let stmts = sections.iter().flat_map(|section| &section.body);
                for stmt in stmts {
                    if let StmtKind::Declare(var, _) = stmt.kind {
                        self.changes.insert(var);
                    }
                }
            }
            // The statements before a label are a separate scope, but their variables live on after it, so they need slots.
            StmtKind::Labelled { body, .. } => {
                for stmt in body {
                    if let StmtKind::Declare(var, _) = stmt.kind {
                        self.changes.insert(var);
                    }
                }
            }
            StmtKind::Return(_) => *n_returns += 1,
            StmtKind::Declare(..)
            | StmtKind::Expr(_)
            | StmtKind::Block(_)
            | StmtKind::If { .. }
            | StmtKind::Loop { .. }
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue => {}
        }
    }

    fn value(&mut self, value: &Value) {
        match &value.kind {
            ValueKind::Assign(place, _)
            | ValueKind::CompoundAssign { place, .. }
            | ValueKind::IncDec { place, .. } => self.changes.extend(root(place)),
            ValueKind::Call(id, _) => {
                self.calls.insert(*id);
            }
            ValueKind::Symbol(id) => {
                self.globals.insert(*id);
            }
            _ => {}
        }
    }
}

/// The local variable that a place is part of.
fn root(mut place: &Place) -> Option<VarId> {
    loop {
        match &place.kind {
            PlaceKind::Var(VarRef::Local(id)) => return Some(*id),
            PlaceKind::ArrayIndex(whole, _)
            | PlaceKind::Field(whole, _)
            | PlaceKind::BitField(whole, _) => place = whole,
            PlaceKind::Var(VarRef::Global(_))
            | PlaceKind::Deref(_)
            | PlaceKind::ReadOnly(_)
            | PlaceKind::PointerIndex(..)
            | PlaceKind::Temporary(_) => return None,
        }
    }
}

/// The local variables that a place may be part of. A call that returns a reference may return one to any of its arguments.
fn roots(place: &Place, found: &mut Vec<VarId>) {
    let mut todo = vec![place];
    while let Some(mut place) = todo.pop() {
        loop {
            match &place.kind {
                PlaceKind::Var(VarRef::Local(id)) => found.push(*id),
                PlaceKind::ArrayIndex(whole, _)
                | PlaceKind::Field(whole, _)
                | PlaceKind::BitField(whole, _) => {
                    place = whole;
                    continue;
                }
                PlaceKind::Deref(pointer) => {
                    if let ValueKind::Call(_, args) = &pointer.kind {
                        for arg in args {
                            if let ValueKind::AddressOf(place) = &arg.kind {
                                todo.push(place);
                            }
                        }
                    }
                }
                PlaceKind::Var(VarRef::Global(_))
                | PlaceKind::ReadOnly(_)
                | PlaceKind::PointerIndex(..)
                | PlaceKind::Temporary(_) => {}
            }
            break;
        }
    }
}

fn ends_in_return(stmts: &[Stmt]) -> bool {
    match stmts.last().map(|stmt| &stmt.kind) {
        Some(StmtKind::Return(_)) => true,
        Some(StmtKind::Block(stmts)) => ends_in_return(stmts),
        _ => false,
    }
}

/// A part of the tree.
#[derive(Clone, Copy)]
pub(super) enum Item<'t> {
    Stmt(&'t Stmt),
    Value(&'t Value),
    Place(&'t Place),
}

/// Visits every statement, value and place under `stmts`, in no particular order.
pub(super) fn walk<'t>(stmts: &'t [Stmt], visit: &mut dyn FnMut(Item<'t>)) {
    walk_items(stmts.iter().map(Item::Stmt).collect(), visit);
}

/// Visits every part of an initialiser.
pub(super) fn walk_init<'t>(init: &'t Init, visit: &mut dyn FnMut(Item<'t>)) {
    let mut todo = vec![];
    push_init(init, &mut todo);
    walk_items(todo, visit);
}

fn walk_items<'t>(mut todo: Vec<Item<'t>>, visit: &mut dyn FnMut(Item<'t>)) {
    while let Some(item) = todo.pop() {
        visit(item);
        match item {
            Item::Stmt(stmt) => push_stmt(stmt, &mut todo),
            Item::Value(value) => push_value(value, &mut todo),
            Item::Place(place) => push_place(place, &mut todo),
        }
    }
}

fn push_stmt<'t>(stmt: &'t Stmt, todo: &mut Vec<Item<'t>>) {
    match &stmt.kind {
        StmtKind::Expr(value) | StmtKind::Return(Some(value)) => todo.push(Item::Value(value)),
        StmtKind::Declare(_, init) => {
            if let Some(init) = init {
                push_init(init, todo);
            }
        }
        StmtKind::Block(stmts) | StmtKind::Labelled { body: stmts, .. } => {
            todo.extend(stmts.iter().map(Item::Stmt));
        }
        StmtKind::If { arms, otherwise } => {
            for (cond, stmts) in arms {
                todo.push(Item::Value(cond));
                todo.extend(stmts.iter().map(Item::Stmt));
            }
            todo.extend(otherwise.iter().map(Item::Stmt));
        }
        StmtKind::Loop {
            cond, body, step, ..
        } => {
            todo.extend(cond.iter().chain(step).map(Item::Value));
            todo.extend(body.iter().map(Item::Stmt));
        }
        StmtKind::Switch { value, sections } => {
            todo.push(Item::Value(value));
            let stmts = sections.iter().flat_map(|section| &section.body);
            todo.extend(stmts.map(Item::Stmt));
        }
        StmtKind::Break | StmtKind::Continue | StmtKind::Goto(_) | StmtKind::Return(None) => {}
    }
}

fn push_init<'t>(init: &'t Init, todo: &mut Vec<Item<'t>>) {
    match init {
        Init::Value(value) => todo.push(Item::Value(value)),
        Init::Parts { parts, .. } => {
            todo.extend(parts.iter().map(|(_, value)| Item::Value(value)));
        }
        Init::Bytes(_) => {}
    }
}

fn push_place<'t>(place: &'t Place, todo: &mut Vec<Item<'t>>) {
    match &place.kind {
        PlaceKind::Var(_) => {}
        PlaceKind::Deref(value) | PlaceKind::ReadOnly(value) | PlaceKind::Temporary(value) => {
            todo.push(Item::Value(value))
        }
        PlaceKind::PointerIndex(pointer, index) => {
            todo.extend([Item::Value(pointer), Item::Value(index)]);
        }
        PlaceKind::ArrayIndex(array, index) => {
            todo.extend([Item::Place(array), Item::Value(index)]);
        }
        PlaceKind::Field(whole, _) | PlaceKind::BitField(whole, _) => {
            todo.push(Item::Place(whole));
        }
    }
}

fn push_value<'t>(value: &'t Value, todo: &mut Vec<Item<'t>>) {
    match &value.kind {
        ValueKind::Int(_)
        | ValueKind::Float(_)
        | ValueKind::Null
        | ValueKind::Str(_)
        | ValueKind::Symbol(_)
        | ValueKind::Mark(_)
        | ValueKind::Kernel(_) => {}
        ValueKind::Load(place)
        | ValueKind::AddressOf(place)
        | ValueKind::Decay(place)
        | ValueKind::IncDec { place, .. } => todo.push(Item::Place(place)),
        ValueKind::Convert(a) | ValueKind::Neg(a) | ValueKind::BitNot(a) | ValueKind::Not(a) => {
            todo.push(Item::Value(a));
        }
        ValueKind::Binary(_, a, b)
        | ValueKind::Compare(_, a, b)
        | ValueKind::PointerAdd(a, b)
        | ValueKind::PointerDiff(a, b)
        | ValueKind::Logical(_, a, b)
        | ValueKind::Comma(a, b) => todo.extend([Item::Value(a), Item::Value(b)]),
        ValueKind::Conditional(c, a, b) => {
            todo.extend([Item::Value(c), Item::Value(a), Item::Value(b)]);
        }
        ValueKind::Assign(place, value) | ValueKind::CompoundAssign { place, value, .. } => {
            todo.extend([Item::Place(place), Item::Value(value)]);
        }
        ValueKind::Call(_, args)
        | ValueKind::Builtin(_, args)
        | ValueKind::Host(_, args)
        | ValueKind::Aggregate(args) => todo.extend(args.iter().map(Item::Value)),
        ValueKind::Launch(launch) => {
            todo.extend([Item::Value(&launch.grid), Item::Value(&launch.block)]);
            let options = launch.shared_bytes.iter().chain(&launch.stream);
            todo.extend(options.chain(&launch.args).map(Item::Value));
        }
    }
}

/// Whether evaluating the builtin unnecessarily is harmless and costs less than a branch.
pub(super) fn is_cheap_builtin(builtin: &Builtin) -> bool {
    use ir::{BinaryOp, UnaryOp};
    match builtin {
        Builtin::Special(register) => !register.changes(),
        Builtin::Compare(_) | Builtin::Convert(_) => true,
        Builtin::Unary(op) => *op != UnaryOp::FSqrt && !op.is_approximate(),
        Builtin::Binary(op) => !op.is_division() && !matches!(op, BinaryOp::FDiv | BinaryOp::FRem),
        _ => false,
    }
}
