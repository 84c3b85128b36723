//! Any number of jobs gives the same as one job.

use super::{Bench, OUT_N};
use crate::{LaunchFailure, LaunchReport};

/// `out[(id * a + b) % n] = f(out[…])`, by text.
fn run(body: &str, n: usize, jobs: usize) -> (Vec<i32>, LaunchReport, String) {
    let mut bench = Bench::new(&format!(
        "string string0 \"%d\\n\"\nkernel fn0 @k({OUT_N}) {{\n{body}\n}}\n"
    ));
    bench.machine.jobs = jobs;
    let out = bench.ints(&(0..n as i32).collect::<Vec<_>>());
    let report = bench.launch(64, 64, &[out, n as u64]);
    (bench.read(out, n), report, bench.printed)
}

#[track_caller]
fn same(body: &str, n: usize) {
    let one = run(body, n, 1);
    for jobs in [2, 3, 8] {
        let many = run(body, n, jobs);
        assert_eq!(one.0, many.0, "memory at {jobs} jobs");
        assert_eq!(one.1, many.1, "report at {jobs} jobs");
        assert_eq!(one.2, many.2, "print at {jobs} jobs");
    }
}

const ID: &str = "%0 = special.ctaid.x
    %1 = mul.i32 %0, 64
    %2 = special.tid.x
    %3 = add.i32 %1, %2
    %4 = get $0\n";

#[test]
fn blocks_of_their_own() {
    same(
        &format!(
            "{ID} %5 = ptradd %4, %3 * 4\n%6 = load.i32.global %5\n%7 = mul.i32 %6, 3\nstore.i32.global %5, %7"
        ),
        4096,
    );
}

#[test]
fn blocks_that_write_the_same_words() {
    same(
        &format!("{ID} %5 = ptradd %4, %2 * 4\nstore.i32.global %5, %3"),
        64,
    );
}

/// Memory that is only written is not copied before, so the blocks in order must write all of it again.
#[test]
fn blocks_that_write_overlapping_lines() {
    for stride in [1, 31, 32, 48, 63] {
        let body = format!(
            "{ID} %5 = mul.i32 %0, {stride}\n%6 = add.i32 %5, %2\n%7 = ptradd %4, %6 * 4
             store.i32.global %7, %3"
        );
        same(&body, 64 * 64);
    }
}

/// A pointer to one allocation that reaches another is out of bounds of the first, with one job and with several. If
/// skipped, it loads zeros.
#[test]
fn a_pointer_that_leaves_its_allocation() {
    for jobs in [1, 4] {
        for keep_going in [false, true] {
            let mut bench = Bench::new(&format!(
                "kernel fn0 @k({OUT_N}, $2: ptr.global \"in\" \"int *\" pointee i32) {{\n{ID} %5 = get $2\n%6 = get $1
                 %7 = add.i32 %3, %6\n%8 = ptradd %5, %7 * 4\n%9 = load.i32.global %8\n%10 = ptradd %4, %3 * 4
                 store.i32.global %10, %9\n}}\n"
            ));
            (bench.machine.jobs, bench.machine.keep_going) = (jobs, keep_going);
            let input = bench.ints(&[7; 4096]);
            let out = bench.ints(&[5; 4096]);
            let apart = (out - input) / 4;
            match bench.try_launch(64, 64, &[out, apart, input]) {
                Err(LaunchFailure::Trap { trap, .. }) => {
                    assert!(!keep_going);
                    assert_eq!(trap.kind.name(), "out_of_bounds");
                }
                Ok(report) => {
                    assert!(keep_going);
                    let [skipped] = report.skipped.as_slice() else {
                        panic!("{:?}", report.skipped);
                    };
                    assert_eq!((skipped.accesses, skipped.behind), (4096, 4 * 4095));
                    assert_eq!(bench.read(out, 4096), [0; 4096]);
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

/// The start of a pointer does not tell where it goes.
#[test]
fn a_pointer_that_starts_before_its_allocation() {
    for jobs in [1, 4] {
        let mut bench = Bench::new(&format!(
            "kernel fn0 @k({OUT_N}) {{\n%0 = get $0\n%1 = ptradd %0, i32 1 * 4\n%2 = load.i32.global %1
             %3 = add.i32 %2, 1\nstore.i32.global %1, %3\n}}\n"
        ));
        bench.machine.jobs = jobs;
        let out = bench.ints(&[0]);
        bench.launch(64, 1, &[out - 4, 0]);
        assert_eq!(bench.read(out, 1), [64], "{jobs} jobs");
    }
}

#[test]
fn blocks_that_read_what_others_write() {
    let body = format!(
        "{ID} %5 = ptradd %4, %3 * 4\n%6 = sub.i32 4095, %3\n%7 = ptradd %4, %6 * 4\n%8 = load.i32.global %7
         %9 = add.i32 %8, 1\nstore.i32.global %5, %9"
    );
    same(&body, 4096);
}

#[test]
fn what_blocks_print_stays_in_order() {
    same(
        &format!("{ID} %5 = cmp.eq.i32 %2, 5\nif %5 {{ %6 = printf string0, %3\n }}"),
        1,
    );
}

#[test]
fn a_trap_is_the_first_in_order() {
    let body = format!("{ID} %5 = ptradd %4, %3 * 4\nstore.i32.global %5, %3");
    let trap = |jobs| {
        let mut bench = Bench::kernel(OUT_N, &body);
        bench.machine.jobs = jobs;
        let out = bench.ints(&[0; 1000]);
        (bench.trap(64, 64, &[out, 0]), bench.read(out, 1000))
    };
    assert_eq!(trap(1), trap(4));
}

/// Blocks before and after the one that ends the launch have changed memory that they read by the time this is
/// detected.
#[test]
fn a_trap_among_blocks_that_store_leaves_memory_as_blocks_in_order_do() {
    let body = format!(
        "{ID} %5 = ptradd %4, %3 * 4\n%6 = load.i32.global %5\n%7 = mul.i32 %6, 3\nstore.i32.global %5, %7
         %8 = cmp.eq.i32 %0, 20\n%9 = cmp.ne.i32 %2, 40\n%10 = not.i1 %8\n%11 = or.i1 %10, %9
         if %11 {{}} else {{ trap }}"
    );
    let trap = |jobs| {
        let mut bench = Bench::kernel(OUT_N, &body);
        bench.machine.jobs = jobs;
        let out = bench.ints(&(0..4096).collect::<Vec<_>>());
        (bench.trap(64, 64, &[out, 0]), bench.read(out, 4096))
    };
    let one = trap(1);
    assert_eq!(
        one.1[20 * 64 + 63],
        3 * (20 * 64 + 63),
        "the block stored before it ended the launch"
    );
    assert_eq!(one.1[21 * 64], 21 * 64, "no later block stored");
    for jobs in [2, 3, 8] {
        assert_eq!(one, trap(jobs), "{jobs} jobs");
    }
}

/// Repeated launches with the same buffers: what a launch kept for the next one must not have an effect.
#[test]
fn launches_one_after_the_other() {
    let run = |jobs| {
        let body = format!(
            "{ID} %5 = ptradd %4, %3 * 4\n%6 = ptradd %4, %2 * 4\n%7 = load.i32.global %6
             %8 = add.i32 %7, %3\nstore.i32.global %5, %8"
        );
        let mut bench = Bench::kernel(OUT_N, &body);
        bench.machine.jobs = jobs;
        let (long, short) = (bench.ints(&[1; 4096]), bench.ints(&[2; 640]));
        for (out, blocks) in [(long, 64), (short, 10), (long, 64), (short, 10)] {
            bench.launch(blocks, 64, &[out, 0]);
        }
        (bench.read(long, 4096), bench.read(short, 640))
    };
    assert_eq!(run(1), run(2));
    assert_eq!(run(1), run(8));
}
