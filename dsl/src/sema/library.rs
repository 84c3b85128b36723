//! The parts of CUDA's library that are written in the language: parsed before a program that names something of theirs.
//!
//! What a part defines is read from its text: a line that begins a `__device__` function has the name before its first
//! parenthesis. Names that begin with `__dslc_` are the parts' own.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, OnceLock},
};

use super::builtin;

mod needed;

use crate::syntax::token::{Keyword, Punct, Token, TokenKind};
pub use needed::needed;

/// A part: what it is called in messages, its text.
pub type Part = (&'static str, &'static str);

/// CUDA's mathematical functions.
pub(super) const MATH: [Part; 3] = [
    ("<cuda math, double>", include_str!("math_double.k")),
    ("<cuda math, angles>", include_str!("math_angle.k")),
    ("<cuda math, float>", include_str!("math_float.k")),
];

/// Those that few programs use.
pub(super) const SPECIAL: [Part; 1] = [("<cuda math, special>", include_str!("math_special.k"))];
pub(super) const BESSEL: [Part; 1] = [("<cuda math, bessel>", include_str!("math_bessel.k"))];

/// The instructions of inline PTX.
const PTX: &str = "<inline ptx>";

/// Parts whose functions are the host's.
const C_LIBRARY: &str = "<c library>";
const C_STRINGS: &str = "<c library, strings and sorting>";
const DEVICE: &str = "<device properties>";
const GETOPT: &str = "<getopt.h>";
const ENVIRONMENT: &str = "<environment>";
const HELPER: &str = "<helper_cuda.h>";
const RUNTIME: &str = "<cuda runtime>";

/// CUB's primitives of a warp and of a block.
const CUB: &str = "<cub/cub.cuh>";

/// A group of parts that are parsed together.
struct Group {
    parts: &'static [Part],
    /// Names of types and namespaces that tell that a program needs it.
    types: &'static [&'static str],
    /// Names in the namespace `std`, which tell it only of a program that names that, too.
    standard: &'static [&'static str],
    /// Groups that it needs itself; they come before it.
    needs: &'static [usize],
}

/// All parts, in the order in which they are parsed.
const GROUPS: &[Group] = &[
    Group {
        parts: &MATH,
        types: &[],
        standard: &[],
        needs: &[],
    },
    Group {
        parts: &SPECIAL,
        types: &[],
        standard: &[],
        needs: &[0],
    },
    Group {
        parts: &[("<cuda simd>", include_str!("simd.k"))],
        types: &[],
        standard: &[],
        needs: &[],
    },
    Group {
        parts: &[("<cuda rounding>", include_str!("rounding.k"))],
        types: &[],
        standard: &[],
        needs: &[],
    },
    Group {
        parts: &[("<cuda_fp16.h>", include_str!("fp16.k"))],
        types: &["half", "half2", "__half", "__half2"],
        standard: &[],
        needs: &[0],
    },
    Group {
        parts: &[("<cuda_bf16.h>", include_str!("bf16.k"))],
        types: &[
            "nv_bfloat16",
            "nv_bfloat162",
            "__nv_bfloat16",
            "__nv_bfloat162",
        ],
        standard: &[],
        needs: &[0],
    },
    Group {
        parts: &[(
            "<cooperative_groups.h>",
            include_str!("cooperative_groups.k"),
        )],
        types: &["cooperative_groups"],
        standard: &[],
        needs: &[],
    },
    Group {
        parts: &[("<c++ library>", include_str!("traits.k"))],
        types: &[],
        standard: &[
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
            "is_arithmetic_v",
            "is_signed_v",
            "is_unsigned_v",
            "is_void",
            "is_void_v",
            "is_const",
            "is_const_v",
            "remove_reference",
            "remove_reference_t",
            "remove_cv_t",
            "decay",
            "decay_t",
            "make_unsigned",
            "make_unsigned_t",
            "make_signed",
            "make_signed_t",
            "bool_constant",
            "void_t",
            "declval",
            "remove_volatile",
            "remove_volatile_t",
            "add_const",
            "add_const_t",
            "add_pointer",
            "add_pointer_t",
            "is_array",
            "remove_extent",
            "remove_extent_t",
            "is_reference",
            "is_reference_v",
            "is_lvalue_reference",
            "common_type",
            "common_type_t",
            "conjunction",
            "conjunction_v",
            "disjunction",
            "disjunction_v",
            "negation",
            "negation_v",
        ],
        needs: &[],
    },
    Group {
        parts: &[("<new>", include_str!("new.k"))],
        types: &[],
        standard: &[],
        needs: &[],
    },
    Group {
        parts: &[("<vector>", include_str!("vector.k"))],
        types: &[],
        standard: &["vector", "initializer_list"],
        needs: &[NEW],
    },
    Group {
        parts: &[(C_LIBRARY, include_str!("clib.k"))],
        types: &["pthread_t"],
        standard: &[],
        needs: &[],
    },
    Group {
        parts: &[(DEVICE, include_str!("device.k"))],
        types: &["cudaDeviceProp", "cudaDeviceAttr"],
        standard: &[],
        needs: &[],
    },
    Group {
        parts: &[("<iostream>", include_str!("iostream.k"))],
        types: &[],
        standard: &[
            "cout",
            "cerr",
            "clog",
            "endl",
            "ostream",
            "setprecision",
            "setw",
            "setfill",
            "ios",
            "ios_base",
        ],
        needs: &[CLIB],
    },
    Group {
        parts: &[("<string>", include_str!("string.k"))],
        types: &[],
        standard: &[
            "string",
            "to_string",
            "stoi",
            "stol",
            "stoul",
            "stoull",
            "stof",
            "stod",
        ],
        needs: &[NEW, CLIB, IOSTREAM],
    },
    Group {
        parts: &[("<utility>", include_str!("utility.k"))],
        types: &[],
        standard: &["pair", "make_pair", "array"],
        needs: &[],
    },
    Group {
        parts: &[("<algorithm>", include_str!("algorithm.k"))],
        types: &[],
        standard: &[
            "less",
            "greater",
            "plus",
            "minus",
            "multiplies",
            "sort",
            "stable_sort",
            "is_sorted",
            "fill",
            "fill_n",
            "iota",
            "generate",
            "copy",
            "copy_n",
            "transform",
            "for_each",
            "reverse",
            "accumulate",
            "inner_product",
            "partial_sum",
            "count",
            "count_if",
            "find",
            "find_if",
            "all_of",
            "any_of",
            "equal",
            "max_element",
            "min_element",
            "distance",
            "advance",
            "lower_bound",
            "upper_bound",
            "binary_search",
            "unique",
            "remove",
            "remove_if",
            "replace",
            "reduce",
            "inclusive_scan",
            "exclusive_scan",
            "adjacent_difference",
            "nth_element",
            "partial_sort",
            "merge",
            "inplace_merge",
            "rotate",
            "minmax_element",
            "clamp",
            "begin",
            "end",
            "size",
            "mismatch",
            "none_of",
            "swap_ranges",
            "iter_swap",
            "divides",
            "modulus",
            "equal_to",
            "copy_if",
            "generate_n",
        ],
        needs: &[NEW, UTILITY],
    },
    Group {
        parts: &[("<chrono>", include_str!("chrono.k"))],
        types: &[],
        standard: &["chrono", "ratio", "milli", "micro", "nano"],
        needs: &[],
    },
    Group {
        parts: &[("<random>", include_str!("random.k"))],
        types: &[],
        standard: &[
            "mt19937",
            "minstd_rand0",
            "default_random_engine",
            "random_device",
            "uniform_real_distribution",
            "uniform_int_distribution",
            "normal_distribution",
            "shuffle",
        ],
        needs: &[],
    },
    Group {
        parts: &[("<sys/time.h>", include_str!("time.k"))],
        types: &["timeval", "timespec", "gettimeofday", "clock_gettime"],
        standard: &[],
        needs: &[],
    },
    Group {
        parts: &[("<stdexcept>", include_str!("stdexcept.k"))],
        types: &[],
        standard: &[],
        needs: &[STRING],
    },
    Group {
        parts: &[(PTX, include_str!("ptx.k"))],
        types: &[],
        standard: &[],
        needs: &[],
    },
    Group {
        parts: &[("<curand_kernel.h>", include_str!("curand.k"))],
        types: &[
            "curandState",
            "curandState_t",
            "curandStateXORWOW",
            "curandStateXORWOW_t",
            "curandStatePhilox4_32_10",
            "curandStatePhilox4_32_10_t",
        ],
        standard: &[],
        needs: &[0],
    },
    Group {
        parts: &[(CUB, include_str!("cub.k"))],
        types: &["cub"],
        standard: &[],
        needs: &[TRAITS],
    },
    Group {
        parts: &BESSEL,
        types: &[],
        standard: &[],
        needs: &[0],
    },
    Group {
        parts: &[(GETOPT, include_str!("getopt.k"))],
        types: &[],
        standard: &[],
        needs: &[],
    },
    Group {
        parts: &[(ENVIRONMENT, include_str!("environ.k"))],
        types: &[],
        standard: &[],
        needs: &[],
    },
    Group {
        parts: &[(HELPER, include_str!("helper.k"))],
        types: &["StopWatchInterface", "EXIT_WAIVED"],
        standard: &[],
        needs: &[CLIB, DEVICE_PROPERTIES],
    },
    Group {
        parts: &[(RUNTIME, include_str!("runtime.k"))],
        types: &[
            "cudaHostFn_t",
            "cudaStreamCallback_t",
            "cudaMemoryAdvise",
            "cudaLimit",
            "cudaCpuDeviceId",
            "cudaFuncAttributes",
            "cudaExtent",
            "cudaPos",
            "cudaPitchedPtr",
            "cudaMemcpy3DParms",
            "__dslc_host_device_pointer",
            "__dslc_symbol_size",
            "__dslc_symbol",
        ],
        standard: &[],
        needs: &[DEVICE_PROPERTIES],
    },
    Group {
        parts: &[(C_STRINGS, include_str!("cstring.k"))],
        types: &[],
        standard: &[],
        needs: &[CLIB],
    },
    Group {
        parts: &[("<cuComplex.h>", include_str!("cucomplex.k"))],
        types: &["cuComplex", "cuFloatComplex", "cuDoubleComplex"],
        standard: &[],
        needs: &[],
    },
    Group {
        parts: &[("<memory>", include_str!("memory.k"))],
        types: &[],
        standard: &["unique_ptr", "make_unique", "shared_ptr", "make_shared"],
        needs: &[TRAITS, NEW],
    },
    Group {
        parts: &[("<queue>", include_str!("queue.k"))],
        types: &[],
        standard: &["queue", "stack"],
        needs: &[NEW],
    },
    Group {
        parts: &[("<map>", include_str!("map.k"))],
        types: &[],
        standard: &["map", "unordered_map", "set"],
        needs: &[NEW, UTILITY],
    },
];

/// The index of C++'s type traits.
const TRAITS: usize = 7;

/// The index of `<new>`, which `new` and `delete` need.
const NEW: usize = 8;

/// The index of the C library's.
const CLIB: usize = 10;

/// The index of the device's properties.
const DEVICE_PROPERTIES: usize = 11;

/// The index of `<iostream>`.
const IOSTREAM: usize = 12;

/// The index of `<string>`.
const STRING: usize = 13;

/// The index of `<utility>`.
const UTILITY: usize = 14;

/// The index of `<stdexcept>`, which `throw` needs.
const EXCEPTIONS: usize = 19;

/// All parts.
pub fn parts() -> impl Iterator<Item = Part> {
    GROUPS.iter().flat_map(|group| group.parts.iter().copied())
}

/// The functions that a part defines for device code, or for the host's if it is one of those.
pub(super) fn defined((part, text): Part) -> impl Iterator<Item = &'static str> {
    let of_host = [
        C_LIBRARY,
        C_STRINGS,
        DEVICE,
        ENVIRONMENT,
        GETOPT,
        HELPER,
        RUNTIME,
    ]
    .contains(&part);
    text.lines()
        .filter(move |line| match of_host {
            true => line.starts_with(|c: char| c.is_ascii_lowercase()),
            false => line.starts_with("__") && line.contains("__device__ "),
        })
        .filter(|line| line.ends_with(['{', '}']))
        .filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next())
        .filter(|name| !name.starts_with("__dslc_") && !name.starts_with("operator"))
}

/// The groups that have a function of each name.
fn groups_by_name() -> &'static HashMap<&'static str, Vec<usize>> {
    static NAMES: OnceLock<HashMap<&'static str, Vec<usize>>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names: HashMap<_, Vec<usize>> = HashMap::new();
        for (group, Group { parts, .. }) in GROUPS.iter().enumerate() {
            for name in parts.iter().copied().flat_map(defined) {
                let groups: &mut Vec<usize> = names.entry(name).or_default();
                if groups.last() != Some(&group) {
                    groups.push(group);
                }
            }
        }
        names
    })
}

/// The names of all functions of the parts but the mathematical ones, for suggestions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let all = groups_by_name().keys().copied();
    all.filter(|name| !builtin::is_math(name))
}

/// The names in the namespace `std` that the parts have.
pub(super) fn standard_names() -> impl Iterator<Item = &'static str> {
    GROUPS
        .iter()
        .flat_map(|group| group.standard.iter().copied())
}

/// The names that stand right after a type's keyword somewhere: `int half` is no type.
fn variables(tokens: &[Token]) -> HashSet<&Arc<str>> {
    let declared = |pair: &[Token]| {
        matches!(
            pair[0].kind,
            TokenKind::Keyword(
                Keyword::Bool
                    | Keyword::Char
                    | Keyword::Short
                    | Keyword::Int
                    | Keyword::Long
                    | Keyword::Unsigned
                    | Keyword::Float
                    | Keyword::Double
                    | Keyword::Auto
            )
        )
    };
    tokens
        .windows(2)
        .filter(|pair| declared(pair))
        .filter_map(|pair| match &pair[1].kind {
            TokenKind::Ident(name) | TokenKind::TypeName(name) => Some(name),
            _ => None,
        })
        .collect()
}

/// The parts that a program needs: those that define a function which it seems to call, or a type which it names.
pub fn wanted(tokens: &[Token]) -> Vec<Part> {
    let by_name = groups_by_name();
    let mut needed = [false; GROUPS.len()];
    let variables = variables(tokens);
    // A program that brings CUB's own files, or other names for it, means those.
    let is_own_cub = tokens.windows(2).any(|pair| {
        pair[0].kind == TokenKind::Keyword(Keyword::Namespace)
            && matches!(&pair[1].kind, TokenKind::Ident(name) if &**name == "cub")
    });
    let is_std = |token: &Token| matches!(&token.kind, TokenKind::Ident(name) if &**name == "std");
    let has_std = tokens.iter().any(is_std);
    for pair in tokens.windows(2) {
        match &pair[0].kind {
            TokenKind::Keyword(Keyword::New | Keyword::Delete) => needed[NEW] = true,
            TokenKind::Keyword(Keyword::Throw) => needed[EXCEPTIONS] = true,
            TokenKind::Keyword(Keyword::Asm) => {
                let is_ptx = |group: &Group| group.parts.iter().any(|(name, _)| *name == PTX);
                if let Some(group) = GROUPS.iter().position(is_ptx) {
                    needed[group] = true;
                }
            }
            TokenKind::Ident(name) if pair[1].kind == TokenKind::Punct(Punct::LParen) => {
                // A name that several have (`__hadd` of either precision) tells nothing; the types do.
                if let Some([group]) = by_name.get(&**name).map(Vec::as_slice) {
                    needed[*group] = true;
                }
            }
            _ => {}
        }
        if let TokenKind::Ident(name) | TokenKind::TypeName(name) = &pair[0].kind {
            let has = |group: &Group| group.types.contains(&&**name);
            if let Some(group) = GROUPS.iter().position(has)
                && !variables.contains(name)
            {
                needed[group] = true;
            }
            let has = |group: &Group| group.standard.contains(&&**name);
            if has_std && let Some(group) = GROUPS.iter().position(has) {
                needed[group] = true;
            }
        }
    }
    if is_own_cub && let Some(group) = GROUPS.iter().position(|group| group.parts[0].0 == CUB) {
        needed[group] = false;
    }
    // What a group needs comes before it.
    for group in (0..GROUPS.len()).rev() {
        if needed[group] {
            GROUPS[group]
                .needs
                .iter()
                .for_each(|&other| needed[other] = true);
        }
    }
    let needed = GROUPS.iter().zip(needed).filter(|(_, needed)| *needed);
    needed
        .flat_map(|(group, _)| group.parts.iter().copied())
        .collect()
}
