//! The types of instructions: which types an operation takes, what it gives.
//!
//! One place for the builder (computes), the verifier (checks), the printer and the reader (leave out what follows).
//! Nothing here fails or judges: whether the operands fit is the verifier's question.

use super::{
    AtomicOp, BinaryOp, CompareOp, ConvertOp, Function, FunctionKind, GlobalSpace, InstKind,
    MemType, Module, Object, Operand, Space, SpecialReg, Type, UnaryOp,
};

impl UnaryOp {
    /// Whether the operation exists for that type.
    pub fn accepts(self, ty: Type) -> bool {
        match self {
            UnaryOp::Neg | UnaryOp::Popc | UnaryOp::Clz | UnaryOp::Brev => ty.is_int(),
            UnaryOp::Not => ty.is_int() || ty == Type::I1,
            UnaryOp::FNeg
            | UnaryOp::FAbs
            | UnaryOp::FSqrt
            | UnaryOp::FFloor
            | UnaryOp::FCeil
            | UnaryOp::FTrunc
            | UnaryOp::FRint
            | UnaryOp::FRound => ty.is_float(),
        }
    }
}

impl BinaryOp {
    /// Whether the operation exists for that type (of the first operand and the result).
    pub fn accepts(self, ty: Type) -> bool {
        match self {
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::SMulHi
            | BinaryOp::UMulHi
            | BinaryOp::SDiv
            | BinaryOp::UDiv
            | BinaryOp::SRem
            | BinaryOp::URem
            | BinaryOp::Shl
            | BinaryOp::LShr
            | BinaryOp::AShr
            | BinaryOp::SMin
            | BinaryOp::SMax
            | BinaryOp::UMin
            | BinaryOp::UMax => ty.is_int(),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => ty.is_int() || ty == Type::I1,
            BinaryOp::FAdd
            | BinaryOp::FSub
            | BinaryOp::FMul
            | BinaryOp::FDiv
            | BinaryOp::FRem
            | BinaryOp::FMin
            | BinaryOp::FMax => ty.is_float(),
        }
    }

    /// Integer division and remainder: the ones that mind a zero.
    pub fn is_division(self) -> bool {
        matches!(
            self,
            BinaryOp::SDiv | BinaryOp::UDiv | BinaryOp::SRem | BinaryOp::URem
        )
    }
}

impl CompareOp {
    /// Whether the comparison exists for operands of that type.
    pub fn accepts(self, ty: Type) -> bool {
        match self {
            CompareOp::Eq | CompareOp::Ne => !ty.is_float(),
            CompareOp::Slt | CompareOp::Sle | CompareOp::Sgt | CompareOp::Sge => ty.is_int(),
            CompareOp::Ult | CompareOp::Ule | CompareOp::Ugt | CompareOp::Uge => {
                ty.is_int() || matches!(ty, Type::Ptr(_))
            }
            CompareOp::FEq
            | CompareOp::FNe
            | CompareOp::FLt
            | CompareOp::FLe
            | CompareOp::FGt
            | CompareOp::FGe => ty.is_float(),
        }
    }
}

impl ConvertOp {
    /// The operand's type. `PtrToInt` and `ToGeneric` take pointers of any space; this says the generic one.
    pub fn from_type(self) -> Type {
        match self {
            ConvertOp::Sext
            | ConvertOp::Zext
            | ConvertOp::Sext8
            | ConvertOp::Zext8
            | ConvertOp::Sext16
            | ConvertOp::Zext16
            | ConvertOp::S32ToF32
            | ConvertOp::U32ToF32
            | ConvertOp::S32ToF64
            | ConvertOp::U32ToF64
            | ConvertOp::BitsToF32 => Type::I32,
            ConvertOp::Trunc
            | ConvertOp::S64ToF32
            | ConvertOp::U64ToF32
            | ConvertOp::S64ToF64
            | ConvertOp::U64ToF64
            | ConvertOp::BitsToF64
            | ConvertOp::IntToPtr => Type::I64,
            ConvertOp::BoolToI32 => Type::I1,
            ConvertOp::F32ToS32
            | ConvertOp::F32ToU32
            | ConvertOp::F32ToS64
            | ConvertOp::F32ToU64
            | ConvertOp::F32ToF64
            | ConvertOp::F32Bits => Type::F32,
            ConvertOp::F64ToS32
            | ConvertOp::F64ToU32
            | ConvertOp::F64ToS64
            | ConvertOp::F64ToU64
            | ConvertOp::F64ToF32
            | ConvertOp::F64Bits => Type::F64,
            ConvertOp::PtrToInt
            | ConvertOp::ToGeneric
            | ConvertOp::ToGlobal
            | ConvertOp::ToShared
            | ConvertOp::ToLocal => Type::Ptr(Space::Generic),
        }
    }

    /// Whether an operand of that type may be converted.
    pub fn accepts(self, ty: Type) -> bool {
        match self {
            ConvertOp::PtrToInt | ConvertOp::ToGeneric => matches!(ty, Type::Ptr(_)),
            other => ty == other.from_type(),
        }
    }

    /// The result's type.
    pub fn to_type(self) -> Type {
        match self {
            ConvertOp::Sext
            | ConvertOp::Zext
            | ConvertOp::F32ToS64
            | ConvertOp::F32ToU64
            | ConvertOp::F64ToS64
            | ConvertOp::F64ToU64
            | ConvertOp::F64Bits
            | ConvertOp::PtrToInt => Type::I64,
            ConvertOp::Trunc
            | ConvertOp::Sext8
            | ConvertOp::Zext8
            | ConvertOp::Sext16
            | ConvertOp::Zext16
            | ConvertOp::BoolToI32
            | ConvertOp::F32ToS32
            | ConvertOp::F32ToU32
            | ConvertOp::F64ToS32
            | ConvertOp::F64ToU32
            | ConvertOp::F32Bits => Type::I32,
            ConvertOp::S32ToF32
            | ConvertOp::U32ToF32
            | ConvertOp::S64ToF32
            | ConvertOp::U64ToF32
            | ConvertOp::F64ToF32
            | ConvertOp::BitsToF32 => Type::F32,
            ConvertOp::S32ToF64
            | ConvertOp::U32ToF64
            | ConvertOp::S64ToF64
            | ConvertOp::U64ToF64
            | ConvertOp::F32ToF64
            | ConvertOp::BitsToF64 => Type::F64,
            ConvertOp::IntToPtr | ConvertOp::ToGeneric => Type::Ptr(Space::Generic),
            ConvertOp::ToGlobal => Type::Ptr(Space::Global),
            ConvertOp::ToShared => Type::Ptr(Space::Shared),
            ConvertOp::ToLocal => Type::Ptr(Space::Local),
        }
    }
}

impl AtomicOp {
    /// Whether the operation exists for memory of that type.
    pub fn accepts(self, ty: MemType) -> bool {
        let int = matches!(ty, MemType::I32 | MemType::I64);
        let float = matches!(ty, MemType::F32 | MemType::F64);
        match self {
            AtomicOp::Add | AtomicOp::Exch => int || float,
            AtomicOp::Sub
            | AtomicOp::SMin
            | AtomicOp::SMax
            | AtomicOp::UMin
            | AtomicOp::UMax
            | AtomicOp::And
            | AtomicOp::Or
            | AtomicOp::Xor => int,
            AtomicOp::Cas => int || ty == MemType::U16,
            AtomicOp::Inc | AtomicOp::Dec => ty == MemType::I32,
        }
    }
}

impl Module {
    /// The space a kernel sees an object in; `None` for an object that does not exist there (a host variable, a bad id).
    pub fn object_space(&self, object: Object) -> Option<Space> {
        match object {
            Object::Shared(_) => Some(Space::Shared),
            Object::Local(_) => Some(Space::Local),
            Object::String(_) => Some(Space::Generic),
            Object::Global(id) => match self.globals.get(id.index())?.space {
                GlobalSpace::Constant => Some(Space::Constant),
                GlobalSpace::Device | GlobalSpace::Managed => Some(Space::Global),
                GlobalSpace::Host => None,
            },
        }
    }
}

impl Function {
    /// Whether it reads this register anywhere.
    pub fn reads(&self, register: SpecialReg) -> bool {
        let mut found = false;
        self.body.for_each_inst(&mut |inst| {
            found |= matches!(inst.kind, InstKind::Special(read) if read == register);
        });
        found
    }

    /// The type of an operand; `None` for a temporary that the function does not have.
    pub fn operand_type(&self, operand: Operand) -> Option<Type> {
        match operand {
            Operand::Value(id) => self.values.get(id.index()).copied(),
            Operand::Const(constant) => Some(constant.ty),
        }
    }
}

impl Module {
    /// The types of an instruction's results; `None` if it names something that is not there.
    pub fn result_types(&self, function: &Function, kind: &InstKind) -> Option<Vec<Type>> {
        Some(match kind {
            InstKind::Get(slot) => vec![function.slots.get(slot.index())?.ty],
            InstKind::AddrOf(object) => match function.kind {
                FunctionKind::Kernel => vec![Type::Ptr(self.object_space(*object)?)],
                FunctionKind::Host => vec![Type::Ptr(Space::Generic)],
            },
            InstKind::PtrAdd { base, .. } => vec![function.operand_type(*base)?],
            InstKind::Call(callee, _) => {
                let callee = self.functions.get(callee.index())?;
                callee.result.into_iter().collect()
            }
            InstKind::Unary(_, ty, _)
            | InstKind::Binary(_, ty, _, _)
            | InstKind::Fma(ty, ..)
            | InstKind::Select(ty, ..) => vec![*ty],
            InstKind::Compare(..) => vec![Type::I1],
            InstKind::Convert(op, _) => vec![op.to_type()],
            InstKind::Special(register) => vec![register.ty()],
            InstKind::Printf(..) => vec![Type::I32],
            InstKind::Exchange(exchange) => exchange.result_types(),
            InstKind::Load(access, _) => vec![access.ty.value_type(); access.count as usize],
            InstKind::Atomic { access, .. } => vec![access.ty.value_type()],
            InstKind::Barrier(Some(_)) => vec![Type::I32],
            InstKind::HostCall(host, _) => host.result().into_iter().collect(),
            InstKind::Intrinsic(intrinsic, _) => intrinsic.result().into_iter().collect(),
            InstKind::Set(..)
            | InstKind::Store(..)
            | InstKind::Barrier(None)
            | InstKind::Fence(_)
            | InstKind::Assert(..)
            | InstKind::Lifetime(..)
            | InstKind::Launch(_) => vec![],
        })
    }
}
