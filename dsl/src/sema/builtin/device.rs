//! Device functions: barriers, fences, integer and bit intrinsics, conversions with a stated rounding, atomics.
//!
//! One row per function: name, side, signature, what it becomes.

use super::{Atomic, AtomicScope, Make, Overload, Row, Sides};
use crate::sema::{
    ty::Ty,
    typed::{Arith, Builtin, Value, ValueKind},
};
use ir::{
    BarrierReduce, BinaryOp, ConvertOp, FenceScope, Intrinsic, ReduceOp, ShuffleMode, SpecialReg,
    UnaryOp, VoteOp, span::Span,
};

const fn device(name: &'static str, signature: &'static str, make: Make) -> Row {
    Row {
        name,
        sides: Sides::Device,
        signature,
        make,
    }
}

pub(crate) const OVERLOADS: &[(&str, Overload)] = &[
    (
        "atomicAdd",
        Overload::Atomic(Atomic::Add, AtomicScope::Wider),
    ),
    (
        "atomicSub",
        Overload::Atomic(Atomic::Sub, AtomicScope::Wider),
    ),
    (
        "atomicExch",
        Overload::Atomic(Atomic::Exch, AtomicScope::Wider),
    ),
    (
        "__dslc_store",
        Overload::Atomic(Atomic::Store, AtomicScope::Wider),
    ),
    (
        "__dslc_store_block",
        Overload::Atomic(Atomic::Store, AtomicScope::Block),
    ),
    (
        "atomicMin",
        Overload::Atomic(Atomic::Min, AtomicScope::Wider),
    ),
    (
        "atomicMax",
        Overload::Atomic(Atomic::Max, AtomicScope::Wider),
    ),
    (
        "atomicInc",
        Overload::Atomic(Atomic::Inc, AtomicScope::Wider),
    ),
    (
        "atomicDec",
        Overload::Atomic(Atomic::Dec, AtomicScope::Wider),
    ),
    (
        "atomicCAS",
        Overload::Atomic(Atomic::Cas, AtomicScope::Wider),
    ),
    (
        "atomicAnd",
        Overload::Atomic(Atomic::And, AtomicScope::Wider),
    ),
    ("atomicOr", Overload::Atomic(Atomic::Or, AtomicScope::Wider)),
    (
        "atomicXor",
        Overload::Atomic(Atomic::Xor, AtomicScope::Wider),
    ),
    (
        "cudaLaunchKernel",
        Overload::LaunchKernel { cooperative: false },
    ),
    (
        "cudaLaunchCooperativeKernel",
        Overload::LaunchKernel { cooperative: true },
    ),
    ("printf", Overload::Printf),
    ("assert", Overload::Assert),
    ("clock", Overload::Clock),
    ("__shfl", Overload::Shuffle(ShuffleMode::Idx, false)),
    ("__shfl_up", Overload::Shuffle(ShuffleMode::Up, false)),
    ("__shfl_down", Overload::Shuffle(ShuffleMode::Down, false)),
    ("__shfl_xor", Overload::Shuffle(ShuffleMode::Xor, false)),
    ("__shfl_sync", Overload::Shuffle(ShuffleMode::Idx, true)),
    ("__shfl_up_sync", Overload::Shuffle(ShuffleMode::Up, true)),
    (
        "__shfl_down_sync",
        Overload::Shuffle(ShuffleMode::Down, true),
    ),
    ("__shfl_xor_sync", Overload::Shuffle(ShuffleMode::Xor, true)),
    ("__match_any_sync", Overload::MatchAny),
    ("__match_all_sync", Overload::MatchAll),
    ("__reduce_add_sync", Overload::Reduce(ReduceOp::Add)),
    ("__reduce_min_sync", Overload::Reduce(ReduceOp::UMin)),
    ("__reduce_max_sync", Overload::Reduce(ReduceOp::UMax)),
    ("__reduce_and_sync", Overload::Reduce(ReduceOp::And)),
    ("__reduce_or_sync", Overload::Reduce(ReduceOp::Or)),
    ("__reduce_xor_sync", Overload::Reduce(ReduceOp::Xor)),
    ("__ldg", Overload::Ldg),
    ("__ldca", Overload::Ldg),
    ("__ldcg", Overload::Ldg),
    ("__ldcs", Overload::Ldg),
    ("__ldlu", Overload::Ldg),
    ("__ldcv", Overload::Ldg),
    ("__stwb", Overload::StoreThrough),
    ("__stcg", Overload::StoreThrough),
    ("__stcs", Overload::StoreThrough),
    ("__stwt", Overload::StoreThrough),
];

pub(crate) const ROWS: &[Row] = &[
    device("__syncthreads", "void()", Make::SyncThreads),
    device(
        "__syncthreads_count",
        "int(bool)",
        Make::SyncThreadsReduce(BarrierReduce::Count),
    ),
    device(
        "__syncthreads_and",
        "int(bool)",
        Make::SyncThreadsReduce(BarrierReduce::And),
    ),
    device(
        "__syncthreads_or",
        "int(bool)",
        Make::SyncThreadsReduce(BarrierReduce::Or),
    ),
    device(
        "__syncwarp",
        "void(uint=4294967295)",
        Make::Intrinsic(Intrinsic::SyncWarp),
    ),
    device(
        "__threadfence_block",
        "void()",
        Make::Fence(FenceScope::Block),
    ),
    device("__threadfence", "void()", Make::Fence(FenceScope::Device)),
    device(
        "__threadfence_system",
        "void()",
        Make::Fence(FenceScope::System),
    ),
    device(
        "__dslc_acq_rel_block",
        "void()",
        Make::AcqRelFence(FenceScope::Block),
    ),
    device(
        "__dslc_acq_rel",
        "void()",
        Make::AcqRelFence(FenceScope::Device),
    ),
    device(
        "__dslc_acq_rel_system",
        "void()",
        Make::AcqRelFence(FenceScope::System),
    ),
    device(
        "__dslc_lane_id",
        "uint()",
        Make::Special(SpecialReg::LaneId),
    ),
    device("__dslc_sm_id", "uint()", Make::Special(SpecialReg::SmId)),
    device(
        "__dslc_sm_count",
        "uint()",
        Make::Special(SpecialReg::NSmId),
    ),
    device(
        "__dslc_global_timer",
        "ull()",
        Make::Special(SpecialReg::GlobalTimer),
    ),
    device(
        "__dslc_is_cooperative",
        "uint()",
        Make::Special(SpecialReg::CooperativeGrid),
    ),
    device(
        "__dslc_bar_sync",
        "void(uint,uint)",
        Make::Intrinsic(Intrinsic::BarSync),
    ),
    device(
        "__dslc_bar_arrive",
        "void(uint,uint)",
        Make::Intrinsic(Intrinsic::BarArrive),
    ),
    device(
        "__dslc_barrier_sync",
        "void(uint,uint)",
        Make::Intrinsic(Intrinsic::BarrierSync),
    ),
    device(
        "__dslc_barrier_arrive",
        "void(uint,uint)",
        Make::Intrinsic(Intrinsic::BarrierArrive),
    ),
    device("__trap", "void()", Make::Intrinsic(Intrinsic::Trap)),
    device("clock64", "ll()", Make::Special(SpecialReg::Clock64)),
    device(
        "__nanosleep",
        "void(uint)",
        Make::Intrinsic(Intrinsic::Nanosleep),
    ),
    device(
        "__isShared",
        "uint(const void*)",
        Make::Intrinsic(Intrinsic::IsShared),
    ),
    device(
        "__isLocal",
        "uint(const void*)",
        Make::Intrinsic(Intrinsic::IsLocal),
    ),
    device(
        "__isConstant",
        "uint(const void*)",
        Make::Intrinsic(Intrinsic::IsConstant),
    ),
    device(
        "__isGlobal",
        "uint(const void*)",
        Make::Intrinsic(Intrinsic::IsGlobal),
    ),
    // Votes.
    device(
        "__activemask",
        "uint()",
        Make::Special(SpecialReg::ActiveMask),
    ),
    device("__all_sync", "int(uint, int)", Make::Vote(VoteOp::All)),
    device("__any_sync", "int(uint, int)", Make::Vote(VoteOp::Any)),
    device("__uni_sync", "int(uint, int)", Make::Vote(VoteOp::Uni)),
    device(
        "__ballot_sync",
        "uint(uint, int)",
        Make::Vote(VoteOp::Ballot),
    ),
    device("__all", "int(int)", Make::Vote(VoteOp::All)),
    device("__any", "int(int)", Make::Vote(VoteOp::Any)),
    device("__ballot", "uint(int)", Make::Vote(VoteOp::Ballot)),
    // Bits.
    device("__popc", "int(uint)", Make::Unary(UnaryOp::Popc)),
    device("__popcll", "int(ull)", Make::Unary(UnaryOp::Popc)),
    device("__clz", "int(int)", Make::Unary(UnaryOp::Clz)),
    device("__clzll", "int(ll)", Make::Unary(UnaryOp::Clz)),
    device("__brev", "uint(uint)", Make::Unary(UnaryOp::Brev)),
    device("__brevll", "ull(ull)", Make::Unary(UnaryOp::Brev)),
    device("__ffs", "int(int)", Make::Ffs),
    device("__ffsll", "int(ll)", Make::Ffs),
    // Products.
    device("__mulhi", "int(int, int)", Make::Binary(BinaryOp::SMulHi)),
    device(
        "__umulhi",
        "uint(uint, uint)",
        Make::Binary(BinaryOp::UMulHi),
    ),
    device("__mul64hi", "ll(ll, ll)", Make::Binary(BinaryOp::SMulHi)),
    device(
        "__umul64hi",
        "ull(ull, ull)",
        Make::Binary(BinaryOp::UMulHi),
    ),
    device("__mul24", "int(int, int)", Make::Custom(mul24)),
    device("__umul24", "uint(uint, uint)", Make::Custom(mul24)),
    // Sums of products of parts of words.
    device(
        "__dslc_sdot4",
        "uint(uint, uint)",
        Make::Binary(BinaryOp::SDot4),
    ),
    device(
        "__dslc_udot4",
        "uint(uint, uint)",
        Make::Binary(BinaryOp::UDot4),
    ),
    device(
        "__dslc_sdot2lo",
        "uint(uint, uint)",
        Make::Binary(BinaryOp::SDot2Lo),
    ),
    device(
        "__dslc_sdot2hi",
        "uint(uint, uint)",
        Make::Binary(BinaryOp::SDot2Hi),
    ),
    device(
        "__dslc_udot2lo",
        "uint(uint, uint)",
        Make::Binary(BinaryOp::UDot2Lo),
    ),
    device(
        "__dslc_udot2hi",
        "uint(uint, uint)",
        Make::Binary(BinaryOp::UDot2Hi),
    ),
    // The same bits as another type.
    device(
        "__float_as_int",
        "int(float)",
        Make::Bits(ConvertOp::F32Bits),
    ),
    device(
        "__float_as_uint",
        "uint(float)",
        Make::Bits(ConvertOp::F32Bits),
    ),
    device(
        "__int_as_float",
        "float(int)",
        Make::Bits(ConvertOp::BitsToF32),
    ),
    device(
        "__uint_as_float",
        "float(uint)",
        Make::Bits(ConvertOp::BitsToF32),
    ),
    device(
        "__double_as_longlong",
        "ll(double)",
        Make::Bits(ConvertOp::F64Bits),
    ),
    device(
        "__longlong_as_double",
        "double(ll)",
        Make::Bits(ConvertOp::BitsToF64),
    ),
    // Conversions with a stated rounding.
    device("__float2int_rz", "int(float)", Make::Round(None)),
    device(
        "__float2int_rn",
        "int(float)",
        Make::Round(Some(UnaryOp::FRint)),
    ),
    device(
        "__float2int_rd",
        "int(float)",
        Make::Round(Some(UnaryOp::FFloor)),
    ),
    device(
        "__float2int_ru",
        "int(float)",
        Make::Round(Some(UnaryOp::FCeil)),
    ),
    device("__float2uint_rz", "uint(float)", Make::Round(None)),
    device(
        "__float2uint_rn",
        "uint(float)",
        Make::Round(Some(UnaryOp::FRint)),
    ),
    device(
        "__float2uint_rd",
        "uint(float)",
        Make::Round(Some(UnaryOp::FFloor)),
    ),
    device(
        "__float2uint_ru",
        "uint(float)",
        Make::Round(Some(UnaryOp::FCeil)),
    ),
    device("__float2ll_rz", "ll(float)", Make::Round(None)),
    device(
        "__float2ll_rn",
        "ll(float)",
        Make::Round(Some(UnaryOp::FRint)),
    ),
    device("__float2ull_rz", "ull(float)", Make::Round(None)),
    device(
        "__float2ull_rn",
        "ull(float)",
        Make::Round(Some(UnaryOp::FRint)),
    ),
    device("__double2int_rz", "int(double)", Make::Round(None)),
    device(
        "__double2int_rn",
        "int(double)",
        Make::Round(Some(UnaryOp::FRint)),
    ),
    device(
        "__double2int_rd",
        "int(double)",
        Make::Round(Some(UnaryOp::FFloor)),
    ),
    device(
        "__double2int_ru",
        "int(double)",
        Make::Round(Some(UnaryOp::FCeil)),
    ),
    device("__double2uint_rz", "uint(double)", Make::Round(None)),
    device(
        "__double2uint_rn",
        "uint(double)",
        Make::Round(Some(UnaryOp::FRint)),
    ),
    device("__double2ll_rz", "ll(double)", Make::Round(None)),
    device(
        "__double2ll_rn",
        "ll(double)",
        Make::Round(Some(UnaryOp::FRint)),
    ),
    device("__double2ull_rz", "ull(double)", Make::Round(None)),
    device(
        "__double2ull_rn",
        "ull(double)",
        Make::Round(Some(UnaryOp::FRint)),
    ),
    device(
        "__float2ll_rd",
        "ll(float)",
        Make::Round(Some(UnaryOp::FFloor)),
    ),
    device(
        "__float2ll_ru",
        "ll(float)",
        Make::Round(Some(UnaryOp::FCeil)),
    ),
    device(
        "__float2ull_rd",
        "ull(float)",
        Make::Round(Some(UnaryOp::FFloor)),
    ),
    device(
        "__float2ull_ru",
        "ull(float)",
        Make::Round(Some(UnaryOp::FCeil)),
    ),
    device(
        "__double2ll_rd",
        "ll(double)",
        Make::Round(Some(UnaryOp::FFloor)),
    ),
    device(
        "__double2ll_ru",
        "ll(double)",
        Make::Round(Some(UnaryOp::FCeil)),
    ),
    device(
        "__double2ull_rd",
        "ull(double)",
        Make::Round(Some(UnaryOp::FFloor)),
    ),
    device(
        "__double2ull_ru",
        "ull(double)",
        Make::Round(Some(UnaryOp::FCeil)),
    ),
    device(
        "__double2uint_rd",
        "uint(double)",
        Make::Round(Some(UnaryOp::FFloor)),
    ),
    device(
        "__double2uint_ru",
        "uint(double)",
        Make::Round(Some(UnaryOp::FCeil)),
    ),
    device("__int2float_rn", "float(int)", Make::Round(None)),
    device("__uint2float_rn", "float(uint)", Make::Round(None)),
    device("__ll2float_rn", "float(ll)", Make::Round(None)),
    device("__ull2float_rn", "float(ull)", Make::Round(None)),
    device("__int2double_rn", "double(int)", Make::Round(None)),
    device("__uint2double_rn", "double(uint)", Make::Round(None)),
    device("__ll2double_rn", "double(ll)", Make::Round(None)),
    device("__ull2double_rn", "double(ull)", Make::Round(None)),
    device("__double2float_rn", "float(double)", Make::Round(None)),
    // Arithmetic that is never contracted.
    device(
        "__fadd_rn",
        "float(float, float)",
        Make::Binary(BinaryOp::FAdd),
    ),
    device(
        "__fsub_rn",
        "float(float, float)",
        Make::Binary(BinaryOp::FSub),
    ),
    device(
        "__fmul_rn",
        "float(float, float)",
        Make::Binary(BinaryOp::FMul),
    ),
    device(
        "__fdiv_rn",
        "float(float, float)",
        Make::Binary(BinaryOp::FDiv),
    ),
    device(
        "__dadd_rn",
        "double(double, double)",
        Make::Binary(BinaryOp::FAdd),
    ),
    device(
        "__dsub_rn",
        "double(double, double)",
        Make::Binary(BinaryOp::FSub),
    ),
    device(
        "__dmul_rn",
        "double(double, double)",
        Make::Binary(BinaryOp::FMul),
    ),
    device(
        "__ddiv_rn",
        "double(double, double)",
        Make::Binary(BinaryOp::FDiv),
    ),
    device("__fmaf_rn", "float(float, float, float)", Make::Fma),
    device("__fma_rn", "double(double, double, double)", Make::Fma),
    device("__fsqrt_rn", "float(float)", Make::Unary(UnaryOp::FSqrt)),
    device("__dsqrt_rn", "double(double)", Make::Unary(UnaryOp::FSqrt)),
    device("__frcp_rn", "float(float)", Make::Custom(reciprocal)),
    device("__drcp_rn", "double(double)", Make::Custom(reciprocal)),
    device("__saturatef", "float(float)", Make::Custom(saturate)),
    // CUDA's typed minima and maxima.
    device("umin", "uint(uint, uint)", Make::Binary(BinaryOp::UMin)),
    device("umax", "uint(uint, uint)", Make::Binary(BinaryOp::UMax)),
    device("llmin", "ll(ll, ll)", Make::Binary(BinaryOp::SMin)),
    device("llmax", "ll(ll, ll)", Make::Binary(BinaryOp::SMax)),
    device("ullmin", "ull(ull, ull)", Make::Binary(BinaryOp::UMin)),
    device("ullmax", "ull(ull, ull)", Make::Binary(BinaryOp::UMax)),
];

/// The low 32 bits of the product of the operands' low 24 bits, each extended by its sign or by zeros.
fn mul24(args: Vec<Value>, span: Span) -> Value {
    let ty = args[0].ty.clone();
    let shifted = |value: Value, op| {
        Value::new(
            ValueKind::Binary(
                op,
                Box::new(value),
                Box::new(Value::new(ValueKind::Int(8), Ty::Int, span)),
            ),
            ty.clone(),
            span,
        )
    };
    let mut low = args
        .into_iter()
        .map(|arg| Box::new(shifted(shifted(arg, Arith::Shl), Arith::Shr)));
    let (a, b) = (low.next(), low.next());
    let kind = match (a, b) {
        (Some(a), Some(b)) => ValueKind::Binary(Arith::Mul, a, b),
        _ => ValueKind::Int(0),
    };
    Value::new(kind, ty, span)
}

fn number(value: f64, ty: &Ty, span: Span) -> Value {
    Value::new(ValueKind::Float(value), ty.clone(), span)
}

/// `1 / x`, correctly rounded.
fn reciprocal(mut args: Vec<Value>, span: Span) -> Value {
    let ty = args[0].ty.clone();
    args.insert(0, number(1.0, &ty, span));
    Value::new(
        ValueKind::Builtin(Builtin::Binary(BinaryOp::FDiv), args),
        ty,
        span,
    )
}

/// Between 0 and 1; NaN gives 0, because `fmax` takes the other operand.
fn saturate(mut args: Vec<Value>, span: Span) -> Value {
    let ty = args[0].ty.clone();
    args.push(number(0.0, &ty, span));
    let above = Value::new(
        ValueKind::Builtin(Builtin::Binary(BinaryOp::FMax), args),
        ty.clone(),
        span,
    );
    let args = vec![above, number(1.0, &ty, span)];
    Value::new(
        ValueKind::Builtin(Builtin::Binary(BinaryOp::FMin), args),
        ty,
        span,
    )
}
