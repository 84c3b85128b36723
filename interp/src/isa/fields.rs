//! The meaning of the fields of a computing instruction: the kind of register that each names, if any.

use crate::isa::computing::{Computes, computing};
use crate::isa::op::Op;

/// What a field names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Field {
    /// No register, but nothing or the row of a table.
    Other,
    Scalar,
    /// A varying register of 32 bits, or of 64 bits.
    Narrow,
    Wide,
}

/// The fields of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub(crate) d: Field,
    pub(crate) a: Field,
    pub(crate) b: Field,
    pub(crate) c: Field,
    /// Whether the old value of the result's register is also an operand.
    pub(crate) keeps: bool,
}

/// For an operation whose result depends only on its registers and the active lanes; `None` for any other.
pub(crate) fn fields(op: Op) -> Option<Fields> {
    use Field::{Narrow, Other, Scalar, Wide};
    let all = |d, a, b, c| Fields {
        d,
        a,
        b,
        c,
        keeps: false,
    };
    let into = |d, a, b| Fields {
        keeps: true,
        ..all(d, a, b, Other)
    };
    Some(match op {
        Op::SMove | Op::MNot | Op::SBool => all(Scalar, Scalar, Other, Other),
        Op::VMove32 => all(Narrow, Narrow, Other, Other),
        Op::VMove64 => all(Wide, Wide, Other, Other),
        Op::VBlend32 => into(Narrow, Narrow, Other),
        Op::VBlend64 => into(Wide, Wide, Other),
        Op::MBlend => into(Scalar, Scalar, Other),
        Op::VSplat32 | Op::VBool => all(Narrow, Scalar, Other, Other),
        Op::VSplat64 => all(Wide, Scalar, Other, Other),
        Op::MAnd | Op::MOr | Op::MXor | Op::MEq => all(Scalar, Scalar, Scalar, Other),
        Op::SPtrS | Op::SPtrU | Op::SPtrL | Op::SPtr32 => all(Scalar, Scalar, Scalar, Other),
        Op::MSelect | Op::SSelect | Op::SFma32 | Op::SFma64 | Op::SFmaHalves | Op::SFmaBfloats => {
            all(Scalar, Scalar, Scalar, Scalar)
        }
        Op::VSelect32 => all(Narrow, Scalar, Narrow, Narrow),
        Op::VSelect64 => all(Wide, Scalar, Wide, Wide),
        Op::VFma32 | Op::VFmaHalves | Op::VFmaBfloats => all(Narrow, Narrow, Narrow, Narrow),
        Op::VFma64 => all(Wide, Wide, Wide, Wide),
        Op::VFmaInto32 => into(Narrow, Narrow, Narrow),
        Op::VFmaInto64 => into(Wide, Wide, Wide),
        Op::VPtrVS | Op::VPtrVU => all(Wide, Wide, Narrow, Other),
        Op::VPtrVL => all(Wide, Wide, Wide, Other),
        Op::VPtr32V => all(Narrow, Narrow, Narrow, Other),
        Op::VPtrSS | Op::VPtrSU => all(Wide, Scalar, Narrow, Other),
        Op::VPtr32S => all(Narrow, Scalar, Narrow, Other),
        op => {
            let of = computing(op)?;
            let field = |is_wide| match (of.varying, is_wide) {
                (false, _) => Scalar,
                (true, false) => Narrow,
                (true, true) => Wide,
            };
            let (takes, gives) = (field(of.wide), field(of.gives_wide));
            match of.what {
                Computes::Unary(_) | Computes::Convert(_) => all(gives, takes, Other, Other),
                Computes::Binary(_) => all(gives, takes, takes, Other),
                Computes::Compare(_) => all(Scalar, takes, takes, Other),
                Computes::CompareScalar(_) => all(Scalar, takes, Scalar, Other),
            }
        }
    })
}
