//! The parts of CUDA's library that are written in the language: parsed before a program that names something of theirs.
//!
//! What a part defines is read from its text: a line that begins a `__device__` function has the name before its first
//! parenthesis. Names that begin with `__dslc_` are the parts' own.

use std::{collections::HashMap, sync::OnceLock};

use super::{PRELUDE_NAME, builtin};
use crate::syntax::token::{Punct, Token, TokenKind};

/// A part: what it is called in messages, its text.
pub type Part = (&'static str, &'static str);

/// CUDA's mathematical functions.
pub(super) const MATH: [Part; 3] = [
    ("<cuda math, double>", include_str!("math_double.k")),
    ("<cuda math, angles>", include_str!("math_angle.k")),
    ("<cuda math, float>", include_str!("math_float.k")),
];

/// Integer intrinsics, arithmetic in a stated rounding direction.
const INTRINSICS: [Part; 2] = [
    ("<cuda simd>", include_str!("simd.k")),
    ("<cuda rounding>", include_str!("rounding.k")),
];

/// What kernels use of C++'s library, in the namespace `std`.
const TRAITS: Part = ("<c++ library>", include_str!("traits.k"));

/// The names of [`TRAITS`].
const TRAIT_NAMES: [&str; 25] = [
    "integral_constant",
    "true_type",
    "false_type",
    "is_same",
    "conditional",
    "conditional_t",
    "enable_if",
    "enable_if_t",
    "remove_const",
    "remove_const_t",
    "remove_cv",
    "remove_pointer",
    "remove_pointer_t",
    "is_pointer",
    "is_floating_point",
    "is_integral",
    "is_arithmetic",
    "is_signed",
    "is_unsigned",
    "numeric_limits",
    "swap",
    "is_same_v",
    "is_integral_v",
    "is_floating_point_v",
    "is_pointer_v",
];

/// Groups of parts in the order of their text: the parts, and the groups that they need besides.
const GROUPS: &[(&[Part], &[usize])] = &[
    (&MATH, &[]),
    (&[INTRINSICS[0]], &[]),
    (&[INTRINSICS[1]], &[]),
];

/// The files that are ours: what a program may use without declaring it.
pub fn is_own(file: &str) -> bool {
    file == PRELUDE_NAME || parts().any(|(name, _)| name == file)
}

/// All parts.
pub fn parts() -> impl Iterator<Item = Part> {
    GROUPS
        .iter()
        .flat_map(|(parts, _)| parts.iter().copied())
        .chain([TRAITS])
}

/// The functions that a text defines for device code.
pub(super) fn defined(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .filter(|line| line.contains("__device__ ") && line.ends_with(['{', '}']))
        .filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next())
        .filter(|name| !name.starts_with("__dslc_"))
}

/// The group of each function.
fn groups_by_name() -> &'static HashMap<&'static str, usize> {
    static NAMES: OnceLock<HashMap<&'static str, usize>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names = HashMap::new();
        for (group, (parts, _)) in GROUPS.iter().enumerate() {
            let texts = parts.iter().map(|(_, text)| *text);
            names.extend(texts.flat_map(defined).map(|name| (name, group)));
        }
        names
    })
}

/// The names of all functions of the parts but the mathematical ones, for suggestions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let all = groups_by_name().keys().copied();
    all.filter(|name| !builtin::is_math(name))
}

/// The parts that a program needs: those that define a function which it seems to call.
pub fn wanted(tokens: &[Token]) -> Vec<Part> {
    let groups = groups_by_name();
    let mut needed = [false; GROUPS.len()];
    for pair in tokens.windows(2) {
        if let TokenKind::Ident(name) = &pair[0].kind
            && pair[1].kind == TokenKind::Punct(Punct::LParen)
            && let Some(&group) = groups.get(&**name)
        {
            needed[group] = true;
            for &other in GROUPS[group].1 {
                needed[other] = true;
            }
        }
    }
    let needed = GROUPS.iter().zip(needed).filter(|(_, needed)| *needed);
    let is_std = |token: &Token| matches!(&token.kind, TokenKind::Ident(name) if &**name == "std");
    let is_trait = |token: &Token| match &token.kind {
        TokenKind::Ident(name) | TokenKind::TypeName(name) => TRAIT_NAMES.contains(&&**name),
        _ => false,
    };
    let has_traits = tokens.iter().any(is_std) && tokens.iter().any(is_trait);
    needed
        .flat_map(|((parts, _), _)| parts.iter().copied())
        .chain(has_traits.then_some(TRAITS))
        .collect()
}
