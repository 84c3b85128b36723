//! Pass: finds the memory space that each pointer of a kernel points into. In: a lowered module, all pointers `generic`. Out: the same
//! module with the inferred spaces in the types of values and slots and in [`Access::space`](super::Access); verified.
//!
//! A slot or temporary gets the join of everything that flows into it, over the whole kernel and regardless of order. The join of two
//! spaces is `generic`. Pointer parameters start as `global`, loaded pointers and those made from integers as `generic`, strings are
//! `generic`. Where a pointer of a known space flows into a generic one (a slot, a store of the pointer, a `printf`), a `cvt.ptr.generic`
//! is inserted; conversions that became unnecessary are removed.
//!
//! Null is an address of the generic space, and a global pointer has the same number: so null joined with `global` stays `global`. The null
//! of shared or local memory would be the address of a variable there (offset 0), so null joined with those is `generic`, and comparing
//! them with null compares generic addresses. Writes to constant memory become generic ones, which the device rejects.
//!
//! Host functions keep generic pointers. Running the pass again changes nothing.

use super::renumber::renumber;
use super::{
    Block, Const, ConvertOp, Effect, Function, FunctionKind, Inst, InstKind, LocId, Module, Node,
    Operand, Routine, SlotId, Space, Type, ValueId,
};

/// Infers the spaces of every kernel's pointers.
pub fn infer_spaces(module: &mut Module) {
    let mut functions = std::mem::take(&mut module.functions);
    for function in &mut functions {
        if function.kind == FunctionKind::Kernel {
            infer_kernel(module, function);
        }
    }
    module.functions = functions;
}

/// `module` is only used for its globals.
fn infer_kernel(module: &Module, function: &mut Function) {
    let spaces = Spaces::infer(module, function);
    let retype = |ty: &mut Type, known: PointsTo| {
        if let Type::Ptr(space) = ty {
            *space = known.space();
        }
    };
    for (slot, known) in function.slots.iter_mut().zip(&spaces.slots) {
        retype(&mut slot.ty, *known);
    }
    for (ty, known) in function.values.iter_mut().zip(&spaces.values) {
        retype(ty, *known);
    }
    let body = std::mem::take(&mut function.body);
    let aliases = vec![None; function.values.len()];
    let mut rewriter = Rewriter { function, aliases };
    let body = rewriter.block(body);
    function.body = body;
    renumber(function);
}

/// The known target of a pointer. The join of two is the later one or `In(Generic)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PointsTo {
    /// Nothing has flowed in.
    Nothing,
    /// At most null.
    Null,
    /// This space.
    In(Space),
}

impl PointsTo {
    fn join(self, other: PointsTo) -> PointsTo {
        match (self, other) {
            (PointsTo::Nothing, known) | (known, PointsTo::Nothing) => known,
            (PointsTo::Null, PointsTo::Null) => PointsTo::Null,
            (PointsTo::Null, PointsTo::In(Space::Global))
            | (PointsTo::In(Space::Global), PointsTo::Null) => PointsTo::In(Space::Global),
            (PointsTo::In(a), PointsTo::In(b)) if a == b => self,
            (PointsTo::In(_) | PointsTo::Null, PointsTo::In(_) | PointsTo::Null) => {
                PointsTo::In(Space::Generic)
            }
        }
    }

    /// The space in the types. A pointer that is never more than null counts as global.
    fn space(self) -> Space {
        match self {
            PointsTo::Nothing | PointsTo::Null => Space::Global,
            PointsTo::In(space) => space,
        }
    }
}

/// The state of each slot and temporary. Those that are not pointers stay `Nothing`.
struct Spaces {
    slots: Vec<PointsTo>,
    values: Vec<PointsTo>,
    changed: bool,
}

impl Spaces {
    fn infer(module: &Module, function: &Function) -> Spaces {
        let mut spaces = Spaces {
            slots: vec![PointsTo::Nothing; function.slots.len()],
            values: vec![PointsTo::Nothing; function.values.len()],
            changed: false,
        };
        for param in &function.params {
            spaces.slots[param.slot.index()] = PointsTo::In(Space::Global);
        }
        spaces.run(module, function);
        // The remaining ones come from variables that are never set: undefined, like null.
        let unset = spaces.slots.iter_mut().chain(&mut spaces.values);
        for known in unset.filter(|known| **known == PointsTo::Nothing) {
            *known = PointsTo::Null;
        }
        spaces.run(module, function);
        spaces
    }

    /// Iterates to the fixpoint: each round goes over all instructions.
    fn run(&mut self, module: &Module, function: &Function) {
        loop {
            self.changed = false;
            function
                .body
                .for_each_inst(&mut |inst| self.inst(module, function, inst));
            if !self.changed {
                return;
            }
        }
    }

    fn operand(&self, operand: Operand) -> PointsTo {
        match operand {
            Operand::Value(id) => self.values[id.index()],
            Operand::Const(Const { bits: 0, .. }) => PointsTo::Null,
            Operand::Const(_) => PointsTo::In(Space::Generic),
        }
    }

    fn inst(&mut self, module: &Module, function: &Function, inst: &Inst) {
        if let InstKind::Set(slot, value) = inst.kind {
            if let Type::Ptr(_) = function.slots[slot.index()].ty {
                let known = self.slots[slot.index()].join(self.operand(value));
                self.changed |= known != self.slots[slot.index()];
                self.slots[slot.index()] = known;
            }
            return;
        }
        if let InstKind::CallRoutine(callee, args) = &inst.kind {
            self.call(function, &function.routines[callee.index()], args, inst);
            return;
        }
        let pointer = |id: &ValueId| matches!(function.values[id.index()], Type::Ptr(_));
        for &id in inst.results.iter().filter(|&id| pointer(id)) {
            let known = self.values[id.index()].join(self.result(module, &inst.kind));
            self.changed |= known != self.values[id.index()];
            self.values[id.index()] = known;
        }
    }

    /// Arguments flow into a routine's parameters, and its results into those of the call.
    fn call(&mut self, function: &Function, callee: &Routine, args: &[Operand], inst: &Inst) {
        let is_pointer = |slot: &SlotId| matches!(function.slots[slot.index()].ty, Type::Ptr(_));
        let params = callee.params.iter().zip(args);
        for (slot, arg) in params.filter(|(slot, _)| is_pointer(slot)) {
            let known = self.slots[slot.index()].join(self.operand(*arg));
            self.changed |= known != self.slots[slot.index()];
            self.slots[slot.index()] = known;
        }
        let results = callee.results.iter().zip(&inst.results);
        for (slot, id) in results.filter(|(slot, _)| is_pointer(slot)) {
            let known = self.values[id.index()].join(self.slots[slot.index()]);
            self.changed |= known != self.values[id.index()];
            self.values[id.index()] = known;
        }
    }

    /// The target of an instruction's result, if that is a pointer.
    fn result(&self, module: &Module, kind: &InstKind) -> PointsTo {
        match kind {
            InstKind::Get(slot) => self.slots[slot.index()],
            InstKind::Select(_, _, a, b) => self.operand(*a).join(self.operand(*b)),
            InstKind::PtrAdd { base, .. } => self.operand(*base),
            InstKind::AddrOf(object) => {
                PointsTo::In(module.object_space(*object).unwrap_or(Space::Generic))
            }
            InstKind::Convert(ConvertOp::ToGeneric, a) => self.operand(*a),
            InstKind::Convert(op, _) => match op.to_type() {
                Type::Ptr(space) => PointsTo::In(space),
                Type::I1 | Type::I32 | Type::I64 | Type::F32 | Type::F64 => PointsTo::Nothing,
            },
            // A pointer in memory is generic.
            InstKind::Load(..) | InstKind::Atomic { .. } => PointsTo::In(Space::Generic),
            // No other instruction yields a pointer in a kernel.
            _ => PointsTo::In(Space::Generic),
        }
    }
}

/// Adapts instructions to the final types of their operands.
struct Rewriter<'a> {
    function: &'a mut Function,
    /// The replacement for the result of each removed conversion.
    aliases: Vec<Option<Operand>>,
}

impl Rewriter<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut nodes = Vec::with_capacity(block.0.len());
        for mut node in block.0 {
            if let Some(operand) = node.operand_mut() {
                self.resolve(operand);
            }
            if let Node::Inst(inst) = node {
                self.inst(inst, &mut nodes);
                continue;
            }
            for block in node.blocks_mut() {
                *block = self.block(std::mem::take(block));
            }
            nodes.push(node);
        }
        Block(nodes)
    }

    /// Follows conversions that were removed.
    fn resolve(&self, operand: &mut Operand) {
        if let Operand::Value(id) = operand
            && let Some(Some(alias)) = self.aliases.get(id.index())
        {
            *operand = *alias;
        }
    }

    fn space(&self, operand: Operand) -> Option<Space> {
        match self.function.operand_type(operand) {
            Some(Type::Ptr(space)) => Some(space),
            Some(Type::I1 | Type::I32 | Type::I64 | Type::F32 | Type::F64) | None => None,
        }
    }

    fn inst(&mut self, mut inst: Inst, nodes: &mut Vec<Node>) {
        for operand in inst.kind.operands_mut() {
            self.resolve(operand);
        }
        if let InstKind::Convert(op, a) = inst.kind
            && self.is_needless(op, a)
        {
            self.aliases[inst.results[0].index()] = Some(a);
            return;
        }
        let result_space = inst.results.first().and_then(|&id| self.space(id.into()));
        let mut fit = Fit {
            rewriter: self,
            nodes,
            inst_loc: inst.loc,
        };
        fit.operands(&mut inst.kind, result_space);
        nodes.push(Node::Inst(inst));
    }

    /// A conversion to generic is always removed, because one is inserted wherever an instruction needs a generic pointer. A conversion to
    /// another space is removed if the pointer is in that space already.
    fn is_needless(&self, op: ConvertOp, a: Operand) -> bool {
        op == ConvertOp::ToGeneric
            || self
                .space(a)
                .is_some_and(|space| op.to_type() == Type::Ptr(space) && space != Space::Generic)
    }
}

/// Adapts the operands of one instruction to the spaces that it takes, by inserting conversions before it.
struct Fit<'r, 'f, 'n> {
    rewriter: &'r mut Rewriter<'f>,
    nodes: &'n mut Vec<Node>,
    inst_loc: LocId,
}

impl Fit<'_, '_, '_> {
    /// Adapts the operands of an instruction: each pointer gets the space that the instruction takes there.
    fn operands(&mut self, kind: &mut InstKind, result_space: Option<Space>) {
        match kind {
            InstKind::Set(slot, value) => {
                if let Type::Ptr(space) = self.rewriter.function.slots[slot.index()].ty {
                    self.operand(value, space);
                }
            }
            InstKind::Select(ty, _, a, b) => {
                if let (Type::Ptr(space), Some(result)) = (&mut *ty, result_space) {
                    *space = result;
                    self.operand(a, result);
                    self.operand(b, result);
                }
            }
            InstKind::Compare(_, ty, a, b) => {
                if let Type::Ptr(space) = ty {
                    *space = self.common_space(*a, *b);
                    self.operand(a, *space);
                    self.operand(b, *space);
                }
            }
            InstKind::PtrAdd { base, .. } => {
                if let Some(space) = result_space {
                    self.operand(base, space);
                }
            }
            InstKind::Load(access, ptr) => {
                access.space = self.access_space(*ptr);
                self.operand(ptr, access.space);
            }
            InstKind::Store(access, ptr, values) => {
                access.space = self.written_space(*ptr);
                self.operand(ptr, access.space);
                for value in values {
                    self.operand(value, Space::Generic);
                }
            }
            InstKind::Atomic { access, ptr, .. } => {
                access.space = self.written_space(*ptr);
                self.operand(ptr, access.space);
            }
            InstKind::Printf(_, args) | InstKind::Intrinsic(_, args) => {
                for arg in args {
                    self.operand(arg, Space::Generic);
                }
            }
            InstKind::CallRoutine(callee, args) => {
                let params = self.rewriter.function.routines[callee.index()]
                    .params
                    .clone();
                for (arg, slot) in args.iter_mut().zip(params) {
                    if let Type::Ptr(space) = self.rewriter.function.slots[slot.index()].ty {
                        self.operand(arg, space);
                    }
                }
            }
            InstKind::Launch(launch) => {
                for arg in &mut launch.args {
                    self.operand(arg, Space::Generic);
                }
            }
            // `PtrToInt` takes any space; the other conversions of pointers take generic ones.
            InstKind::Convert(ConvertOp::PtrToInt, _) => {}
            InstKind::Convert(_, a) => self.operand(a, Space::Generic),
            // The others have no pointer operands in a kernel.
            other => debug_assert!(
                !matches!(other.effect(), Effect::Memory | Effect::Variable)
                    || matches!(other, InstKind::Get(_)),
                "an access whose pointer keeps its space"
            ),
        }
    }

    /// Converts a pointer to `space`: null by its type, others by a conversion to generic. Other operands are left alone.
    fn operand(&mut self, operand: &mut Operand, space: Space) {
        let Some(found) = self.rewriter.space(*operand) else {
            return;
        };
        if found == space {
            return;
        }
        if let Operand::Const(constant) = operand {
            constant.ty = Type::Ptr(space);
            return;
        }
        debug_assert_eq!(space, Space::Generic, "{found} does not flow into {space}");
        let values = &mut self.rewriter.function.values;
        values.push(Type::Ptr(Space::Generic));
        let result = ValueId(values.len() as u32 - 1);
        self.nodes.push(Node::Inst(Inst {
            results: vec![result],
            kind: InstKind::Convert(ConvertOp::ToGeneric, *operand),
            loc: self.inst_loc,
        }));
        *operand = result.into();
    }

    /// The space in which two pointers are compared.
    fn common_space(&self, a: Operand, b: Operand) -> Space {
        let known = |operand| match operand {
            Operand::Const(Const { bits: 0, .. }) => PointsTo::Null,
            operand => PointsTo::In(self.rewriter.space(operand).unwrap_or(Space::Generic)),
        };
        known(a).join(known(b)).space()
    }

    /// The space of an access; null may be in any space.
    fn access_space(&self, ptr: Operand) -> Space {
        match ptr {
            Operand::Const(_) => Space::Generic,
            Operand::Value(_) => self.rewriter.space(ptr).unwrap_or(Space::Generic),
        }
    }

    /// The space of a write; a write to constant memory is left to the device.
    fn written_space(&self, ptr: Operand) -> Space {
        match self.access_space(ptr) {
            Space::Constant => Space::Generic,
            space => space,
        }
    }
}

#[cfg(test)]
mod tests;
