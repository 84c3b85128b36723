//! Compares warps that skip idle rounds with warps that run them, on random kernels of barriers with a condition in
//! between, in a row or in an unrolled loop. Results, counts and findings must be the same, in either order of the
//! warps, and whatever the other warps do.

use super::text::{Random, Text, assert_same};
use super::{Bench, OUT_N, PASSED_BY};
use crate::Order;
use crate::Shortcut;
use crate::config::Checks;
use crate::tests::plainly;

const BLOCK: u32 = 160;

impl Text<'_> {
    /// Some lanes do something with a word of shared memory.
    fn part(&mut self, bound: &str) {
        let compared = self.random.one_of(&["%0", "%0", "%0", "%2", "%3", "%5"]);
        let compare = self
            .random
            .one_of(&["ult", "slt", "uge", "eq", "sgt", "ne"]);
        let goes = match self.random.once_in(6) {
            true => self.value(&format!("cmp.{compare}.i32 {bound}, {compared}")),
            false => self.value(&format!("cmp.{compare}.i32 {compared}, {bound}")),
        };
        self.line(&format!("if {goes} !1 {{"));
        let base = self.value("addr shared0");
        // Sometimes outside of the array.
        let most = if self.random.once_in(30) { 400 } else { 32 };
        let by = self.random.below(most);
        let other = self.value(&format!("ptradd {base}, %0 * 4 + {}", 4 * by));
        let own = self.value(&format!("ptradd {base}, %0 * 4"));
        let (one, two) = (
            self.value(&format!("load.i32.shared {other}")),
            self.value(&format!("load.i32.shared {own}")),
        );
        let sum = self.value(&format!("add.i32 {one}, {two}"));
        self.inst(&format!("store.i32.shared {own}, {sum}"));
        if self.random.once_in(40) {
            self.line("return");
        }
        self.line("}");
    }

    /// Some rounds, each between two barriers.
    fn rounds(&mut self) {
        if self.random.once_in(2) {
            for _ in 0..1 + self.random.below(6) {
                let bound = self.random.one_of(&[0, 1, 16, 32, 40, 64, 96, 128, 500]);
                self.part(&bound.to_string());
                self.inst("barrier");
            }
            return;
        }
        let label = self.label();
        self.inst("set $1, 128");
        self.line(&format!("loop {label} !1 {{"));
        let half = self.value("get $1");
        let goes = self.value(&format!("cmp.ugt.i32 {half}, 0"));
        self.line(&format!("if {goes} !1 {{\n}} else {{\nbreak {label}\n}}"));
        self.part(&half);
        self.inst("barrier");
        self.line("} step {");
        let half = self.value("get $1");
        let half = self.value(&format!("lshr.i32 {half}, 1"));
        self.inst(&format!("set $1, {half}"));
        self.line("}");
    }
}

fn kernel(random: &mut Random) -> String {
    let mut text = Text::new(random);
    text.line("kernel fn0 @k($0: ptr.global \"out\" \"int *\" pointee i32) {");
    text.line("shared shared0 \"s\" \"int\" [192] : 768 align 4 element 4 at 0");
    text.line("slot $1 : i32 \"half\"");
    text.value("special.tid.x");
    text.value("special.ctaid.x");
    text.value("xor.i32 %0, 33");
    text.value("sub.i32 %0, 64");
    // Not the same in every block.
    let far = text.value("mul.i32 %1, 24");
    text.value(&format!("add.i32 %0, {far}"));
    let base = text.value("addr shared0");
    for part in 0..2 {
        let own = text.value(&format!("ptradd {base}, %0 * 4 + {}", 128 * part));
        if text.random.below(8) > 0 {
            text.inst(&format!("store.i32.shared {own}, %2"));
        }
        if part == 0 {
            text.inst("barrier");
        }
    }
    for _ in 0..1 + text.random.below(3) {
        text.inst("barrier");
        text.rounds();
    }
    let own = text.value(&format!("ptradd {base}, %0 * 4"));
    let word = text.value(&format!("load.i32.shared {own}"));
    let out = text.value("get $0");
    let block = text.value(&format!("mul.i32 %1, {BLOCK}"));
    let at = text.value(&format!("add.i32 {block}, %0"));
    let to = text.value(&format!("ptradd {out}, {at} * 4"));
    text.inst(&format!("store.i32.global {to}, {word}"));
    text.end()
}

/// Everything that a launch of the kernel does, as text.
fn done(text: &str, seed: u64) -> String {
    let mut bench = Bench::new(text);
    let mut random = Random(seed);
    bench.machine.checks = random.one_of(&[Checks::ALL, Checks::ALL, Checks::NONE]);
    bench.machine.order = random.one_of(&[Order::Ascending, Order::Descending]);
    let limit = 200 + random.below(4000);
    bench.machine.limit = random.one_of(&[None, None, None, None, Some(limit)]);
    bench.machine.keep_going = random.once_in(3);
    let words = 4 * BLOCK as usize;
    let out = bench.ints(&vec![0; words]);
    let threads = random.one_of(&[BLOCK, BLOCK, 128, 140]);
    let result = bench.try_launch(4, threads, &[out]);
    format!("{result:#?}\n{:?}", bench.read(out, words))
}

#[test]
fn warps_that_pass_by_do_what_warps_that_run_do() {
    PASSED_BY.set(0);
    let (mut faults, mut findings) = (0, 0);
    for seed in 0..2000 {
        let text = kernel(&mut Random(seed));
        plainly(Shortcut::Idle, true);
        let expected = done(&text, seed);
        plainly(Shortcut::Idle, false);
        let found = done(&text, seed);
        assert_same(seed, &text, &found, &expected);
        faults += usize::from(expected.starts_with("Err"));
        findings += usize::from(expected.contains("FindingAccess"));
    }
    let passed_by = PASSED_BY.get();
    assert!(
        passed_by > 20_000 && faults > 50 && findings > 100,
        "{passed_by} rounds, {faults} faults, {findings} findings"
    );
}

/// One warp votes at a separate barrier while the other one, which is idle there and in the round after it, waits at
/// the next one. It must be counted.
#[test]
fn the_idle_tail_counts_where_others_vote() {
    let body = "%0 = special.tid.x
         barrier
         %1 = cmp.ult.i32 %0, 32
         if %1 {
           %2 = barrier.and %1
           %3 = get $0
           %4 = ptradd %3, %0 * 4
           store.i32.global %4, %2
         }
         barrier
         %5 = cmp.ult.i32 %0, 1
         if %5 {
           %6 = get $0
           store.i32.global %6, 7
         }
         barrier";
    for busy in [true, false] {
        plainly(Shortcut::Idle, busy);
        PASSED_BY.set(0);
        let mut bench = Bench::kernel(OUT_N, body);
        bench.machine.checks = Checks::NONE;
        let out = bench.ints(&[9; 64]);
        bench.launch(1, 64, &[out, 0]);
        assert_eq!(bench.read(out, 33)[31..], [0, 9]);
        assert_eq!(PASSED_BY.get(), if busy { 0 } else { 2 });
    }
    plainly(Shortcut::Idle, false);
}
