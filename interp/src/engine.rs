//! The loop that runs a warp: dispatch only, one line per instruction; bodies are in `ops`.
//!
//! The loop is compiled three times: for any CPU, for AVX2 with FMA, and for AVX-512; [`runner`] picks one when a launch
//! begins. All three give the same bits: lanes are independent and every operation is exactly rounded.
//! Only this loop changes a warp's `pc` and mask.

#![allow(
    clippy::inline_always,
    reason = "the loop must be compiled with the features of each of its three hosts"
)]

use crate::bytecode::{Inst, Op, lane_ops};
use crate::machine::{Fault, Machine, Stop, Vote, Warp};
use crate::observer::Observer;
use crate::ops::{atomic, convert, float, generic, global, int, lanes, local, print, shared};
use crate::trap::TrapKind;

/// Runs a warp until it ends, waits, yields or faults.
pub(crate) type Runner<O> = fn(&mut Machine<'_, O>, &mut Warp) -> Stop;

/// The fastest engine this CPU can run.
pub(crate) fn runner<O: Observer>() -> Runner<O> {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi2")
        {
            // SAFETY: the CPU has the features.
            return |machine, warp| unsafe { run_avx512(machine, warp) };
        }
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi2")
        {
            // SAFETY: the CPU has the features.
            return |machine, warp| unsafe { run_avx2(machine, warp) };
        }
    }
    run_portable
}

fn run_portable<O: Observer>(machine: &mut Machine<'_, O>, warp: &mut Warp) -> Stop {
    run(machine, warp)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx2<O: Observer>(machine: &mut Machine<'_, O>, warp: &mut Warp) -> Stop {
    run(machine, warp)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx512<O: Observer>(machine: &mut Machine<'_, O>, warp: &mut Warp) -> Stop {
    run(machine, warp)
}

/// The dispatch: the arms given, then one for every computing instruction.
macro_rules! dispatch {
    ({ $inst:ident, $r:ident, { $($arms:tt)* } }
     unary32 { $(($u32:ident, $u32t:ident, $u32v:ident, $u32s:ident, $u32f:path))* }
     unary64 { $(($u64:ident, $u64t:ident, $u64v:ident, $u64s:ident, $u64f:path))* }
     binary32 { $(($b32:ident, $b32t:ident, $b32v:ident, $b32s:ident, $b32f:path))* }
     binary64 { $(($b64:ident, $b64t:ident, $b64v:ident, $b64s:ident, $b64f:path))* }
     compare32 { $(($c32:ident, $c32t:ident, $c32v:ident, $c32s:ident, $c32f:path))* }
     compare64 { $(($c64:ident, $c64t:ident, $c64v:ident, $c64s:ident, $c64f:path))* }
     convert32to32 { $(($x:ident, $xv:ident, $xs:ident, $xf:path))* }
     convert32to64 { $(($w:ident, $wv:ident, $ws:ident, $wf:path))* }
     convert64to32 { $(($n:ident, $nv:ident, $ns:ident, $nf:path))* }
     convert64to64 { $(($l:ident, $lv:ident, $ls:ident, $lf:path))* }) => {
        match $inst.op {
            $($arms)*
            $(Op::$u32v => lanes::unary32($r, $inst, $u32f), Op::$u32s => lanes::s_unary32($r, $inst, $u32f),)*
            $(Op::$u64v => lanes::unary64($r, $inst, $u64f), Op::$u64s => lanes::s_unary64($r, $inst, $u64f),)*
            $(Op::$b32v => lanes::binary32($r, $inst, $b32f), Op::$b32s => lanes::s_binary32($r, $inst, $b32f),)*
            $(Op::$b64v => lanes::binary64($r, $inst, $b64f), Op::$b64s => lanes::s_binary64($r, $inst, $b64f),)*
            $(Op::$c32v => lanes::compare32($r, $inst, $c32f), Op::$c32s => lanes::s_compare32($r, $inst, $c32f),)*
            $(Op::$c64v => lanes::compare64($r, $inst, $c64f), Op::$c64s => lanes::s_compare64($r, $inst, $c64f),)*
            $(Op::$xv => lanes::convert32to32($r, $inst, $xf), Op::$xs => lanes::s_convert32to32($r, $inst, $xf),)*
            $(Op::$wv => lanes::convert32to64($r, $inst, $wf), Op::$ws => lanes::s_convert32to64($r, $inst, $wf),)*
            $(Op::$nv => lanes::convert64to32($r, $inst, $nf), Op::$ns => lanes::s_convert64to32($r, $inst, $nf),)*
            $(Op::$lv => lanes::convert64to64($r, $inst, $lf), Op::$ls => lanes::s_convert64to64($r, $inst, $lf),)*
        }
    };
}

#[inline(always)]
fn run<O: Observer>(machine: &mut Machine<'_, O>, warp: &mut Warp) -> Stop {
    let code = machine.code;
    let r = warp.registers.view();
    let mut pc = warp.pc as usize;
    let mut mask = warp.mask;
    let mut rounds = machine.slice;
    /// Leaves the loop with the warp's state written back.
    macro_rules! stop {
        ($pc:expr, $stop:expr) => {{
            warp.pc = $pc as u32;
            warp.mask = mask;
            return $stop;
        }};
    }
    macro_rules! attempt {
        ($result:expr) => {
            if let Err(fault) = $result {
                stop!(pc - 1, Stop::Fault(fault));
            }
        };
    }
    /// Jumps if no lane is active.
    macro_rules! skip_if_empty {
        ($inst:expr) => {
            if mask == 0 {
                pc = $inst.b as usize;
            }
        };
    }
    loop {
        let inst: &Inst = &code.insts[pc];
        pc += 1;
        lane_ops! { dispatch! { inst, r, {
            Op::SMove => r.set_s(inst.d, r.s(inst.a)),
            Op::VMove32 => lanes::move32(r, inst),
            Op::VMove64 => lanes::move64(r, inst),
            Op::VBlend32 => lanes::blend32(r, inst, mask),
            Op::VBlend64 => lanes::blend64(r, inst, mask),
            Op::MBlend => lanes::mask_blend(r, inst, mask),
            Op::VSplat32 => lanes::splat32(r, inst),
            Op::VSplat64 => lanes::splat64(r, inst),
            Op::MAnd => lanes::mask_op(r, inst, |a, b| a & b),
            Op::MOr => lanes::mask_op(r, inst, |a, b| a | b),
            Op::MXor => lanes::mask_op(r, inst, |a, b| a ^ b),
            Op::MNot => lanes::mask_op(r, inst, |a, _| !a),
            Op::MEq => lanes::mask_op(r, inst, |a, b| !(a ^ b)),
            Op::MSelect => lanes::mask_select(r, inst),
            Op::SSelect => lanes::s_select(r, inst),
            Op::VSelect32 => lanes::select32(r, inst),
            Op::VSelect64 => lanes::select64(r, inst),
            Op::VBool => lanes::v_bool(r, inst),
            Op::SBool => r.set_s(inst.d, r.s(inst.a) & 1),
            Op::VFma32 => lanes::fma32(r, inst, float::fma32),
            Op::VFma64 => lanes::fma64(r, inst, float::fma64),
            Op::SFma32 => lanes::s_fma32(r, inst, float::fma32),
            Op::SFma64 => lanes::s_fma64(r, inst, float::fma64),
            Op::SPtrS => lanes::s_ptr(r, inst, &code.scales, |x| i64::from(x as i32)),
            Op::SPtrU => lanes::s_ptr(r, inst, &code.scales, |x| i64::from(x as u32)),
            Op::SPtrL => lanes::s_ptr(r, inst, &code.scales, |x| x as i64),
            Op::SPtr32 => lanes::s_ptr32(r, inst, &code.scales),
            Op::VPtrVS => lanes::v_ptr(r, inst, &code.scales, |x| i64::from(x as i32)),
            Op::VPtrVU => lanes::v_ptr(r, inst, &code.scales, i64::from),
            Op::VPtrVL => lanes::v_ptr_long(r, inst, &code.scales),
            Op::VPtr32V => lanes::v_ptr32(r, inst, &code.scales),
            Op::VPtrSS => lanes::v_ptr_base(r, inst, &code.scales, |x| i64::from(x as i32)),
            Op::VPtrSU => lanes::v_ptr_base(r, inst, &code.scales, i64::from),
            Op::VPtr32S => lanes::v_ptr32_base(r, inst, &code.scales),
            Op::Clock => r.set_s(inst.d, machine.totals.warp_instructions & 0xffff_ffff),

            Op::Jump => { machine.weigh(inst, mask); pc = inst.b as usize; }
            Op::JumpIfNot => { machine.branch(inst, mask, false); if r.s(inst.a) == 0 { pc = inst.b as usize; } }
            Op::JumpIf => { machine.branch(inst, mask, false); if r.s(inst.a) != 0 { pc = inst.b as usize; } }
            Op::Tick => machine.weigh(inst, mask),
            Op::If => {
                let (go, stay) = (mask & r.mask(inst.a), mask & !r.mask(inst.a));
                machine.branch(inst, mask, go != 0 && stay != 0);
                r.set_s(inst.d, u64::from(stay));
                mask = go;
                skip_if_empty!(inst);
            }
            Op::Else => {
                machine.weigh(inst, mask);
                let waiting = r.mask(inst.d);
                r.set_s(inst.d, u64::from(mask));
                mask = waiting;
                skip_if_empty!(inst);
            }
            Op::Join => { machine.weigh(inst, mask); mask |= r.mask(inst.d); r.set_s(inst.d, 0); skip_if_empty!(inst); }
            Op::Clear => r.set_s(inst.d, 0),
            Op::Park => {
                machine.weigh(inst, mask);
                r.set_s(inst.d, u64::from(r.mask(inst.d) | mask));
                mask = 0;
                pc = inst.b as usize;
            }
            Op::ParkIf | Op::ParkIfNot => {
                let cond = if inst.op == Op::ParkIf { r.mask(inst.a) } else { !r.mask(inst.a) };
                let leave = mask & cond;
                machine.branch(inst, mask, leave != 0 && leave != mask);
                r.set_s(inst.d, u64::from(r.mask(inst.d) | leave));
                mask &= !leave;
                skip_if_empty!(inst);
            }
            Op::ExitIf | Op::ExitIfNot => {
                let cond = if inst.op == Op::ExitIf { r.mask(inst.a) } else { !r.mask(inst.a) };
                let leave = mask & cond;
                machine.branch(inst, mask, leave != 0 && leave != mask);
                warp.gone |= leave;
                mask &= !leave;
                skip_if_empty!(inst);
            }
            Op::Loop => {
                machine.weigh(inst, mask);
                machine.totals.branches += 1;
                pc = inst.b as usize;
                rounds -= 1;
                if machine.totals.warp_instructions > machine.limit {
                    let kind = TrapKind::Limit { instructions: machine.limit };
                    stop!(pc, Stop::Fault(Box::new(Fault { kind, lane: mask.trailing_zeros() })));
                }
                if rounds == 0 {
                    stop!(pc, Stop::Yield);
                }
            }
            Op::Exit => { machine.weigh(inst, mask); warp.gone |= mask; mask = 0; pc = inst.b as usize; }
            Op::End => { machine.weigh(inst, mask); warp.gone |= mask; mask = 0; stop!(pc, Stop::Done); }

            Op::LoadShared => attempt!(shared::load_shared(machine, r, mask, inst)),
            Op::StoreShared => attempt!(shared::store_shared(machine, r, mask, inst)),
            Op::AtomicShared => attempt!(atomic::shared(machine, r, mask, inst)),
            Op::LoadGlobal => attempt!(global::load_global(machine, r, mask, inst)),
            Op::StoreGlobal => attempt!(global::store_global(machine, r, mask, inst)),
            Op::AtomicGlobal => attempt!(atomic::global(machine, r, mask, inst)),
            Op::LoadLocal => attempt!(local::load_local(machine, r, mask, inst, &warp.local)),
            Op::StoreLocal => attempt!(local::store_local(machine, r, mask, inst, &mut warp.local)),
            Op::AtomicLocal => attempt!(atomic::local(machine, r, mask, inst, &mut warp.local)),
            Op::LoadGeneric => attempt!(generic::load_generic(machine, r, mask, inst, &warp.local)),
            Op::StoreGeneric => attempt!(generic::store_generic(machine, r, mask, inst, &mut warp.local)),
            Op::AtomicGeneric => attempt!(atomic::generic(machine, r, mask, inst, &mut warp.local)),

            Op::Barrier | Op::BarrierCount | Op::BarrierAnd | Op::BarrierOr => {
                machine.weigh(inst, mask);
                let alive = warp.lanes & !warp.gone;
                if mask != alive {
                    let (arrived, missing) = (mask.count_ones(), (alive & !mask).count_ones());
                    let kind = TrapKind::BarrierDivergence { arrived, missing };
                    stop!(pc - 1, Stop::Fault(Box::new(Fault { kind, lane: mask.trailing_zeros() })));
                }
                machine.totals.barriers += 1;
                let vote = match inst.op {
                    Op::BarrierCount => Some(Vote::Count),
                    Op::BarrierAnd => Some(Vote::And),
                    Op::BarrierOr => Some(Vote::Or),
                    _ => None,
                };
                warp.vote = vote.map(|vote| (vote, mask & r.mask(inst.a), inst.d));
                stop!(pc, Stop::Barrier);
            }
            // Lockstep lanes are always together; whether the mask is right is for the checks to say.
            Op::SyncWarp if inst.b == 1 => machine.observer.sync_warp(mask, &[r.mask(inst.a); 32]),
            Op::SyncWarp => machine.observer.sync_warp(mask, r.v32(inst.a)),
            Op::Fence => machine.observer.fence(mask),
            Op::Print => attempt!(print::print(machine, r, mask, inst)),
            Op::Assert => attempt!(print::assert(machine, r, mask, inst)),
            Op::Trap => attempt!(print::trap(mask)),

            Op::HostLocal | Op::HostNonZero | Op::HostLoad | Op::HostStore | Op::HostAtomic | Op::Call | Op::HostCall
            | Op::Launch | Op::Return => unreachable!("host instructions are in host functions"),
        } } }
    }
}

impl<O> Machine<'_, O> {
    /// Counts the segment that ends with this instruction.
    #[inline(always)]
    fn weigh(&mut self, inst: &Inst, mask: u32) {
        self.totals.warp_instructions += u64::from(inst.weight);
        self.totals.thread_instructions += u64::from(inst.weight) * u64::from(mask.count_ones());
    }

    #[inline(always)]
    fn branch(&mut self, inst: &Inst, mask: u32, parts: bool) {
        self.weigh(inst, mask);
        self.totals.branches += 1;
        self.totals.divergent_branches += u64::from(parts);
    }
}
