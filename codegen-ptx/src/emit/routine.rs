//! Routines in LLVM IR, for what no instruction does: the exact remainder of floats.

use dsl::ir::Type;

/// Remainder of `f32`: key and symbol.
const F32: (&str, &str) = ("$$fmod32", "$$fmod32");
/// Remainder of `f64`.
const F64: (&str, &str) = ("$$fmod64", "$$fmod64");

/// The key to [`definition`] and the symbol of the remainder of a float type.
pub(super) fn remainder(ty: Type) -> (&'static str, &'static str) {
    if ty == Type::F64 { F64 } else { F32 }
}

/// The text behind a key; `None` for an ordinary declaration.
pub(super) fn definition(key: &str) -> Option<&'static str> {
    match key {
        "$$fmod32" => Some(include_str!("routine/fmod32.ll")),
        "$$fmod64" => Some(include_str!("routine/fmod64.ll")),
        _ => None,
    }
}
