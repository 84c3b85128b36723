//! Compares rounds of a loop that run together with the same rounds one by one, on random kernels whose loops sum
//! products of loads from shared and global memory. Results, counts, findings, touched memory, and where a limit ends
//! them must be the same.
//!
//! Many of these loops leave their arrays, read uninitialised memory, race, overflow, or run under a limit. Then every
//! round must run separately.

mod cases;

use crate::Shortcut;
use crate::tests::plainly;
use std::fmt::Write;

use super::text::{Random, Text, assert_same};
use super::{AT_ONCE, Bench};
use crate::config::Checks;
use crate::memory::traffic::Track;
use crate::rules::{Arch, RuleSet};

const THREADS: u32 = 64;
/// Words of shared memory.
const WORDS: usize = 1024;
/// Words of global memory, and the index from which they are small numbers.
const DATA: u32 = 2048;
const INDICES: u32 = DATA - 192;

impl Text<'_> {
    /// An index that does not depend on the loop's variable.
    fn place(&mut self, most: u64) -> String {
        let first = if most < 64 && self.random.below(8) > 0 {
            2
        } else {
            0
        };
        let part = match first + self.random.below(8 - first) {
            0 | 1 => "%0".to_owned(),
            2 => self.value("lshr.i32 %0, 4"),
            3 => self.value("and.i32 %0, 15"),
            // The same in all lanes.
            4 if self.random.once_in(2) => self.value("mul.i32 %1, 3"),
            4 => self.value("lshr.i32 %0, 5"),
            5 if most < 64 && self.random.once_in(2) => {
                let part = self.value("add.i32 %1, 2");
                self.value(&format!("mul.i32 {part}, 2"))
            }
            5 if most >= 64 => self.value("mul.i32 %0, 2"),
            6 if most >= 64 => self.value("xor.i32 %0, 5"),
            // An overflow in every round must be reported for every round.
            7 if self.random.below(4) == 0 => {
                let mul = self.op("mul");
                let large = self.value(&format!("{mul} %0, 123456789"));
                self.value(&format!("and.i32 {large}, 15"))
            }
            _ => return self.random.below(most).to_string(),
        };
        match self.random.below(3) {
            0 => {
                let (add, by) = (self.op("add"), self.random.below(most));
                self.value(&format!("{add} {part}, {by}"))
            }
            _ => part,
        }
    }

    /// A word at a place that moves with the loop's variable.
    fn load(&mut self, counter: &str) -> String {
        let shared = self.random.below(3) > 0;
        let space = if shared { "shared" } else { "global" };
        let base = match shared {
            true => self.value("addr shared0"),
            false => self.value("get $1"),
        };
        let way = self.random.below(4);
        let place = self.place(if way == 1 { 16 } else { 200 });
        // A loaded value as index can lead anywhere.
        let loaded = self.random.once_in(12);
        let place = match loaded {
            true => {
                let data = self.value("get $1");
                let first = 4 * INDICES;
                // By sectors: all rounds cost the same.
                let by = self.random.one_of(&[4, 32]);
                let from = self.value(&format!("ptradd {data}, {counter} * {by} + {first}"));
                // Different in every lane, or the same in all.
                let from = match self.random.once_in(2) {
                    true => self.value(&format!("ptradd {from}, %0 * 4")),
                    false => from,
                };
                let word = self.value(&format!("load.i32.global {from}"));
                match self.random.once_in(2) {
                    true => self.value(&format!("add.i32 {word}, %0")),
                    false => word,
                }
            }
            false => place,
        };
        // Blocks that differ from each other.
        let by_block = self.random.once_in(6);
        let step = self.random.one_of(&[1, 1, 2, 16, 32, 32, 5, 70, 150]);
        let (add, mul) = (self.op("add"), self.op("mul"));
        let (pointer, within) = match way {
            _ if loaded && self.random.once_in(2) => {
                (self.value(&format!("ptradd {base}, {place} * 4")), false)
            }
            // `s[place + k * step]`
            0 => {
                let by = match by_block {
                    true => self.value(&format!("{mul} {counter}, %1")),
                    // A distance that is not constant.
                    false if self.random.once_in(10) => {
                        self.value(&format!("{mul} {counter}, {counter}"))
                    }
                    false => self.value(&format!("{mul} {counter}, {step}")),
                };
                let index = self.value(&format!("{add} {by}, {place}"));
                (self.value(&format!("ptradd {base}, {index} * 4")), false)
            }
            // `s[place][k]`, and `s[k][place]`
            1 => {
                let row = self.value(&format!("ptradd {base}, {place} * 128"));
                let column = match self.random.once_in(3) {
                    true => {
                        let part = self.place(8);
                        self.value(&format!("{add} {counter}, {part}"))
                    }
                    false => counter.to_owned(),
                };
                (self.value(&format!("ptradd {row}, {column} * 4")), true)
            }
            2 => {
                let row = self.value(&format!("ptradd {base}, {counter} * 128"));
                (self.value(&format!("ptradd {row}, {place} * 4")), true)
            }
            _ => {
                let bytes = 4 * step;
                let row = self.value(&format!("ptradd {base}, {place} * 4"));
                (
                    self.value(&format!("ptradd {row}, {counter} * {bytes}")),
                    false,
                )
            }
        };
        let array = match shared && within && self.random.below(2) == 0 {
            true => " of shared0 within 32",
            false if shared => " of shared0",
            false => "",
        };
        let volatile = match self.random.once_in(40) {
            true => ".volatile",
            false => "",
        };
        self.value(&format!("load.f32.{space}{volatile} {pointer}{array}"))
    }

    /// A loop around a body.
    fn loop_of(&mut self, body: impl FnOnce(&mut Self, &str)) {
        let label = self.label();
        let (from, by, compare, to) = match self.random.below(8) {
            0 => (31, -1, "sge", "0".to_owned()),
            1 => (0, 2, "ne", "12".to_owned()),
            2 => (3, 1, "ult", "19".to_owned()),
            3 if self.random.once_in(2) => (0, 1, "slt", "%2".to_owned()),
            3 => (0, 1, "slt", self.value("add.i32 %1, 5")),
            4 if self.random.below(3) == 0 => (2_147_483_640, 1, "sgt", "0".to_owned()),
            5 if self.random.below(3) == 0 => (-2, 1, "slt", "9".to_owned()),
            _ => (0, 1, "slt", "16".to_owned()),
        };
        self.inst(&format!("set $4, {from}"));
        self.line(&format!("loop {label} !1 {{"));
        let counter = self.value("get $4");
        let goes = self.value(&format!("cmp.{compare}.i32 {counter}, {to}"));
        self.line(&format!("if {goes} !1 {{\n}} else {{\nbreak {label}\n}}"));
        body(self, &counter);
        self.line("} step {");
        let counter = self.value("get $4");
        let add = self.op("add");
        let next = self.value(&format!("{add} {counter}, {by}"));
        self.inst(&format!("set $4, {next}"));
        self.line("}");
    }

    fn sums(&mut self, counter: &str) {
        let mut loads = vec![self.load(counter)];
        for _ in 0..self.random.below(3) {
            loads.push(self.load(counter));
        }
        for _ in 0..1 + self.random.below(4) / 3 {
            let slot = self.random.one_of(&["$3", "$3", "$5"]);
            match self.random.below(8) {
                // Something that is the same in every round, and prevents some loops from running rounds together.
                0 | 1 => {
                    let part = self.value("add.i32 %0, 3");
                    loads.push(self.value(&format!("cvt.f32.s32 {part}")));
                }
                2 | 3 => loads.push(self.load(counter)),
                _ => {}
            }
            let (one, other) = (
                loads[self.random.below(loads.len() as u64) as usize].clone(),
                loads[self.random.below(loads.len() as u64) as usize].clone(),
            );
            let sum = self.value(&format!("get {slot}"));
            let sum = self.value(&format!("fma.f32 {one}, {other}, {sum}"));
            self.inst(&format!("set {slot}, {sum}"));
        }
    }

    /// Words that move with the loop's variable: from single loads, or from one load of two or four words.
    fn words(&mut self, count: usize, counter: &str) -> Vec<String> {
        let mut words: Vec<_> = match self.random.below(4) {
            0 => (0..count).map(|_| self.load(counter)).collect(),
            way => {
                let (width, lanes) = if count > 2 || way == 1 {
                    (4, 16)
                } else {
                    (2, 8)
                };
                let space = self.random.one_of(&["shared", "shared", "global"]);
                let base = match space {
                    "shared" => self.value("addr shared0"),
                    _ => self.value("get $1"),
                };
                let place = self.place(12);
                let step = self.random.one_of(&[16, 16, 64, 128, 128, 32]);
                let row = self.value(&format!("ptradd {base}, {place} * {lanes}"));
                let pointer = self.value(&format!("ptradd {row}, {counter} * {step}"));
                self.values(width, &format!("load.f32x{width}.{space} {pointer}"))
            }
        };
        // Through a variable.
        if self.random.once_in(3) {
            for word in &mut words {
                self.inst(&format!("set $15, {word}"));
                *word = self.value("get $15");
            }
        }
        words.truncate(count);
        words
    }

    /// The sums of products of some words with some others, each in a separate variable: a tile in registers.
    fn tile(&mut self, counter: &str) {
        let (rows, columns) = (1 + self.random.below(3), 1 + self.random.below(3));
        let left = self.words(rows as usize, counter);
        let right = self.words(columns as usize, counter);
        for row in 0..rows {
            for column in 0..columns {
                // Sometimes two products of a round go into one sum, or two sums use one product.
                let slot = match self.random.below(40) {
                    0 => 6,
                    _ => 6 + 3 * row + column,
                };
                let sum = self.value(&format!("get ${slot}"));
                let (one, mut other) = (&left[row as usize], right[column as usize].clone());
                if self.random.once_in(40) {
                    other = self.value("get $7");
                }
                let sum = self.value(&format!("fma.f32 {one}, {other}, {sum}"));
                self.inst(&format!("set ${slot}, {sum}"));
            }
        }
    }

    /// Writes a part of shared memory.
    fn fill(&mut self) {
        let all = self.random.below(4) > 0;
        // The part with uninitialised words is far away.
        let apart = self.random.one_of(&[4, 4 * THREADS]);
        for part in 0..WORDS as u32 / THREADS {
            if !all && self.random.below(4) == 0 {
                continue;
            }
            let source = self.value("get $1");
            let from = self.value(&format!("ptradd {source}, %0 * 4 + {}", apart * part));
            let word = self.value(&format!("load.f32.global {from}"));
            let base = self.value("addr shared0");
            let to = self.value(&format!("ptradd {base}, %0 * 4 + {}", 4 * THREADS * part));
            self.inst(&format!("store.f32.shared {to}, {word}"));
        }
    }
}

/// A kernel that fills shared memory, and sums what it reads there and in global memory.
fn kernel(random: &mut Random) -> String {
    let mut text = Text::new(random);
    text.line(
        "kernel fn0 @k($0: ptr.global \"out\" \"float *\" pointee f32, $1: ptr.global \"data\" \"const float *\" pointee f32 const, \
         $2: i32 \"n\" \"int\") {",
    );
    text.line("shared shared0 \"s\" \"float\" [32][32] : 4096 align 4 element 4 at 0");
    text.line("slot $3 : f32 \"a\"\nslot $4 : i32 \"k\"\nslot $5 : f32 \"b\"");
    for slot in 6..16 {
        text.line(&format!("slot ${slot} : f32 \"t{slot}\""));
    }
    text.value("special.tid.x");
    text.value("special.ctaid.x");
    text.value("get $2");
    text.inst("set $3, 0.0");
    text.inst("set $5, 1.5");
    for slot in 6..16 {
        text.inst(&format!("set ${slot}, 0.0"));
    }
    for _ in 0..1 + text.random.below(3) {
        if text.random.below(6) > 0 {
            text.fill();
        }
        if text.random.below(8) > 0 {
            text.inst("barrier");
        }
        for _ in 0..1 + text.random.below(2) {
            match text.random.below(3) {
                0 => text.loop_of(Text::tile),
                _ => text.loop_of(Text::sums),
            }
        }
        if text.random.below(3) > 0 {
            text.inst("barrier");
        }
        if text.random.once_in(6) {
            let (data, sum) = (text.value("get $1"), text.value("get $3"));
            let to = text.value(&format!("ptradd {data}, %0 * 4"));
            text.inst(&format!("store.f32.global {to}, {sum}"));
        }
    }
    // An uninitialised value counts where it decides something.
    let sum = text.value("get $3");
    let goes = text.value(&format!("cmp.flt.f32 {sum}, 0.0"));
    text.line(&format!("if {goes} !1 {{"));
    text.inst("set $5, 2.5");
    text.line("}");
    let out = text.value("get $0");
    let block = text.value(&format!("mul.i32 %1, {THREADS}"));
    let at = text.value(&format!("add.i32 {block}, %0"));
    let to = text.value(&format!("ptradd {out}, {at} * 4"));
    let mut sum = text.value("get $3");
    for slot in 5..16 {
        let other = text.value(&format!("get ${slot}"));
        sum = text.value(&format!("fadd.f32 {sum}, {other}"));
    }
    text.inst(&format!("store.f32.global {to}, {sum}"));
    text.end()
}

/// Everything that a launch of the kernel does, as text.
fn done(text: &str, seed: u64) -> String {
    let mut bench = Bench::new(text);
    let mut random = Random(seed);
    bench.machine.checks = random.one_of(&[Checks::ALL, Checks::ALL, Checks::NONE]);
    bench.machine.rules = RuleSet::for_arch(random.one_of(&[Arch::SM_90, Arch::SM_35]));
    let limit = 200 + random.below(4000);
    bench.machine.limit = random.one_of(&[None, None, None, Some(limit)]);
    // With several workers it is chance which block reaches a limit first.
    bench.machine.jobs = match bench.machine.limit {
        None => random.one_of(&[1, 1, 3]),
        Some(_) => 1,
    };
    bench.machine.keep_going = random.below(3) == 0;
    bench
        .memory
        .track(random.one_of(&[Track::Nothing, Track::Everything]));
    let blocks = 5;
    let words: Vec<i32> = (0..DATA)
        .map(|at| match at % 509 {
            _ if at >= INDICES => (at * 7 % 24) as i32,
            // Not all of them are numbers.
            77 => f32::NAN.to_bits() as i32,
            78 => f32::INFINITY.to_bits() as i32,
            _ => (at as f32 * 0.37 - 200.0).to_bits() as i32,
        })
        .collect();
    let data = bench
        .memory
        .malloc_device(4 * u64::from(DATA))
        .expect("memory");
    // Some words are uninitialised.
    let unwritten = match random.below(4) {
        0 => 300 + random.below(1500) as usize,
        _ => words.len(),
    };
    for (at, word) in (0..).step_by(4).zip(&words) {
        if at / 4 % 64 != unwritten as u64 % 64 || at / 4 < unwritten as u64 {
            bench
                .memory
                .write_bytes(data + at, &word.to_le_bytes())
                .expect("inside");
        }
    }
    let out = bench.ints(&vec![0; blocks * THREADS as usize]);
    let threads = random.one_of(&[THREADS, THREADS, 40]);
    let result = bench.try_launch(blocks as u32, threads, &[out, data, 20]);
    let mut done = format!("{result:#?}");
    // If one of several workers faults, the others have done more or less.
    if bench.machine.jobs == 1 || result.is_ok() {
        let words = bench.read(out, blocks * THREADS as usize);
        write!(done, "\n{:?}{words:?}", bench.memory.take_touched()).expect("memory");
    }
    done
}

/// Checks that both ways give the same, and returns it.
#[track_caller]
fn same(text: &str, seed: u64) -> String {
    plainly(Shortcut::Rounds, true);
    let expected = done(text, seed);
    plainly(Shortcut::Rounds, false);
    assert_same(seed, text, &done(text, seed), &expected);
    expected
}

#[test]
fn rounds_at_once_are_what_they_are_one_by_one() {
    AT_ONCE.set(0);
    let (mut faults, mut findings) = (0, 0);
    for seed in 0..1200 {
        let text = kernel(&mut Random(seed));
        let expected = same(&text, seed);
        faults += usize::from(expected.starts_with("Err"));
        findings += usize::from(expected.contains("FindingAccess"));
    }
    let at_once = AT_ONCE.get();
    assert!(
        at_once > 10_000 && faults > 100 && findings > 100,
        "{at_once} rounds, {faults} faults, {findings} findings"
    );
}
