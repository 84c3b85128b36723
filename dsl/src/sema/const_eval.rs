//! Evaluates constant expressions: array sizes, `case` labels, enumerators, initialisers of globals.
//!
//! It works on the typed tree, so that every conversion of C is already a node and each operation has its type's width, wrapping as the
//! machine would. `const` variables with constant values have been replaced by them before. Calls of `constexpr` functions are run by
//! `machine`.

use super::{
    classify::Classify,
    ty::Ty,
    typed::{Arith, FunctionId, Relation, Value, ValueKind},
};
use ir::span::Span;

mod machine;

pub(crate) use machine::{Constexpr, MAX_REPEATED_STEPS, Machine, TOO_MANY_STEPS};

/// A constant, of the type of the value it came from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Const {
    /// Bits as in [`ValueKind::Int`].
    Int(u64),
    /// A floating-point number, already rounded to its type.
    Float(f64),
}

/// Why a value is not a constant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum NotConst {
    /// This part is only known when the program runs.
    Variable(Span),
    /// This divides by zero.
    DivisionByZero(Span),
    /// The evaluation of a `constexpr` function stops here, for this reason.
    Stopped(Span, &'static str),
    /// The body of this `constexpr` function has not been checked.
    NoBody(FunctionId, Span),
    /// An invalid part, which has been reported.
    Error,
}

impl NotConst {
    /// Where and why it fails; `None` if that has been reported.
    pub(crate) fn reason(self) -> Option<(Span, &'static str)> {
        match self {
            NotConst::Variable(span) => Some((span, "known only when the program runs")),
            NotConst::DivisionByZero(span) => Some((span, "this divides by zero")),
            NotConst::Stopped(span, why) => Some((span, why)),
            NotConst::NoBody(_, span) => Some((
                span,
                "the body of this `constexpr` function is not known here",
            )),
            NotConst::Error => None,
        }
    }
}

impl Const {
    /// As a node of the tree.
    pub(crate) fn kind(self) -> ValueKind {
        match self {
            Const::Int(bits) => ValueKind::Int(bits),
            Const::Float(value) => ValueKind::Float(value),
        }
    }
}

/// The value's constant, if it is one without calls.
pub(crate) fn evaluate(value: &Value) -> Result<Const, NotConst> {
    Machine::new(&|_| None).value(value)
}

fn truth(value: bool) -> Const {
    Const::Int(u64::from(value))
}

fn is_true(value: Const) -> bool {
    match value {
        Const::Int(bits) => bits != 0,
        Const::Float(number) => number != 0.0,
    }
}

/// An operation on two constants; the left one and the result are of type `ty`.
fn arithmetic(op: Arith, ty: &Ty, a: Const, b: Const, span: Span) -> Result<Const, NotConst> {
    match (a, b) {
        (Const::Int(a), Const::Int(b)) => integers(op, ty, a, b)
            .map(Const::Int)
            .ok_or(NotConst::DivisionByZero(span)),
        (Const::Float(a), Const::Float(b)) => {
            let result = match op {
                Arith::Add => a + b,
                Arith::Sub => a - b,
                Arith::Mul => a * b,
                Arith::Div => a / b,
                Arith::Rem | Arith::And | Arith::Or | Arith::Xor | Arith::Shl | Arith::Shr => {
                    return Err(NotConst::Error);
                }
            };
            Ok(Const::Float(rounded(result, ty)))
        }
        _ => Err(NotConst::Error),
    }
}

/// `float` results are computed in double precision and rounded once: for `+ - * /` on two floats the result is correctly rounded.
fn rounded(value: f64, ty: &Ty) -> f64 {
    if *ty == Ty::Float {
        f64::from(value as f32)
    } else {
        value
    }
}

/// An operation on integers of type `ty`; `None` for a division by zero. Shifts by the width or more are as in the IR.
pub(crate) fn integers(op: Arith, ty: &Ty, a: u64, b: u64) -> Option<u64> {
    let signed = ty.is_signed();
    let width = u64::from(ty.bits());
    let result = match op {
        Arith::Add => a.wrapping_add(b),
        Arith::Sub => a.wrapping_sub(b),
        Arith::Mul => a.wrapping_mul(b),
        Arith::Div if b == 0 => return None,
        Arith::Rem if b == 0 => return None,
        Arith::Div if signed => (a as i64).wrapping_div(b as i64) as u64,
        Arith::Rem if signed => (a as i64).wrapping_rem(b as i64) as u64,
        Arith::Div => a / b,
        Arith::Rem => a % b,
        Arith::And => a & b,
        Arith::Or => a | b,
        Arith::Xor => a ^ b,
        Arith::Shl if b & 0xffff_ffff >= width => 0,
        Arith::Shl => a << (b & 63),
        Arith::Shr if signed => ((a as i64) >> (b & 0xffff_ffff).min(63)) as u64,
        Arith::Shr if b & 0xffff_ffff >= width => 0,
        Arith::Shr => a >> (b & 63),
    };
    Some(ty.wrap(result))
}

fn compare(relation: Relation, ty: &Ty, a: Const, b: Const) -> bool {
    use std::cmp::Ordering;
    let ordering = match (a, b) {
        (Const::Int(a), Const::Int(b)) if ty.is_signed() => Some((a as i64).cmp(&(b as i64))),
        (Const::Int(a), Const::Int(b)) => Some(a.cmp(&b)),
        (Const::Float(a), Const::Float(b)) => a.partial_cmp(&b),
        _ => None,
    };
    match relation {
        Relation::Eq => ordering == Some(Ordering::Equal),
        Relation::Ne => ordering != Some(Ordering::Equal),
        Relation::Lt => ordering == Some(Ordering::Less),
        Relation::Le => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        Relation::Gt => ordering == Some(Ordering::Greater),
        Relation::Ge => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// A constant of one scalar type as a constant of another.
pub(crate) fn convert(value: Const, from: &Ty, to: &Ty) -> Const {
    if *to == Ty::Bool {
        return truth(is_true(value));
    }
    match value {
        Const::Int(bits) if to.is_floating() => {
            let number = match (from.is_signed(), *to == Ty::Float) {
                // Straight to `float`: rounding twice may differ.
                (true, true) => f64::from(bits as i64 as f32),
                (true, false) => bits as i64 as f64,
                (false, true) => f64::from(bits as f32),
                (false, false) => bits as f64,
            };
            Const::Float(number)
        }
        Const::Int(bits) => Const::Int(to.wrap(bits)),
        Const::Float(number) if to.is_floating() => Const::Float(rounded(number, to)),
        // Truncates and saturates, as the IR's conversions do; narrow types go through `int`.
        Const::Float(number) => {
            let bits = match (to.bits(), to.is_signed()) {
                (64, true) if number.is_nan() => i64::MIN as u64,
                (64, true) => number as i64 as u64,
                (64, false) if number.is_nan() => 1 << 63,
                (64, false) => number as u64,
                (32, false) => u64::from(number as u32),
                _ => i64::from(number as i32) as u64,
            };
            Const::Int(to.wrap(bits))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_at_their_width() {
        let cases = [
            (
                Arith::Add,
                Ty::Int,
                i32::MAX as u64,
                1,
                Some(i64::from(i32::MIN) as u64),
            ),
            (Arith::Sub, Ty::UInt, 0, 1, Some(0xffff_ffff)),
            (Arith::Div, Ty::Int, (-7i64) as u64, 2, Some((-3i64) as u64)),
            (Arith::Rem, Ty::Int, (-7i64) as u64, 2, Some((-1i64) as u64)),
            (
                Arith::Div,
                Ty::Int,
                i64::from(i32::MIN) as u64,
                u64::MAX,
                Some(i64::from(i32::MIN) as u64),
            ),
            (Arith::Div, Ty::Int, 1, 0, None),
            (Arith::Shl, Ty::Int, 1, 31, Some(i64::from(i32::MIN) as u64)),
            (Arith::Shl, Ty::Int, 1, 32, Some(0)),
            (Arith::Shr, Ty::Int, (-8i64) as u64, 1, Some((-4i64) as u64)),
            (Arith::Shr, Ty::UInt, 0x8000_0000, 31, Some(1)),
            (Arith::Shl, Ty::Long, 1, 32, Some(1 << 32)),
        ];
        for (op, ty, a, b, expected) in cases {
            assert_eq!(integers(op, &ty, a, b), expected, "{op:?} {ty:?} {a} {b}");
        }
    }

    #[test]
    fn conversions_truncate_saturate_and_round() {
        let float = |x| Const::Float(x);
        assert_eq!(convert(float(3.9), &Ty::Double, &Ty::Int), Const::Int(3));
        assert_eq!(
            convert(float(-3.9), &Ty::Double, &Ty::Int),
            Const::Int((-3i64) as u64)
        );
        assert_eq!(
            convert(float(1e20), &Ty::Double, &Ty::Int),
            Const::Int(i32::MAX as u64)
        );
        assert_eq!(convert(float(0.5), &Ty::Double, &Ty::Bool), Const::Int(1));
        assert_eq!(
            convert(float(0.1), &Ty::Double, &Ty::Float),
            float(f64::from(0.1f32))
        );
        assert_eq!(
            convert(Const::Int(300), &Ty::Int, &Ty::UChar),
            Const::Int(44)
        );
        assert_eq!(
            convert(Const::Int(200), &Ty::Int, &Ty::Char),
            Const::Int((-56i64) as u64)
        );
        assert_eq!(
            convert(Const::Int(u64::MAX), &Ty::ULong, &Ty::Double),
            float(18446744073709551616.0)
        );
        assert_eq!(
            convert(Const::Int(u64::MAX), &Ty::Int, &Ty::Double),
            float(-1.0)
        );
    }
}
