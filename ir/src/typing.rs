//! The types of instructions: interprets the types in the table of [`inst`](super::inst), and knows the types of objects and operands.
//!
//! The verifier (which checks them), the printer and the reader (which omit implied ones) share it. [`op`](super::op) says which types an
//! operation takes. Nothing here fails or judges: the verifier checks whether the operands fit.

use super::{
    BinaryOp, ConvertOp, FuncId, Function, FunctionKind, GlobalSpace, InstKind, Module, Object,
    Operand, RoutineId, SlotId, Space, SpecialReg, Type, UnaryOp,
};

impl UnaryOp {
    /// Whether one of the GPU's units for approximate functions computes it ([`approx`](super::approx)).
    pub fn is_approximate(self) -> bool {
        match self {
            UnaryOp::RcpApprox
            | UnaryOp::RsqrtApprox
            | UnaryOp::SqrtApprox
            | UnaryOp::Ex2Approx
            | UnaryOp::Lg2Approx
            | UnaryOp::SinApprox
            | UnaryOp::CosApprox
            | UnaryOp::TanhApprox => true,
            UnaryOp::Neg
            | UnaryOp::SNeg
            | UnaryOp::Not
            | UnaryOp::Popc
            | UnaryOp::Clz
            | UnaryOp::Brev
            | UnaryOp::FNeg
            | UnaryOp::FAbs
            | UnaryOp::FSqrt
            | UnaryOp::FFloor
            | UnaryOp::FCeil
            | UnaryOp::FTrunc
            | UnaryOp::FRint
            | UnaryOp::FRound => false,
        }
    }
}

impl BinaryOp {
    /// Integer division and remainder, for which a zero divisor matters.
    pub fn is_division(self) -> bool {
        matches!(
            self,
            BinaryOp::SDiv | BinaryOp::UDiv | BinaryOp::SRem | BinaryOp::URem
        )
    }
}

impl ConvertOp {
    /// Whether it converts operands of that type.
    pub fn accepts(self, ty: Type) -> bool {
        match self {
            ConvertOp::PtrToInt | ConvertOp::ToGeneric => matches!(ty, Type::Ptr(_)),
            other => ty == other.from_type(),
        }
    }
}

impl Module {
    /// The space of an object in a kernel; `None` for an object that does not exist there (a host variable, an invalid id).
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
    /// Whether any instruction reads this register.
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

/// The declaration of an instruction's result: a type, several or none, or something that has one.
pub(super) trait Gives {
    /// The types; `None` if the thing that should have one does not exist.
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

/// The type of an operand.
impl Gives for Operand {
    fn types(&self, _: &Module, function: &Function) -> Option<Vec<Type>> {
        Some(vec![function.operand_type(*self)?])
    }
}

/// The function's result.
impl Gives for FuncId {
    fn types(&self, module: &Module, _: &Function) -> Option<Vec<Type>> {
        let callee = module.functions.get(self.index())?;
        Some(callee.result.into_iter().collect())
    }
}

/// The routine's results.
impl Gives for RoutineId {
    fn types(&self, _: &Module, function: &Function) -> Option<Vec<Type>> {
        let callee = function.routines.get(self.index())?;
        let slots = callee.results.iter();
        slots
            .map(|slot| Some(function.slots.get(slot.index())?.ty))
            .collect()
    }
}

/// The declaration of an operand's type.
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

/// One type for each operand.
impl Takes for &'static [Type] {
    type Types = &'static [Type];
    fn takes(&self, _: &Function) -> &'static [Type] {
        self
    }
}
