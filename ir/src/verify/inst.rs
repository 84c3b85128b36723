//! Rule 7: every instruction's operands and results, and the function that contains it.

use super::{Verifier, operand_name, seen_by_kernels};
use crate::{
    Access, AtomicOp, ConvertOp, Exchange, ExchangeOp, FuncId, FunctionKind, HostFn, Inst,
    InstKind, Intrinsic, Launch, Object, Operand, SlotId, Space, Stands, StringId, Type,
};

impl Verifier<'_> {
    /// Operands first, then the results' types. A table: one arm per instruction.
    pub(super) fn verify_inst(&mut self, inst: &Inst) {
        self.verify_side(&inst.kind);
        match &inst.kind {
            InstKind::Get(slot) => {
                self.slot_type(*slot);
            }
            InstKind::Set(slot, value) => {
                if let Some(ty) = self.slot_type(*slot) {
                    self.verify_operand(*value, ty);
                }
            }
            InstKind::Unary(op, ty, a) => {
                self.verify_scalar(op.accepts(*ty), *ty, &[*a]);
            }
            InstKind::Binary(op, ty, a, b) => {
                self.verify_scalar(op.accepts(*ty), *ty, &[*a, *b]);
            }
            InstKind::Fma(ty, a, b, c) => {
                self.verify_scalar(ty.is_float(), *ty, &[*a, *b, *c]);
            }
            InstKind::FmaHalves(a, b, c) | InstKind::FmaBfloats(a, b, c) => {
                self.verify_scalar(true, Type::I32, &[*a, *b, *c]);
            }
            InstKind::Compare(op, ty, a, b) => {
                self.verify_scalar(op.accepts(*ty), *ty, &[*a, *b]);
            }
            InstKind::Select(ty, cond, a, b) => {
                self.verify_operand(*cond, Type::I1);
                self.verify_scalar(true, *ty, &[*a, *b]);
            }
            InstKind::Convert(op, a) => self.verify_conversion(*op, *a),
            InstKind::AddrOf(object) => self.verify_object(*object),
            InstKind::PtrAdd {
                base,
                index,
                unsigned,
                ..
            } => {
                self.verify_pointer(*base);
                self.verify_index(*index, *unsigned);
            }
            InstKind::Load(access, ptr) => self.verify_access(access, *ptr, false),
            InstKind::Store(access, ptr, values) => {
                self.verify_access(access, *ptr, false);
                self.verify_stored(access, values);
            }
            InstKind::Atomic {
                op,
                access,
                ptr,
                value,
                compare,
            } => {
                self.verify_access(access, *ptr, true);
                self.verify_atomic(*op, access, *value, *compare);
            }
            InstKind::Barrier(Some((_, predicate))) => self.verify_operand(*predicate, Type::I1),
            InstKind::Intrinsic(intrinsic, args) => self.verify_intrinsic(*intrinsic, args),
            InstKind::Exchange(exchange) => self.verify_exchange(exchange),
            InstKind::Printf(format, args) => {
                self.verify_string(*format);
                self.verify_variadic(args);
            }
            InstKind::Assert(cond, text) => {
                self.verify_operand(*cond, Type::I1);
                self.verify_string(*text);
            }
            InstKind::Unsupported(text) => self.verify_string(*text),
            InstKind::Special(_)
            | InstKind::Barrier(None)
            | InstKind::Fence(_)
            | InstKind::AcqRelFence(_) => {}
            InstKind::Lifetime(local, _) => {
                self.check(
                    local.index() < self.function.locals.len(),
                    "there is no such variable",
                );
            }
            InstKind::Call(callee, args) => self.verify_call(*callee, args),
            InstKind::CallRoutine(callee, args) => self.verify_routine_call(*callee, args),
            InstKind::HostCall(host, args) => self.verify_host_call(*host, args),
            InstKind::Launch(launch) => self.verify_launch(launch),
        }
        self.verify_results(inst);
    }

    fn verify_conversion(&mut self, op: ConvertOp, a: Operand) {
        if let Some(ty) = self.visible_type(a)
            && !op.accepts(ty)
        {
            self.report(format!("the conversion does not take {ty}"));
        }
    }

    fn verify_index(&mut self, index: Operand, unsigned: bool) {
        if let Some(ty) = self.visible_type(index) {
            self.check(ty.is_int(), "the index is not an integer");
            self.check(
                !unsigned || ty == Type::I32,
                "only an i32 index is extended",
            );
        }
    }

    fn verify_stored(&mut self, access: &Access, values: &[Operand]) {
        self.verify_writable(access);
        let count = access.count as usize;
        self.check(values.len() == count, "not one value per component");
        for value in values {
            self.verify_operand(*value, access.ty.value_type());
        }
    }

    fn verify_atomic(
        &mut self,
        op: AtomicOp,
        access: &Access,
        value: Operand,
        compare: Option<Operand>,
    ) {
        self.verify_writable(access);
        self.check(access.count == 1, "an atomic of more than one component");
        self.check(
            op.accepts(access.ty),
            "the operation does not exist for the type",
        );
        let has_compare = compare.is_some() == (op == AtomicOp::Cas);
        self.check(has_compare, "cas, and only cas, compares");
        for operand in [Some(value), compare].into_iter().flatten() {
            self.verify_operand(operand, access.ty.value_type());
        }
    }

    fn verify_intrinsic(&mut self, intrinsic: Intrinsic, args: &[Operand]) {
        let types = intrinsic.operands();
        self.check(args.len() == types.len(), "a wrong number of operands");
        for (&arg, &ty) in args.iter().zip(types) {
            self.verify_operand(arg, ty);
        }
    }

    fn verify_exchange(&mut self, exchange: &Exchange) {
        let ty = exchange.value_type();
        self.verify_scalar(exchange.accepts(), ty, &[exchange.value]);
        if let ExchangeOp::Shuffle { lane, width, .. } = exchange.op {
            self.verify_operand(lane, Type::I32);
            self.verify_operand(width, Type::I32);
        }
        if let Some(mask) = exchange.mask {
            self.verify_operand(mask, Type::I32);
        }
    }

    /// Host-only instructions must be in host functions, device-only ones in kernels.
    fn verify_side(&mut self, kind: &InstKind) {
        match kind.stands() {
            Stands::Anywhere => {}
            Stands::Kernel => self.check(self.is_kernel(), "it is outside of a kernel"),
            Stands::Host => self.check(!self.is_kernel(), "it is in a kernel"),
        }
    }

    fn verify_results(&mut self, inst: &Inst) {
        let Some(types) = inst.kind.result_types(self.module, self.function) else {
            return; // Something named does not exist, which is reported.
        };
        // A call may ignore the result.
        let call = matches!(inst.kind, InstKind::Call(..) | InstKind::HostCall(..));
        if inst.results.is_empty() && call {
            return;
        }
        if inst.results.len() != types.len() {
            let (found, expected) = (inst.results.len(), types.len());
            self.report(format!("{found} results instead of {expected}"));
        }
        for (id, ty) in inst.results.iter().zip(types) {
            let found = self.function.values.get(id.index()).copied();
            if let Some(found) = found.filter(|&found| found != ty) {
                self.report(format!("the result {id} is {found}, not {ty}"));
            }
        }
    }

    fn slot_type(&mut self, slot: SlotId) -> Option<Type> {
        let ty = self.function.slots.get(slot.index()).map(|slot| slot.ty);
        self.check(ty.is_some(), "there is no such slot");
        ty
    }

    /// Operands of one type that the operation exists for.
    fn verify_scalar(&mut self, accepts: bool, ty: Type, operands: &[Operand]) {
        self.check(accepts, "the operation does not exist for the type");
        for &operand in operands {
            self.verify_operand(operand, ty);
        }
    }

    fn verify_pointer(&mut self, operand: Operand) {
        if let Some(ty) = self.visible_type(operand)
            && !matches!(ty, Type::Ptr(_))
        {
            self.report(format!("{} is {ty}, not a pointer", operand_name(operand)));
        }
    }

    fn verify_string(&mut self, string: StringId) {
        let exists = string.index() < self.module.strings.len();
        self.check(exists, "there is no such string");
    }

    fn verify_object(&mut self, object: Object) {
        let kernel = self.is_kernel();
        match object {
            Object::Shared(id) => {
                let exists = id.index() < self.function.shared.len();
                self.check(exists, "there is no such shared variable");
            }
            Object::Local(id) => {
                let exists = id.index() < self.function.locals.len();
                self.check(exists, "there is no such local variable");
            }
            Object::String(id) => self.verify_string(id),
            Object::Global(id) => match self.module.globals.get(id.index()) {
                None => self.report("there is no such global"),
                Some(global) => {
                    let seen = !kernel || seen_by_kernels(global.space);
                    self.check(seen, "a kernel names a host variable");
                }
            },
        }
    }

    fn verify_access(&mut self, access: &Access, ptr: Operand, is_atomic: bool) {
        self.verify_operand(ptr, Type::Ptr(access.space));
        let count = matches!(access.count, 1 | 2 | 4);
        self.check(count, "the components are not 1, 2 or 4");
        self.check(
            access.width_bytes() <= 16,
            "the access is wider than 16 bytes",
        );
        let integer = access.count == 1 && access.ty.value_type().is_int();
        self.check(
            integer || !access.partial,
            "a partial load that is no integer",
        );
        self.check(
            !access.merged || is_atomic,
            "only an atomic merges its lanes",
        );
        let align = access.align_bytes;
        self.check(
            align == 0 || align.is_power_of_two() && align > access.width_bytes(),
            "the alignment is no power of two above the width",
        );
        if let Some(object) = access.object {
            self.verify_object(object);
            if self.is_kernel()
                && let Some(space) = self.module.object_space(object)
            {
                let fits = [space, access.space].contains(&Space::Generic) || space == access.space;
                self.check(fits, "the object is in another space than the access");
            }
        }
    }

    fn verify_writable(&mut self, access: &Access) {
        self.check(!access.partial, "only a load is partial");
        self.check(
            access.space != Space::Constant,
            "it writes to constant memory",
        );
    }

    /// Arguments after C's promotions.
    fn verify_variadic(&mut self, args: &[Operand]) {
        for &arg in args {
            match self.visible_type(arg) {
                None | Some(Type::I32 | Type::I64 | Type::F64 | Type::Ptr(Space::Generic)) => {}
                Some(ty @ (Type::I1 | Type::F32 | Type::Ptr(_))) => {
                    self.report(format!("an argument of `...` is {ty}"));
                }
            }
        }
    }

    fn verify_call(&mut self, callee: FuncId, args: &[Operand]) {
        let Some(callee) = self.module.functions.get(callee.index()) else {
            return self.report("there is no such function");
        };
        self.check(
            callee.kind == FunctionKind::Host,
            "a kernel is called, not launched",
        );
        self.check(
            args.len() == callee.params.len(),
            "not one argument per parameter",
        );
        for (&arg, param) in args.iter().zip(&callee.params) {
            if let Some(slot) = callee.slots.get(param.slot.index()) {
                self.verify_operand(arg, slot.ty);
            }
        }
    }

    fn verify_host_call(&mut self, host: HostFn, args: &[Operand]) {
        let fixed = host.args();
        let count = if host.is_variadic() {
            args.len() >= fixed.len()
        } else {
            args.len() == fixed.len()
        };
        self.check(count, "not one argument per parameter");
        for (&arg, &ty) in args.iter().zip(fixed) {
            self.verify_operand(arg, ty);
        }
        self.verify_variadic(args.get(fixed.len()..).unwrap_or_default());
    }

    fn verify_launch(&mut self, launch: &Launch) {
        for &operand in launch.grid.iter().chain(&launch.block) {
            self.verify_operand(operand, Type::I32);
        }
        self.verify_operand(launch.shared_bytes, Type::I64);
        self.verify_operand(launch.stream, Type::I64);
        let Some(kernel) = self.module.functions.get(launch.kernel.index()) else {
            return self.report("there is no such function");
        };
        self.check(
            kernel.kind == FunctionKind::Kernel,
            "a host function is launched",
        );
        self.check(
            launch.args.len() == kernel.params.len(),
            "not one argument per parameter",
        );
        self.check(
            !(launch.cooperative && self.is_kernel()),
            "a kernel makes a cooperative launch",
        );
        for (&arg, param) in launch.args.iter().zip(&kernel.params) {
            match kernel.slots.get(param.slot.index()).map(|slot| slot.ty) {
                None => {}
                // The launched kernel knows more about a pointer than that it is generic.
                Some(Type::Ptr(_)) => self.verify_operand(arg, Type::Ptr(Space::Generic)),
                Some(ty @ (Type::I1 | Type::I32 | Type::I64 | Type::F32 | Type::F64)) => {
                    self.verify_operand(arg, ty);
                }
            }
        }
    }
}
