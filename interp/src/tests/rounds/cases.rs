//! Loops that each test one rule of running rounds together: without the rule, the result would be different.

use crate::Shortcut;
use crate::tests::plainly;
use std::fmt::Write;

use crate::config::Checks;
use crate::tests::{AT_ONCE, Bench, OUT_N};

/// A kernel with a loop that runs `%20` from 0 to `n`: the code before it (temporaries below 20), in it (below 40), and
/// after it.
fn loop_of(before: &str, body: &str, behind: &str) -> String {
    let mut text = format!(
        "kernel fn0 @k({OUT_N}) {{
         shared shared0 \"s\" \"float\" [4][32] : 512 align 4 element 4 at 0
         local local0 \"l\" \"float\" [2] : 8 align 4 element 4
         slot $2 : f32 \"sum\"
         slot $3 : i32 \"k\"
         slot $4 : i32 \"before\"
         slot $5 : i32 \"next\"
         slot $6 : f32 \"last\"
         slot $7 : i32 \"j\"
         slot $8 : f32 \"other\"
         slot $9 : f32 \"uniform\"
         %0 = special.tid.x
         %1 = special.ctaid.x
         %2 = get $0
         %3 = addr shared0
         {before}
         set $2, 0.0
         set $4, %0
         set $5, 0
         set $6, 0.0
         set $8, 0.0
         set $9, 0.0
         set $3, 0
         loop L0 {{
           %20 = get $3
           %21 = get $1
           %22 = cmp.slt.i32 %20, %21
           if %22 {{
           }} else {{
             break L0
           }}
           {body}
         }} step {{
           %40 = get $3
           %41 = add.i32 %40, 1
           set $3, %41
         }}
         {behind}
         }}
         file 0 \"t\""
    );
    for loc in 1..=9 {
        write!(text, "\nloc !{loc} = 0:{loc}:1").expect("memory");
    }
    text
}

/// The index of an address is extended from 32 bits. If it passes their end, the address jumps, although the counter
/// moves evenly.
#[test]
fn an_index_that_passes_the_end_of_32_bits_leaps() {
    // A uniform index, and one that is added to each lane's. Each round is one sector further, so all of them cost the
    // same.
    for index in [
        "%25 = add.i32 %24, 2147483600",
        "%26 = add.i32 %24, 2147483600\n%25 = add.i32 %26, %0",
    ] {
        let mut bench = Bench::new(&loop_of(
            "%4 = ptradd %2, -2147483600 * 4
             %5 = ptradd %2, %0 * 4",
            &format!(
                "%23 = load.f32.global %5 !2
                 %24 = mul.i32 %20, 8
                 {index}
                 %27 = ptradd %4, %25 * 4
                 %28 = load.f32.global %27 !3
                 %29 = get $2
                 %30 = fma.f32 %23, %28, %29
                 set $2, %30"
            ),
            "%42 = get $2
             store.f32.global %5, %42",
        ));
        let data = bench.ints(&[0x3f80_0000; 128]);
        AT_ONCE.set(0);
        bench.launch(1, 4, &[data, 5]);
        assert_eq!(AT_ONCE.get(), 4, "{index}: all rounds but the first");
        let trap = bench.trap(1, 4, &[data, 12]);
        let line = bench.program.module().loc(trap.loc).line;
        assert_eq!(line, 3, "{}", trap.kind);
    }
}

/// A subscript that wraps around is out of bounds in every second round, although its bytes are not: in the second of
/// the rounds that run together, but neither in the first nor in the last.
#[test]
fn a_subscript_that_wraps_around_is_reported_in_every_round() {
    let text = loop_of(
        "%4 = ptradd %3, %0 * 4
         store.f32.shared %4, 1.0
         barrier",
        "%23 = mul.i32 %20, -2147483648
         %24 = add.i32 %23, -2147483648
         %25 = ptradd %3, %24 * 4
         %26 = load.f32.shared %25 of shared0 within 32 !2
         %27 = load.f32.shared %4 of shared0 within 32 !3
         %28 = get $2
         %29 = fma.f32 %26, %27, %28
         set $2, %29",
        "%42 = get $2
         store.f32.global %2, %42",
    );
    let beyond = |one_by_one: bool| {
        plainly(Shortcut::Rounds, one_by_one);
        let mut bench = Bench::new(&text);
        bench.machine.checks = Checks::ALL;
        let out = bench.ints(&[0]);
        let report = bench.launch(1, 32, &[out, 16]);
        plainly(Shortcut::Rounds, false);
        let counts = report
            .findings
            .iter()
            .map(|finding| (finding.kind, finding.count));
        counts.collect::<Vec<_>>()
    };
    let found = beyond(false);
    assert_eq!(found, beyond(true));
    assert!(!found.is_empty(), "{found:?}");
}

/// An overflow that is the same in every round is counted in every round.
#[test]
fn what_overflows_in_every_round_is_reported_as_often() {
    let lanes = |factor: i32, one_by_one: bool| {
        plainly(Shortcut::Rounds, one_by_one);
        let mut bench = Bench::new(&loop_of(
            &format!("%4 = get $1\n%5 = add.i32 %4, {factor}"),
            "%23 = smul.i32 %0, %5 !1
             %24 = and.i32 %23, 8
             %25 = add.i32 %20, %24
             %26 = ptradd %2, %25 * 4
             %27 = load.f32.global %26
             %28 = ptradd %2, %0 * 4
             %29 = load.f32.global %28
             %30 = get $2
             %31 = fma.f32 %27, %29, %30
             set $2, %31",
            "%42 = get $2
             %43 = cmp.flt.f32 %42, 0.0
             if %43 {
               set $2, 1.0
             }",
        ));
        bench.machine.checks = Checks::ALL;
        let data = bench.ints(&[0x3f80_0000; 64]);
        AT_ONCE.set(0);
        let report = bench.launch(1, 32, &[data, 9]);
        plainly(Shortcut::Rounds, false);
        let counts = report.findings.iter().map(|finding| finding.count);
        counts.sum::<u64>()
    };
    assert_eq!(lanes(3, false), 0);
    assert_eq!(AT_ONCE.get(), 8, "all rounds but the first");
    // 2^31 and more, in all lanes but the first two.
    assert_eq!(lanes(1 << 30, true), 9 * 30);
    assert_eq!(lanes(1 << 30, false), 9 * 30);
}

/// An uninitialised word is tracked where it was copied to, and only a later round reaches it.
#[test]
fn a_copy_of_what_nobody_wrote_is_found_in_its_round() {
    let text = loop_of(
        "%4 = ptradd %2, %0 * 4
         %5 = load.f32.global %4
         %6 = ptradd %3, %0 * 4
         store.f32.shared %6, %5
         barrier
         %7 = and.i32 %0, 31
         %8 = add.i32 %7, 32
         %9 = ptradd %3, %8 * 4",
        "%23 = ptradd %3, %20 * 4
         %24 = load.f32.shared %23 of shared0
         %25 = load.f32.shared %9 of shared0
         %26 = get $2
         %27 = fma.f32 %24, %25, %26
         set $2, %27",
        "%42 = get $2
         %43 = cmp.flt.f32 %42, 0.0 !1
         if %43 !1 {
           set $2, 1.0
         }
         %44 = get $2
         store.f32.global %4, %44",
    );
    let found = |unwritten: Option<u64>| {
        let mut bench = Bench::new(&text);
        bench.machine.checks = Checks::ALL;
        let data = bench.memory.malloc_device(256).expect("memory");
        for at in (0..64).filter(|&at| Some(at) != unwritten) {
            let word = 1.0f32.to_le_bytes();
            let written = bench.memory.write_bytes(data + 4 * at, &word);
            written.expect("inside");
        }
        AT_ONCE.set(0);
        bench.launch(1, 64, &[data, 31]).findings.len()
    };
    assert_eq!(found(None), 0);
    assert_eq!(AT_ONCE.get(), 2 * 30, "all rounds but the first");
    assert_eq!(found(Some(20)), 1);
}

/// Four blocks read memory that is never written. The fifth differs only in the number of rounds.
#[test]
fn a_block_of_more_rounds_is_not_like_the_others() {
    let text = loop_of(
        "%4 = lshr.i32 %1, 2
         %5 = mul.i32 %4, 40
         %6 = ptradd %3, %0 * 4
         store.f32.shared %6, 1.0 !1
         %7 = ptradd %3, %0 * 4 + 256
         store.f32.shared %7, 1.0 !2
         barrier
         %8 = cmp.sge.i32 %0, 32
         if %8 {
           store.f32.shared %6, 2.0 !3
         }
         %9 = and.i32 %0, 31
         %10 = ptradd %3, %9 * 4
         %11 = and.i32 %0, 32
         %12 = ptradd %3, %11 * 8
         %13 = get $1
         %14 = add.i32 %5, %13
         set $1, %14",
        "%23 = ptradd %12, %20 * 4
         %24 = load.f32.shared %23 of shared0 !4
         %25 = load.f32.shared %10 of shared0 !5
         %26 = get $2
         %27 = fma.f32 %24, %25, %26
         set $2, %27",
        "",
    );
    let mut bench = Bench::new(&text);
    bench.machine.checks = Checks::ALL;
    let out = bench.ints(&[0; 64]);
    AT_ONCE.set(0);
    assert_eq!(bench.launch(4, 64, &[out, 8]).findings.len(), 0);
    assert_eq!(AT_ONCE.get(), 4 * 7, "in the warp that stores nothing");
    assert_eq!(bench.launch(5, 64, &[out, 8]).findings.len(), 1);
}

/// A number below 8 for a place. Eight places further it is a different one.
fn number(at: usize) -> u32 {
    (at / 8 + at) as u32 % 8
}

/// Blocks that read in later rounds what earlier blocks wrote must run in order.
#[test]
fn a_later_round_reads_what_a_block_before_wrote() {
    let text = loop_of(
        "%4 = ptradd %2, %1 * 128 + 512
         %5 = ptradd %4, %0 * 4
         %6 = ptradd %3, %0 * 4
         store.f32.shared %6, 1.0",
        "%23 = mul.i32 %20, -32
         %24 = ptradd %4, %23 * 4
         %25 = ptradd %24, %0 * 4
         %26 = load.f32.global %25
         %27 = load.f32.shared %6
         %28 = get $2
         %29 = fma.f32 %26, %27, %28
         set $2, %29",
        "%42 = get $2
         store.f32.global %5, %42",
    );
    let words = |jobs: usize| {
        let mut bench = Bench::new(&text);
        bench.machine.jobs = jobs;
        let data = bench.ints(&[1.0f32.to_bits() as i32; 32 * 68]);
        AT_ONCE.set(0);
        bench.launch(64, 32, &[data, 4]);
        (bench.read(data, 32 * 68), AT_ONCE.get())
    };
    let (in_order, at_once) = words(1);
    assert_eq!(at_once, 64 * 3, "all rounds but the first");
    for jobs in [2, 3, 8] {
        assert_eq!(words(jobs).0, in_order, "{jobs} jobs");
    }
}

/// A `volatile` flag that only a later round reaches orders what the other block did before it.
#[test]
fn a_flag_is_seen_in_its_round() {
    let mut bench = Bench::new(&loop_of(
        "%4 = ptradd %2, 0 * 0 + 256
         %5 = ptradd %2, 0 * 0 + 352
         %6 = ptradd %3, %0 * 4
         store.f32.shared %6, 1.0
         %7 = cmp.eq.i32 %1, 0
         if %7 {
           store.i32.global %2, 1 !1
           fence.device
           store.f32.global.volatile %5, 1.0 !2
         }",
        "%23 = ptradd %4, %20 * 32
         %24 = load.f32.global.volatile %23 !3
         %25 = load.f32.shared %6
         %26 = get $2
         %27 = fma.f32 %24, %25, %26
         set $2, %27",
        "fence.device
         %42 = load.i32.global %2 !4
         %43 = ptradd %2, %1 * 4 + 512
         store.i32.global %43, %42 !5",
    ));
    bench.machine.checks = Checks::ALL;
    let data = bench.ints(&[0; 256]);
    let mut racing = |rounds| {
        let report = bench.launch(2, 1, &[data, rounds]);
        let reads = report
            .findings
            .iter()
            .map(|finding| finding.accesses[1].loc);
        reads
            .map(|loc| bench.program.module().loc(loc).line)
            .collect::<Vec<_>>()
    };
    assert_eq!(racing(4), [3], "the flag itself, which nobody waits for");
    assert_eq!(racing(3), [4], "the data");
}

/// The sum of `$2`, `$4`, `$6` and `$9` in 32 lanes, after ten rounds of a body. From `%2` on there are 64 ones, 128 of
/// those numbers, and the same as `float`.
fn sums(body: &str) -> Vec<f32> {
    let mut bench = Bench::new(&loop_of(
        "%4 = ptradd %2, %0 * 4",
        body,
        "%42 = get $2
         %43 = get $6
         %44 = fadd.f32 %42, %43
         %45 = get $4
         %46 = cvt.f32.s32 %45
         %47 = fadd.f32 %44, %46
         %48 = get $9
         %49 = fadd.f32 %47, %48
         store.f32.global %4, %49",
    ));
    let ones = [1.0f32.to_bits() as i32; 64];
    let numbers: [i32; 128] = std::array::from_fn(|at| number(at) as i32);
    let floats = numbers.map(|number| (number as f32).to_bits() as i32);
    let data = bench.ints(&[&ones[..], &numbers[..], &floats[..]].concat());
    AT_ONCE.set(0);
    bench.launch(1, 32, &[data, 10]);
    let words = bench.read(data, 32);
    words
        .iter()
        .map(|&word| f32::from_bits(word as u32))
        .collect()
}

/// A value that the body computes can be in the register of a later load, and is gone when the next round begins.
#[test]
fn what_is_the_same_in_every_round_gives_way_to_what_is_loaded() {
    let found = sums(
        "%23 = load.f32.global %4
         %24 = cvt.f32.s32 %0
         %25 = get $2
         %26 = fma.f32 %24, %23, %25
         set $2, %26
         %28 = ptradd %2, %0 * 4 + 128
         %29 = load.f32.global %28
         %30 = load.f32.global %28
         %31 = get $2
         %32 = fma.f32 %29, %30, %31
         set $2, %32",
    );
    let expected: Vec<f32> = (0..32u8)
        .map(|lane| 11.0 * f32::from(lane) + 10.0)
        .collect();
    assert_eq!(found, expected);
}

/// The address of a load that depends on another load is not known in advance.
#[test]
fn a_load_that_goes_where_another_one_leads_is_no_round_at_once() {
    let found = sums(
        "%23 = ptradd %2, %20 * 32 + 256
         %24 = ptradd %23, %0 * 4
         %25 = load.i32.global %24
         %26 = ptradd %2, %25 * 4 + 768
         %27 = load.f32.global %26
         %28 = load.f32.global %4
         %29 = get $2
         %30 = fma.f32 %27, %28, %29
         set $2, %30",
    );
    let sum = |lane: usize| {
        lane as f32
            + (0..10)
                .map(|round| number(8 * round + lane) as f32)
                .sum::<f32>()
    };
    let expected: Vec<f32> = (0..32).map(sum).collect();
    assert_eq!(found, expected);
}

/// The same if the loaded value is added to one that moves evenly.
#[test]
fn a_load_that_goes_further_by_what_was_loaded_is_no_round_at_once() {
    let found = sums(
        "%23 = ptradd %2, %20 * 32 + 256
         %24 = load.i32.global %23
         %25 = add.i32 %20, %24
         %26 = ptradd %2, %25 * 32 + 768
         %27 = load.f32.global %26
         %28 = cvt.f32.s32 %0
         %29 = get $2
         %30 = fma.f32 %27, %28, %29
         set $2, %30
         %31 = ptradd %2, 0 * 0 + 768
         %32 = load.f32.global %31
         %33 = load.f32.global %31
         %34 = get $2
         %35 = fma.f32 %32, %28, %34
         set $2, %35
         %36 = get $2
         %37 = fma.f32 %33, %28, %36
         set $2, %37",
    );
    let further = |round: usize| round + number(8 * round) as usize;
    let sum: u32 = (0..10).map(|round| number(8 * further(round))).sum();
    let expected: Vec<f32> = (0..32).map(|lane| (lane + lane * sum) as f32).collect();
    assert_eq!(found, expected);
}

/// A factor that is the same in every round is available only as long as nothing is loaded into its register.
#[test]
fn a_factor_that_gives_way_to_what_is_loaded_is_computed_again() {
    let found = sums(
        "%23 = add.i32 %1, 8
         %24 = mul.i32 %20, %23
         %25 = add.i32 %24, %0
         %26 = ptradd %2, %25 * 4 + 768
         %27 = load.f32.global %26
         %28 = ptradd %2, 0 * 0 + 768
         %29 = load.f32.global %28
         %30 = load.f32.global %4
         %31 = get $2
         %32 = fma.f32 %27, %30, %31
         set $2, %32
         %33 = load.f32.global %28
         %34 = get $2
         %35 = fma.f32 %29, %30, %34
         set $2, %35
         %36 = get $2
         %37 = fma.f32 %33, %30, %36
         set $2, %37",
    );
    // The word that is loaded there is 0.
    let sum = |lane: usize| (0..10).map(|round| number(8 * round + lane)).sum::<u32>();
    let expected: Vec<f32> = (0..32)
        .map(|lane| (lane as u32 + sum(lane)) as f32)
        .collect();
    assert_eq!(found, expected);
}

/// After the loop a variable has the value that was written last.
#[test]
fn what_is_written_last_stays() {
    let found = sums(
        "%23 = load.f32.global %2
         set $6, %23
         %24 = load.f32.global %4
         %25 = get $6
         %26 = get $2
         %27 = fma.f32 %25, %24, %26
         set $2, %27
         %28 = cvt.f32.s32 %0
         set $6, %28",
    );
    let expected: Vec<f32> = (0..32u8).map(|lane| 10.0 + 2.0 * f32::from(lane)).collect();
    assert_eq!(found, expected);
}

/// A value that moves can be read in the next round.
#[test]
fn what_moves_is_read_in_the_next_round() {
    let found = sums(
        "%23 = get $5
         set $4, %23
         %24 = load.f32.global %4
         %25 = load.f32.global %4
         %26 = get $2
         %27 = fma.f32 %24, %25, %26
         set $2, %27
         %28 = mul.i32 %20, 2
         set $5, %28",
    );
    // Two times the counter of the last round but one.
    assert_eq!(found, [10.0 + 16.0; 32]);
}

/// The effects of an inner loop are counted for every round: its accesses to an array in registers, and its branches.
#[test]
fn a_loop_that_was_unrolled_counts_in_every_round() {
    let text = loop_of(
        "%4 = ptradd %2, %0 * 4
         store.f32.shared %3, 1.0",
        "%23 = load.f32.global %4
         %24 = addr local0
         store.f32.local %24, %23 of local0
         %25 = ptradd %24, 1 * 4
         %26 = load.f32.shared %3 of shared0
         store.f32.local %25, %26 of local0
         set $7, 0
         loop L1 {
           %27 = get $7
           %28 = cmp.slt.i32 %27, 2
           if %28 {
           } else {
             break L1
           }
           %29 = addr local0
           %30 = ptradd %29, %27 * 4
           %31 = load.f32.local %30 of local0 !2
           %32 = get $2
           %33 = fma.f32 %31, %23, %32
           set $2, %33
         } step {
           %34 = get $7
           %35 = add.i32 %34, 1
           set $7, %35
         }
         %36 = get $8
         %37 = fma.f32 %26, %23, %36
         set $8, %37",
        "%42 = get $2
         %43 = get $8
         %44 = fadd.f32 %42, %43
         store.f32.global %4, %44",
    );
    let done = |one_by_one: bool| {
        plainly(Shortcut::Rounds, one_by_one);
        let mut bench = Bench::new(&text);
        let data = bench.ints(&[0x4000_0000; 32]);
        let report = bench.launch(2, 32, &[data, 12]);
        plainly(Shortcut::Rounds, false);
        (format!("{report:#?}"), bench.read(data, 32))
    };
    let expected = done(true);
    AT_ONCE.set(0);
    assert_eq!(done(false), expected);
    assert_eq!(AT_ONCE.get(), 2 * 11);
}

/// A sum that is restarted in every round, with a loaded word, has one product in the end.
#[test]
fn a_sum_that_begins_again_has_one_product() {
    let found = sums(
        "%23 = load.f32.global %4
         set $6, %23
         %24 = ptradd %4, %20 * 32 + 768
         %25 = load.f32.global %24
         %26 = get $6
         %27 = fma.f32 %23, %25, %26
         set $6, %27",
    );
    let expected: Vec<f32> = (0..32)
        .map(|lane| (lane as u32 + 1 + number(8 * 9 + lane)) as f32)
        .collect();
    assert_eq!(found, expected);
    assert_eq!(AT_ONCE.get(), 9);
}

/// A word that is the same in all lanes is also in its variable after the loop: the last round's.
#[test]
fn a_uniform_word_of_the_last_round_stays() {
    // One sum of two loads, two sums, and one of two products.
    let more = |sum: u32| format!("%33 = get ${sum}\n%34 = fma.f32 %24, %25, %33\nset ${sum}, %34");
    for (other, times) in [(String::new(), 1), (more(8), 1), (more(2), 2)] {
        let found = sums(&format!(
            "%23 = ptradd %2, %20 * 4 + 768
             %24 = load.f32.global %23
             set $9, %24
             %25 = load.f32.global %4
             %26 = get $2
             %27 = fma.f32 %24, %25, %26
             set $2, %27
             {other}"
        ));
        let sum: u32 = (0..10).map(number).sum();
        let expected = (0..32).map(|lane| (times * sum + number(9) + lane) as f32);
        assert_eq!(found, expected.collect::<Vec<_>>(), "{other}");
        assert_eq!(AT_ONCE.get(), 9, "{other}");
    }
}

/// A subscript with one moving part is checked again, from its registers. Here the other part's register has been
/// overwritten by then, so the rounds run one by one.
#[test]
fn a_subscript_whose_register_has_something_else_is_reported() {
    let text = loop_of(
        "%4 = ptradd %3, %0 * 4
         store.f32.shared %4, 1.0
         %5 = ptradd %4, 1 * 128
         store.f32.shared %5, 1.0
         barrier",
        "%23 = and.i32 %0, 31
         %24 = add.i32 %23, %20
         %25 = ptradd %3, %24 * 4
         %26 = load.f32.shared %25 of shared0 within 32 !2
         %27 = load.f32.shared %4 of shared0 !3
         %28 = get $2
         %29 = fma.f32 %26, %27, %28
         set $2, %29
         %30 = lshr.i32 %0, 5
         %31 = lshr.i32 %0, 6
         %32 = lshr.i32 %0, 7
         %33 = lshr.i32 %0, 8
         %34 = add.i32 %30, %31
         %35 = add.i32 %32, %33
         %36 = add.i32 %34, %35
         set $4, %36",
        "%42 = get $2
         store.f32.global %2, %42",
    );
    let mut bench = Bench::new(&text);
    bench.machine.checks = Checks::ALL;
    let out = bench.ints(&[0]);
    let report = bench.launch(1, 32, &[out, 16]);
    let beyond = report.findings.iter().map(|finding| finding.count);
    // One more lane in every round.
    assert_eq!(beyond.max(), Some((0..16).sum()), "{:#?}", report.findings);
}
