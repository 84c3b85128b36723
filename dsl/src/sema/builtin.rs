//! What a program may use without declaring it: one table from name to meaning.
//!
//! The rows are in three files of similar entries: `device` (barriers, intrinsics), `math` (overloaded functions), `host` (the CUDA runtime
//! and C's library). `unsupported` has the names that CUDA has and this compiler does not have yet. A fixed signature is written as in C,
//! see [`Signature`]; overloads are resolved in `check::call::builtin_call`.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::{layout, typed::Value};
use crate::library;
use ir::{
    BarrierReduce, BinaryOp, ConvertOp, FenceScope, HostFn, Intrinsic, ReduceOp, ShuffleMode,
    SpecialReg, UnaryOp, VoteOp, span::Span,
};

mod device;
mod host;
mod math;
mod signature;
mod unsupported;

pub(crate) use math::{float_version, is_math};
pub(crate) use signature::{Param, ParamType, Signature, TypeWord};
pub(crate) use unsupported::unsupported_type;

/// Where something may be called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sides {
    Device,
    Host,
    Both,
}

/// A function with one signature.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) sides: Sides,
    /// `int(uint, float*)`.
    pub(crate) signature: &'static str,
    pub(crate) make: Make,
}

/// What a call becomes.
#[derive(Clone, Copy)]
pub(crate) enum Make {
    /// An operation on the argument's type, converted to the declared result.
    Unary(UnaryOp),
    Binary(BinaryOp),
    Fma,
    /// Of the two halves in each word.
    FmaHalves,
    /// Of the two bfloat16 in each word.
    FmaBfloats,
    /// A conversion with its own types: reinterpreted bits, a half.
    Bits(ConvertOp),
    /// Rounded to an integral value first, then converted to the result.
    Round(Option<UnaryOp>),
    Ffs,
    Abs,
    SyncThreads,
    SyncThreadsReduce(BarrierReduce),
    Intrinsic(Intrinsic),
    /// Predicate, and mask if there is one.
    Vote(VoteOp),
    Fence(FenceScope),
    AcqRelFence(FenceScope),
    /// A counter of the machine.
    Special(SpecialReg),
    /// Whether the code runs on the device.
    OnDevice,
    /// A combination of the others.
    Custom(fn(Vec<Value>, Span) -> Value),
    Host(HostFn),
}

/// Functions whose signature depends on their arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Overload {
    /// `sqrt`: `float` for a `float`, else `double`.
    Real1(UnaryOp),
    Real2(BinaryOp),
    Fma,
    /// C's library on the host: the `double` version and the `float` one.
    Library1(HostFn, Option<HostFn>),
    Library2(HostFn, Option<HostFn>),
    /// `min`, `max` of any arithmetic type.
    Min,
    Max,
    Abs,
    IsNan,
    IsInf,
    IsFinite,
    SignBit,
    Atomic(Atomic, AtomicScope),
    /// With a mask or without.
    Shuffle(ShuffleMode, bool),
    MatchAny,
    MatchAll,
    /// Signed minima and maxima for `int`s.
    Reduce(ReduceOp),
    Printf,
    Assert,
    /// `__ldg(p)`: a plain load.
    Ldg,
    /// `cudaLaunchKernel`: a launch whose arguments are in an array.
    LaunchKernel {
        /// `cudaLaunchCooperativeKernel`.
        cooperative: bool,
    },
    /// `__stcg(p, x)`: a plain store.
    StoreThrough,
    Clock,
    /// `make_float4`: the components of the vector type of this name.
    MakeVector(&'static str),
}

/// The threads for which an atomic function is one access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AtomicScope {
    /// Those of the block: `atomicAdd_block`.
    Block,
    /// Those of the device at least.
    Wider,
}

/// The atomic functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Atomic {
    Add,
    Sub,
    Exch,
    /// An exchange without a result: a store of `cuda::atomic`.
    Store,
    Min,
    Max,
    Inc,
    Dec,
    Cas,
    And,
    Or,
    Xor,
}

/// What a name means.
#[derive(Clone, Copy)]
pub(crate) enum Entry {
    /// `threadIdx` and similar: the components, and whether it is a `dim3` (else a `uint3`).
    Index([SpecialReg; 3], bool),
    WarpSize,
    /// `stdout`, `stderr`.
    Stream(u64),
    /// `CUDART_INF_F` and similar.
    Constant(f64),
    Function(&'static Row),
    Overloaded(Overload),
    /// CUDA has it; the words name what it belongs to.
    Unsupported(&'static str),
}

const SPECIAL: &[(&str, Entry)] = &[
    (
        "threadIdx",
        Entry::Index(
            [SpecialReg::TidX, SpecialReg::TidY, SpecialReg::TidZ],
            false,
        ),
    ),
    (
        "blockIdx",
        Entry::Index(
            [SpecialReg::CtaidX, SpecialReg::CtaidY, SpecialReg::CtaidZ],
            false,
        ),
    ),
    (
        "blockDim",
        Entry::Index(
            [SpecialReg::NtidX, SpecialReg::NtidY, SpecialReg::NtidZ],
            true,
        ),
    ),
    (
        "gridDim",
        Entry::Index(
            [
                SpecialReg::NctaidX,
                SpecialReg::NctaidY,
                SpecialReg::NctaidZ,
            ],
            true,
        ),
    ),
    ("warpSize", Entry::WarpSize),
    ("stdout", Entry::Stream(1)),
    ("stderr", Entry::Stream(2)),
    // The macros `INFINITY` and `NAN` expand to these.
    ("__dslc_infinity", Entry::Constant(f64::INFINITY)),
    ("__dslc_nan", Entry::Constant(f64::NAN)),
];

/// Names of vector types, for `make_…`.
const VECTORS: &[&str] = &[
    "char1",
    "char2",
    "char3",
    "char4",
    "uchar1",
    "uchar2",
    "uchar3",
    "uchar4",
    "short1",
    "short2",
    "short3",
    "short4",
    "ushort1",
    "ushort2",
    "ushort3",
    "ushort4",
    "int1",
    "int2",
    "int3",
    "int4",
    "uint1",
    "uint2",
    "uint3",
    "uint4",
    "long1",
    "long2",
    "long3",
    "long4",
    "ulong1",
    "ulong2",
    "ulong3",
    "ulong4",
    "longlong1",
    "longlong2",
    "longlong3",
    "longlong4",
    "ulonglong1",
    "ulonglong2",
    "ulonglong3",
    "ulonglong4",
    "float1",
    "float2",
    "float3",
    "float4",
    "double1",
    "double2",
    "double3",
    "double4",
];

fn table() -> &'static FxHashMap<&'static str, Entry> {
    static TABLE: OnceLock<FxHashMap<&'static str, Entry>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table: FxHashMap<_, _> = SPECIAL.iter().copied().collect();
        let overloads = math::OVERLOADS.iter().chain(device::OVERLOADS);
        table.extend(overloads.map(|&(name, overload)| (name, Entry::Overloaded(overload))));
        let rows = device::ROWS.iter().chain(math::ROWS).chain(host::ROWS);
        table.extend(rows.map(|row| (row.name, Entry::Function(row))));
        table.extend(unsupported::names().map(|(name, what)| (name, Entry::Unsupported(what))));
        table
    })
}

/// The meaning of a name that nothing in the program declares.
pub(crate) fn find(name: &str) -> Option<Entry> {
    if let Some(entry) = table().get(name) {
        return Some(*entry);
    }
    if let Some(vector) = name.strip_prefix("make_") {
        let vector = VECTORS.iter().find(|known| **known == vector)?;
        debug_assert!(layout::vector_type(vector).is_some());
        return Some(Entry::Overloaded(Overload::MakeVector(vector)));
    }
    let scopes = [
        ("_block", AtomicScope::Block),
        ("_system", AtomicScope::Wider),
    ];
    for (suffix, scope) in scopes {
        if let Some(base) = name.strip_suffix(suffix)
            && let Some(Entry::Overloaded(Overload::Atomic(atomic, _))) = table().get(base)
        {
            return Some(Entry::Overloaded(Overload::Atomic(*atomic, scope)));
        }
    }
    unsupported::by_prefix(name).map(Entry::Unsupported)
}

/// The functions of the tables that device code may call, as C++ declares them.
pub(crate) fn declarations() -> impl Iterator<Item = String> {
    let rows = device::ROWS.iter().chain(math::ROWS);
    let rows = rows.map(|row| Signature::parse(row.signature).declaration(row.name));
    let overloads = math::OVERLOADS.iter().filter_map(|(name, overload)| {
        // C's name is for `double`; C++'s library has the others on both sides.
        let params = match overload {
            Overload::Real1(_) | Overload::Library1(..) => "double",
            Overload::Real2(_) | Overload::Library2(..) => "double, double",
            Overload::Fma => "double, double, double",
            _ => return None,
        };
        Some(format!("__device__ double {name}({params});"))
    });
    let abs = ["int", "long", "long long"].map(|ty| format!("__device__ {ty} abs({ty});"));
    rows.chain(overloads).chain(abs)
}

/// Whether C's library or the IR has it for host code.
pub(crate) fn is_host(name: &str) -> bool {
    match table().get(name) {
        Some(Entry::Function(row)) => row.sides != Sides::Device,
        Some(Entry::Overloaded(_)) => true,
        _ => false,
    }
}

/// The names that device code may call.
#[cfg(test)]
pub(crate) fn device_names() -> impl Iterator<Item = &'static str> {
    let is_devices = |entry: &Entry| match entry {
        Entry::Function(row) => row.sides != Sides::Host,
        Entry::Overloaded(_) => true,
        _ => false,
    };
    let all = table().iter().filter(move |(_, entry)| is_devices(entry));
    all.map(|(name, _)| *name)
}

/// All names, for suggestions: those that can be called, or those that cannot.
pub(crate) fn names(callable: bool) -> impl Iterator<Item = &'static str> {
    table()
        .iter()
        .filter(move |(_, entry)| {
            matches!(entry, Entry::Function(_) | Entry::Overloaded(_)) == callable
        })
        .filter(|(_, entry)| !matches!(entry, Entry::Unsupported(_)))
        .map(|(name, _)| *name)
        .chain(
            math::names()
                .chain(library::names())
                .filter(move |_| callable),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signature_parses_and_fits_its_host_call() {
        for row in device::ROWS.iter().chain(math::ROWS).chain(host::ROWS) {
            let signature = Signature::parse(row.signature);
            if let Make::Host(host) = row.make {
                assert!(signature.params.len() >= host.args().len(), "{}", row.name);
                assert_eq!(signature.variadic, host.is_variadic(), "{}", row.name);
                let is_void = matches!(
                    signature.result,
                    ParamType::Plain {
                        base: TypeWord::Void,
                        stars: 0,
                        ..
                    }
                );
                assert_eq!(host.result().is_none(), is_void, "{}", row.name);
            }
        }
    }

    #[test]
    fn every_host_function_can_be_called() {
        for host in HostFn::ALL {
            if host.text().starts_with("__dslc_assert")
                || *host == HostFn::Clock
                || *host == HostFn::Printf
            {
                continue;
            }
            assert!(
                find(host.text()).is_some_and(|entry| !matches!(entry, Entry::Unsupported(_))),
                "{host}"
            );
        }
    }

    #[test]
    fn no_name_is_in_two_tables() {
        let mut seen = std::collections::HashSet::new();
        let rows = device::ROWS
            .iter()
            .chain(math::ROWS)
            .chain(host::ROWS)
            .map(|row| row.name);
        let overloads = math::OVERLOADS
            .iter()
            .chain(device::OVERLOADS)
            .map(|(name, _)| *name);
        let special = SPECIAL.iter().map(|(name, _)| *name);
        let unsupported = unsupported::names().map(|(name, _)| name);
        for name in rows.chain(overloads).chain(special).chain(unsupported) {
            assert!(seen.insert(name), "{name}");
        }
    }
}
