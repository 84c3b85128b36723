//! Questions about a type's kind: integer or floating, signed or not, its width and rank.
//!
//! Everything here depends on the [`Ty`] alone; questions about a record's layout are in `layout`.

use super::ty::{QualTy, Ty};

/// Kinds of types, as C divides them.
pub trait Classify {
    /// `bool`, the characters, all widths of integers; not enumerations.
    fn is_integer(&self) -> bool;
    /// An integer or an enumeration.
    fn is_integral(&self) -> bool;
    /// `float`, `double`.
    fn is_floating(&self) -> bool;
    /// Integral or floating.
    fn is_arithmetic(&self) -> bool;
    /// Arithmetic or a pointer: what conditions and registers can hold.
    fn is_scalar(&self) -> bool;
    /// Whether it can hold a negative value.
    fn is_signed(&self) -> bool;
    /// Width in bits of an arithmetic type (`bool` is 1), 64 for pointers, 0 for others.
    fn bits(&self) -> u32;
    /// C's conversion rank among integers.
    fn rank(&self) -> u32;
    /// Bits of an integer truncated to the type's width, and extended back to 64 as in constants.
    fn wrap(&self, bits: u64) -> u64;
}

impl Classify for Ty {
    fn is_integer(&self) -> bool {
        self.rank() > 0 && !matches!(self, Ty::Enum(_))
    }

    fn is_integral(&self) -> bool {
        self.rank() > 0
    }

    fn is_floating(&self) -> bool {
        matches!(self, Ty::Float | Ty::Double)
    }

    fn is_arithmetic(&self) -> bool {
        self.is_integral() || self.is_floating()
    }

    fn is_scalar(&self) -> bool {
        self.is_arithmetic() || matches!(self, Ty::Pointer(_))
    }

    fn is_signed(&self) -> bool {
        match self {
            Ty::Char
            | Ty::SChar
            | Ty::Short
            | Ty::Int
            | Ty::Long
            | Ty::LongLong
            | Ty::Float
            | Ty::Double => true,
            Ty::Enum(id) => id.1.ty().is_signed(),
            Ty::Void
            | Ty::Bool
            | Ty::UChar
            | Ty::UShort
            | Ty::UInt
            | Ty::ULong
            | Ty::ULongLong
            | Ty::Pointer(_)
            | Ty::Array(..)
            | Ty::Record(_)
            | Ty::Function(_)
            | Ty::Error => false,
        }
    }

    fn bits(&self) -> u32 {
        match self {
            Ty::Bool => 1,
            Ty::Char | Ty::SChar | Ty::UChar => 8,
            Ty::Short | Ty::UShort => 16,
            Ty::Int | Ty::UInt | Ty::Float => 32,
            Ty::Enum(id) => id.1.ty().bits(),
            Ty::Long | Ty::ULong | Ty::LongLong | Ty::ULongLong | Ty::Double | Ty::Pointer(_) => 64,
            Ty::Void | Ty::Array(..) | Ty::Record(_) | Ty::Function(_) | Ty::Error => 0,
        }
    }

    fn rank(&self) -> u32 {
        match self {
            Ty::Bool => 1,
            Ty::Char | Ty::SChar | Ty::UChar => 2,
            Ty::Short | Ty::UShort => 3,
            Ty::Int | Ty::UInt => 4,
            Ty::Enum(id) => id.1.ty().rank(),
            Ty::Long | Ty::ULong => 5,
            Ty::LongLong | Ty::ULongLong => 6,
            Ty::Void
            | Ty::Float
            | Ty::Double
            | Ty::Pointer(_)
            | Ty::Array(..)
            | Ty::Record(_)
            | Ty::Function(_)
            | Ty::Error => 0,
        }
    }

    fn wrap(&self, bits: u64) -> u64 {
        let width = self.bits();
        if width == 0 || width >= 64 {
            return bits;
        }
        let unused = 64 - width;
        if self.is_signed() {
            (((bits << unused) as i64) >> unused) as u64
        } else {
            bits << unused >> unused
        }
    }
}

/// The type after C's integer promotions: types narrower than `int` become `int`.
pub(super) fn promoted(ty: &Ty) -> Ty {
    match ty {
        Ty::Bool | Ty::Char | Ty::SChar | Ty::UChar | Ty::Short | Ty::UShort | Ty::Int => Ty::Int,
        Ty::Enum(id) => promoted(id.1.ty()),
        other => other.clone(),
    }
}

/// The common type of two arithmetic operands: C's usual arithmetic conversions.
pub(super) fn common(a: &Ty, b: &Ty) -> Ty {
    if *a == Ty::Double || *b == Ty::Double {
        return Ty::Double;
    }
    if *a == Ty::Float || *b == Ty::Float {
        return Ty::Float;
    }
    let (a, b) = (promoted(a), promoted(b));
    if a.is_signed() == b.is_signed() {
        return if a.rank() >= b.rank() { a } else { b };
    }
    let (signed, unsigned) = if a.is_signed() { (a, b) } else { (b, a) };
    if unsigned.rank() >= signed.rank() {
        unsigned
    } else if signed.bits() > unsigned.bits() {
        signed
    } else {
        // `unsigned long` with `long long`: as wide, but of lower rank.
        Ty::ULongLong
    }
}

/// `T *`.
pub(super) fn pointer_to(pointee: QualTy) -> Ty {
    Ty::Pointer(std::sync::Arc::new(pointee))
}

/// `const T`.
pub(super) fn constant(ty: Ty) -> QualTy {
    QualTy {
        ty,
        is_const: true,
        is_volatile: false,
    }
}
