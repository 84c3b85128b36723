//! The loop that runs a warp. It only dispatches, with one line per instruction; the bodies are in `ops`.
//!
//! The loop is compiled for five levels ([`levels`]): for any CPU, for AVX2 with FMA, for AVX-512, and for any CPU once
//! more in two variants that pause at accesses, one of them with weak memory. [`engine`] picks one of the first three
//! when a launch begins. These give the same bits, because lanes are independent and every operation is exactly
//! rounded.
//!
//! Only this loop changes a warp's `pc` and mask.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "the loop must be compiled with the features of each of its three hosts"
)]

mod levels;

pub(crate) use levels::{Engine, engine, pausing, weak};

use crate::machine::block::MAX_PRINTED;
use crate::machine::dispatch::{dispatch, dispatch_scalars};
use crate::machine::level::Level;
use ir::{FenceScope, bfloat16, half};

use crate::fault::trap::TrapKind;
use crate::isa::bytecode::Inst;
use crate::isa::op::{Op, jump_ops, lane_arms, lane_ops};
use crate::isa::rounds::FEW_LOADS;
use crate::machine::ops::{
    atomic, convert, exchange, float, generic, heap, int, lanes, local, overflow, print,
    rounds::Edge, routine,
};
use crate::machine::vectors::Vectors;
use crate::machine::warp::{Vote, Warp, WarpState};
use crate::machine::weak;
use crate::machine::{Fault, Machine, Stop, idle_tail};
use crate::observe::Observer;

/// Runs the warp at a place of the block's list until it ends, waits, yields or faults. If
/// [`Pass::next`](crate::machine::Pass::next) allows it, the warps after it run, too, as long as each ends or arrives
/// at a barrier. The place then becomes that of the last one.
pub(crate) type Runner<O> = fn(&mut Machine<'_, O>, &mut [Warp], &mut usize) -> Stop;

/// A [`Runner`]. A table with one arm per operation. The arms share the loop's variables, which stay in CPU registers.
#[inline(always)]
fn run<L: Level, O: Observer>(
    machine: &mut Machine<'_, O>,
    warps: &mut [Warp],
    place: &mut usize,
) -> Stop {
    let code = machine.code;
    let insts = code.insts.as_ptr();
    let mut warp = &mut warps[*place];
    let mut r = warp.registers.view();
    // SAFETY: every jump goes to an instruction, and the last one is `End`: the bytecode compiler guarantees it (see `Code`).
    let at = |number: u32| unsafe { insts.add(number as usize) };
    let mut ip = at(warp.pc);
    let mut mask = warp.mask;
    let mut rounds = machine.pass.slice;
    machine.shift = warp.stack.shift;
    // A local copy stays in CPU registers. With the totals in memory, LLVM adds to two counters in one instruction,
    // which waits for the stores before it.
    let mut totals = machine.record.totals;
    /// Leaves the loop with the warp's state written back.
    macro_rules! stop {
        ($ip:expr, $stop:expr) => {
            stop!(warp, $ip, $stop)
        };
        ($warp:ident, $ip:expr, $stop:expr) => {{
            // SAFETY: both point into the code.
            $warp.pc = unsafe { $ip.offset_from(insts) } as u32;
            $warp.mask = mask;
            machine.record.totals = totals;
            return $stop;
        }};
    }
    /// The warp has ended or waits at a barrier. The next warp runs if it can and may; otherwise this leaves the loop.
    /// After the last warp the barrier opens, if it may open here, and the first warp is next.
    macro_rules! hand_on {
        ($stop:ident, $state:ident) => {{
            let before = &mut warps[*place];
            // SAFETY: both point into the code.
            before.pc = unsafe { ip.offset_from(insts) } as u32;
            (before.mask, before.state) = (mask, WarpState::$state);
            let next = machine.pass.next;
            // The limits that `over_limit` checks between two warps.
            let may = next != 0
                && totals.charged() <= machine.policy.limit
                && machine.record.printed.len() <= MAX_PRINTED;
            let mut after = place.wrapping_add_signed(next);
            let goes = may
                && loop {
                    if after == machine.pass.tail.first {
                        // A copy, because taking the address of `totals` would force it out of CPU registers.
                        let mut counted = totals;
                        let first = idle_tail::next_pass(machine, warps, &mut counted);
                        totals = counted;
                        let Some(first) = first else { break false };
                        after = first;
                        continue;
                    }
                    let warp = &mut warps[after];
                    let barriers = &mut machine.record.barriers;
                    if warp.state == WarpState::Ready
                        && !warp.idles(code, &mut totals, barriers, machine.policy.limit)
                    {
                        break true;
                    }
                    after = after.wrapping_add_signed(next);
                };
            if !goes {
                let warp = &mut warps[*place];
                stop!(warp, ip, Stop::$stop);
            }
            *place = after;
            warp = &mut warps[after];
            warp.apart = 0;
            machine.observer.begin_warp(warp.number, after);
            r = warp.registers.view();
            (ip, mask, rounds) = (at(warp.pc), warp.mask, machine.pass.slice);
            machine.shift = warp.stack.shift;
            look!();
        }};
    }
    /// Arrives at the block's barrier, which all lanes must reach.
    macro_rules! arrive {
        ($inst:ident) => {{
            totals.weigh($inst, mask);
            let alive = warp.lanes & !warp.gone;
            if mask != alive && $inst.c == 1 && machine.policy.independent_lanes {
                stop!(ip.wrapping_sub(1), Stop::Part);
            }
            if mask != alive {
                let (arrived, missing) = (mask.count_ones(), (alive & !mask).count_ones());
                let kind = TrapKind::BarrierDivergence { arrived, missing };
                stop!(
                    ip.wrapping_sub(1),
                    Stop::Fault(Box::new(Fault {
                        kind,
                        lane: mask.trailing_zeros()
                    }))
                );
            }
            totals.barriers += 1;
            machine.record.barriers[here!()] += 1;
        }};
    }
    /// The number of the current instruction.
    macro_rules! here {
        () => {
            // SAFETY: both point into the code, and `ip` is after the current instruction.
            unsafe { ip.offset_from(insts) as usize - 1 }
        };
    }
    // Whether a register holds an uninitialised value. Only values from memory or from other lanes can introduce one.
    let mut follows = O::SEES_REPEATS && machine.observer.follows();
    /// Asks the observer again.
    macro_rules! look {
        () => {
            if O::SEES_REPEATS {
                follows = machine.observer.follows();
            }
        };
    }
    macro_rules! attempt {
        ($result:expr) => {{
            if let Err(fault) = $result {
                stop!(ip.wrapping_sub(1), Stop::Fault(fault));
            }
            look!();
        }};
    }
    /// The warp's lanes, for operations in which lanes read each other's values.
    macro_rules! lanes {
        ($warp:ident, $mask:ident) => {
            exchange::Lanes {
                active: $mask,
                alive: $warp.lanes & !$warp.gone | $warp.apart,
                // SAFETY: both point into the code, and `ip` is after the current instruction.
                loc: code.locs[unsafe { ip.offset_from(insts) } as usize - 1],
            }
        };
    }
    /// Jumps if no lane is active.
    macro_rules! skip_if_empty {
        ($inst:expr) => {
            if mask == 0 {
                ip = at($inst.b);
            }
        };
    }
    /// Jumps if a comparison of scalars holds.
    macro_rules! jump_if {
        ($inst:ident, $f:path) => {{
            totals.branch($inst, mask, false);
            if lanes::s_holds(r, $inst, $f) {
                ip = at($inst.b);
            }
        }};
    }
    /// Starts the next iteration of a loop at `$head`, unless the limit or the warp's slice is used up.
    macro_rules! next_round {
        ($inst:ident, $head:expr) => {{
            totals.weigh($inst, mask);
            totals.branches += 1;
            ip = at($head);
            rounds -= 1;
            if totals.warp_instructions > machine.policy.limit {
                let kind = TrapKind::Limit {
                    instructions: machine.policy.limit,
                };
                stop!(
                    ip,
                    Stop::Fault(Box::new(Fault {
                        kind,
                        lane: mask.trailing_zeros()
                    }))
                );
            }
            if rounds == 0 {
                if L::WEAK
                    && let Err(fault) = weak::later::all(machine, r, &mut warp.local)
                {
                    stop!(ip, Stop::Fault(fault));
                }
                stop!(ip, Stop::Yield);
            }
        }};
    }
    /// The end of a loop in one instruction: the last addition, the jump back, and the test at the head.
    macro_rules! loop_if {
        ($inst:ident, $f:path) => {{
            if O::SEES_REPEATS
                && !follows
                && overflow::step(r, $inst)
                && machine.observer.risks(here!())
            {
                machine.observer.before(r, $inst, mask, here!());
            }
            lanes::s_step(r, $inst);
            let behind = ip;
            next_round!($inst, $inst.b - 1);
            // SAFETY: the compiler puts the head's jump directly before the jump's target.
            let head: &Inst = unsafe { &*ip };
            totals.branch(head, mask, false);
            if !lanes::s_holds(r, head, $f) {
                ip = at(head.b);
                continue;
            }
            ip = at($inst.b);
            // SAFETY: as for `inst`; the end of a loop is not the last instruction.
            let behind: &Inst = unsafe { &*behind };
            if behind.op == Op::Rounds && !L::PAUSES && !(O::SEES_REPEATS && follows) {
                // As many as the slice and the limit allow, so that either ends where it otherwise would.
                let weight = u64::from($inst.weight) + u64::from(head.weight);
                let room = machine.policy.limit.saturating_sub(totals.warp_instructions);
                let most = (rounds as u64 - 1).min(room / weight.max(1));
                let edge = Edge {
                    row: behind.a,
                    step: $inst,
                    head,
                };
                let rounds_of = &code.rounds[edge.row as usize];
                let ran = match rounds_of.loads.len() <= FEW_LOADS {
                    true => L::rounds(machine, r, mask, &edge, most),
                    false => L::many_rounds(machine, r, mask, &edge, most),
                };
                let ran = u64::from(ran);
                rounds -= ran as u32;
                totals.warp_instructions += ran * weight;
                totals.thread_instructions += ran * weight * u64::from(mask.count_ones());
                totals.branches += (2 + rounds_of.branches) * ran;
                if ran > 0 && !lanes::s_holds(r, head, $f) {
                    ip = at(head.b);
                }
            }
        }};
    }
    loop {
        debug_assert!(
            code.insts.as_ptr_range().contains(&ip),
            "the code ends with `End`"
        );
        // SAFETY: as for `at`; no instruction but jumps and `End` is the last.
        let inst: &Inst = unsafe { &*ip };
        ip = ip.wrapping_add(1);
        if L::PAUSES && machine.is_point[here!()] {
            if machine.pass.points == 0 {
                stop!(ip.wrapping_sub(1), Stop::Pause);
            }
            machine.pass.points -= 1;
        }
        if L::WEAK
            && machine
                .observer
                .views()
                .is_some_and(|views| views.has_later())
        {
            attempt!(weak::later::before(machine, r, mask, inst, &mut warp.local));
        }
        if O::SEES_REPEATS && follows {
            machine.observer.before(r, inst, mask, here!());
            follows = machine.observer.follows();
        }
        if L::WEAK && machine.is_point[here!()] {
            attempt!(weak::access(machine, r, mask, inst, &mut warp.local));
            continue;
        }
        /// Shows the observer an operation with operands that may be invalid, if it does not see all operations.
        macro_rules! risk {
            ($op:ident) => {
                if const { O::SEES_REPEATS && O::RISKY[Op::$op as usize] }
                    && !follows
                    && match const { overflow::is_tested(Op::$op) } {
                        true => overflow::may(Op::$op, r, inst),
                        false => {
                            machine.observer.risks(here!())
                                && overflow::has_bad_operand(Op::$op, r, inst, mask)
                        }
                    }
                {
                    machine.observer.before(r, inst, mask, here!());
                }
            };
        }
        // An `If`, whose body is after the dispatch. It also runs right after the comparison that it depends on.
        let mut parting: Option<&Inst> = None;
        macro_rules! then_if {
            ($compare:ident) => {{
                // SAFETY: as for `inst`; a comparison is not the last instruction.
                let next: &Inst = unsafe { &*ip };
                let is_seen = L::PAUSES || O::SEES_REPEATS && follows;
                if next.op == Op::If && next.a == $compare.d && !is_seen {
                    ip = ip.wrapping_add(1);
                    parting = Some(next);
                }
            }};
        }
        lane_ops! { lane_arms! { jump_ops! { dispatch! { inst, r, code, mask, L, [risk, then_if, jump_if, loop_if], {
            Op::VFmaInto32 => {
                L::Vectors::fma_into32(r, inst);
                // Products of tiles in registers have dozens of these in a row.
                if !(L::PAUSES || O::SEES_REPEATS && follows) {
                    // SAFETY: as for `inst`; this is not the last instruction.
                    while let next = unsafe { &*ip } && next.op == Op::VFmaInto32 {
                        L::Vectors::fma_into32(r, next);
                        ip = ip.wrapping_add(1);
                    }
                }
            }
            Op::Clock => r.set_s(inst.d, totals.warp_instructions & 0xffff_ffff),
            Op::Clock64 => r.set_s(inst.d, totals.warp_instructions),
            Op::ActiveMask => r.set_s(inst.d, u64::from(mask)),
            Op::Shuffle => attempt!(exchange::shuffle::<L::Vectors, O>(machine, r, inst, lanes!(warp, mask))),
            Op::Exchange => attempt!(exchange::others(machine, r, inst, lanes!(warp, mask))),

            Op::Jump => { totals.weigh(inst, mask); ip = at(inst.b); }
            Op::JumpIfNot => { totals.branch(inst, mask, false); if r.s(inst.a) == 0 { ip = at(inst.b); } }
            Op::JumpIf => { totals.branch(inst, mask, false); if r.s(inst.a) != 0 { ip = at(inst.b); } }
            Op::Tick => totals.weigh(inst, mask),
            Op::If => parting = Some(inst),
            Op::Guard => {
                totals.weigh(inst, mask);
                let go = mask & r.mask(inst.a);
                r.set_s(inst.d, u64::from(mask & !go));
                mask = go;
                skip_if_empty!(inst);
            }
            Op::Else => {
                totals.weigh(inst, mask);
                let waiting = r.mask(inst.d);
                r.set_s(inst.d, u64::from(mask));
                mask = waiting;
                skip_if_empty!(inst);
            }
            Op::Join => { totals.weigh(inst, mask); mask |= r.mask(inst.d); r.set_s(inst.d, 0); skip_if_empty!(inst); }
            Op::Clear => r.set_s(inst.d, 0),
            Op::Park => {
                totals.weigh(inst, mask);
                r.set_s(inst.d, u64::from(r.mask(inst.d) | mask));
                mask = 0;
                ip = at(inst.b);
            }
            Op::ParkIf | Op::ParkIfNot => {
                let cond = if inst.op == Op::ParkIf { r.mask(inst.a) } else { !r.mask(inst.a) };
                let leave = mask & cond;
                totals.branch(inst, mask, leave != 0 && leave != mask);
                if leave != 0 && leave != mask {
                    machine.diverges(here!(), leave, mask & !leave);
                }
                r.set_s(inst.d, u64::from(r.mask(inst.d) | leave));
                mask &= !leave;
                skip_if_empty!(inst);
            }
            Op::ExitIf | Op::ExitIfNot => {
                let cond = if inst.op == Op::ExitIf { r.mask(inst.a) } else { !r.mask(inst.a) };
                let leave = mask & cond;
                totals.branch(inst, mask, leave != 0 && leave != mask);
                if leave != 0 && leave != mask {
                    machine.diverges(here!(), leave, mask & !leave);
                }
                warp.leave(leave, here!());
                mask &= !leave;
                skip_if_empty!(inst);
            }
            Op::Loop => next_round!(inst, inst.b),
            Op::Exit => { totals.weigh(inst, mask); warp.leave(mask, here!()); mask = 0; ip = at(inst.b); }
            Op::End => { totals.weigh(inst, mask); warp.leave(mask, here!()); mask = 0; hand_on!(Done, Done); }

            Op::LoadShared => attempt!(L::shared::<false, O>(machine, r, mask, inst)),
            Op::StoreShared => attempt!(L::shared::<true, O>(machine, r, mask, inst)),
            Op::AtomicShared => attempt!(atomic::shared(machine, r, mask, inst)),
            Op::LoadGlobal => attempt!(L::global::<false, O>(machine, r, mask, inst)),
            Op::StoreGlobal => attempt!(L::global::<true, O>(machine, r, mask, inst)),
            Op::AtomicGlobal => attempt!(atomic::global(machine, r, mask, inst)),
            Op::LoadLocal => attempt!(local::load_local(machine, r, mask, inst, &warp.local)),
            Op::StoreLocal => attempt!(local::store_local(machine, r, mask, inst, &mut warp.local)),
            Op::AtomicLocal => attempt!(atomic::local(machine, r, mask, inst, &mut warp.local)),
            Op::LoadGeneric | Op::StoreGeneric | Op::AtomicGeneric => attempt!(generic::generic(machine, r, mask, inst, &mut warp.local)),

            Op::Barrier => {
                arrive!(inst);
                // The shortcut is only for runs in which no observer has to see the barrier's instructions.
                if inst.b != 0 && machine.pass.next != 0 && !L::PAUSES && !(O::SEES_REPEATS && follows) {
                    warp.begins_idle::<L>(code, r, inst.b, mask);
                }
                hand_on!(Barrier, AtBarrier);
            }
            Op::BarrierCount | Op::BarrierAnd | Op::BarrierOr => {
                arrive!(inst);
                let vote = match inst.op {
                    Op::BarrierCount => Vote::Count,
                    Op::BarrierAnd => Vote::And,
                    _ => Vote::Or,
                };
                warp.vote = Some((vote, mask & r.mask(inst.a), inst.d));
                hand_on!(Barrier, AtBarrier);
            }
            Op::NumberedBarrier => {
                let aligned = code.barriers[inst.a as usize].aligned || !machine.policy.independent_lanes;
                let alive = warp.lanes & !warp.gone;
                if mask != alive && !aligned {
                    stop!(ip.wrapping_sub(1), Stop::Part);
                }
                if mask != alive {
                    let (arrived, missing) = (mask.count_ones(), (alive & !mask).count_ones());
                    let kind = TrapKind::BarrierDivergence { arrived, missing };
                    stop!(ip.wrapping_sub(1), Stop::Fault(Box::new(Fault { kind, lane: mask.trailing_zeros() })));
                }
                totals.weigh(inst, mask);
                totals.barriers += 1;
                machine.record.barriers[here!()] += 1;
                stop!(ip, Stop::Numbered);
            }
            // Lanes in lockstep need not wait for each other. The checks validate the mask.
            Op::SyncWarp => {
                if exchange::sync_warp(machine, r, inst, lanes!(warp, mask)) {
                    stop!(ip.wrapping_sub(1), Stop::Apart);
                }
            }
            Op::Fence => machine.observer.fence(mask, FenceScope::ALL[inst.a as usize], inst.b == 1),
            Op::Tally => {
                totals.branches += u64::from(inst.c);
                for tally in &code.tallies[inst.a as usize..inst.b as usize] {
                    machine.patterns[tally.site as usize].hits.count_times(mask, tally.times.into());
                }
            }
            Op::Lifetime => machine.observer.lifetime(mask, (inst.a.wrapping_add(machine.shift), inst.b), inst.c == 1),
            Op::Print => attempt!(print::print(machine, r, mask, inst, &warp.local)),
            Op::HeapMalloc => heap::malloc(machine, r, mask, inst, code.locs[here!()]),
            Op::HeapFree => attempt!(heap::free(machine, r, mask, inst, code.locs[here!()])),
            Op::LaunchChild => print::launch(machine, r, mask, inst),
            Op::Assert => attempt!(print::assert(machine, r, mask, inst)),
            Op::Trap => attempt!(print::trap(machine.module, mask, inst)),

            Op::CallRoutine => {
                totals.weigh(inst, mask);
                rounds = rounds.saturating_sub(1);
                if totals.warp_instructions > machine.policy.limit {
                    let kind = TrapKind::Limit { instructions: machine.policy.limit };
                    stop!(ip.wrapping_sub(1), Stop::Fault(Box::new(Fault { kind, lane: mask.trailing_zeros() })));
                }
                match routine::enter(machine, warp, mask, here!(), inst) {
                    Ok(entry) => {
                        ip = at(entry);
                        look!();
                    }
                    Err(fault) => stop!(ip.wrapping_sub(1), Stop::Fault(fault)),
                }
                if rounds == 0 {
                    stop!(ip, Stop::Yield);
                }
            }
            Op::EndRoutine => {
                totals.weigh(inst, mask);
                let (next, lanes) = routine::leave(machine, warp);
                ip = at(next);
                mask = lanes;
                look!();
            }

            Op::Rounds => unreachable!("a loop's end jumps, and its exits lead behind it"),
            Op::HostLocal | Op::HostNonZero | Op::HostReads | Op::HostAssigns | Op::HostLoad | Op::HostStore | Op::HostAtomic | Op::Call | Op::HostCall
            | Op::Launch | Op::Return => unreachable!("host instructions are in host functions"),
            Op::ReplayMask | Op::ReplayTest | Op::ReplayBegin | Op::ReplayTurn | Op::ReplayBarrier | Op::ReplayLoad | Op::ReplayStore | Op::ReplayLoadRun
            | Op::ReplayLoadFew | Op::ReplayStoreRun | Op::ReplayStoreSome | Op::ReplayLoadWindow | Op::ReplayStoreWindow | Op::ReplayEnd => {
                unreachable!("these are in lists of what a block did")
            }
        } } } } }
        if let Some(inst) = parting {
            let (go, stay) = (mask & r.mask(inst.a), mask & !r.mask(inst.a));
            totals.branch(inst, mask, go != 0 && stay != 0);
            totals.branches += u64::from(inst.c);
            if go != 0 && stay != 0 {
                machine.diverges(here!(), go, stay);
            }
            // SAFETY: as for `at`.
            let after: &Inst = unsafe { &*at(inst.b) };
            let joins = after.op == Op::Join && after.d == inst.d;
            if go == 0 && joins && !L::PAUSES && !(O::SEES_REPEATS && follows) {
                // No lane takes the branch, so all reconverge at once.
                totals.weigh(after, 0);
                r.set_s(inst.d, 0);
                ip = at(inst.b + 1);
                continue;
            }
            r.set_s(inst.d, u64::from(stay));
            mask = go;
            skip_if_empty!(inst);
        }
    }
}
