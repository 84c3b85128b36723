//! The arms that the loops over [`Inst`](crate::isa::bytecode::Inst) share. Each loop adds its own: accesses, control,
//! and what only it can meet.

/// A `match` on the operation of `$inst` with the given arms, one for each operation that computes a scalar, and the
/// arms that follow.
///
/// `$risk` looks at the operands before the instruction runs, and `$jump_if` jumps if a comparison holds.
macro_rules! dispatch_scalars {
    ({ $inst:ident, $r:ident, $code:ident, $risk:ident, $jump_if:ident, { $($arms:tt)* } $($rest:tt)* }
     varying { $($varying:tt)* }
     masks { $($masks:tt)* }
     scalar { $(($s:ident, $on_s:ident, $s_lane:expr))* }
     jumps { $(($compare:ident, $jump:ident, $end:ident, $j_lane:path))* }) => {
        match $inst.op {
            $($arms)*
            Op::SPtrS => lanes::s_ptr($r, $inst, &$code.scales, |x| i64::from(x as i32)),
            Op::SPtrU => lanes::s_ptr($r, $inst, &$code.scales, |x| i64::from(x as u32)),
            Op::SPtrL => lanes::s_ptr($r, $inst, &$code.scales, |x| x as i64),
            $(Op::$jump => $jump_if!($inst, $j_lane),)*
            $(Op::$s => { $risk!($s); lanes::$on_s($r, $inst, $s_lane) })*
            $($rest)*
        }
    };
}
pub(crate) use dispatch_scalars;

/// The same with the operations that compute 32 lanes.
///
/// `$mask` is the active lanes. `$then` comes after comparisons of lanes, and `$loop_if` ends a loop that goes on if a
/// comparison holds.
macro_rules! dispatch {
    ({ $inst:ident, $r:ident, $code:ident, $mask:expr, $level:ident, [$risk:ident, $then:ident, $jump_if:ident, $loop_if:ident], { $($arms:tt)* } }
     varying { $(($v:ident, $on_v:ident, $v_lane:path))* }
     masks { $(($m:ident, $on_m:ident, $m_lane:path))* }
     scalar { $($scalar:tt)* }
     jumps { $(($compare:ident, $jump:ident, $end:ident, $j_lane:path))* }) => {
        dispatch_scalars! {
            { $inst, $r, $code, $risk, $jump_if, {
                $($arms)*
                Op::VMove32 => lanes::move32($r, $inst),
                Op::VMove64 => lanes::move64($r, $inst),
                Op::VBlend32 => lanes::blend32($r, $inst, $mask),
                Op::VBlend64 => lanes::blend64($r, $inst, $mask),
                Op::MBlend => lanes::mask_blend($r, $inst, $mask),
                Op::VSplat32 => lanes::splat32($r, $inst),
                Op::VSplat64 => lanes::splat64($r, $inst),
                Op::VSelect32 => lanes::select32($r, $inst),
                Op::VSelect64 => lanes::select64($r, $inst),
                Op::VBool => lanes::v_bool($r, $inst),
                Op::VFma32 => lanes::fma32($r, $inst, float::fma32),
                Op::VFma64 => lanes::fma64($r, $inst, float::fma64),
                Op::VFmaInto64 => lanes::fma_into64($r, $inst, float::fma64),
                Op::VFmaHalves => lanes::fma32($r, $inst, half::fma2),
                Op::VFmaBfloats => lanes::fma_bfloats($r, $inst),
                Op::SPtr32 => lanes::s_ptr32($r, $inst, &$code.scales),
                Op::VPtrVS => lanes::v_ptr($r, $inst, &$code.scales, |x| i64::from(x as i32)),
                Op::VPtrVU => lanes::v_ptr($r, $inst, &$code.scales, i64::from),
                Op::VPtrVL => lanes::v_ptr_long($r, $inst, &$code.scales),
                Op::VPtr32V => lanes::v_ptr32($r, $inst, &$code.scales),
                Op::VPtrSS => lanes::v_ptr_base($r, $inst, &$code.scales, |x| i64::from(x as i32)),
                Op::VPtrSU => lanes::v_ptr_base($r, $inst, &$code.scales, i64::from),
                Op::VPtr32S => lanes::v_ptr32_base($r, $inst, &$code.scales),
                $(Op::$end => $loop_if!($inst, $j_lane),)*
                $(Op::$v => { $risk!($v); lanes::$on_v($r, $inst, $v_lane) })*
                $(Op::$m => { $risk!($m); lanes::$on_m::<$level::Vectors>($r, $inst, $m_lane); $then!($inst) })*
            } }
            varying {} masks {} scalar { $($scalar)* }
            jumps { $(($compare, $jump, $end, $j_lane))* }
        }
    };
}
pub(crate) use dispatch;
