//! The rules for valid modules, which later stages rely on. All violations are collected, each with its printed line.
//!
//! In the order of the code:
//! 1. Places: files and `via` exist, no `via` leads back to itself.
//! 2. Globals: alignment a power of two, elements not empty, no more initial bytes than bytes, relocations inside and to strings or
//!    globals. Names of functions are unique among kernels and among host functions.
//! 3. Functions: parameters' slots exist and differ; kernels return nothing; host functions have no shared variables and only generic
//!    pointers. Shared and local variables have the size of their dimensions; shared ones the offsets of
//!    [`layout_shared`]; dynamic ones no size.
//! 4. Structure: a label names one `loop` or `scope`; `break` and `continue` lead to an enclosing one, `continue` to a loop and not from its
//!    own `step`; conditions are `i1`; a returned value has the type of the function's result.
//! 5. Temporaries are assigned once, before their uses, in the same block or one around it. Constants fit their type.
//! 6. Routines: a kernel's body begins with their code, each once and in order. Parameters and results are different slots. Slots and
//!    local variables of a routine are not named elsewhere; no lane ends in a routine.
//! 7. Instructions (`verify/inst.rs`): operands and results have the instruction's types, everything named exists, host-only ones are in
//!    host functions, device-only ones in kernels.

mod inst;
mod routine;

use rustc_hash::FxHashSet;
use std::fmt;

use super::builder::layout_shared;
use super::print::print_node_head;
use super::{
    Block, Const, FuncId, Function, FunctionKind, GlobalSpace, GlobalVar, LabelId, LocId, Module,
    Node, Object, Operand, Space, Type, ValueId,
};

/// A violated rule: a bug in the code that made the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The function, unless it is about the module's tables.
    pub function: Option<FuncId>,
    /// The violating line, in the IR's text.
    pub line: String,
    /// The violated rule.
    pub message: String,
    /// Its place in the source.
    pub loc: LocId,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = self.function {
            write!(f, "{function}: ")?;
        }
        write!(f, "`{}`: {}", self.line, self.message)
    }
}

/// Checks every rule.
pub fn verify(module: &Module) -> Result<(), Vec<Violation>> {
    let mut violations = vec![];
    verify_locs(module, &mut violations);
    for (index, global) in module.globals.iter().enumerate() {
        verify_global(module, index, global, &mut violations);
    }
    let mut names = FxHashSet::default();
    for (index, function) in module.functions.iter().enumerate() {
        let mut verifier = Verifier {
            module,
            function,
            id: FuncId(index as u32),
            violations: &mut violations,
            node: None,
            line: format!("@{}", function.name),
            loc: function.loc,
            assigned: vec![false; function.values.len()],
            visible: vec![false; function.values.len()],
            labels: vec![Label::Unused; function.labels as usize],
        };
        if !names.insert((&function.name, function.kind)) {
            verifier.report("another function has this name");
        }
        verifier.verify_tables();
        verifier.verify_routines();
        verifier.verify_block(&function.body);
    }
    if violations.is_empty() {
        Ok(())
    } else {
        Err(violations)
    }
}

/// Panics with all violations: called after lowering and after each pass, in tests and debug builds.
pub fn assert_verified(module: &Module, after: &str) {
    if let Err(violations) = verify(module) {
        let lines: Vec<String> = violations.iter().map(Violation::to_string).collect();
        panic!("the IR is broken after {after}:\n{}", lines.join("\n"));
    }
}

fn table_violation(line: String, message: impl Into<String>, loc: LocId) -> Violation {
    Violation {
        function: None,
        line,
        message: message.into(),
        loc,
    }
}

fn verify_locs(module: &Module, violations: &mut Vec<Violation>) {
    for (index, loc) in module.locs.iter().enumerate() {
        let id = LocId(index as u32);
        let mut report = |message: &str| {
            violations.push(table_violation(format!("loc {id}"), message, id));
        };
        if loc.line > 0 && loc.file as usize >= module.files.len() {
            report("there is no such file");
        }
        let mut via = loc.via;
        let mut steps = 0;
        while let Some(at) = via {
            let Some(next) = module.locs.get(at.index()) else {
                report("`via` leads to no place");
                break;
            };
            steps += 1;
            if steps > module.locs.len() {
                report("`via` leads in a circle");
                break;
            }
            via = next.via;
        }
    }
}

fn verify_global(
    module: &Module,
    index: usize,
    global: &GlobalVar,
    violations: &mut Vec<Violation>,
) {
    let mut report = |message: &str| {
        let line = format!("global{index} {}", global.name);
        violations.push(table_violation(line, message, global.loc));
    };
    if global.loc.index() >= module.locs.len() {
        report("its place does not exist");
    }
    if !global.align_bytes.is_power_of_two() {
        report("the alignment is not a power of two");
    }
    if global.element_bytes == 0 {
        report("the element has no size");
    }
    if let Some(init) = &global.init
        && init.len() as u64 > global.size_bytes
    {
        report("there are more initial bytes than bytes");
    }
    for (at, object, _) in &global.relocations {
        if at.checked_add(8).is_none_or(|end| end > global.size_bytes) {
            report("a relocation lies outside");
        }
        match object {
            Object::Shared(_) | Object::Local(_) => report("a relocation to a function's variable"),
            Object::Global(id) if id.index() >= module.globals.len() => {
                report("a relocation to no global");
            }
            Object::String(id) if id.index() >= module.strings.len() => {
                report("a relocation to no string");
            }
            Object::Global(_) | Object::String(_) => {}
        }
    }
}

/// The state of a label during the walk through the code.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Label {
    Unused,
    InBody,
    InStep,
    InScope,
    Closed,
}

/// Checks one function. `node` or else `line`, and `loc`, are the current ones.
struct Verifier<'a> {
    module: &'a Module,
    function: &'a Function,
    id: FuncId,
    violations: &'a mut Vec<Violation>,
    node: Option<&'a Node>,
    line: String,
    loc: LocId,
    assigned: Vec<bool>,
    visible: Vec<bool>,
    labels: Vec<Label>,
}

impl<'a> Verifier<'a> {
    fn report(&mut self, message: impl Into<String>) {
        let line = match self.node {
            Some(node) => print_node_head(self.module, self.function, node),
            None => self.line.clone(),
        };
        self.violations.push(Violation {
            function: Some(self.id),
            line,
            message: message.into(),
            loc: self.loc,
        });
    }

    fn check(&mut self, holds: bool, message: &str) {
        if !holds {
            self.report(message);
        }
    }

    fn is_kernel(&self) -> bool {
        self.function.kind == FunctionKind::Kernel
    }

    fn verify_tables(&mut self) {
        let function = self.function;
        self.verify_loc(function.loc);
        let mut seen = FxHashSet::default();
        for param in &function.params {
            let exists = param.slot.index() < function.slots.len();
            self.check(exists, "a parameter has no slot");
            self.check(seen.insert(param.slot), "two parameters share a slot");
        }
        match function.kind {
            FunctionKind::Kernel => {
                self.check(function.result.is_none(), "a kernel has a result");
            }
            FunctionKind::Host => {
                self.check(
                    function.shared.is_empty(),
                    "a host function has shared variables",
                );
                let slots = function.slots.iter().map(|slot| slot.ty);
                let types = slots.chain(function.values.iter().copied());
                let generic = |ty| !matches!(ty, Type::Ptr(space) if space != Space::Generic);
                let all_generic = types.chain(function.result).all(generic);
                self.check(
                    all_generic,
                    "a host function has a pointer that is not generic",
                );
            }
        }
        self.verify_shared();
        self.verify_locals();
    }

    fn verify_shared(&mut self) {
        let shared = &self.function.shared;
        let mut expected = shared.clone();
        layout_shared(&mut expected);
        for (index, (var, expected)) in shared.iter().zip(&expected).enumerate() {
            self.line = format!("shared{index} {}", var.name);
            self.verify_loc(var.loc);
            self.check(
                var.align_bytes.is_power_of_two(),
                "the alignment is not a power of two",
            );
            self.check(var.element_bytes > 0, "the element has no size");
            self.check(
                var.offset_bytes == expected.offset_bytes,
                "it is not at the offset the layout gives",
            );
            if var.dynamic {
                self.check(var.size_bytes == 0, "it is dynamic and has a size");
            } else {
                let bytes = array_bytes(var.element_bytes, &var.dims);
                self.check(
                    bytes == Some(var.size_bytes),
                    "the size is not that of its dimensions",
                );
            }
        }
    }

    fn verify_locals(&mut self) {
        for (index, var) in self.function.locals.iter().enumerate() {
            self.line = format!("local{index} {}", var.name);
            self.verify_loc(var.loc);
            self.check(
                var.align_bytes.is_power_of_two(),
                "the alignment is not a power of two",
            );
            self.check(var.element_bytes > 0, "the element has no size");
            let bytes = array_bytes(var.element_bytes, &var.dims);
            self.check(
                bytes == Some(var.size_bytes),
                "the size is not that of its dimensions",
            );
        }
    }

    fn verify_loc(&mut self, loc: LocId) {
        self.check(
            loc.index() < self.module.locs.len(),
            "its place does not exist",
        );
    }

    /// The nodes in order. Temporaries of a block are visible until its end.
    fn verify_block(&mut self, block: &'a Block) {
        let mut made_here = vec![];
        for node in &block.0 {
            self.node = Some(node);
            match node {
                Node::Inst(inst) => {
                    self.loc = inst.loc;
                    self.verify_loc(inst.loc);
                    self.verify_inst(inst);
                    for &id in &inst.results {
                        self.assign(id);
                        made_here.push(id);
                    }
                }
                Node::If {
                    cond,
                    then,
                    otherwise,
                    is_guard,
                    loc,
                } => {
                    self.loc = *loc;
                    self.verify_loc(*loc);
                    self.verify_operand(*cond, Type::I1);
                    let is_inst = |node: &Node| matches!(node, Node::Inst(_));
                    if *is_guard && !(then.0.iter().all(is_inst) && otherwise.0.is_empty()) {
                        self.report("a guard is for instructions");
                    }
                    self.verify_block(then);
                    self.verify_block(otherwise);
                }
                Node::Loop {
                    label,
                    body,
                    step,
                    loc,
                    unroll: _,
                } => {
                    self.loc = *loc;
                    self.verify_loc(*loc);
                    self.open_label(*label, Label::InBody);
                    self.verify_block(body);
                    self.set_label(*label, Label::InStep);
                    self.verify_block(step);
                    self.set_label(*label, Label::Closed);
                }
                Node::Scope { label, body, loc } => {
                    self.loc = *loc;
                    self.verify_loc(*loc);
                    self.open_label(*label, Label::InScope);
                    self.verify_block(body);
                    self.set_label(*label, Label::Closed);
                }
                Node::Routine { body, .. } => self.verify_block(body),
                Node::Break(label) => self.verify_break(*label),
                Node::Continue(label) => self.verify_continue(*label),
                Node::Return(value) => self.verify_return(*value),
            }
        }
        for id in made_here {
            if let Some(visible) = self.visible.get_mut(id.index()) {
                *visible = false;
            }
        }
    }

    fn open_label(&mut self, label: LabelId, state: Label) {
        match self.labels.get(label.index()) {
            None => self.report("the label is not one of the function's"),
            Some(Label::Unused) => self.set_label(label, state),
            Some(Label::InBody | Label::InStep | Label::InScope | Label::Closed) => {
                self.report("the label names two statements");
            }
        }
    }

    fn set_label(&mut self, label: LabelId, state: Label) {
        if let Some(label) = self.labels.get_mut(label.index()) {
            *label = state;
        }
    }

    fn verify_break(&mut self, label: LabelId) {
        match self.labels.get(label.index()) {
            Some(Label::InBody | Label::InStep | Label::InScope) => {}
            Some(Label::Unused | Label::Closed) | None => {
                self.report("the label is not that of an enclosing statement");
            }
        }
    }

    fn verify_continue(&mut self, label: LabelId) {
        match self.labels.get(label.index()) {
            Some(Label::InBody) => {}
            Some(Label::InStep) => self.report("it leads to the step that it is in"),
            Some(Label::InScope) => self.report("it leads to a scope"),
            Some(Label::Unused | Label::Closed) | None => {
                self.report("the label is not that of an enclosing statement");
            }
        }
    }

    fn verify_return(&mut self, value: Option<Operand>) {
        match (value, self.function.result) {
            (None, None) => {}
            (Some(value), Some(ty)) => self.verify_operand(value, ty),
            (None, Some(_)) => self.report("it returns nothing from a function with a result"),
            (Some(_), None) => self.report("it returns a value from a function without a result"),
        }
    }

    fn assign(&mut self, id: ValueId) {
        match self.assigned.get_mut(id.index()) {
            None => self.report(format!("{id} is not one of the function's temporaries")),
            Some(true) => self.report(format!("{id} is assigned twice")),
            Some(assigned) => *assigned = true,
        }
        if let Some(visible) = self.visible.get_mut(id.index()) {
            *visible = true;
        }
    }

    /// The type of an operand, which must be visible here and fit its type.
    fn visible_type(&mut self, operand: Operand) -> Option<Type> {
        match operand {
            Operand::Value(id) => match self.visible.get(id.index()) {
                None => {
                    self.report(format!("{id} is not one of the function's temporaries"));
                    None
                }
                Some(visible) => {
                    if !visible {
                        self.report(format!("{id} is not visible here"));
                    }
                    Some(self.function.values[id.index()])
                }
            },
            Operand::Const(constant) => {
                self.check(
                    const_fits(constant),
                    "a constant has bits its type does not have",
                );
                Some(constant.ty)
            }
        }
    }

    /// The operand must have exactly this type.
    fn verify_operand(&mut self, operand: Operand, ty: Type) {
        if let Some(found) = self.visible_type(operand)
            && found != ty
        {
            self.report(format!("{} is {found}, not {ty}", operand_name(operand)));
        }
    }
}

/// `%3`, or "a constant".
fn operand_name(operand: Operand) -> String {
    operand
        .value()
        .map_or("a constant".into(), |id| id.to_string())
}

/// The size of an array, unless it overflows.
fn array_bytes(element_bytes: u64, dims: &[u64]) -> Option<u64> {
    dims.iter()
        .try_fold(element_bytes, |bytes, &dim| bytes.checked_mul(dim))
}

/// Whether there are no bits beyond those of the type.
fn const_fits(constant: Const) -> bool {
    match constant.ty {
        Type::I1 => constant.bits <= 1,
        Type::I32 | Type::F32 => constant.bits <= u32::MAX as u64,
        Type::I64 | Type::F64 | Type::Ptr(_) => true,
    }
}

/// Whether a kernel may name a global.
fn seen_by_kernels(space: GlobalSpace) -> bool {
    match space {
        GlobalSpace::Constant | GlobalSpace::Device | GlobalSpace::Managed => true,
        GlobalSpace::Host => false,
    }
}

#[cfg(test)]
mod tests;
