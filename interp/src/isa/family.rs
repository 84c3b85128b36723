//! Operations that can have invalid operands: divisions by zero, shifts out of range, and signed overflow.

use crate::isa::op::Op;

/// The families of such operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    Division,
    Shift,
    /// The exact result has more bits: `sadd`, `ssub`, `smul`. `sneg` is a difference from 0, and a loop's step is a
    /// sum.
    Sum,
    Difference,
    Product,
    Negation,
    Step,
}

/// The form of such an operation.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    pub(crate) family: Family,
    pub(crate) wide: bool,
    pub(crate) varying: bool,
}

/// The form of an operation that can have invalid operands.
pub(crate) const fn form(op: Op) -> Option<Form> {
    macro_rules! forms {
        ($($family:ident: $v32:ident $s32:ident $v64:ident $s64:ident,)*) => {
            match op {
                $(Op::$v32 => (Family::$family, false, true),
                Op::$s32 => (Family::$family, false, false),
                Op::$v64 => (Family::$family, true, true),
                Op::$s64 => (Family::$family, true, false),)*
                Op::LoopEq32 | Op::LoopNe32 | Op::LoopSlt32 | Op::LoopSle32 | Op::LoopSgt32 | Op::LoopSge32 | Op::LoopUlt32
                | Op::LoopUle32 | Op::LoopUgt32 | Op::LoopUge32 => (Family::Step, false, false),
                _ => return None,
            }
        };
    }
    let (family, wide, varying) = forms! {
        Division: VSDiv32 SSDiv32 VSDiv64 SSDiv64,
        Division: VUDiv32 SUDiv32 VUDiv64 SUDiv64,
        Division: VSRem32 SSRem32 VSRem64 SSRem64,
        Division: VURem32 SURem32 VURem64 SURem64,
        Shift: VShl32 SShl32 VShl64 SShl64,
        Shift: VLShr32 SLShr32 VLShr64 SLShr64,
        Shift: VAShr32 SAShr32 VAShr64 SAShr64,
        Sum: VAddS32 SAddS32 VAddS64 SAddS64,
        Difference: VSubS32 SSubS32 VSubS64 SSubS64,
        Product: VMulS32 SMulS32 VMulS64 SMulS64,
        Negation: VNegS32 SNegS32 VNegS64 SNegS64,
    };
    Some(Form {
        family,
        wide,
        varying,
    })
}
