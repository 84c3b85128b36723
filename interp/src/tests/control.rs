//! Divergence, loops, barriers, deadlocks.

use super::{Bench, OUT_N};
use crate::TrapKind;
use crate::rules::{Arch, RuleSet};

/// Stores `%v` of each thread (named `%value`) to `out[tid]`; `body` must leave it in slot `$2`.
fn per_thread(slots: &str, body: &str) -> String {
    format!("slot $2 : i32 \"r\"\n{slots}\n{body}\n")
}

/// A warp beyond `n` executes the special register, the comparison and the branch, and nothing of what comes after them.
#[test]
fn a_warp_that_returns_early_is_charged_until_there() {
    let body = "%0 = special.tid.x
         %1 = get $1
         %2 = cmp.sge.i32 %0, %1
         if %2 { return }
         %3 = get $0
         %4 = mul.i32 %0, 3
         %5 = ptradd %3, %0 * 4
         store.i32.global %5, %4";
    let counts = |threads| {
        let mut bench = Bench::kernel(OUT_N, body);
        let out = bench.ints(&[0; 32]);
        let counts = bench.launch(1, threads, &[out, 32]).counts;
        (
            counts.warp_instructions,
            counts.thread_instructions,
            counts.branches,
        )
    };
    let (alone, with_another) = (counts(32), counts(64));
    assert_eq!(
        with_another,
        (alone.0 + 3, alone.1 + 3 * 32, alone.2 + 1),
        "beyond {alone:?}"
    );
}

/// A warp executes an instruction with a predicate in any case, and makes a request if a lane has it. It never branches.
#[test]
fn a_guard_is_no_branch() {
    let body = "%0 = special.tid.x
         %1 = get $1
         %2 = cmp.slt.i32 %0, %1
         %3 = get $0
         %4 = ptradd %3, %0 * 4
         guard %2 {
           %5 = mul.i32 %0, 3
           store.i32.global %4, %5
         }
         store.i32.global %4, 7";
    let counts = |most| {
        let mut bench = Bench::kernel(OUT_N, body);
        let out = bench.ints(&[0; 64]);
        let counts = bench.launch(1, 64, &[out, most]).counts;
        let requests = counts.global_store.requests;
        (
            counts.warp_instructions,
            requests,
            counts.branches,
            counts.divergent_branches,
        )
    };
    let instructions = counts(64).0;
    assert_eq!(counts(64), (instructions, 4, 0, 0));
    assert_eq!(counts(33), (instructions, 4, 0, 0));
    assert_eq!(counts(5), (instructions, 3, 0, 0));
    assert_eq!(counts(0), (instructions, 2, 0, 0));
}

#[test]
fn if_else_keeps_lanes_apart_and_joins_them() {
    let body = per_thread(
        "",
        "%0 = special.tid.x
         %1 = and.i32 %0, 1
         %2 = cmp.eq.i32 %1, 0
         if %2 { set $2, 10 } else { set $2, 20 }
         %3 = get $2
         %4 = add.i32 %3, %0
         %5 = get $0
         %6 = ptradd %5, %0 * 4 + 0
         store.i32.global %6, %4",
    );
    let mut bench = Bench::kernel(OUT_N, &body);
    let out = bench.ints(&[0; 40]);
    let report = bench.launch(1, 40, &[out, 40]);
    let expected: Vec<i32> = (0..40)
        .map(|t| t + if t % 2 == 0 { 10 } else { 20 })
        .collect();
    assert_eq!(bench.read(out, 40), expected);
    assert_eq!(
        (
            report.counts.branches,
            report.counts.divergent_branches,
            report.counts.warps
        ),
        (2, 2, 2)
    );
    // Half of each warp's lanes: of 32 and of 8.
    let divergence = report
        .branches
        .iter()
        .map(|branch| (branch.divergent, branch.fewer_lanes));
    assert!(divergence.eq([(2, 16 + 4)]));
    // special, and, cmp, if, add, ptradd, store per warp.
    assert_eq!(report.counts.warp_instructions, 14);
    assert_eq!(report.counts.thread_instructions, 7 * 40);
}

/// `r = 0; for (i = 0; i < tid; i++) { if (i % 3 == 1) continue; if (i > 20) break; r += i; }`
#[test]
fn divergent_loop_with_continue_and_break() {
    let body = per_thread(
        "slot $3 : i32 \"i\"",
        "%0 = special.tid.x
         set $2, 0
         set $3, 0
         loop L0 {
           %1 = get $3
           %2 = cmp.slt.i32 %1, %0
           if %2 {} else { break L0 }
           %3 = srem.i32 %1, 3
           %4 = cmp.eq.i32 %3, 1
           if %4 { continue L0 }
           %5 = cmp.sgt.i32 %1, 20
           if %5 { break L0 }
           %6 = get $2
           %7 = add.i32 %6, %1
           set $2, %7
         } step {
           %8 = get $3
           %9 = add.i32 %8, 1
           set $3, %9
         }
         %10 = get $2
         %11 = get $0
         %12 = ptradd %11, %0 * 4 + 0
         store.i32.global %12, %10",
    );
    let mut bench = Bench::kernel(OUT_N, &body);
    let out = bench.ints(&[0; 64]);
    bench.launch(1, 64, &[out, 64]);
    let expected: Vec<i32> = (0..64)
        .map(|t| (0..t).filter(|i| i % 3 != 1).take_while(|&i| i <= 20).sum())
        .collect();
    assert_eq!(bench.read(out, 64), expected);
}

#[test]
fn uniform_loop_is_not_divergent() {
    let body = per_thread(
        "slot $3 : i32 \"i\"",
        "%0 = special.tid.x
         set $2, 0
         set $3, 0
         %13 = get $1
         loop L0 {
           %1 = get $3
           %2 = cmp.slt.i32 %1, %13
           if %2 {} else { break L0 }
           %6 = get $2
           %7 = add.i32 %6, %0
           set $2, %7
         } step {
           %8 = get $3
           %9 = add.i32 %8, 1
           set $3, %9
         }
         %10 = get $2
         %11 = get $0
         %12 = ptradd %11, %0 * 4 + 0
         store.i32.global %12, %10",
    );
    let body = renumber(&body);
    let mut bench = Bench::kernel(OUT_N, &body);
    let out = bench.ints(&[0; 32]);
    let report = bench.launch(1, 32, &[out, 5]);
    assert_eq!(
        bench.read(out, 32),
        (0..32).map(|t| 5 * t).collect::<Vec<_>>()
    );
    assert_eq!(report.counts.divergent_branches, 0);
    assert_eq!(report.counts.branches, 6 + 5);
}

/// Values must be numbered in order, which the tests need not do.
fn renumber(text: &str) -> String {
    let mut order: Vec<String> = Vec::new();
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out += &rest[..at];
        let digits = rest[at + 1..]
            .chars()
            .take_while(char::is_ascii_digit)
            .count();
        let name = &rest[at + 1..at + 1 + digits];
        let number = order
            .iter()
            .position(|known| known == name)
            .unwrap_or_else(|| {
                order.push(name.to_owned());
                order.len() - 1
            });
        out += &format!("%{number}");
        rest = &rest[at + 1 + digits..];
    }
    out + rest
}

#[test]
fn return_takes_lanes_out_for_good() {
    let body = "%0 = special.tid.x
         %1 = get $1
         %2 = cmp.sge.i32 %0, %1
         if %2 { return }
         %3 = get $0
         %4 = ptradd %3, %0 * 4 + 0
         store.i32.global %4, 7
         barrier";
    let mut bench = Bench::kernel(OUT_N, body);
    let out = bench.ints(&[0; 64]);
    let report = bench.launch(1, 64, &[out, 35]);
    let expected: Vec<i32> = (0..64).map(|t| if t < 35 { 7 } else { 0 }).collect();
    assert_eq!(bench.read(out, 64), expected);
    assert_eq!(
        (report.counts.barriers, report.counts.divergent_branches),
        (2, 1)
    );
    assert_eq!(report.counts.global_store.active_lanes, 35);
}

#[test]
fn barrier_in_a_divergent_branch_traps_and_says_who_waits_where() {
    let body = "%0 = special.tid.x
         %1 = cmp.slt.i32 %0, 10 !1
         if %1 !2 { barrier !3 }";
    let mut bench = Bench::new(&format!(
        "kernel fn0 @k() {{\n{body}\n}}\nfile 0 \"t\"\nloc !1 = 0:1:1\nloc !2 = 0:2:1\nloc !3 = 0:3:1\n"
    ));
    let trap = bench.trap(1, 32, &[]);
    assert_eq!(
        trap.kind,
        TrapKind::BarrierDivergence {
            arrived: 10,
            missing: 22
        }
    );
    assert_eq!(trap.loc.0, 3);
    assert_eq!(
        (
            trap.others.len(),
            trap.others[0].loc.0,
            trap.others[0].threads,
            trap.others[0].thread
        ),
        (1, 2, 22, [10, 0, 0])
    );
}

#[test]
fn barrier_reductions_count_the_block() {
    let body = "%0 = special.tid.x
         %1 = cmp.slt.i32 %0, 40
         %2 = barrier.count %1
         %3 = barrier.and %1
         %4 = barrier.or %1
         %5 = get $0
         %6 = ptradd %5, %0 * 12 + 0
         store.i32.global %6, %2
         %7 = ptradd %5, %0 * 12 + 4
         store.i32.global %7, %3
         %8 = ptradd %5, %0 * 12 + 8
         store.i32.global %8, %4";
    let mut bench = Bench::kernel(OUT_N, body);
    let out = bench.ints(&[9; 300]);
    bench.launch(1, 100, &[out, 0]);
    for t in 0..100 {
        assert_eq!(bench.read(out, 300)[3 * t..3 * t + 3], [40, 0, 1]);
    }
}

/// The classic `while (atomicCAS(&lock, 0, 1)) ;` within a warp. In lockstep the winner waits for the losers, which
/// wait for it. Lanes that run separately can go on.
#[test]
fn spin_lock_within_a_warp_needs_independent_lanes() {
    let body = "%0 = get $0
         loop L0 {
           %1 = atomic.cas.i32.global %0, 1 when 0
           %2 = cmp.eq.i32 %1, 0
           if %2 { break L0 }
         }
         %3 = atomic.exch.i32.global %0, 0";
    let mut bench = Bench::kernel(OUT_N, body);
    let out = bench.ints(&[0]);
    bench.launch(2, 32, &[out, 0]);
    assert_eq!(bench.read(out, 1), [0]);
    bench.machine.rules = RuleSet::for_arch(Arch::SM_60);
    let trap = bench.trap(2, 32, &[out, 0]);
    assert_eq!(trap.kind, TrapKind::Deadlock);
}

/// Every block adds one and waits until all have. This works only if other blocks start while some are suspended.
#[test]
fn blocks_that_wait_for_each_other_take_turns() {
    let body = "%0 = get $0
         %1 = special.tid.x
         %2 = cmp.eq.i32 %1, 0
         if %2 {
           %3 = atomic.add.i32.global %0, 1
           loop L0 {
             %4 = load.i32.global.volatile %0
             %5 = special.nctaid.x
             %6 = cmp.eq.i32 %4, %5
             if %6 { break L0 }
           }
         }
         barrier
         %7 = special.ctaid.x
         %8 = ptradd %0, %7 * 4 + 4
         store.i32.global %8, 1";
    let mut bench = Bench::kernel(OUT_N, body);
    let out = bench.ints(&[0; 20]);
    bench.launch(16, 64, &[out, 0]);
    assert_eq!(bench.read(out, 17), [vec![16], vec![1; 16]].concat());
}

/// The same with a barrier in the loop: the block always makes progress, and must let others run anyway.
#[test]
fn blocks_that_wait_around_a_barrier_take_turns() {
    let body = "%0 = get $0
         %1 = special.tid.x
         %2 = cmp.eq.i32 %1, 0
         if %2 {
           %3 = atomic.add.i32.global %0, 1
         }
         loop L0 {
           barrier
           %4 = load.i32.global.volatile %0
           %5 = special.nctaid.x
           %6 = cmp.eq.i32 %4, %5
           if %6 { break L0 }
         }
         %7 = special.ctaid.x
         %8 = ptradd %0, %7 * 4 + 4
         store.i32.global %8, 1";
    let mut bench = Bench::kernel(OUT_N, body);
    let out = bench.ints(&[0; 20]);
    bench.launch(16, 64, &[out, 0]);
    assert_eq!(bench.read(out, 17), [vec![16], vec![1; 16]].concat());
}

#[test]
fn a_loop_that_goes_on_ends_at_the_limit() {
    let body = "slot $2 : i32 \"i\"\nset $2, 0\nloop L0 {\n%0 = get $2\n%1 = add.i32 %0, 1\nset $2, %1\n\
                %2 = cmp.eq.i32 %1, -1\nif %2 { break L0 }\n}";
    let mut bench = Bench::kernel(OUT_N, body);
    bench.machine.limit = Some(100_000);
    assert_eq!(
        bench.trap(1, 32, &[0, 0]).kind,
        TrapKind::Limit {
            instructions: 100_000
        }
    );
}

#[test]
fn a_loop_that_cannot_end_is_told_at_once() {
    let body =
        "slot $2 : i32 \"i\"\nset $2, 0\nloop L0 {\n%0 = get $2\n%1 = add.i32 %0, 1\nset $2, %1\n}";
    let mut bench = Bench::kernel(OUT_N, body);
    assert_eq!(bench.trap(1, 32, &[0, 0]).kind, TrapKind::Endless);
}

const SUM: &str = "routine R0 \"sum\" ($3) -> ($4)
    slot $2 : i32 \"r\"
    slot $3 : i32 \"n\"
    slot $4 : i32 \"sum\"
    slot $5 : i32 \"kept\"
    local local0 \"a\" \"int\" [4] : 16 align 4 element 4";

/// `sum(n) = n == 0 ? 0 : n + sum(n - 1)`, with `n` kept in a variable and in local memory.
const SUM_CODE: &str = "code R0 {
    %0 = get $3
    set $5, %0
    %1 = addr local0
    store.i32.local %1, %0
    %2 = cmp.eq.i32 %0, 0
    if %2 {
      set $4, 0
    } else {
      %3 = sub.i32 %0, 1
      %4 = call R0(%3)
      %5 = get $5
      %6 = load.i32.local %1
      %7 = add.i32 %4, %5
      %8 = add.i32 %7, %6
      set $4, %8
    }
  }";

#[test]
fn each_call_of_a_routine_has_variables_of_its_own() {
    let body = format!(
        "{SUM} {SUM_CODE}
         %9 = special.tid.x
         %10 = get $1
         %11 = urem.i32 %9, %10
         %12 = call R0(%11)
         %13 = get $0
         %14 = ptradd %13, %9 * 4 + 0
         store.i32.global %14, %12"
    );
    let mut bench = Bench::kernel(OUT_N, &body);
    let out = bench.ints(&[0; 40]);
    let report = bench.launch(1, 40, &[out, 6]);
    let expected: Vec<i32> = (0..40).map(|t| t % 6 * (t % 6 + 1)).collect();
    assert_eq!(bench.read(out, 40), expected);
    // One branch for each depth that a warp reaches.
    assert_eq!(report.counts.branches, 2 * 6);
    assert_eq!(report.counts.divergent_branches, 2 * 5);
}

#[test]
fn calls_without_end_overflow_the_stack() {
    let body =
        format!("{SUM} {SUM_CODE} %9 = call R0(i32 -1) %10 = get $0 store.i32.global %10, %9");
    let mut bench = Bench::kernel(OUT_N, &body);
    let out = bench.ints(&[0; 1]);
    let trap = bench.trap(1, 32, &[out, 0]);
    assert_eq!(
        trap.kind,
        TrapKind::CallsTooDeep {
            routine: "sum".into(),
            depth: 4096,
            limit: 64 << 10
        }
    );
}
