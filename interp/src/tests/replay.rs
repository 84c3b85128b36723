//! Compares replayed blocks with blocks that run by themselves, on random kernels whose conditions and indices depend
//! on the thread index, the block index and, sometimes, data. Results, counts, findings, touched memory, and where a
//! limit or a fault ends them must be the same.

use crate::Shortcut;
use crate::tests::plainly;
use std::fmt::Write;
use std::sync::Arc;

use ir::print::print;

use super::random;
use super::text::{Random, Text, assert_same};
use super::{Bench, REPLAYED, WRITTEN_DOWN};
use crate::Order;
use crate::config::Checks;
use crate::memory::traffic::Track;
use crate::rules::{Arch, RuleSet};

const BLOCK: u32 = 80;
const BLOCKS: u32 = 14;
/// Words of the input, more than there are threads.
const DATA: u32 = BLOCK * BLOCKS + 64;
const SLOTS: u64 = 3;
/// The thread's number in the grid.
const NUMBER: &str = "%3";

/// Values that depend on the thread index only, and values that may depend on anything.
struct Values {
    fixed: Vec<String>,
    all: Vec<String>,
    /// Whether the kernel runs differently in each block, or leaves its arrays.
    is_wild: bool,
}

impl Values {
    /// Leaves a block of the text, restoring the numbers of values before it.
    fn forget(&mut self, (fixed, all): (usize, usize)) {
        self.fixed.truncate(fixed);
        self.all.truncate(all);
    }
}

impl Text<'_> {
    fn any(&mut self, values: &Values) -> String {
        let at = self.random.below(values.all.len() as u64) as usize;
        values.all[at].clone()
    }

    /// Usually a value that is the same in every block.
    fn fixed(&mut self, values: &Values) -> String {
        if values.is_wild && self.random.once_in(10) {
            return self.any(values);
        }
        let at = self.random.below(values.fixed.len() as u64) as usize;
        values.fixed[at].clone()
    }

    fn sum(&mut self, values: &mut Values) {
        let is_fixed = self.random.once_in(4);
        let (a, b) = match is_fixed {
            true => (self.fixed(values), self.random.below(50).to_string()),
            false => (self.any(values), self.any(values)),
        };
        let op = match self.random.below(8) {
            0 => self.op("mul"),
            1 => "xor.i32".to_owned(),
            2 => "and.i32".to_owned(),
            3 => self.op("sub"),
            4 if is_fixed => "lshr.i32".to_owned(),
            _ => self.op("add"),
        };
        let b = if op == "lshr.i32" { "2".to_owned() } else { b };
        let value = self.value(&format!("{op} {a}, {b}"));
        values.all.push(value);
    }

    /// A word of the array in shared memory, and its source text.
    fn word(&mut self, values: &Values) -> (String, &'static str) {
        let index = self.fixed(values);
        let most = match values.is_wild && self.random.once_in(20) {
            true => 1000,
            false => 64,
        };
        let by = 4 * self.random.below(most);
        let index = match self.random.once_in(3) {
            true => self.value(&format!("and.i32 {index}, 63")),
            false => "%0".to_owned(),
        };
        let base = self.value("addr shared0");
        let array = self
            .random
            .one_of(&["", "", " of shared0", " of shared0 within 64"]);
        (
            self.value(&format!("ptradd {base}, {index} * 4 + {by}")),
            array,
        )
    }

    /// A word of the input, or the output.
    fn global(&mut self, values: &Values, param: u32) -> String {
        let base = self.value(&format!("get ${param}"));
        let index = match self.random.below(12) {
            0 if values.is_wild => self.value("sub.i32 1000, %3"),
            1 => self.fixed(values),
            _ => NUMBER.to_owned(),
        };
        let index = match values.is_wild && self.random.once_in(8) {
            true => index,
            false if index == NUMBER => index,
            false => self.value(&format!("and.i32 {index}, 511")),
        };
        let by = 4 * self.random.one_of(&[0, 0, 0, 1, 8, 32]);
        self.value(&format!("ptradd {base}, {index} * 4 + {by}"))
    }

    fn statement(&mut self, values: &mut Values, depth: u32) {
        match self.random.below(14) {
            0..3 => self.sum(values),
            3..5 => {
                let (at, array) = self.word(values);
                let value = self.value(&format!("load.i32.shared {at}{array}"));
                values.all.push(value);
            }
            5..7 => {
                let ((at, array), value) = (self.word(values), self.any(values));
                self.inst(&format!("store.i32.shared {at}, {value}{array}"));
            }
            7 => {
                let at = self.global(values, 1);
                let value = self.value(&format!("load.i32.global {at}"));
                values.all.push(value);
            }
            8 => {
                let (at, value) = (self.global(values, 0), self.any(values));
                self.inst(&format!("store.i32.global {at}, {value}"));
            }
            9 => {
                let (slot, value) = (3 + self.random.below(SLOTS), self.any(values));
                self.inst(&format!("set ${slot}, {value}"));
            }
            10 => {
                let slot = 3 + self.random.below(SLOTS);
                let value = self.value(&format!("get ${slot}"));
                values.all.push(value);
            }
            11 if depth == 0 => self.inst("barrier"),
            _ if depth < 2 => self.branch(values, depth),
            _ => self.sum(values),
        }
    }

    fn branch(&mut self, values: &mut Values, depth: u32) {
        let compare = self.random.one_of(&["slt", "ult", "eq", "uge", "ne"]);
        let (compared, with) = match self.random.below(6) {
            // The launch's last threads are idle.
            0 => (NUMBER.to_owned(), "$2".to_owned()),
            1 if values.is_wild => ("%1".to_owned(), self.random.below(14).to_string()),
            _ => (self.fixed(values), self.random.below(80).to_string()),
        };
        let with = match with == "$2" {
            true => self.value("get $2"),
            false => with,
        };
        let goes = self.value(&format!("cmp.{compare}.i32 {compared}, {with}"));
        let known = (values.fixed.len(), values.all.len());
        self.line(&format!("if {goes} !1 {{"));
        for _ in 0..1 + self.random.below(4) {
            self.statement(values, depth + 1);
        }
        if self.random.once_in(30) {
            self.line("return");
        }
        values.forget(known);
        if self.random.once_in(2) {
            self.line("} else {");
            for _ in 0..1 + self.random.below(3) {
                self.statement(values, depth + 1);
            }
            values.forget(known);
        }
        self.line("}");
    }

    /// Some rounds that every thread makes.
    fn turns(&mut self, values: &mut Values) {
        let (label, slot) = (self.label(), 3 + self.random.below(SLOTS));
        let rounds = 1 + self.random.below(30);
        self.inst(&format!("set ${slot}, 0"));
        self.line(&format!("loop {label} !1 {{"));
        let counter = self.value(&format!("get ${slot}"));
        let goes = self.value(&format!("cmp.slt.i32 {counter}, {rounds}"));
        self.line(&format!("if {goes} !1 {{\n}} else {{\nbreak {label}\n}}"));
        let known = (values.fixed.len(), values.all.len());
        values.fixed.push(counter.clone());
        for _ in 0..1 + self.random.below(3) {
            match self.random.below(4) {
                0 => self.inst("barrier"),
                1 => self.sum(values),
                _ => {
                    let (at, array) = self.word(values);
                    let value = self.value(&format!("load.i32.shared {at}{array}"));
                    values.all.push(value);
                }
            }
        }
        values.forget(known);
        self.line("} step {");
        let counter = self.value(&format!("get ${slot}"));
        let next = self.value(&format!("add.i32 {counter}, 1"));
        self.inst(&format!("set ${slot}, {next}"));
        self.line("}");
    }
}

fn kernel(random: &mut Random) -> String {
    let mut text = Text::new(random);
    text.line(
        "kernel fn0 @k($0: ptr.global \"out\" \"int *\" pointee i32, $1: ptr.global \"in\" \"int *\" pointee i32, $2: i32 \"n\" \"int\") {",
    );
    text.line("shared shared0 \"s\" \"int\" [256] : 1024 align 4 element 4 at 0");
    for slot in 3..3 + SLOTS {
        text.line(&format!("slot ${slot} : i32 \"s{slot}\""));
    }
    text.value("special.tid.x");
    text.value("special.ctaid.x");
    let far = text.value(&format!("mul.i32 %1, {BLOCK}"));
    let number = text.value(&format!("add.i32 {far}, %0"));
    assert_eq!(number, NUMBER);
    let mut values = Values {
        fixed: vec![
            "%0".to_owned(),
            "%0".to_owned(),
            "%0".to_owned(),
            "7".to_owned(),
        ],
        all: vec!["%0".to_owned(), "%1".to_owned(), "%3".to_owned()],
        is_wild: text.random.once_in(3),
    };
    for slot in 3..3 + SLOTS {
        if !values.is_wild || text.random.below(4) > 0 {
            let value = text.any(&values);
            text.inst(&format!("set ${slot}, {value}"));
        }
    }
    let base = text.value("addr shared0");
    for part in 0..4 {
        let own = text.value(&format!("ptradd {base}, %0 * 4 + {}", 4 * 59 * part));
        if !values.is_wild || text.random.below(4) > 0 {
            let value = text.any(&values);
            text.inst(&format!("store.i32.shared {own}, {value}"));
        }
    }
    text.inst("barrier");
    for _ in 0..3 + text.random.below(10) {
        match text.random.once_in(8) {
            true => text.turns(&mut values),
            false => text.statement(&mut values, 0),
        }
    }
    for _ in 0..2 {
        let (at, value) = (text.global(&values, 0), text.any(&values));
        text.inst(&format!("store.i32.global {at}, {value}"));
    }
    text.end()
}

/// Everything that a launch of the kernel does, as text. Blocks that run by themselves use one thread, because the
/// switch is thread-local.
fn done(text: &str, seed: u64, replays: bool) -> String {
    plainly(Shortcut::Replay, !replays);
    let mut bench = Bench::new(text);
    let mut random = Random(seed);
    bench.machine.checks = random.one_of(&[Checks::ALL, Checks::NONE]);
    bench.machine.order = random.one_of(&[Order::Ascending, Order::Descending]);
    bench.machine.rules = RuleSet::for_arch(random.one_of(&[Arch::SM_90, Arch::SM_35]));
    let limit = 2000 + random.below(40_000);
    bench.machine.limit = random.one_of(&[None, None, None, Some(limit)]);
    let jobs = match bench.machine.limit {
        None => random.one_of(&[1, 1, 1, 2]),
        Some(_) => 1,
    };
    bench.machine.jobs = if replays { jobs } else { 1 };
    bench.machine.keep_going = random.once_in(3);
    let track = random.one_of(&[Track::Nothing, Track::Everything]);
    bench.memory.track(track);
    let data = bench
        .memory
        .malloc_device(4 * u64::from(DATA))
        .expect("memory");
    // Sometimes there are uninitialised words, and some sums that overflow.
    let written = match random.once_in(6) {
        true => DATA - random.below(900) as u32,
        false => DATA,
    };
    let words = (0..written).map(|at| match at % 701 {
        700 => i32::MAX,
        _ => (at * 37 % 1000) as i32,
    });
    // In one piece, so that all of it is known to be written.
    let bytes: Vec<u8> = words.flat_map(i32::to_le_bytes).collect();
    bench.memory.write_bytes(data, &bytes).expect("inside");
    let unwritten = bench.memory.malloc_device(400).expect("memory");
    let words = (BLOCK * BLOCKS) as usize + 32;
    let out = bench.ints(&vec![0; words]);
    let threads = random.one_of(&[BLOCK, BLOCK, 64, 75]);
    let mut done = String::new();
    // Repeated launches use the list of the first.
    for _ in 0..random.one_of(&[1, 1, 2, 4]) {
        let n = (BLOCK * BLOCKS) as u64 - random.one_of(&[0, 0, 0, 50, 400]);
        let result = bench.try_launch(BLOCKS, threads, &[out, data, n]);
        write!(done, "{result:#?}").expect("memory");
        if jobs == 1 || result.is_ok() {
            let words = bench.read(out, words);
            write!(done, "\n{:?}{words:?}", bench.memory.take_touched()).expect("memory");
        }
        if result.is_err() {
            break;
        }
        if random.once_in(4) {
            let to = data + 4 * random.below(u64::from(DATA) - 100);
            bench.memory.copy(to, unwritten, 400).expect("inside");
        }
    }
    done
}

/// Checks that both ways give the same, and returns it.
#[track_caller]
fn same(text: &str, seed: u64) -> String {
    let expected = done(text, seed, false);
    assert_same(seed, text, &done(text, seed, true), &expected);
    expected
}

#[test]
fn replayed_blocks_do_what_they_do_by_themselves() {
    REPLAYED.set(0);
    let (mut faults, mut findings, mut kernels) = (0, 0, 0);
    for seed in 0..2000 {
        let text = kernel(&mut Random(seed));
        let before = REPLAYED.get();
        let expected = same(&text, seed);
        faults += usize::from(expected.starts_with("Err"));
        findings += usize::from(expected.contains("FindingAccess"));
        kernels += usize::from(REPLAYED.get() > before);
    }
    let replayed = REPLAYED.get();
    assert!(
        replayed > 2000 && kernels > 300 && faults > 50 && findings > 100,
        "{replayed} blocks of {kernels} kernels, {faults} faults, {findings} findings"
    );
}

/// Inactive lanes may have any subscript.
#[test]
fn subscripts_are_those_of_active_lanes() {
    let body = "shared shared0 \"s\" \"int\" [4][64] : 1024 align 4 element 4 at 0
         %0 = special.tid.x
         %1 = special.ctaid.x
         %2 = addr shared0
         %3 = ptradd %2, %0 * 4
         store.i32.shared %3, %1 of shared0 within 64
         barrier
         %4 = cmp.uge.i32 %0, 16
         if %4 {
           %5 = sub.i32 %0, 16
           %6 = ptradd %2, %5 * 4
           %7 = load.i32.shared %6 of shared0 within 64
           %8 = mul.i32 %1, 64
           %9 = add.i32 %8, %0
           %10 = get $0
           %11 = ptradd %10, %9 * 4
           store.i32.global %11, %7
         }";
    let mut bench = Bench::kernel(super::OUT_N, body);
    bench.machine.checks = Checks::ALL;
    let out = bench.ints(&[-1; 20 * 64]);
    REPLAYED.set(0);
    let report = bench.launch(20, 64, &[out, 0]);
    assert_eq!(report.findings, []);
    assert!(REPLAYED.get() > 10, "{} blocks", REPLAYED.get());
    assert_eq!(bench.read(out, 20 * 64)[19 * 64 + 15..][..3], [-1, 19, 19]);
}

/// One block has a sum that overflows, and in the second launch one loads uninitialised words. Both are reported as for
/// blocks that run by themselves.
#[test]
fn what_one_block_finds_is_reported() {
    let body = "%0 = special.tid.x
         %1 = special.ctaid.x
         %2 = mul.i32 %1, 64
         %3 = add.i32 %2, %0
         %4 = get $1
         %5 = ptradd %4, %3 * 4
         %6 = load.i32.global %5
         %7 = addr shared0
         %8 = ptradd %7, %0 * 4
         store.i32.shared %8, %6
         barrier
         %9 = xor.i32 %0, 1
         %10 = ptradd %7, %9 * 4
         %11 = load.i32.shared %10
         %12 = sadd.i32 %11, %6
         %13 = get $0
         %14 = ptradd %13, %3 * 4
         store.i32.global %14, %12";
    let mut text = "kernel fn0 @k($0: ptr.global \"out\" \"int *\" pointee i32, $1: ptr.global \"in\" \"int *\" pointee i32) {
         shared shared0 \"s\" \"int\" [64] : 256 align 4 element 4 at 0\n"
        .to_owned();
    let mut places = String::new();
    for (at, inst) in (1..).zip(body.lines()) {
        text += &format!("{inst} !{at}\n");
        places += &format!("loc !{at} = 0:{at}:1\n");
    }
    let text = format!("{text}}}\nfile 0 \"t\"\n{places}");
    let launch = |replays: bool| {
        plainly(Shortcut::Replay, !replays);
        let mut bench = Bench::new(&text);
        bench.machine.checks = Checks::ALL;
        let out = bench.ints(&[0; 20 * 64]);
        let words = (0..20 * 64).map(|at| if at == 707 { i32::MAX } else { at });
        let data = bench.ints(&words.collect::<Vec<i32>>());
        let unwritten = bench.memory.malloc_device(20).expect("memory");
        let first = bench.launch(20, 64, &[out, data]);
        let part = data + 4 * 970;
        bench.memory.copy(part, unwritten, 20).expect("inside");
        // The list of the first launch does not check for uninitialised words.
        let second = bench.launch(20, 64, &[out, data]);
        (
            format!("{first:#?}{second:#?}"),
            [first.findings.len(), second.findings.len()],
            bench.read(out, 20 * 64),
        )
    };
    let expected = launch(false);
    REPLAYED.set(0);
    assert!(launch(true) == expected);
    assert!(
        REPLAYED.get() > 20 && expected.1[0] > 0 && expected.1[1] > expected.1[0],
        "{} blocks, {}",
        REPLAYED.get(),
        expected.0
    );
}

/// Each block runs differently. Repeated launches attempt recording less and less often.
#[test]
fn what_never_works_is_tried_seldom() {
    let body = "%0 = special.tid.x
         %1 = special.ctaid.x
         %2 = mul.i32 %1, 64
         %3 = add.i32 %2, %0
         %4 = cmp.ult.i32 %0, %1
         if %4 {
           %5 = get $0
           %6 = ptradd %5, %3 * 4
           store.i32.global %6, %0
         }";
    let mut bench = Bench::kernel(super::OUT_N, body);
    let out = bench.ints(&[-1; 14 * 64]);
    WRITTEN_DOWN.set(0);
    for _ in 0..60 {
        bench.launch(14, 64, &[out, 0]);
    }
    let tries = WRITTEN_DOWN.get();
    assert!((2..10).contains(&tries), "{tries} times");
}

/// Kernels with many kinds of statements, including arrays in registers.
#[test]
fn replayed_blocks_of_any_kernel_do_what_they_do_by_themselves() {
    REPLAYED.set(0);
    for seed in 0..400 {
        let module = Arc::new(random::generator::module(seed));
        let launch = || random::run(&module, BLOCKS);
        plainly(Shortcut::Replay, true);
        let expected = launch();
        plainly(Shortcut::Replay, false);
        assert!(launch() == expected, "seed {seed}\n{}", print(&module));
    }
    let replayed = REPLAYED.get();
    assert!(replayed > 500, "{replayed} blocks");
}
