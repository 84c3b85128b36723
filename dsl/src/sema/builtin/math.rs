//! Mathematics on both sides: functions that map to exact operations of the IR, C's library for the host, and the names of the functions
//! that `math_double.k`, `math_angle.k`, `math_float.k` and `math_float_angle.k` define.

use std::sync::Arc;

use super::{Make, Overload, Row, Sides};
use ir::{BinaryOp, ConvertOp, HostFn, UnaryOp};

const fn both(name: &'static str, signature: &'static str, make: Make) -> Row {
    Row {
        name,
        sides: Sides::Both,
        signature,
        make,
    }
}

pub(crate) const OVERLOADS: &[(&str, Overload)] = &[
    ("sqrt", Overload::Real1(UnaryOp::FSqrt)),
    ("fabs", Overload::Real1(UnaryOp::FAbs)),
    ("floor", Overload::Real1(UnaryOp::FFloor)),
    ("ceil", Overload::Real1(UnaryOp::FCeil)),
    ("trunc", Overload::Real1(UnaryOp::FTrunc)),
    ("rint", Overload::Real1(UnaryOp::FRint)),
    ("nearbyint", Overload::Real1(UnaryOp::FRint)),
    ("round", Overload::Real1(UnaryOp::FRound)),
    ("fmin", Overload::Real2(BinaryOp::FMin)),
    ("fmax", Overload::Real2(BinaryOp::FMax)),
    ("fmod", Overload::Real2(BinaryOp::FRem)),
    ("fma", Overload::Fma),
    ("min", Overload::Min),
    ("max", Overload::Max),
    ("abs", Overload::Abs),
    ("isnan", Overload::IsNan),
    ("isinf", Overload::IsInf),
    ("isfinite", Overload::IsFinite),
    ("signbit", Overload::SignBit),
    ("exp", Overload::Library1(HostFn::Exp, Some(HostFn::Expf))),
    ("log", Overload::Library1(HostFn::Log, Some(HostFn::Logf))),
    ("log2", Overload::Library1(HostFn::Log2, None)),
    ("log10", Overload::Library1(HostFn::Log10, None)),
    ("sin", Overload::Library1(HostFn::Sin, Some(HostFn::Sinf))),
    ("cos", Overload::Library1(HostFn::Cos, Some(HostFn::Cosf))),
    ("tan", Overload::Library1(HostFn::Tan, None)),
    ("atan", Overload::Library1(HostFn::Atan, None)),
    (
        "tanh",
        Overload::Library1(HostFn::Tanh, Some(HostFn::Tanhf)),
    ),
    ("pow", Overload::Library2(HostFn::Pow, Some(HostFn::Powf))),
    ("atan2", Overload::Library2(HostFn::Atan2, None)),
];

pub(crate) const ROWS: &[Row] = &[
    both("sqrtf", "float(float)", Make::Unary(UnaryOp::FSqrt)),
    both("fabsf", "float(float)", Make::Unary(UnaryOp::FAbs)),
    both("floorf", "float(float)", Make::Unary(UnaryOp::FFloor)),
    both("ceilf", "float(float)", Make::Unary(UnaryOp::FCeil)),
    both("truncf", "float(float)", Make::Unary(UnaryOp::FTrunc)),
    both("rintf", "float(float)", Make::Unary(UnaryOp::FRint)),
    both("nearbyintf", "float(float)", Make::Unary(UnaryOp::FRint)),
    both("roundf", "float(float)", Make::Unary(UnaryOp::FRound)),
    // The GPU's special function units, as PTX's `.approx.ftz`.
    both(
        "__dslc_rcp_approx",
        "float(float)",
        Make::Unary(UnaryOp::RcpApprox),
    ),
    both(
        "__dslc_rsqrt_approx",
        "float(float)",
        Make::Unary(UnaryOp::RsqrtApprox),
    ),
    both(
        "__dslc_sqrt_approx",
        "float(float)",
        Make::Unary(UnaryOp::SqrtApprox),
    ),
    both(
        "__dslc_ex2_approx",
        "float(float)",
        Make::Unary(UnaryOp::Ex2Approx),
    ),
    both(
        "__dslc_lg2_approx",
        "float(float)",
        Make::Unary(UnaryOp::Lg2Approx),
    ),
    both(
        "__dslc_sin_approx",
        "float(float)",
        Make::Unary(UnaryOp::SinApprox),
    ),
    both(
        "__dslc_cos_approx",
        "float(float)",
        Make::Unary(UnaryOp::CosApprox),
    ),
    both(
        "__dslc_tanh_approx",
        "float(float)",
        Make::Unary(UnaryOp::TanhApprox),
    ),
    // Half precision and bfloat16, on the bits.
    both(
        "__dslc_f16_to_f32",
        "float(uint)",
        Make::Bits(ConvertOp::F16ToF32),
    ),
    both(
        "__dslc_f32_to_f16",
        "uint(float)",
        Make::Bits(ConvertOp::F32ToF16),
    ),
    both(
        "__dslc_fma_f16x2",
        "uint(uint, uint, uint)",
        Make::FmaHalves,
    ),
    both(
        "__dslc_f32_to_bf16",
        "uint(float)",
        Make::Bits(ConvertOp::F32ToBf16),
    ),
    both(
        "__dslc_fma_bf16x2",
        "uint(uint, uint, uint)",
        Make::FmaBfloats,
    ),
    both("__dslc_on_device", "bool()", Make::OnDevice),
    both("fminf", "float(float, float)", Make::Binary(BinaryOp::FMin)),
    both("fmaxf", "float(float, float)", Make::Binary(BinaryOp::FMax)),
    both("fmodf", "float(float, float)", Make::Binary(BinaryOp::FRem)),
    both("fmaf", "float(float, float, float)", Make::Fma),
    both("labs", "long(long)", Make::Abs),
    both("llabs", "ll(ll)", Make::Abs),
    both("lroundf", "long(float)", Make::Round(Some(UnaryOp::FRound))),
    both("llroundf", "ll(float)", Make::Round(Some(UnaryOp::FRound))),
    both("lround", "long(double)", Make::Round(Some(UnaryOp::FRound))),
    both("llround", "ll(double)", Make::Round(Some(UnaryOp::FRound))),
    both("lrintf", "long(float)", Make::Round(Some(UnaryOp::FRint))),
    both("llrintf", "ll(float)", Make::Round(Some(UnaryOp::FRint))),
    both("llrint", "ll(double)", Make::Round(Some(UnaryOp::FRint))),
    both("lrint", "long(double)", Make::Round(Some(UnaryOp::FRint))),
];

/// Functions that are defined in the language: each is a `double` one that has a `float` version with an `f` at the end. Sorted.
const PAIRS: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "copysign",
    "cos",
    "cosh",
    "cospi",
    "cyl_bessel_i0",
    "cyl_bessel_i1",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fdim",
    "frexp",
    "hypot",
    "ilogb",
    "j0",
    "j1",
    "jn",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "modf",
    "nextafter",
    "norm3d",
    "norm4d",
    "normcdf",
    "normcdfinv",
    "pow",
    "rcbrt",
    "remainder",
    "remquo",
    "rhypot",
    "rnorm3d",
    "rnorm4d",
    "rsqrt",
    "scalbln",
    "scalbn",
    "sin",
    "sincos",
    "sincospi",
    "sinh",
    "sinpi",
    "tan",
    "tanh",
    "tgamma",
    "y0",
    "y1",
    "yn",
];

/// Functions without another version. Sorted.
const SINGLES: &[&str] = &[
    "__cosf",
    "__exp10f",
    "__expf",
    "__fdividef",
    "__frsqrt_rn",
    "__log10f",
    "__log2f",
    "__logf",
    "__powf",
    "__sincosf",
    "__sinf",
    "__tanf",
    "__tanhf",
    "fdividef",
    "norm",
    "normf",
    "rnorm",
    "rnormf",
];

/// The `float` version's name, if there is one.
pub(crate) fn float_version(name: &str) -> Option<Arc<str>> {
    let is_pair = PAIRS.binary_search(&name).is_ok();
    is_pair.then(|| format!("{name}f").into())
}

/// Whether it is defined in the language.
pub(crate) fn is_math(name: &str) -> bool {
    let is_pair = |name: &str| PAIRS.binary_search(&name).is_ok();
    is_pair(name)
        || name.strip_suffix('f').is_some_and(is_pair)
        || SINGLES.binary_search(&name).is_ok()
}

/// The names that are defined in the language, for suggestions. Without the `float` versions, which differ by a letter.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    PAIRS.iter().chain(SINGLES).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library;

    #[test]
    fn the_names_are_sorted() {
        assert!(PAIRS.is_sorted() && SINGLES.is_sorted());
    }

    #[test]
    fn every_name_is_defined_and_every_definition_has_its_name() {
        let math = library::files().iter().filter(|file| file.is_by_function());
        let defined: std::collections::BTreeSet<&str> =
            math.flat_map(|file| library::defined(file.text)).collect();
        for name in &defined {
            assert!(is_math(name), "{name}");
        }
        let floats: Vec<String> = PAIRS.iter().map(|name| format!("{name}f")).collect();
        for name in names().map(String::from).chain(floats) {
            assert!(defined.contains(name.as_str()), "{name}");
        }
    }
}
