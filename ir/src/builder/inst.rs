//! One method per instruction; pure operations on constants fold.

use super::Builder;
use crate::{
    Access, AtomicOp, BarrierReduce, BinaryOp, CompareOp, Const, ConvertOp, Exchange, ExchangeOp,
    FenceScope, FuncId, HostFn, Inst, InstKind, Intrinsic, Launch, LocalId, Node, Object, Operand,
    RoutineId, SlotId, Space, SpecialReg, StringId, Type, UnaryOp, ValueId, eval,
};

/// Instructions.
impl Builder {
    /// Appends any instruction with the given types of results. The other methods are more convenient.
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

    /// `fma_halves a, b, c`
    pub fn fma_halves(&mut self, a: Operand, b: Operand, c: Operand) -> Operand {
        if let (Operand::Const(a), Operand::Const(b), Operand::Const(c)) = (a, b, c) {
            let bits = eval::fma_halves(a.bits, b.bits, c.bits);
            return Const {
                ty: Type::I32,
                bits,
            }
            .into();
        }
        self.one(InstKind::FmaHalves(a, b, c), Type::I32)
    }

    /// `fma_bfloats a, b, c`
    pub fn fma_bfloats(&mut self, a: Operand, b: Operand, c: Operand) -> Operand {
        if let (Operand::Const(a), Operand::Const(b), Operand::Const(c)) = (a, b, c) {
            let bits = eval::fma_bfloats(a.bits, b.bits, c.bits);
            return Const {
                ty: Type::I32,
                bits,
            }
            .into();
        }
        self.one(InstKind::FmaBfloats(a, b, c), Type::I32)
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
        self.one(InstKind::Special(register), register.ty())
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
        // A 64-bit index is not extended.
        let unsigned = unsigned && self.value_type(index) == Type::I32;
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

    /// `shfl.idx.i32 value, lane, width sync mask` and the like; one operand per result.
    pub fn exchange(
        &mut self,
        op: ExchangeOp,
        value: Operand,
        mask: Option<Operand>,
    ) -> Vec<Operand> {
        let exchange = Exchange { op, value, mask };
        debug_assert_eq!(self.value_type(value), exchange.value_type());
        let types = exchange.result_types();
        self.inst(InstKind::Exchange(Box::new(exchange)), &types)
    }

    /// `nanosleep time`, `isshared pointer` and the like; gives a value if it has one.
    pub fn intrinsic(&mut self, intrinsic: Intrinsic, args: Vec<Operand>) -> Option<Operand> {
        let types: Vec<Type> = intrinsic.result().into_iter().collect();
        let results = self.inst(InstKind::Intrinsic(intrinsic, args), &types);
        results.first().copied()
    }

    /// `fence.block` and the like.
    pub fn fence(&mut self, scope: FenceScope) {
        self.none(InstKind::Fence(scope));
    }

    /// `acqrel.block` and the like.
    pub fn acq_rel_fence(&mut self, scope: FenceScope) {
        self.none(InstKind::AcqRelFence(scope));
    }

    /// `printf format, args`; gives an `i32`.
    pub fn printf(&mut self, format: StringId, args: Vec<Operand>) -> Operand {
        self.one(InstKind::Printf(format, args), Type::I32)
    }

    /// `assert cond, text`
    pub fn assert(&mut self, cond: Operand, text: StringId) {
        self.none(InstKind::Assert(cond, text));
    }

    /// `unsupported text`
    pub fn unsupported(&mut self, text: StringId) {
        self.none(InstKind::Unsupported(text));
    }

    /// `begin local3` or `end local3`
    pub fn lifetime(&mut self, local: LocalId, begins: bool) {
        self.none(InstKind::Lifetime(local, begins));
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

    /// `call R0(args)`; gives the results.
    pub fn call_routine(&mut self, routine: RoutineId, args: Vec<Operand>) -> Vec<Operand> {
        let results = &self.function.routines[routine.index()].results;
        let types: Vec<Type> = results.iter().map(|slot| self.slot_type(*slot)).collect();
        self.inst(InstKind::CallRoutine(routine, args), &types)
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
