//! Builds one function: appends instructions with their types computed, opens and closes the structured statements.
//!
//! Operands of constants are folded where the meaning is [`eval`]'s: pure scalar operations, never a division by zero (a
//! finding on the device, a trap on the host). Code after a `break`, `continue` or `return` of the same block is dropped, its
//! values replaced by zeros that nothing uses. Instructions are attributed to the place given last by [`Builder::set_loc`].
//!
//! A kernel's pointers are all built `generic`; `infer_spaces` finds their spaces afterwards. Misuse (an operand of a wrong
//! type, an `else` without an `if`) is a bug of the caller and panics, in debug builds where it costs time to check.

use super::{
    Access, AtomicOp, BarrierReduce, BinaryOp, Block, CompareOp, Const, ConvertOp, FenceScope,
    FuncId, Function, FunctionKind, HostFn, Inst, InstKind, LabelId, Launch, LocId, LocalId,
    LocalVar, MemType, Node, Object, Operand, Param, SharedId, SharedVar, Slot, SlotId, Space,
    SpecialReg, StringId, Type, UnaryOp, ValueId, eval,
};

/// A function under construction.
#[derive(Debug)]
pub struct Builder {
    function: Function,
    loc: LocId,
    /// Innermost last; the first is the function's body.
    open: Vec<Open>,
}

/// A block that is being filled, and what it will become a part of.
#[derive(Debug)]
struct Open {
    nodes: Vec<Node>,
    /// No lane gets here any more: what is appended is dropped.
    dead: bool,
    what: What,
}

#[derive(Debug)]
enum What {
    Body,
    Then {
        cond: Operand,
        loc: LocId,
    },
    Else {
        cond: Operand,
        loc: LocId,
        then: Block,
        then_dead: bool,
    },
    LoopBody {
        label: LabelId,
        unroll: Option<u32>,
        loc: LocId,
    },
    LoopStep {
        label: LabelId,
        unroll: Option<u32>,
        loc: LocId,
        body: Block,
    },
    Scope {
        label: LabelId,
        loc: LocId,
    },
}

/// The tables: variables, temporaries, labels.
impl Builder {
    /// An empty function defined at `loc`.
    pub fn new(name: impl Into<String>, kind: FunctionKind, loc: LocId) -> Builder {
        let function = Function {
            name: name.into(),
            kind,
            params: vec![],
            result: None,
            slots: vec![],
            values: vec![],
            shared: vec![],
            locals: vec![],
            labels: 0,
            launch_bounds: None,
            body: Block::default(),
            loc,
        };
        let body = Open {
            nodes: vec![],
            dead: false,
            what: What::Body,
        };
        Builder {
            function,
            loc,
            open: vec![body],
        }
    }

    /// What the function returns (host functions).
    pub fn set_result(&mut self, result: Option<Type>) {
        self.function.result = result;
    }

    /// `__launch_bounds__`.
    pub fn set_launch_bounds(&mut self, max_threads: u32, min_blocks: Option<u32>) {
        self.function.launch_bounds = Some((max_threads, min_blocks));
    }

    /// The place of the instructions that follow. Gives the one before, to go back to.
    pub fn set_loc(&mut self, loc: LocId) -> LocId {
        std::mem::replace(&mut self.loc, loc)
    }

    /// The place instructions get now.
    pub fn loc(&self) -> LocId {
        self.loc
    }

    /// The function as far as built; its body is filled in by [`Builder::finish`].
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// A new variable.
    pub fn slot(&mut self, name: impl Into<String>, ty: Type) -> SlotId {
        let id = SlotId(self.function.slots.len() as u32);
        let name = name.into();
        self.function.slots.push(Slot { name, ty });
        id
    }

    /// A new parameter and its slot. Name and type are the slot's; a struct's members get one parameter each.
    pub fn param(
        &mut self,
        name: impl Into<String>,
        ty: Type,
        c_type: impl Into<String>,
        pointee: Option<MemType>,
        is_const: bool,
        is_restrict: bool,
    ) -> SlotId {
        let slot = self.slot(name, ty);
        self.function.params.push(Param {
            slot,
            c_type: c_type.into(),
            pointee,
            is_const,
            is_restrict,
        });
        slot
    }

    /// A new variable in the thread's own memory.
    pub fn local(&mut self, local: LocalVar) -> LocalId {
        self.function.locals.push(local);
        LocalId(self.function.locals.len() as u32 - 1)
    }

    /// A new variable in shared memory. `offset_bytes` is computed by [`Builder::finish`].
    pub fn shared(&mut self, shared: SharedVar) -> SharedId {
        self.function.shared.push(shared);
        SharedId(self.function.shared.len() as u32 - 1)
    }

    /// A new label, for [`Builder::open_loop_at`] and [`Builder::open_scope_at`].
    pub fn label(&mut self) -> LabelId {
        self.function.labels += 1;
        LabelId(self.function.labels - 1)
    }

    /// The type of an operand.
    pub fn value_type(&self, operand: Operand) -> Type {
        match operand {
            Operand::Value(id) => self.function.values[id.index()],
            Operand::Const(constant) => constant.ty,
        }
    }

    /// The type of a variable.
    pub fn slot_type(&self, slot: SlotId) -> Type {
        self.function.slots[slot.index()].ty
    }

    /// Whether no lane can reach the place where the next instruction would go.
    pub fn is_dead(&self) -> bool {
        self.innermost().dead
    }

    /// The function. Every block must be closed.
    pub fn finish(mut self) -> Function {
        let body = self.open.pop().expect("the body is open");
        assert!(
            self.open.is_empty() && matches!(body.what, What::Body),
            "a block is still open"
        );
        self.function.body = Block(body.nodes);
        layout_shared(&mut self.function.shared);
        self.function
    }

    fn innermost(&self) -> &Open {
        self.open.last().expect("the body is open")
    }

    fn push_node(&mut self, node: Node) {
        let block = self.open.last_mut().expect("the body is open");
        if !block.dead {
            block.nodes.push(node);
        }
    }

    fn end_block(&mut self, node: Node) {
        self.push_node(node);
        self.open.last_mut().expect("the body is open").dead = true;
    }

    /// Opens a block; it is dead if the innermost one is.
    fn open(&mut self, what: What) {
        let dead = self.innermost().dead;
        self.open.push(Open {
            nodes: vec![],
            dead,
            what,
        });
    }

    fn pop(&mut self) -> Open {
        assert!(self.open.len() > 1, "no block is open");
        self.open.pop().expect("the body is open")
    }
}

/// Gives shared variables their offsets: static ones in order, each aligned; dynamic ones after them, aligned to 16.
pub fn layout_shared(shared: &mut [SharedVar]) {
    let mut end: u64 = 0;
    for var in shared.iter_mut().filter(|var| !var.dynamic) {
        var.offset_bytes = end.next_multiple_of(var.align_bytes.max(1));
        end = var.offset_bytes + var.size_bytes;
    }
    for var in shared.iter_mut().filter(|var| var.dynamic) {
        var.offset_bytes = end.next_multiple_of(16);
    }
}

/// Structured statements. Each `open_…` is ended by [`Builder::close`].
impl Builder {
    /// `if cond {`
    pub fn open_if(&mut self, cond: Operand) {
        debug_assert_eq!(self.value_type(cond), Type::I1);
        let loc = self.loc;
        self.open(What::Then { cond, loc });
    }

    /// `} else {`
    pub fn open_else(&mut self) {
        let Open { nodes, dead, what } = self.pop();
        let What::Then { cond, loc } = what else {
            panic!("an else without an if");
        };
        self.open(What::Else {
            cond,
            loc,
            then: Block(nodes),
            then_dead: dead,
        });
    }

    /// `loop L {` with a new label.
    pub fn open_loop(&mut self, unroll: Option<u32>) -> LabelId {
        let label = self.label();
        self.open_loop_at(label, unroll);
        label
    }

    /// `loop label {`
    pub fn open_loop_at(&mut self, label: LabelId, unroll: Option<u32>) {
        let loc = self.loc;
        self.open(What::LoopBody { label, unroll, loc });
    }

    /// `} step {`
    pub fn open_step(&mut self) {
        let Open { nodes, what, .. } = self.pop();
        let What::LoopBody { label, unroll, loc } = what else {
            panic!("a step without a loop");
        };
        // A `continue` may lead here even if the end of the body is not reached.
        self.open(What::LoopStep {
            label,
            unroll,
            loc,
            body: Block(nodes),
        });
    }

    /// `scope L {` with a new label.
    pub fn open_scope(&mut self) -> LabelId {
        let label = self.label();
        self.open_scope_at(label);
        label
    }

    /// `scope label {`
    pub fn open_scope_at(&mut self, label: LabelId) {
        let loc = self.loc;
        self.open(What::Scope { label, loc });
    }

    /// `}`: ends the innermost `if` (with or without an `else`), `loop` (with or without a `step`) or `scope`.
    pub fn close(&mut self) {
        let Open { nodes, dead, what } = self.pop();
        let block = Block(nodes);
        match what {
            What::Body => unreachable!("pop keeps the body"),
            What::Then { cond, loc } => self.push_node(Node::If {
                cond,
                then: block,
                otherwise: Block::default(),
                loc,
            }),
            What::Else {
                cond,
                loc,
                then,
                then_dead,
            } => {
                self.push_node(Node::If {
                    cond,
                    then,
                    otherwise: block,
                    loc,
                });
                if then_dead && dead {
                    self.open.last_mut().expect("the body is open").dead = true;
                }
            }
            What::LoopBody { label, unroll, loc } => self.push_node(Node::Loop {
                label,
                body: block,
                step: Block::default(),
                unroll,
                loc,
            }),
            What::LoopStep {
                label,
                unroll,
                loc,
                body,
            } => self.push_node(Node::Loop {
                label,
                body,
                step: block,
                unroll,
                loc,
            }),
            What::Scope { label, loc } => self.push_node(Node::Scope {
                label,
                body: block,
                loc,
            }),
        }
    }

    /// `break label`
    pub fn break_to(&mut self, label: LabelId) {
        self.end_block(Node::Break(label));
    }

    /// `continue label`
    pub fn continue_to(&mut self, label: LabelId) {
        self.end_block(Node::Continue(label));
    }

    /// `return`, with a value in host functions that give one.
    pub fn return_value(&mut self, value: Option<Operand>) {
        self.end_block(Node::Return(value));
    }
}

/// Instructions.
impl Builder {
    /// Appends any instruction, its results' types given. The other methods are more convenient.
    pub fn inst(&mut self, kind: InstKind, types: &[Type]) -> Vec<Operand> {
        if self.is_dead() {
            return types.iter().map(|&ty| Const::zero(ty).into()).collect();
        }
        let first = self.function.values.len() as u32;
        self.function.values.extend_from_slice(types);
        let results: Vec<ValueId> = (first..).take(types.len()).map(ValueId).collect();
        let operands = results.iter().map(|&id| id.into()).collect();
        let loc = self.loc;
        self.push_node(Node::Inst(Inst { results, kind, loc }));
        operands
    }

    fn one(&mut self, kind: InstKind, ty: Type) -> Operand {
        self.inst(kind, &[ty])[0]
    }

    fn none(&mut self, kind: InstKind) {
        self.inst(kind, &[]);
    }

    /// `get $slot`
    pub fn get(&mut self, slot: SlotId) -> Operand {
        self.one(InstKind::Get(slot), self.slot_type(slot))
    }

    /// `set $slot, value`
    pub fn set(&mut self, slot: SlotId, value: Operand) {
        debug_assert_eq!(self.value_type(value), self.slot_type(slot));
        self.none(InstKind::Set(slot, value));
    }

    /// `neg.i32 a` and the like.
    pub fn unary(&mut self, op: UnaryOp, a: Operand) -> Operand {
        let ty = self.value_type(a);
        debug_assert!(op.accepts(ty), "{op}.{ty}");
        if let Operand::Const(a) = a {
            let bits = eval::unary(op, ty, a.bits);
            return Const { ty, bits }.into();
        }
        self.one(InstKind::Unary(op, ty, a), ty)
    }

    /// `add.i32 a, b` and the like.
    pub fn binary(&mut self, op: BinaryOp, a: Operand, b: Operand) -> Operand {
        let ty = self.value_type(a);
        debug_assert!(op.accepts(ty), "{op}.{ty}");
        debug_assert_eq!(ty, self.value_type(b), "{op}");
        if let (Operand::Const(a), Operand::Const(b)) = (a, b)
            && !eval::divides_by_zero(op, b.bits)
        {
            let bits = eval::binary(op, ty, a.bits, b.bits);
            return Const { ty, bits }.into();
        }
        self.one(InstKind::Binary(op, ty, a, b), ty)
    }

    /// `fma.f32 a, b, c`
    pub fn fma(&mut self, a: Operand, b: Operand, c: Operand) -> Operand {
        let ty = self.value_type(a);
        debug_assert!(ty.is_float(), "fma.{ty}");
        if let (Operand::Const(a), Operand::Const(b), Operand::Const(c)) = (a, b, c) {
            let bits = eval::fma(ty, a.bits, b.bits, c.bits);
            return Const { ty, bits }.into();
        }
        self.one(InstKind::Fma(ty, a, b, c), ty)
    }

    /// `cmp.slt.i32 a, b` and the like.
    pub fn compare(&mut self, op: CompareOp, a: Operand, b: Operand) -> Operand {
        let ty = self.value_type(a);
        debug_assert!(op.accepts(ty), "cmp.{op}.{ty}");
        debug_assert_eq!(ty, self.value_type(b), "{op}");
        if let (Operand::Const(a), Operand::Const(b)) = (a, b) {
            return Const::bool(eval::compare(op, ty, a.bits, b.bits)).into();
        }
        self.one(InstKind::Compare(op, ty, a, b), Type::I1)
    }

    /// `select.i32 cond, a, b`
    pub fn select(&mut self, cond: Operand, a: Operand, b: Operand) -> Operand {
        let ty = self.value_type(a);
        debug_assert_eq!(self.value_type(cond), Type::I1);
        debug_assert_eq!(ty, self.value_type(b));
        if let Operand::Const(cond) = cond {
            return if cond.bits != 0 { a } else { b };
        }
        self.one(InstKind::Select(ty, cond, a, b), ty)
    }

    /// `cvt.… a`
    pub fn convert(&mut self, op: ConvertOp, a: Operand) -> Operand {
        let from = self.value_type(a);
        debug_assert!(op.accepts(from), "cvt.{op} of {from}");
        if let Operand::Const(a) = a {
            let ty = op.to_type();
            let bits = eval::convert(op, a.bits);
            return Const { ty, bits }.into();
        }
        self.one(InstKind::Convert(op, a), op.to_type())
    }

    /// `special.tid.x` and the like.
    pub fn special(&mut self, register: SpecialReg) -> Operand {
        self.one(InstKind::Special(register), Type::I32)
    }

    /// `addr shared0`: generic until `infer_spaces`.
    pub fn addr_of(&mut self, object: Object) -> Operand {
        self.one(InstKind::AddrOf(object), Type::Ptr(Space::Generic))
    }

    /// `ptradd base, index * scale_bytes + offset_bytes`. A constant index goes into the offset.
    pub fn ptr_add(
        &mut self,
        base: Operand,
        index: Operand,
        unsigned: bool,
        scale_bytes: i64,
        offset_bytes: i64,
    ) -> Operand {
        let ty = self.value_type(base);
        debug_assert!(matches!(ty, Type::Ptr(_)), "ptradd to {ty}");
        debug_assert!(self.value_type(index).is_int());
        if let Operand::Const(index) = index {
            let index = match index.ty {
                Type::I32 if !unsigned => index.bits as i32 as i64,
                _ => index.bits as i64,
            };
            let offset_bytes = offset_bytes.wrapping_add(index.wrapping_mul(scale_bytes));
            return self.ptr_offset(base, offset_bytes);
        }
        let kind = InstKind::PtrAdd {
            base,
            index,
            unsigned,
            scale_bytes,
            offset_bytes,
        };
        self.one(kind, ty)
    }

    /// `ptradd base, offset_bytes`: the base itself if that is 0.
    pub fn ptr_offset(&mut self, base: Operand, offset_bytes: i64) -> Operand {
        if offset_bytes == 0 {
            return base;
        }
        let ty = self.value_type(base);
        let kind = InstKind::PtrAdd {
            base,
            index: Const::i32(0).into(),
            unsigned: false,
            scale_bytes: 0,
            offset_bytes,
        };
        self.one(kind, ty)
    }

    /// `load.f32.shared ptr`: one operand per component.
    pub fn load(&mut self, access: Access, ptr: Operand) -> Vec<Operand> {
        let types = vec![access.ty.value_type(); access.count as usize];
        self.inst(InstKind::Load(access, ptr), &types)
    }

    /// `store.f32.shared ptr, values`: one value per component.
    pub fn store(&mut self, access: Access, ptr: Operand, values: Vec<Operand>) {
        debug_assert_eq!(values.len(), access.count as usize);
        self.none(InstKind::Store(access, ptr, values));
    }

    /// `atomic.add.i32.shared ptr, value`; `compare` for `cas`.
    pub fn atomic(
        &mut self,
        op: AtomicOp,
        access: Access,
        ptr: Operand,
        value: Operand,
        compare: Option<Operand>,
    ) -> Operand {
        debug_assert!(op.accepts(access.ty), "atomic.{op}.{}", access.ty);
        let kind = InstKind::Atomic {
            op,
            access,
            ptr,
            value,
            compare,
        };
        self.one(kind, access.ty.value_type())
    }

    /// `barrier`
    pub fn barrier(&mut self) {
        self.none(InstKind::Barrier(None));
    }

    /// `barrier.count predicate` and the like; gives an `i32`.
    pub fn barrier_reduce(&mut self, reduce: BarrierReduce, predicate: Operand) -> Operand {
        self.one(InstKind::Barrier(Some((reduce, predicate))), Type::I32)
    }

    /// `syncwarp mask`
    pub fn sync_warp(&mut self, mask: Operand) {
        self.none(InstKind::SyncWarp(mask));
    }

    /// `fence.block` and the like.
    pub fn fence(&mut self, scope: FenceScope) {
        self.none(InstKind::Fence(scope));
    }

    /// `printf format, args`; gives an `i32`.
    pub fn printf(&mut self, format: StringId, args: Vec<Operand>) -> Operand {
        self.one(InstKind::Printf(format, args), Type::I32)
    }

    /// `assert cond, text`
    pub fn assert(&mut self, cond: Operand, text: StringId) {
        self.none(InstKind::Assert(cond, text));
    }

    /// `trap`
    pub fn trap(&mut self) {
        self.none(InstKind::Trap);
    }

    /// `call fn2(args)`; `result` is the callee's.
    pub fn call(
        &mut self,
        function: FuncId,
        args: Vec<Operand>,
        result: Option<Type>,
    ) -> Option<Operand> {
        let types: Vec<Type> = result.into_iter().collect();
        self.inst(InstKind::Call(function, args), &types)
            .first()
            .copied()
    }

    /// `host cudaMalloc(args)`
    pub fn host_call(&mut self, function: HostFn, args: Vec<Operand>) -> Option<Operand> {
        let types: Vec<Type> = function.result().into_iter().collect();
        self.inst(InstKind::HostCall(function, args), &types)
            .first()
            .copied()
    }

    /// `launch fn1 <<<grid, block, shared, stream>>> (args)`
    pub fn launch(&mut self, launch: Launch) {
        self.none(InstKind::Launch(Box::new(launch)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel() -> Builder {
        Builder::new("k", FunctionKind::Kernel, LocId(0))
    }

    #[test]
    fn constants_fold_but_not_a_division_by_zero() {
        let mut b = kernel();
        let seven: Operand = Const::i32(7).into();
        let zero: Operand = Const::i32(0).into();
        assert_eq!(b.binary(BinaryOp::Add, seven, seven), Const::i32(14).into());
        assert_eq!(
            b.compare(CompareOp::Slt, zero, seven),
            Const::bool(true).into()
        );
        assert_eq!(
            b.convert(ConvertOp::S32ToF64, seven),
            Const::f64(7.0).into()
        );
        assert!(b.binary(BinaryOp::SDiv, seven, zero).value().is_some());
        assert_eq!(b.finish().body.0.len(), 1);
    }

    #[test]
    fn code_after_a_jump_is_dropped() {
        let mut b = kernel();
        let cond = b.slot("c", Type::I1);
        let c = b.get(cond);
        let label = b.open_loop(None);
        b.open_if(c);
        b.break_to(label);
        b.set(cond, c);
        assert!(b.is_dead());
        b.open_else();
        b.continue_to(label);
        b.close();
        assert!(b.is_dead());
        b.open_step();
        assert!(!b.is_dead());
        b.set(cond, c);
        b.close();
        let function = b.finish();
        let Node::Loop { body, step, .. } = &function.body.0[1] else {
            panic!("{:?}", function.body);
        };
        assert_eq!((body.0.len(), step.0.len()), (1, 1));
        let Node::If { then, .. } = &body.0[0] else {
            panic!("{body:?}");
        };
        assert_eq!(then.0, [Node::Break(label)]);
    }

    #[test]
    fn a_constant_index_goes_into_the_offset() {
        let mut b = kernel();
        let p = b.param(
            "p",
            Type::Ptr(Space::Generic),
            "int *",
            Some(MemType::I32),
            false,
            false,
        );
        let p = b.get(p);
        assert_eq!(b.ptr_add(p, Const::i32(0).into(), false, 4, 0), p);
        b.ptr_add(p, Const::i32(-2).into(), false, 4, 1);
        let function = b.finish();
        let Node::Inst(inst) = &function.body.0[1] else {
            panic!()
        };
        assert!(matches!(
            inst.kind,
            InstKind::PtrAdd {
                scale_bytes: 0,
                offset_bytes: -7,
                ..
            }
        ));
    }

    #[test]
    fn shared_variables_are_laid_out_in_order_with_dynamic_ones_last() {
        let mut b = kernel();
        let var = |size_bytes, align_bytes, dynamic| SharedVar {
            name: "s".into(),
            c_type: "char".into(),
            element_bytes: 1,
            dims: vec![size_bytes],
            size_bytes,
            align_bytes,
            dynamic,
            offset_bytes: 0,
            loc: LocId(0),
        };
        b.shared(var(0, 1, true));
        b.shared(var(3, 1, false));
        b.shared(var(8, 8, false));
        let function = b.finish();
        let offsets: Vec<u64> = function.shared.iter().map(|var| var.offset_bytes).collect();
        assert_eq!(offsets, [16, 0, 8]);
    }
}
