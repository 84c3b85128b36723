//! Writes a kernel: its parameters, its variables, and structured control flow as basic blocks.
//!
//! Slots become allocas, which LLVM turns into registers; temporaries already are SSA values.

use std::{cell::RefCell, collections::HashMap, fmt::Write};

use ir::{
    Block, Const, FuncId, Function, InstKind, LabelId, LocId, Node, Operand, SlotId, Space, Type,
    ValueId,
};

use super::{
    Emitter,
    call::{self, Named},
    counted,
    inst::Dot,
    ty,
};
use ir::symbol::kernel_symbol;

use crate::Error;

/// Writes a kernel into the module.
pub(super) fn emit(
    emitter: &mut Emitter<'_>,
    id: FuncId,
    function: &Function,
) -> Result<(), Error> {
    let symbol = kernel_symbol(emitter.module, id);
    emitter.define_shared(id, function);
    call::routines(emitter, id, function)?;
    let attributes = attributes(function);
    let group = emitter.attribute_group(attributes);
    let dbg = emitter.subprogram(&function.name, function.loc);
    let mut kernel = Kernel::new(emitter, id, function, function.loc);
    kernel.variables(Named::by_kernel(function).as_ref());
    let params: Vec<SlotId> = function.params.iter().map(|param| param.slot).collect();
    kernel.arguments(&params);
    kernel.block(&function.body)?;
    if kernel.reachable {
        kernel.line("ret void");
    }
    let parameters: Vec<String> = (0..function.params.len())
        .map(|index| parameter(function, index))
        .collect();
    let head = format!(
        "define ptx_kernel void @{symbol}({}) #{group}{dbg}",
        parameters.join(", ")
    );
    kernel.finish(&head);
    Ok(())
}

/// `ptr addrspace(1) noalias %p0`.
fn parameter(function: &Function, index: usize) -> String {
    let param = &function.params[index];
    let slot_type = function.slots[param.slot.index()].ty;
    let noalias = match slot_type {
        Type::Ptr(_) if param.is_restrict => " noalias",
        _ => "",
    };
    format!("{}{noalias} %p{index}", ty::param(slot_type))
}

fn attributes(function: &Function) -> String {
    // Address 0 is an ordinary address: a program that uses it must fault there, and not be undefined.
    // C++ guarantees that a loop ends or has an effect; the simulator reports one that does neither.
    let mut text = "nounwind mustprogress null_pointer_is_valid".to_string();
    if let Some((threads, blocks)) = function.launch_bounds {
        let _ = write!(text, " \"nvvm.maxntid\"=\"{threads}\"");
        if let Some(blocks) = blocks {
            let _ = write!(text, " \"nvvm.minctasm\"=\"{blocks}\"");
        }
    }
    text
}

/// What has to be known about a temporary before it is written.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    /// Whether all its uses take it as a number, so that all NaNs are equivalent.
    pub(super) as_number_only: bool,
    /// Whether it is an unchanged value from memory.
    pub(super) is_loaded: bool,
}

/// Whether the function has a write of unknown space.
fn writes_anywhere(function: &Function) -> bool {
    let mut found = false;
    function.body.for_each_inst(&mut |inst| {
        if let InstKind::Store(access, ..) | InstKind::Atomic { access, .. } = &inst.kind {
            found |= access.space == Space::Generic;
        }
    });
    found
}

fn seen(function: &Function) -> Vec<Seen> {
    let start = Seen {
        as_number_only: true,
        is_loaded: false,
    };
    let mut seen = vec![start; function.values.len()];
    fn walk(block: &Block, seen: &mut [Seen]) {
        for node in &block.0 {
            match node {
                Node::Inst(inst) => {
                    if matches!(inst.kind, InstKind::Load(..)) {
                        for result in &inst.results {
                            seen[result.index()].is_loaded = true;
                        }
                    }
                    if super::inst::reads_numbers(&inst.kind) {
                        continue;
                    }
                    for operand in inst.kind.operands() {
                        if let Operand::Value(id) = operand {
                            seen[id.index()].as_number_only = false;
                        }
                    }
                }
                Node::If {
                    then, otherwise, ..
                } => {
                    walk(then, seen);
                    walk(otherwise, seen);
                }
                Node::Loop { body, step, .. } => {
                    walk(body, seen);
                    walk(step, seen);
                }
                Node::Scope { body, .. } | Node::Routine { body, .. } => walk(body, seen),
                Node::Break(_) | Node::Continue(_) | Node::Return(_) => {}
            }
        }
    }
    walk(&function.body, &mut seen);
    seen
}

/// The blocks that `break` and `continue` of a label jump to.
#[derive(Clone, Copy)]
struct Target {
    exit: u32,
    step: u32,
}

/// A kernel that is being written.
pub(super) struct Kernel<'a, 'm> {
    pub(super) m: &'a mut Emitter<'m>,
    pub(super) id: FuncId,
    pub(super) f: &'a Function,
    /// Instructions at the start of the entry block.
    pub(super) allocas: String,
    code: String,
    /// The number of the next new value.
    next: u32,
    next_block: u32,
    labels: Vec<Option<Target>>,
    /// Whether control flow reaches the end of the text written so far.
    pub(super) reachable: bool,
    /// The place of the instruction being written.
    pub(super) at: LocId,
    /// Its `, !dbg !7`.
    dbg: String,
    /// By temporary.
    pub(super) seen: Vec<Seen>,
    /// Sums of products of parts of words, to which a word may be added.
    pub(super) dots: HashMap<ValueId, Dot>,
    /// Whether a store or an atomic has an unknown space.
    writes_anywhere: bool,
    /// Numbers that are used as generic pointers; each is an opaque value in the entry block.
    addresses: RefCell<Vec<u64>>,
}

impl<'a, 'm> Kernel<'a, 'm> {
    /// A kernel, or one of its routines, without any text yet.
    pub(super) fn new(
        emitter: &'a mut Emitter<'m>,
        id: FuncId,
        function: &'a Function,
        loc: LocId,
    ) -> Kernel<'a, 'm> {
        Kernel {
            m: emitter,
            id,
            f: function,
            allocas: String::new(),
            code: String::new(),
            next: 0,
            next_block: 0,
            labels: vec![None; function.labels as usize],
            reachable: true,
            at: loc,
            dbg: String::new(),
            seen: seen(function),
            dots: HashMap::new(),
            writes_anywhere: writes_anywhere(function),
            addresses: RefCell::default(),
        }
    }

    /// Adds the text to the module, after the function's head.
    pub(super) fn finish(self, head: &str) {
        let Kernel {
            m,
            mut allocas,
            code,
            addresses,
            ..
        } = self;
        for (index, address) in addresses.into_inner().into_iter().enumerate() {
            let _ = writeln!(
                allocas,
                "  %a{index} = call ptr asm \"mov.b64 $0, {address};\", \"=l\"()"
            );
        }
        let _ = writeln!(m.body, "{head} {{\nentry:\n{allocas}{code}}}");
    }
}

impl Kernel<'_, '_> {
    /// Sets the place for the next instructions.
    pub(super) fn stand(&mut self, loc: LocId) {
        if self.at != loc || self.dbg.is_empty() {
            self.at = loc;
            self.dbg = self.m.dbg(loc);
        }
    }

    /// An instruction without a result.
    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.code, "  {}{}", text.as_ref(), self.dbg);
    }

    /// An instruction with a result, into a new value.
    pub(super) fn fresh(&mut self, text: impl AsRef<str>) -> String {
        let name = format!("%t{}", self.next);
        self.next += 1;
        self.line(format!("{name} = {}", text.as_ref()));
        name
    }

    /// An instruction that gives a temporary its value.
    pub(super) fn result(&mut self, value: ValueId, text: impl AsRef<str>) {
        self.line(format!("%v{} = {}", value.0, text.as_ref()));
    }

    /// An operand, without its type.
    pub(super) fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Value(id) => format!("%v{}", id.0),
            // LLVM 22 crashes where it infers the space of a choice between two constant addresses: see the test `numbers_may_be_pointers`.
            Operand::Const(Const {
                ty: Type::Ptr(space),
                bits,
            }) if bits != 0 && ty::same_space(space, Space::Generic) => self.opaque_address(bits),
            Operand::Const(constant) => ty::constant(constant),
        }
    }

    /// The base of a sum, with its type. Sums from null cause the same crash (`fuzz/corpus/ptx/sum_from_null`). Elsewhere LLVM sees the
    /// null pointer, so that it knows the operand of a comparison.
    pub(super) fn typed_base(&self, base: Operand) -> String {
        match base {
            Operand::Const(Const {
                ty: Type::Ptr(space),
                bits: 0,
            }) if ty::same_space(space, Space::Generic) => {
                format!("ptr {}", self.opaque_address(0))
            }
            _ => self.typed(base),
        }
    }

    /// A number as a generic pointer that is opaque to LLVM.
    fn opaque_address(&self, bits: u64) -> String {
        let mut addresses = self.addresses.borrow_mut();
        let known = addresses.iter().position(|&known| known == bits);
        let index = known.unwrap_or_else(|| {
            addresses.push(bits);
            addresses.len() - 1
        });
        format!("%a{index}")
    }

    /// The type of an operand.
    pub(super) fn type_of(&self, operand: Operand) -> Type {
        match operand {
            Operand::Value(id) => self.f.values[id.index()],
            Operand::Const(constant) => constant.ty,
        }
    }

    /// An operand with its type.
    pub(super) fn typed(&self, operand: Operand) -> String {
        format!(
            "{} {}",
            ty::value(self.type_of(operand)),
            self.operand(operand)
        )
    }

    /// A pointer converted to a generic one, with its type.
    pub(super) fn generic(&mut self, operand: Operand) -> String {
        match self.type_of(operand) {
            Type::Ptr(space) if !ty::same_space(space, Space::Generic) => {
                let pointer = self.typed(operand);
                let text = self.change_space(&pointer, space, Space::Generic);
                format!("ptr {}", self.fresh(text))
            }
            _ => self.typed(operand),
        }
    }

    /// A pointer converted to another space, with its type. LLVM gives up if it sees that a program writes to constant memory. So a generic
    /// pointer to constant memory is opaque if it may be written through: then the program faults on the GPU, as on the machine.
    pub(super) fn change_space(&mut self, pointer: &str, from: Space, to: Space) -> String {
        if self.writes_anywhere
            && ty::same_space(from, Space::Constant)
            && ty::same_space(to, Space::Generic)
        {
            let address = self.fresh(format!("ptrtoint {pointer} to i64"));
            return format!("call ptr asm \"cvta.const.u64 $0, $1;\", \"=l,l\"(i64 {address})");
        }
        format!("addrspacecast {pointer} to {}", ty::pointer(to))
    }

    pub(super) fn new_block(&mut self) -> u32 {
        self.next_block += 1;
        self.next_block
    }

    /// Ends the current block if necessary, and starts block `block`.
    pub(super) fn start_block(&mut self, block: u32) {
        if self.reachable {
            self.line(format!("br label %b{block}"));
        }
        let _ = writeln!(self.code, "b{block}:");
        self.reachable = true;
    }

    pub(super) fn jump(&mut self, block: u32) {
        self.line(format!("br label %b{block}"));
        self.reachable = false;
    }

    pub(super) fn branch(&mut self, condition: &str, then: u32, otherwise: u32) {
        self.line(format!(
            "br i1 {condition}, label %b{then}, label %b{otherwise}"
        ));
        self.reachable = false;
    }

    /// Ends the block with a terminator.
    pub(super) fn end(&mut self, text: &str) {
        self.line(text);
        self.reachable = false;
    }

    /// Space for the named variables, or for all.
    pub(super) fn variables(&mut self, named: Option<&Named>) {
        for (index, slot) in self.f.slots.iter().enumerate() {
            if named.is_none_or(|named| named.slots.contains(&index)) {
                let _ = writeln!(self.allocas, "  %s{index} = alloca {}", ty::value(slot.ty));
            }
        }
        for (index, local) in self.f.locals.iter().enumerate() {
            if named.is_none_or(|named| named.locals.contains(&index)) {
                let _ = writeln!(
                    self.allocas,
                    "  %l{index} = alloca [{} x i8], align {}",
                    local.size_bytes,
                    local.align_bytes.max(1)
                );
            }
        }
    }

    /// Moves the arguments into their variables.
    pub(super) fn arguments(&mut self, params: &[SlotId]) {
        self.stand(self.at);
        for (index, slot) in params.iter().enumerate() {
            let ty = self.f.slots[slot.index()].ty;
            let value = match ty {
                Type::I1 => self.fresh(format!("icmp ne i8 %p{index}, 0")),
                Type::I32 | Type::I64 | Type::F32 | Type::F64 | Type::Ptr(_) => {
                    format!("%p{index}")
                }
            };
            self.line(format!("store {} {value}, ptr %s{}", ty::value(ty), slot.0));
        }
    }

    pub(super) fn block(&mut self, block: &Block) -> Result<(), Error> {
        for node in &block.0 {
            // Code after a jump never runs.
            if !self.reachable {
                break;
            }
            self.node(node)?;
        }
        Ok(())
    }

    /// Writes a statement. [`Kernel::block`] leaves out those after a jump.
    fn node(&mut self, node: &Node) -> Result<(), Error> {
        match node {
            Node::Inst(inst) => {
                self.stand(inst.loc);
                self.inst(inst)
            }
            Node::If {
                cond,
                then,
                otherwise,
                loc,
                ..
            } => {
                self.stand(*loc);
                let (yes, no, after) = (self.new_block(), self.new_block(), self.new_block());
                let condition = self.operand(*cond);
                self.branch(&condition, yes, no);
                self.start_block(yes);
                self.block(then)?;
                let then_ends = self.reachable;
                if then_ends {
                    self.jump(after);
                }
                self.start_block(no);
                self.block(otherwise)?;
                if then_ends || self.reachable {
                    self.start_block(after);
                }
                Ok(())
            }
            Node::Loop {
                label,
                body,
                step,
                unroll,
                loc,
            } => {
                let (head, next, exit) = (self.new_block(), self.new_block(), self.new_block());
                self.labels[label.index()] = Some(Target { exit, step: next });
                self.stand(*loc);
                self.start_block(head);
                self.block(body)?;
                self.stand(*loc);
                self.start_block(next);
                self.block(step)?;
                if self.reachable {
                    self.stand(*loc);
                    let is_whole = unroll.is_none() && counted::through_array(self.f, body, step);
                    let hint = match is_whole {
                        true => self.loop_hint("!{!\"llvm.loop.unroll.full\"}".to_string()),
                        false => self.unroll_hint(*unroll),
                    };
                    self.line(format!("br label %b{head}{hint}"));
                    self.reachable = false;
                }
                self.start_block(exit);
                Ok(())
            }
            Node::Scope { label, body, loc } => {
                let exit = self.new_block();
                self.labels[label.index()] = Some(Target { exit, step: exit });
                self.block(body)?;
                self.stand(*loc);
                self.start_block(exit);
                Ok(())
            }
            // It is a separate function.
            Node::Routine { .. } => Ok(()),
            Node::Break(label) => {
                let target = self.target(*label)?;
                self.jump(target.exit);
                Ok(())
            }
            Node::Continue(label) => {
                let target = self.target(*label)?;
                self.jump(target.step);
                Ok(())
            }
            Node::Return(_) => {
                self.end("ret void");
                Ok(())
            }
        }
    }

    fn target(&self, label: LabelId) -> Result<Target, Error> {
        let known = self.labels.get(label.index()).copied().flatten();
        known.ok_or_else(|| self.m.unsupported("a jump to nowhere", self.at))
    }

    /// `, !llvm.loop !7` for `#pragma unroll`.
    fn unroll_hint(&mut self, unroll: Option<u32>) -> String {
        let hint = match unroll {
            None => return String::new(),
            Some(0) => "!{!\"llvm.loop.unroll.enable\"}".to_string(),
            Some(1) => "!{!\"llvm.loop.unroll.disable\"}".to_string(),
            Some(count) => format!("!{{!\"llvm.loop.unroll.count\", i32 {count}}}"),
        };
        self.loop_hint(hint)
    }

    /// The loop's metadata with this hint.
    fn loop_hint(&mut self, hint: String) -> String {
        let hint = self.m.metadata(|_| hint);
        let node = self
            .m
            .metadata(|id| format!("distinct !{{!{id}, !{hint}}}"));
        format!(", !llvm.loop !{node}")
    }
}
