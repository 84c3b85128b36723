//! Compares the race checker with a naive one: random kernels, their accesses as a list, full vector clocks of all
//! threads, and every pair of accesses compared byte by byte.
//!
//! The checker stores less (the last write and some readers of each cell), so it need not report every pair. But it may
//! report only pairs that race, and must report something wherever there is a race.

use crate::Shortcut;
use crate::tests::plainly;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{Bench, OUT_N};
use crate::config::{Check, Checks};
use crate::fault::finding::FindingKind;
use crate::memory::traffic::Track;
use crate::race::epoch::MAX_ENTRIES;

const BLOCKS: usize = 2;
const WARPS: usize = 2;
const THREADS: usize = 32 * WARPS;
const ALL: usize = BLOCKS * THREADS;
/// Bytes of each memory.
const BYTES: usize = 512;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Load,
    Store,
    Atomic,
}

#[derive(Clone, Debug)]
enum Step {
    Access {
        kind: Kind,
        shared: bool,
        /// Whether it is the memory of atomics that order other accesses.
        flag: bool,
        width: usize,
        scale: usize,
        add: usize,
        elements: usize,
        /// Whether elements are indexed by the thread's number in the grid.
        grid: bool,
        /// The bits of that number that are inverted.
        flip: usize,
    },
    Barrier,
    /// All lanes, or each half separately.
    SyncWarp {
        half: bool,
    },
    Fence {
        device: bool,
    },
}

/// Only threads with `tid & mask == value`.
#[derive(Clone, Copy, Debug)]
struct Guard {
    mask: usize,
    value: usize,
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

fn program(random: &mut Random) -> Vec<(Step, Guard)> {
    let (fences, halves) = (random.below(3) == 0, random.below(3) == 0);
    let all = Guard { mask: 0, value: 0 };
    let bytes = random.below(3) == 0;
    (0..2 + random.below(9))
        .map(|_| match random.below(if fences { 14 } else { 11 }) {
            0 | 1 => (Step::Barrier, all),
            2 | 3 => {
                let half = halves && random.below(2) == 0;
                (Step::SyncWarp { half }, all)
            }
            11 => (
                Step::Fence {
                    device: random.below(2) == 0,
                },
                all,
            ),
            choice => {
                let flag = choice > 11;
                let kind = match random.below(8) {
                    _ if flag => Kind::Atomic,
                    0 if !fences => Kind::Atomic,
                    1..=4 => Kind::Load,
                    _ => Kind::Store,
                };
                let width = match kind {
                    Kind::Atomic => 4,
                    _ if bytes => [1, 2, 4, 8][random.below(4)],
                    _ => [4, 4, 8][random.below(3)],
                };
                let shared = random.below(2) == 0;
                let elements = if flag {
                    1 + random.below(3)
                } else {
                    [BYTES / width, 64, 32, 3][random.below(4)]
                };
                let step = Step::Access {
                    kind,
                    shared,
                    flag,
                    width,
                    scale: [1, 1, 1, 2, 0][random.below(5)],
                    add: [0, 0, 1, 7, 32][random.below(5)],
                    elements: elements.min(BYTES / width),
                    grid: !shared && random.below(3) > 0,
                    flip: [0, 0, 0, 1, 16, 16, 21, 31][random.below(8)],
                };
                let mask = [0, 0, 1, 16, 31, 32, 63, 3][random.below(8)];
                let value = random.below(64) & mask;
                (step, Guard { mask, value })
            }
        })
        .collect()
}

/// Steps that only some blocks do.
#[derive(Clone, Copy)]
struct Apart {
    /// From this one on, accesses are
    from: usize,
    /// of these blocks only (those whose number has bit 2 and not bit 1), or of all others.
    by_these: bool,
    /// Or all blocks do them, but at another place in those whose number has bit 2.
    elsewhere: bool,
}

/// The kernel's text; the source of step `k` is line `k + 1`.
fn text(steps: &[(Step, Guard)]) -> String {
    text_apart(steps, None)
}

fn text_apart(steps: &[(Step, Guard)], apart: Option<Apart>) -> String {
    let mut body = String::from(
        "%0 = special.tid.x\n%1 = special.ctaid.x\n%2 = mul.i32 %1, 64\n%3 = add.i32 %2, %0\n\
         %4 = addr shared0\n%5 = addr shared1\n%6 = get $0\n%7 = get $1\n%8 = cvt.i64.i32.sext %0\n",
    );
    let mut next = 9;
    for (k, (step, guard)) in steps.iter().enumerate() {
        let line = k + 1;
        match step {
            Step::Barrier => _ = writeln!(body, "barrier !{line}"),
            Step::SyncWarp { half: false } => _ = writeln!(body, "syncwarp -1 !{line}"),
            Step::SyncWarp { half: true } => {
                // The mask of a lane's half: 0xffff, or 0xffff shifted up.
                let _ = writeln!(
                    body,
                    "%{a} = and.i32 %0, 16\n%{b} = shl.i32 65535, %{a}\nsyncwarp %{b} !{line}",
                    a = next,
                    b = next + 1
                );
                next += 2;
            }
            Step::Fence { device } => {
                let scope = if *device { "device" } else { "block" };
                let _ = writeln!(body, "fence.{scope} !{line}");
            }
            Step::Access {
                kind,
                shared,
                flag,
                width,
                scale,
                add,
                elements,
                grid,
                flip,
            } => {
                let base = match (shared, flag) {
                    (true, false) => 4,
                    (true, true) => 5,
                    (false, false) => 6,
                    (false, true) => 7,
                };
                let space = if *shared { "shared" } else { "global" };
                let mut number = if *grid { 3 } else { 0 };
                let apart = apart.filter(|apart| k >= apart.from);
                if apart.is_some_and(|apart| apart.elsewhere) {
                    let _ = writeln!(
                        body,
                        "%{next} = and.i32 %1, 4\n%{a} = mul.i32 %{next}, 3\n%{b} = xor.i32 %{number}, %{a}",
                        a = next + 1,
                        b = next + 2
                    );
                    number = next + 2;
                    next += 3;
                }
                let apart = apart.filter(|apart| !apart.elsewhere);
                if let Some(Apart { by_these, .. }) = apart {
                    let compare = if by_these { "eq" } else { "ne" };
                    let (bits, these) = (next, next + 1);
                    next += 2;
                    let _ = writeln!(
                        body,
                        "%{bits} = and.i32 %1, 6\n%{these} = cmp.{compare}.i32 %{bits}, 4\nif %{these} {{"
                    );
                }
                let (a, b, flipped, c, d, e, f, g) = (
                    next,
                    next + 1,
                    next + 2,
                    next + 3,
                    next + 4,
                    next + 5,
                    next + 6,
                    next + 7,
                );
                next += 8;
                let _ = writeln!(
                    body,
                    "%{a} = and.i32 %0, {}\n%{b} = cmp.eq.i32 %{a}, {}\nif %{b} {{\n%{flipped} = xor.i32 %{number}, {flip}\n\
                     %{c} = mul.i32 %{flipped}, {scale}\n%{d} = add.i32 %{c}, {add}\n%{e} = urem.i32 %{d}, {elements}\n%{f} = ptradd %{base}, %{e} * {width}",
                    guard.mask, guard.value
                );
                let ty = match width {
                    1 => "u8",
                    2 => "u16",
                    4 => "i32",
                    _ => "i64",
                };
                let value = if *width == 8 { 8 } else { 0 };
                let _ = match kind {
                    // An uninitialised value is a finding only where it is used.
                    Kind::Load => {
                        let (used, whole) = (next, if *width == 8 { "i64" } else { "i32" });
                        next += 1;
                        writeln!(
                            body,
                            "%{g} = load.{ty}.{space} %{f} !{line}\n%{used} = cmp.eq.{whole} %{g}, 77\nif %{used} !{line} {{\nset $2, 1\n}}"
                        )
                    }
                    Kind::Store => writeln!(body, "store.{ty}.{space} %{f}, %{value} !{line}"),
                    Kind::Atomic => writeln!(body, "%{g} = atomic.add.i32.{space} %{f}, 1 !{line}"),
                };
                if *kind == Kind::Store {
                    next -= 1;
                }
                body += if apart.is_some() { "}\n}\n" } else { "}\n" };
            }
        }
    }
    let mut locs = String::from("file 0 \"t\"\n");
    for line in 1..=steps.len() {
        let _ = writeln!(locs, "loc !{line} = 0:{line}:1");
    }
    format!(
        "kernel fn0 @k($0: ptr.global \"data\" \"int *\" pointee i32, $1: ptr.global \"flags\" \"int *\" pointee i32) {{\n\
         slot $2 : i32 \"used\"\n\
         shared shared0 \"s\" \"int\" [128] : 512 align 16 element 4 at 0\n\
         shared shared1 \"flag\" \"int\" [128] : 512 align 16 element 4 at 512\n{body}}}\n{locs}"
    )
}

type Clock = Vec<u32>;

fn join(a: &mut Clock, b: &Clock) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = b.max(*a);
    }
}

/// One access of one thread.
struct Event {
    thread: usize,
    clock: u32,
    line: usize,
    kind: Kind,
    /// Block (for shared memory), memory, bytes.
    memory: (usize, bool, bool),
    bytes: std::ops::Range<usize>,
}

/// The naive checker: pairs of lines that race.
fn oracle(steps: &[(Step, Guard)]) -> BTreeSet<(usize, usize)> {
    let mut clocks: Vec<Clock> = (0..ALL)
        .map(|thread| {
            let mut clock = vec![0; ALL];
            clock[thread] = 1;
            clock
        })
        .collect();
    let mut fenced: Vec<[Clock; 2]> = vec![[vec![0; ALL], vec![0; ALL]]; ALL];
    // What was released for the device, and by block.
    #[expect(clippy::type_complexity, reason = "it stands here only")]
    let mut released: BTreeMap<(usize, bool, usize), (Clock, BTreeMap<usize, Clock>)> =
        BTreeMap::new();
    let mut events: Vec<Event> = Vec::new();
    let mut pairs = BTreeSet::new();
    for block in 0..BLOCKS {
        let first = block * THREADS;
        let mut from = 0;
        while from <= steps.len() {
            let barrier = |(step, _): &(Step, Guard)| matches!(step, Step::Barrier);
            let to = (from..steps.len())
                .find(|&k| barrier(&steps[k]))
                .unwrap_or(steps.len());
            for warp in 0..WARPS {
                let lanes: Vec<usize> = (0..32).map(|lane| 32 * warp + lane).collect();
                #[expect(
                    clippy::needless_range_loop,
                    reason = "the pairs below are of indices too"
                )]
                for k in from..to {
                    let (step, guard) = &steps[k];
                    let groups: Vec<&[usize]> = match step {
                        Step::SyncWarp { half: true } => lanes.chunks(16).collect(),
                        Step::SyncWarp { half: false } => vec![&lanes],
                        _ => Vec::new(),
                    };
                    for group in groups {
                        meet(&mut clocks, &mut fenced, first, group);
                    }
                    if let Step::Fence { device } = step {
                        for &lane in &lanes {
                            let thread = first + lane;
                            let known = clocks[thread].clone();
                            fenced[thread][0].clone_from(&known);
                            if *device {
                                fenced[thread][1] = known;
                            }
                            clocks[thread][thread] += 1;
                        }
                    }
                    let Step::Access {
                        kind,
                        shared,
                        flag,
                        width,
                        scale,
                        add,
                        elements,
                        grid,
                        flip,
                    } = step
                    else {
                        continue;
                    };
                    let active = lanes
                        .iter()
                        .filter(|&&lane| lane & guard.mask == guard.value);
                    let start = events.len();
                    for &lane in active {
                        let thread = first + lane;
                        let number = if *grid { thread } else { lane } ^ flip;
                        let at = (number * scale + add) % elements * width;
                        let memory = (if *shared { block } else { 0 }, *shared, *flag);
                        if *kind == Kind::Atomic {
                            let place = (if *shared { block } else { BLOCKS }, *flag, at);
                            let (device, blocks) = released
                                .entry(place)
                                .or_insert_with(|| (vec![0; ALL], BTreeMap::new()));
                            join(&mut clocks[thread], device);
                            let own = blocks.entry(block).or_insert_with(|| vec![0; ALL]);
                            join(&mut clocks[thread], own);
                            join(own, &fenced[thread][0]);
                            join(device, &fenced[thread][1]);
                        }
                        let event = Event {
                            thread,
                            clock: clocks[thread][thread],
                            line: k + 1,
                            kind: *kind,
                            memory,
                            bytes: at..at + width,
                        };
                        for (index, earlier) in events.iter().enumerate() {
                            let meets = earlier.memory == memory
                                && earlier.bytes.start < event.bytes.end
                                && event.bytes.start < earlier.bytes.end;
                            let writes = (*kind != Kind::Load || earlier.kind != Kind::Load)
                                && !(*kind == Kind::Atomic && earlier.kind == Kind::Atomic);
                            let ordered = earlier.thread == thread
                                || index < start && clocks[thread][earlier.thread] >= earlier.clock;
                            if meets && writes && !ordered {
                                pairs.insert((earlier.line.min(k + 1), earlier.line.max(k + 1)));
                            }
                        }
                        events.push(event);
                        clocks[thread][thread] += 1;
                    }
                }
            }
            let lanes: Vec<usize> = (0..THREADS).collect();
            meet(&mut clocks, &mut fenced, first, &lanes);
            from = to + 1;
        }
    }
    pairs
}

/// Threads synchronise.
fn meet(clocks: &mut [Clock], fenced: &mut [[Clock; 2]], first: usize, lanes: &[usize]) {
    let mut sum = vec![0; ALL];
    let mut kept = [vec![0; ALL], vec![0; ALL]];
    for &lane in lanes {
        join(&mut sum, &clocks[first + lane]);
        for (kept, fenced) in kept.iter_mut().zip(&fenced[first + lane]) {
            join(kept, fenced);
        }
    }
    for &lane in lanes {
        let thread = first + lane;
        clocks[thread].clone_from(&sum);
        clocks[thread][thread] += 1;
        fenced[thread].clone_from(&kept);
    }
}

/// Lists of reads, lines, runs and everything else that handles lanes together only save time. They change neither the
/// threads and lanes in a finding, nor its count, nor the recorded touched memory.
#[test]
fn random_kernels_have_the_same_findings_the_quick_way_and_the_slow_way() {
    let (mut found, mut spans) = (0, 0);
    super::SPREAD.set(0);
    super::HALVES.set(0);
    for seed in 10_000..11_500 {
        let mut steps = program(&mut Random(seed));
        let track = match seed % 3 {
            0 => Track::Nothing,
            _ => Track::Everything,
        };
        if seed % 3 == 1 {
            only_read(&mut steps);
        }
        let findings = |slowly: bool| {
            plainly(Shortcut::Races, slowly);
            let mut bench = Bench::new(&text(&steps));
            bench.machine.checks = Checks::ALL;
            let data = match seed % 4 {
                0 | 2 => bench.ints(&[0; 128]),
                _ => bench.memory.malloc_device(512).expect("memory"),
            };
            if seed % 4 == 1 {
                for at in (0..512).filter(|at| at * at % 19 < 15) {
                    bench.memory.write_bytes(data + at, &[0]).expect("inside");
                }
            }
            let flags = bench.ints(&[0; 128]);
            bench.memory.track(track);
            let report = bench.launch(4, THREADS as u32, &[data, flags]);
            plainly(Shortcut::Races, false);
            (report.findings, bench.memory.take_touched())
        };
        let (quickly, slowly) = (findings(false), findings(true));
        assert_eq!(quickly, slowly, "seed {seed}: {steps:#?}");
        found += quickly.0.len();
        spans += quickly.1.read.len();
    }
    let (spread, halves) = (super::SPREAD.get(), super::HALVES.get());
    assert!(
        found > 1000 && spans > 1000 && spread > 1000 && halves > 50,
        "{found} {spans} {spread} {halves}"
    );
}

/// Two rows of 16 lanes that begin one element apart: 15 elements are stored twice.
#[test]
fn two_runs_of_lanes_that_overlap_race() {
    let mut bench = Bench::new(&format!(
        "kernel fn0 @k({OUT_N}) {{
         %0 = special.tid.x
         %1 = and.i32 %0, 15
         %2 = lshr.i32 %0, 4
         %3 = get $1
         %4 = mul.i32 %2, %3
         %5 = add.i32 %1, %4
         %6 = get $0
         %7 = ptradd %6, %5 * 4
         store.i32.global %7, %0 !1
         }}
         file 0 \"t\"
         loc !1 = 0:1:1"
    ));
    bench.machine.checks = Checks::ALL;
    let out = bench.ints(&[0; 64]);
    super::HALVES.set(0);
    let mut lanes = |apart| {
        let findings = bench.launch(1, 32, &[out, apart]).findings;
        findings.iter().map(|finding| finding.count).sum::<u64>()
    };
    assert_eq!((lanes(1), super::HALVES.get()), (15, 0));
    assert_eq!((lanes(16), super::HALVES.get()), (0, 0), "one run");
    assert_eq!((lanes(17), super::HALVES.get()), (0, 1));
}

/// Four blocks do the same. The fifth does it at another place in its memory: there one warp reads what the other one
/// stores.
#[test]
fn a_block_that_goes_elsewhere_is_not_like_the_others() {
    let mut bench = Bench::new(&format!(
        "kernel fn0 @k({OUT_N}) {{
         shared shared0 \"s\" \"int\" [128] : 512 align 4 element 4 at 0
         %0 = special.tid.x
         %1 = special.ctaid.x
         %2 = addr shared0
         %3 = ptradd %2, %0 * 4
         store.i32.shared %3, 1 !1
         %4 = ptradd %3, 0 * 0 + 256
         store.i32.shared %4, 1 !2
         barrier
         %5 = lshr.i32 %1, 2
         %6 = mul.i32 %5, 32
         %7 = add.i32 %0, %6
         %8 = ptradd %2, %7 * 4
         store.i32.shared %8, 2 !3
         %9 = load.i32.shared %3 !4
         %10 = get $0
         %11 = ptradd %10, %0 * 4
         }}
         file 0 \"t\"
         loc !1 = 0:1:1
         loc !2 = 0:2:1
         loc !3 = 0:3:1
         loc !4 = 0:4:1"
    ));
    bench.machine.checks = Checks::ALL;
    let out = bench.ints(&[0; 64]);
    assert_eq!(bench.launch(4, 64, &[out, 0]).findings.len(), 0);
    super::DEPARTED.set(0);
    assert_eq!(bench.launch(5, 64, &[out, 0]).findings.len(), 1);
    assert!(super::DEPARTED.get() > 0);
}

/// The same if no store is like the one before, so that none has a pattern: four blocks permute, and in the fifth two
/// lanes store to each word.
#[test]
fn a_block_that_goes_elsewhere_without_a_pattern_is_not_like_the_others() {
    let text = format!(
        "kernel fn0 @k({OUT_N}) {{
         shared shared0 \"s\" \"int\" [32] : 128 align 4 element 4 at 0
         slot $2 : i32 \"k\"
         %0 = special.tid.x
         %1 = special.ctaid.x
         %2 = addr shared0
         %3 = lshr.i32 %1, 2
         %4 = add.i32 %3, 1
         set $2, 0
         loop L0 {{
           %5 = get $2
           %6 = get $1
           %7 = cmp.slt.i32 %5, %6
           if %7 {{
           }} else {{
             break L0
           }}
           %8 = mul.i32 %5, 2
           %9 = add.i32 %8, %4
           %10 = mul.i32 %0, %9
           %11 = and.i32 %10, 31
           %12 = ptradd %2, %11 * 4
           store.i32.shared %12, %0 !1
           barrier
         }} step {{
           %13 = get $2
           %14 = add.i32 %13, 1
           set $2, %14
         }}
         }}
         file 0 \"t\"
         loc !1 = 0:1:1"
    );
    let lanes = |blocks, slowly| {
        plainly(Shortcut::Races, slowly);
        let mut bench = Bench::new(&text);
        plainly(Shortcut::Races, false);
        bench.machine.checks = Checks::ALL;
        let out = bench.ints(&[0; 64]);
        let findings = bench.launch(blocks, 32, &[out, 8]).findings;
        findings.iter().map(|finding| finding.count).sum::<u64>()
    };
    assert_eq!(lanes(4, false), 0);
    let slowly = lanes(5, true);
    assert!(slowly > 0);
    assert_eq!(lanes(5, false), slowly);
}

/// Removes all stores to the data in global memory.
fn only_read(steps: &mut [(Step, Guard)]) {
    for (step, _) in steps {
        if let Step::Access {
            kind,
            shared: false,
            flag: false,
            ..
        } = step
        {
            *kind = Kind::Load;
        }
    }
}

/// Blocks that repeat an earlier one are compared with a list. If they depart from it, the result must be as if there
/// had been no list.
#[test]
fn random_blocks_that_depart_have_the_same_findings_the_quick_way_and_the_slow_way() {
    let (mut found, mut departed) = (0, 0);
    for seed in 20_000..21_500 {
        let mut random = Random(seed);
        let mut steps = program(&mut random);
        // Most kernels have nothing that ends a list.
        if seed % 4 != 0 {
            steps.retain(|(step, _)| match step {
                Step::Access { kind, .. } => *kind != Kind::Atomic,
                Step::Barrier => true,
                Step::SyncWarp { .. } | Step::Fence { .. } => false,
            });
        }
        // Everything is the same until they depart, so that there is a list.
        let from = random.below(steps.len() + 1);
        let rest = steps.split_off(from);
        let all = Guard { mask: 0, value: 0 };
        let fill = Step::Access {
            kind: Kind::Store,
            shared: true,
            flag: false,
            width: 8,
            scale: 1,
            add: 0,
            elements: THREADS,
            grid: false,
            flip: 0,
        };
        let mut steps: Vec<_> = std::iter::once((fill, all))
            .chain(steps)
            .flat_map(|step| [step, (Step::Barrier, all)])
            .collect();
        if random.below(2) == 0 {
            steps.pop();
        }
        let apart = Apart {
            from: steps.len(),
            by_these: random.below(2) == 0,
            elsewhere: random.below(2) == 0,
        };
        steps.extend(rest);
        let findings = |slowly: bool| {
            plainly(Shortcut::Races, slowly);
            let mut bench = Bench::new(&text_apart(&steps, Some(apart)));
            bench.machine.checks = Checks::ALL;
            let (data, flags) = (bench.ints(&[0; 128]), bench.ints(&[0; 128]));
            let report = bench.launch(14, THREADS as u32, &[data, flags]);
            plainly(Shortcut::Races, false);
            report.findings
        };
        super::DEPARTED.set(0);
        let (quickly, slowly) = (findings(false), findings(true));
        assert_eq!(quickly, slowly, "seed {seed}: {steps:#?}");
        found += quickly.len();
        departed += super::DEPARTED.get();
    }
    assert!(found > 1000 && departed > 300, "{found} {departed}");
}

#[test]
fn random_kernels_race_as_a_naive_checker_says() {
    let (mut racing, mut quiet) = (0, 0);
    for seed in 0..1500 {
        let steps = program(&mut Random(seed));
        let mut bench = Bench::new(&text(&steps));
        bench.machine.checks = Checks::NONE.with(Check::Race).with(Check::WarpSynchronous);
        let (data, flags) = (bench.ints(&[0; 128]), bench.ints(&[0; 128]));
        let report = bench.launch(BLOCKS as u32, THREADS as u32, &[data, flags]);
        let mut found = BTreeSet::new();
        for finding in &report.findings {
            assert!(matches!(
                finding.kind,
                FindingKind::Race | FindingKind::WarpSynchronous
            ));
            let line = |k: usize| bench.program.module().loc(finding.accesses[k].loc).line as usize;
            found.insert((line(0).min(line(1)), line(0).max(line(1))));
        }
        let expected = oracle(&steps);
        assert!(
            found.is_subset(&expected) && found.is_empty() == expected.is_empty(),
            "seed {seed}: found {found:?}, expected {expected:?}\n{steps:#?}"
        );
        racing += usize::from(!expected.is_empty());
        quiet += usize::from(expected.is_empty());
    }
    assert!(racing > 200 && quiet > 200, "{racing} race, {quiet} do not");
}

/// The shadow of global memory has a limited number of entries, one for an access of a warp. Entries that no cell
/// refers to any more make room for others. A launch that needs more reports that it dropped the history.
#[test]
fn a_launch_with_too_many_blocks_for_the_check_says_so() {
    let run = |blocks: u32, cells: u32| {
        let mut bench = Bench::kernel(
            OUT_N,
            "%0 = special.ctaid.x\n%1 = get $1\n%2 = urem.i32 %0, %1\n%3 = get $0\n%4 = ptradd %3, %2 * 4\n\
             store.i32.global %4, %0",
        );
        bench.machine.checks = Checks::NONE.with(Check::Race);
        let out = bench.ints(&vec![0; cells as usize]);
        let report = bench.launch(blocks, 1, &[out, cells.into()]);
        let races: u64 = report.findings.iter().map(|finding| finding.count).sum();
        (report.forgot, races)
    };
    let most = MAX_ENTRIES;
    // Each block writes what another one has written some time before.
    assert_eq!(run(most, most / 2), (false, u64::from(most / 2)));
    assert_eq!(run(2 * most, most / 2), (false, u64::from(3 * most / 2)));
    // The first ones are dropped before others access the same words.
    let (forgot, races) = run(2 * most, most + most / 2);
    assert!(forgot && races < u64::from(most / 2), "{races}");
    // Whole warps, which are recorded by lines, also reach the limit.
    let lines = |blocks: u32, lines: u32| {
        let mut bench = Bench::kernel(
            OUT_N,
            "%0 = special.ctaid.x\n%1 = get $1\n%2 = urem.i32 %0, %1\n%3 = get $0\n%4 = mul.i32 %2, 32\n%5 = special.tid.x\n\
             %6 = add.i32 %4, %5\n%7 = ptradd %3, %6 * 4\nstore.i32.global %7, %0",
        );
        bench.machine.checks = Checks::NONE.with(Check::Race);
        let out = bench.ints(&vec![0; 32 * lines as usize]);
        let report = bench.launch(blocks, 32, &[out, lines.into()]);
        let races: u64 = report.findings.iter().map(|finding| finding.count).sum();
        (report.forgot, races)
    };
    assert_eq!(lines(most, most / 2), (false, 32 * u64::from(most / 2)));
    assert_eq!(
        lines(2 * most, most * 3 / 4),
        (false, 32 * u64::from(2 * most - most * 3 / 4))
    );
    assert!(lines(2 * most, most + most / 2).0);
}
