//! Operations that can have invalid operands: divisions by zero, shifts out of range, and signed overflow.

use ir::{BinaryOp, UnaryOp};

use crate::isa::computing::{Computes, Computing, computing};
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
    let (family, wide, varying) = match computing(op) {
        None if op.is_comparing_loop_end() => (Family::Step, false, false),
        None => return None,
        Some(Computing {
            what,
            wide,
            varying,
            ..
        }) => {
            let family = match what {
                Computes::Binary(
                    BinaryOp::SDiv | BinaryOp::UDiv | BinaryOp::SRem | BinaryOp::URem,
                ) => Family::Division,
                Computes::Binary(BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr) => Family::Shift,
                Computes::Binary(BinaryOp::SAdd) => Family::Sum,
                Computes::Binary(BinaryOp::SSub) => Family::Difference,
                Computes::Binary(BinaryOp::SMul) => Family::Product,
                Computes::Unary(UnaryOp::SNeg) => Family::Negation,
                _ => return None,
            };
            (family, wide, varying)
        }
    };
    Some(Form {
        family,
        wide,
        varying,
    })
}
