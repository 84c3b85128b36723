//! The types of instructions: which types an operation takes, what it gives.
//!
//! One place for the builder (computes), the verifier (checks), the printer and the reader (leave out what follows).
//! Nothing here fails or judges: whether the operands fit is the verifier's question.

use super::{
    AtomicOp, BinaryOp, CompareOp, ConvertOp, FuncId, Function, FunctionKind, GlobalSpace,
    InstKind, MemType, Module, Object, Operand, SlotId, Space, SpecialReg, Type, UnaryOp,
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

/// What an instruction's result may be declared as: a type, several or none, or something that has one.
pub(super) trait Gives {
    /// The types; `None` if what should have one is not there.
    fn types(&self, module: &Module, function: &Function) -> Option<Vec<Type>>;
}

impl Gives for () {
    fn types(&self, _: &Module, _: &Function) -> Option<Vec<Type>> {
        Some(vec![])
    }
}

impl Gives for Type {
    fn types(&self, _: &Module, _: &Function) -> Option<Vec<Type>> {
        Some(vec![*self])
    }
}

impl Gives for Option<Type> {
    fn types(&self, _: &Module, _: &Function) -> Option<Vec<Type>> {
        Some(self.iter().copied().collect())
    }
}

impl Gives for Vec<Type> {
    fn types(&self, _: &Module, _: &Function) -> Option<Vec<Type>> {
        Some(self.clone())
    }
}

/// A variable's type.
impl Gives for SlotId {
    fn types(&self, _: &Module, function: &Function) -> Option<Vec<Type>> {
        Some(vec![function.slots.get(self.index())?.ty])
    }
}

/// A pointer to the object.
impl Gives for Object {
    fn types(&self, module: &Module, function: &Function) -> Option<Vec<Type>> {
        let space = match function.kind {
            FunctionKind::Kernel => module.object_space(*self)?,
            FunctionKind::Host => Space::Generic,
        };
        Some(vec![Type::Ptr(space)])
    }
}

/// An operand's own type.
impl Gives for Operand {
    fn types(&self, _: &Module, function: &Function) -> Option<Vec<Type>> {
        Some(vec![function.operand_type(*self)?])
    }
}

/// What the function gives.
impl Gives for FuncId {
    fn types(&self, module: &Module, _: &Function) -> Option<Vec<Type>> {
        let callee = module.functions.get(self.index())?;
        Some(callee.result.into_iter().collect())
    }
}

/// What the type of an operand may be declared as.
pub(super) trait Takes {
    /// The type, if it is fixed; or the types of several operands.
    type Types;
    /// The type, as far as it is known in a function.
    fn takes(&self, function: &Function) -> Self::Types;
}

/// The type of operands that may have any.
pub(super) const ANY: Option<Type> = None;

impl Takes for Option<Type> {
    type Types = Option<Type>;
    fn takes(&self, _: &Function) -> Option<Type> {
        *self
    }
}

impl Takes for Type {
    type Types = Option<Type>;
    fn takes(&self, _: &Function) -> Option<Type> {
        Some(*self)
    }
}

/// A variable's type.
impl Takes for SlotId {
    type Types = Option<Type>;
    fn takes(&self, function: &Function) -> Option<Type> {
        function.slots.get(self.index()).map(|slot| slot.ty)
    }
}

/// One type for each of so many operands.
impl Takes for &'static [Type] {
    type Types = &'static [Type];
    fn takes(&self, _: &Function) -> &'static [Type] {
        self
    }
}
