//! Random instructions: one function per family, each taking operands from those that are visible at its place.

use super::super::*;
use super::{GENERIC, Generator, MEM_TYPES};

impl Generator<'_> {
    pub(super) fn instruction(&mut self) {
        match self.random.below(if self.options.plain { 6 } else { 9 }) {
            0 => self.arithmetic(),
            1 => self.comparison(),
            2 if self.kernel => {
                let register = self.random.pick(&[
                    SpecialReg::TidX,
                    SpecialReg::LaneId,
                    SpecialReg::CtaidX,
                    SpecialReg::NtidX,
                    SpecialReg::Clock,
                    SpecialReg::Clock64,
                    SpecialReg::GlobalTimer,
                    SpecialReg::ActiveMask,
                ]);
                let value = self.builder.special(register);
                self.keep(value);
            }
            3 => {
                let ty = self.random.pick(self.types());
                if let Some(slot) = self.slot_of(ty) {
                    let value = self.builder.get(slot);
                    self.keep(value);
                }
            }
            4 => {
                let ty = self.random.pick(self.types());
                let (cond, a, b) = (self.operand(Type::I1), self.operand(ty), self.operand(ty));
                let value = self.builder.select(cond, a, b);
                self.keep(value);
            }
            5 if self.options.plain => {
                if let Some(slot) = self.slot_of(Type::I32) {
                    let value = self.builder.get(slot);
                    self.keep(value);
                }
            }
            5 => self.conversion(),
            6 => self.pointer(),
            7 => self.memory(),
            _ if self.kernel => self.device_only(),
            _ => self.host_only(),
        }
    }

    fn arithmetic(&mut self) {
        let ty = self.random.pick(self.types());
        if self.random.chance(3) {
            let ops: Vec<UnaryOp> = UnaryOp::ALL
                .iter()
                .copied()
                .filter(|op| op.accepts(ty))
                .collect();
            if !ops.is_empty() {
                let (op, a) = (self.random.pick(&ops), self.operand(ty));
                let value = self.builder.unary(op, a);
                self.keep(value);
            }
            return;
        }
        let halves = ty == Type::I32 && !self.options.plain;
        if (ty.is_float() || halves) && self.random.chance(4) {
            let (a, b, c) = (self.operand(ty), self.operand(ty), self.operand(ty));
            let value = match halves {
                true if self.random.chance(2) => self.builder.fma_bfloats(a, b, c),
                true => self.builder.fma_halves(a, b, c),
                false => self.builder.fma(a, b, c),
            };
            return self.keep(value);
        }
        let ops: Vec<BinaryOp> = BinaryOp::ALL
            .iter()
            .copied()
            .filter(|op| op.accepts(ty))
            .collect();
        if !ops.is_empty() {
            let (op, a, b) = (self.random.pick(&ops), self.operand(ty), self.operand(ty));
            let value = self.builder.binary(op, a, b);
            self.keep(value);
        }
    }

    fn comparison(&mut self) {
        let ty = self.random.pick(self.types());
        let ops: Vec<CompareOp> = CompareOp::ALL
            .iter()
            .copied()
            .filter(|op| op.accepts(ty))
            .collect();
        let (op, a, b) = (self.random.pick(&ops), self.operand(ty), self.operand(ty));
        let value = self.builder.compare(op, a, b);
        self.keep(value);
    }

    fn conversion(&mut self) {
        let in_space =
            |op: &ConvertOp| !matches!(op.to_type(), Type::Ptr(space) if space != Space::Generic);
        let ops: Vec<ConvertOp> = ConvertOp::ALL.iter().copied().filter(in_space).collect();
        let op = self.random.pick(&ops);
        let a = self.operand(op.from_type());
        let value = self.builder.convert(op, a);
        self.keep(value);
    }

    fn pointer(&mut self) {
        if self.random.chance(2) {
            let base = self.operand(GENERIC);
            let unsigned = self.random.chance(2);
            let ty = if unsigned {
                Type::I32
            } else {
                self.random.pick(&[Type::I32, Type::I64])
            };
            let index = self.operand(ty);
            let offset = self.random.pick(&[0, 8, -8, i64::MIN, i64::MAX]);
            let value = self.builder.ptr_add(base, index, unsigned, 4, offset);
            return self.keep(value);
        }
        let function = self.builder.function();
        let mut objects = vec![Object::String(StringId(0)), Object::Local(LocalId(0))];
        if !function.shared.is_empty() {
            objects.push(Object::Shared(SharedId(0)));
        }
        let globals = if self.kernel { 2 } else { 3 };
        objects.extend((0..globals).map(|id| Object::Global(GlobalId(id))));
        let object = self.random.pick(&objects);
        let value = self.builder.addr_of(object);
        self.keep(value);
    }

    /// An access and its pointer; sometimes to a named variable.
    fn access(&mut self, ty: MemType, count: u8) -> (Access, Operand) {
        let object = self.random.chance(3).then_some(Object::Local(LocalId(0)));
        let volatile = self.random.chance(4);
        let ptr = match object {
            Some(object) => self.builder.addr_of(object),
            None => self.operand(GENERIC),
        };
        (
            Access {
                ty,
                count,
                space: Space::Generic,
                volatile,
                block_scope: false,
                read_only: false,
                partial: false,
                merged: false,
                align_bytes: if object.is_some() { 32 } else { 0 },
                object,
                row_len: object.map_or(0, |_| u32::from(volatile) * 7),
                is_member: object.is_some() && volatile && count == 2,
            },
            ptr,
        )
    }

    fn memory(&mut self) {
        let ty = self.random.pick(MEM_TYPES);
        let count = self.random.pick(&[1, 1, 2, 4]);
        let count = if ty.bytes() * count as u32 > 16 {
            1
        } else {
            count
        };
        let (access, ptr) = self.access(ty, count);
        if self.random.chance(2) {
            for value in self.builder.load(access, ptr) {
                self.keep(value);
            }
        } else {
            let values = (0..count).map(|_| self.operand(ty.value_type())).collect();
            self.builder.store(access, ptr, values);
        }
    }

    fn device_only(&mut self) {
        let string = StringId(0);
        match self.random.below(10) {
            0 => {
                let ty =
                    self.random
                        .pick(&[MemType::I32, MemType::I64, MemType::F32, MemType::F64]);
                let ops: Vec<AtomicOp> = AtomicOp::ALL
                    .iter()
                    .copied()
                    .filter(|op| op.accepts(ty))
                    .collect();
                let op = self.random.pick(&ops);
                let (access, ptr) = self.access(ty, 1);
                let value = self.operand(ty.value_type());
                let compare = (op == AtomicOp::Cas).then(|| self.operand(ty.value_type()));
                let old = self.builder.atomic(op, access, ptr, value, compare);
                self.keep(old);
            }
            1 => self.builder.barrier(),
            2 => {
                let (reduce, predicate) =
                    (self.random.pick(BarrierReduce::ALL), self.operand(Type::I1));
                let value = self.builder.barrier_reduce(reduce, predicate);
                self.keep(value);
            }
            3 => {
                let mask = self.operand(Type::I32);
                self.builder.intrinsic(Intrinsic::SyncWarp, vec![mask]);
            }
            4 => {
                let scope = self.random.pick(FenceScope::ALL);
                self.builder.fence(scope);
            }
            5 => {
                let types = [Type::I32, Type::I64, Type::F64, GENERIC];
                let args = (0..self.random.below(4)).map(|_| {
                    let ty = self.random.pick(&types);
                    self.operand(ty)
                });
                let args = args.collect();
                self.builder.printf(string, args);
            }
            6 => {
                let cond = self.operand(Type::I1);
                self.builder.assert(cond, string);
            }
            7 => self.exchange(),
            _ => {
                let intrinsic = match self.random.pick(Intrinsic::ALL) {
                    // The results of a heap are not comparable between executors of random programs.
                    Intrinsic::HeapMalloc | Intrinsic::HeapFree => Intrinsic::SyncWarp,
                    // A named barrier waits for threads that do not arrive there.
                    Intrinsic::BarSync
                    | Intrinsic::BarArrive
                    | Intrinsic::BarrierSync
                    | Intrinsic::BarrierArrive => Intrinsic::SyncWarp,
                    other => other,
                };
                let args = intrinsic.operands().iter().map(|&ty| self.operand(ty));
                let args = args.collect();
                if let Some(value) = self.builder.intrinsic(intrinsic, args) {
                    self.keep(value);
                }
            }
        }
    }

    fn exchange(&mut self) {
        let op = match self.random.below(5) {
            0 => ExchangeOp::Shuffle {
                mode: self.random.pick(ShuffleMode::ALL),
                ty: self.random.pick(&[Type::I32, Type::F32]),
                lane: self.operand(Type::I32),
                width: self.operand(Type::I32),
            },
            1 => ExchangeOp::Vote(self.random.pick(VoteOp::ALL)),
            2 => ExchangeOp::MatchAny(self.random.pick(&[Type::I32, Type::I64])),
            3 => ExchangeOp::MatchAll(self.random.pick(&[Type::I32, Type::I64])),
            _ => ExchangeOp::Reduce(self.random.pick(ReduceOp::ALL)),
        };
        let ty = Exchange {
            op: op.clone(),
            value: Const::i32(0).into(),
            mask: None,
        }
        .value_type();
        let value = self.operand(ty);
        let mask = self.random.chance(2).then(|| self.operand(Type::I32));
        for result in self.builder.exchange(op, value, mask) {
            self.keep(result);
        }
    }

    fn args(&mut self, callee: &Function) -> Vec<Operand> {
        let types = callee
            .params
            .iter()
            .map(|param| callee.slots[param.slot.index()].ty);
        types.map(|ty| self.operand(ty)).collect()
    }

    fn host_only(&mut self) {
        let module = self.module;
        match self.random.below(3) {
            0 => {
                let host = self.random.pick(HostFn::ALL);
                let mut args: Vec<Operand> =
                    host.args().iter().map(|&ty| self.operand(ty)).collect();
                if host.is_variadic() {
                    args.push(self.operand(Type::F64));
                }
                let result = self.builder.host_call(host, args);
                result.into_iter().for_each(|value| self.keep(value));
            }
            1 if module.functions.len() > 1 => {
                let callee = &module.functions[1];
                let args = self.args(callee);
                let result = self.builder.call(FuncId(1), args, callee.result);
                result.into_iter().for_each(|value| self.keep(value));
            }
            _ => {
                let args = self.args(&module.functions[0]);
                let launch = Launch {
                    kernel: FuncId(0),
                    grid: std::array::from_fn(|_| self.operand(Type::I32)),
                    block: std::array::from_fn(|_| self.operand(Type::I32)),
                    shared_bytes: self.operand(Type::I64),
                    stream: self.operand(Type::I64),
                    cooperative: self.random.chance(2),
                    args,
                };
                self.builder.launch(launch);
            }
        }
    }
}
