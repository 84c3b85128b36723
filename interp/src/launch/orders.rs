//! Runs a launch in both orders. What threads communicate may depend on which block or warp comes first, so some faults
//! appear in one order only.
//!
//! If the threads of a launch communicate and the launch was short, it runs once more with the last block and warp
//! first, on memory as it was before. Results, counts and printed text are those of the first run; the second run only
//! adds findings.

use crate::memory::device_heap::DeviceHeap;
use crate::memory::map::GlobalRegion;
use crate::observe::counters::Counters;
use ir::{LocId, MemType, Space};

use crate::check::{Checker, Subject};
use crate::config::{BothOrders, MachineConfig, Order};
use crate::fault::address::AddressKind;
use crate::fault::finding::{
    Ending, Fact, Finding, FindingAccess, FindingKind, FindingObject, FindingOp, Severity,
};
use crate::fault::trap::TrapKind;
use crate::isa::effects::Talk;
use crate::launch::Run;
use crate::launch::report::{LaunchFailure, LaunchReport, Orders};
use crate::progress::Progress;

/// The most memory that is saved for a launch whose threads may communicate.
const MAX_BYTES: u64 = 16 << 20;
/// The same if only the run's findings can show that they do.
const MAX_BYTES_ON_SUSPICION: u64 = 1 << 20;
/// The same if the launch runs under many schedules.
const MAX_BYTES_TO_EXPLORE: u64 = 256 << 20;
/// The most runs of differing bytes that are listed one by one.
const MAX_SPANS: usize = 256;
/// The most regions reported to end differently before it is known which of them are read later.
const MAX_REGIONS: usize = 16;
/// The most warp instructions of a short launch.
const SHORT: u64 = 1_000_000;
/// A second run is given up after this many times the first one's instructions, plus `SOME_MORE`.
const MAX_TIMES_AS_LONG: u64 = 8;
const SOME_MORE: u64 = 100_000;

/// Saved bytes of the regions that a launch may write, and the heap's blocks if the launch allocates or frees some.
pub(crate) struct Saved {
    regions: Vec<(GlobalRegion, Vec<u8>)>,
    heap: Option<DeviceHeap>,
}

impl Saved {
    pub(crate) fn of(run: &Run<'_>, regions: &[GlobalRegion]) -> Saved {
        let end = run.memory.device_heap().end();
        let copy = |region: &GlobalRegion| {
            // Heap memory beyond what kernels have used holds nothing.
            let size = match region.is_heap {
                true => region.size.min(end.saturating_sub(region.base)),
                false => region.size,
            };
            // SAFETY: the region's bytes are valid, and nothing runs.
            let bytes = unsafe { std::slice::from_raw_parts(region.bytes, size as usize) };
            (*region, bytes.to_vec())
        };
        let heap = run.code.effects.heap;
        Saved {
            regions: regions.iter().map(copy).collect(),
            heap: heap.then(|| run.memory.device_heap().clone()),
        }
    }

    /// How each region differs from its saved bytes.
    pub(crate) fn differences(&self) -> Vec<Difference> {
        let mut found = Vec::new();
        let heap = self.regions.iter().find(|(region, _)| region.is_heap);
        let heap = heap.map(|(region, _)| *region);
        // Which heap block a thread gets depends on the order, and so does the address of a value in the heap.
        for (region, then) in self.regions.iter().filter(|(region, _)| !region.is_heap) {
            // SAFETY: as above.
            let now = unsafe { std::slice::from_raw_parts(region.bytes, then.len()) };
            let without_pointers = heap.map(|heap| with_pointers_of(now, then, heap));
            let now = without_pointers.as_deref().unwrap_or(now);
            let Some(at) = now.iter().zip(then).position(|(now, then)| now != then) else {
                continue;
            };
            let is_rounding = is_rounded(now, then);
            let is_grave = !is_permuted(now, then) && !is_rounding;
            found.push(Difference {
                region: region.base,
                address: region.base + at as u64,
                around: [around(then, at), around(now, at)],
                is_grave,
                is_rounding,
                spans: spans(region.base, now, then),
            });
        }
        found
    }

    /// The same regions as they are now.
    pub(crate) fn again(&self, run: &Run<'_>) -> Saved {
        let regions: Vec<GlobalRegion> = self.regions.iter().map(|(region, _)| *region).collect();
        Saved::of(run, &regions)
    }

    pub(crate) fn restore(&self, run: &Run<'_>) {
        if let Some(heap) = &self.heap {
            run.memory.device_heap().clone_from(heap);
        }
        for (region, bytes) in &self.regions {
            // SAFETY: as above, and the region may be written.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), region.bytes, bytes.len()) };
        }
    }
}

/// `now`, with the pointers into the heap that `then` has at the same places.
fn with_pointers_of(now: &[u8], then: &[u8], heap: GlobalRegion) -> Vec<u8> {
    let mut same = now.to_vec();
    let pointer = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    for (now, then) in same.chunks_exact_mut(8).zip(then.chunks_exact(8)) {
        if heap.holds(pointer(now), 1) && heap.holds(pointer(then), 1) {
            now.copy_from_slice(then);
        }
    }
    same
}

/// Memory that ends differently in another order.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// The region's base.
    pub(crate) region: u64,
    pub(crate) address: u64,
    /// The aligned eight bytes there, in each order.
    around: [u64; 2],
    /// Whether the difference is neither a permutation of the same words nor a rounding difference.
    pub(crate) is_grave: bool,
    /// Whether it is a rounding difference.
    pub(crate) is_rounding: bool,
    /// All bytes that differ.
    pub(crate) spans: Vec<(u64, u64)>,
}

/// The aligned eight bytes that contain a byte, with zeros beyond the end.
fn around(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes[at & !7..].iter().take(8).rev();
    bytes.fold(0, |all, &byte| all << 8 | u64::from(byte))
}

impl Difference {
    /// The final values there, interpreted as the type that the program stores, if it is known.
    pub(crate) fn ends(&self, run: &Run<'_>) -> [Ending; 2] {
        let ty = element_of(run, self.region);
        let width = ty.map_or(4, |ty| u64::from(ty.bytes()));
        let within = (self.address - self.region) % 8;
        let word = within & !3;
        self.around.map(|bits| Ending {
            word: (bits >> (8 * word)) as u32,
            bits: {
                let bits = bits >> (8 * (within - within % width));
                bits & (u64::MAX >> (64 - 8 * width))
            },
            ty,
        })
    }
}

/// The element type of a region: that of the kernel's pointer to it, or of a variable.
fn element_of(run: &Run<'_>, base: u64) -> Option<MemType> {
    let region = run.map.regions[run.map.find(base) as usize];
    let module = run.program.module();
    let function = module.function(run.kernel);
    let mut params = function.params.iter().zip(run.shape.args);
    let pointer = params.find(|(param, argument)| {
        param.pointee.is_some() && (region.base..region.base + region.size).contains(*argument)
    });
    if let Some((param, _)) = pointer {
        return param.pointee;
    }
    let name = run.memory.object_at(base, base)?.name;
    let mut globals = module.globals.iter();
    let variable = globals.find(|global| global.name == name.trim_matches('`'))?;
    let element = variable.c_type.split('[').next().unwrap_or_default().trim();
    match (element, variable.element_bytes) {
        ("float", _) => Some(MemType::F32),
        ("double", _) => Some(MemType::F64),
        _ => None,
    }
}

/// The differing bytes of memory that begins at an address. Many runs of them are reported as one.
fn spans(base: u64, now: &[u8], then: &[u8]) -> Vec<(u64, u64)> {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    let differing = now.iter().zip(then).enumerate();
    for (at, _) in differing.filter(|(_, (now, then))| now != then) {
        let at = base + at as u64;
        match spans.last_mut() {
            Some(last) if last.1 == at => last.1 = at + 1,
            _ => spans.push((at, at + 1)),
        }
    }
    if spans.len() > MAX_SPANS {
        let all = (spans[0].0, spans[spans.len() - 1].1);
        spans = vec![all];
    }
    spans
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let words = bytes.chunks(4);
    words.map(|word| {
        word.iter()
            .rev()
            .fold(0, |all, &byte| all << 8 | u32::from(byte))
    })
}

/// Whether the words are a permutation of each other: a list filled in another order.
fn is_permuted(a: &[u8], b: &[u8]) -> bool {
    let sorted = |bytes| {
        let mut words: Vec<u32> = words(bytes).collect();
        words.sort_unstable();
        words
    };
    sorted(a) == sorted(b)
}

/// Whether all words that differ are floats, or upper halves of doubles, that are nearly equal.
fn is_rounded(a: &[u8], b: &[u8]) -> bool {
    let near = |(a, b): (f64, f64)| {
        a.is_finite() && b.is_finite() && a.abs() > 1e-30 && (a - b).abs() <= 1e-3 * a.abs()
    };
    let float = |bits: u32| f64::from(f32::from_bits(bits));
    let floats = words(a).zip(words(b)).filter(|(a, b)| a != b);
    let double = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap_or_default());
    let doubles = a
        .chunks_exact(8)
        .zip(b.chunks_exact(8))
        .filter(|(a, b)| a != b);
    let is_of_doubles = !a.is_empty() && a.len().is_multiple_of(8);
    floats.map(|(a, b)| (float(a), float(b))).all(near)
        || is_of_doubles && doubles.map(|(a, b)| (double(a), double(b))).all(near)
}

/// What is needed to run a launch again.
pub(crate) struct Again {
    pub(crate) before: Saved,
    pub(crate) regions: Vec<GlobalRegion>,
}

/// Saves what a launch may write, if running it again may be worthwhile. Call it before the first run.
pub(crate) fn prepare(run: &Run<'_>, written: &[bool]) -> Option<Again> {
    let machine = run.machine;
    let explores = machine.schedules.0 > 0;
    let runs_twice = machine.both_orders != BothOrders::Never && machine.order == Order::Ascending;
    let one_warp = run.config.blocks() < 2 && run.config.threads_per_block() <= 32;
    if !explores && (!runs_twice || one_warp) {
        return None;
    }
    let regions: Vec<GlobalRegion> = run
        .map
        .regions
        .iter()
        .filter(|region| written[region.index as usize] && region.size > 0)
        .copied()
        .collect();
    let most = match (machine.both_orders, run.code.effects.communicates) {
        _ if explores => MAX_BYTES_TO_EXPLORE,
        (BothOrders::Always, _) => u64::MAX,
        (_, true) => MAX_BYTES,
        (_, false) => MAX_BYTES_ON_SUSPICION,
    };
    let bytes: u64 = regions.iter().map(|region| region.size).sum();
    (bytes <= most).then(|| Again {
        before: Saved::of(run, &regions),
        regions,
    })
}

/// Saves what a launch may write, if its threads may wait for memory that the host can write meanwhile: the launch may
/// then have to run again later.
pub(crate) fn before_waiting(run: &Run<'_>, written: &[bool]) -> Option<Saved> {
    let is_shared =
        |region: &&GlobalRegion| run.memory.kind_of(region.base) == AddressKind::Managed;
    let regions = run.map.regions.iter().filter(|region| region.size > 0);
    if run.code.effects.polls.waits.is_empty() || !regions.clone().any(|region| is_shared(&region))
    {
        return None;
    }
    let regions = regions.filter(|region| written[region.index as usize]);
    let regions: Vec<GlobalRegion> = regions.copied().collect();
    let bytes: u64 = regions.iter().map(|region| region.size).sum();
    (bytes <= MAX_BYTES_TO_EXPLORE).then(|| Saved::of(run, &regions))
}

/// Runs a launch that has ended once more in reverse order, if that is worthwhile, and adds the new findings.
pub(crate) fn run_again(
    run: &Run<'_>,
    again: Option<&Again>,
    subject: &Subject<'_>,
    report: &mut LaunchReport,
) {
    let machine = run.machine;
    let races = |finding: &Finding| finding.kind == FindingKind::Race;
    let communicates = run.code.effects.communicates || report.findings.iter().any(races);
    let several = run.config.blocks() > 1 || run.config.threads_per_block() > 32;
    if !communicates || !several || machine.both_orders == BothOrders::Never {
        return;
    }
    let taken = report.counts.warp_instructions;
    let again = match again {
        Some(again) if machine.both_orders == BothOrders::Always || taken <= SHORT => again,
        _ => {
            report.order.ran = Orders::One;
            return;
        }
    };
    let after = Saved::of(run, &again.regions);
    again.before.restore(run);
    let most = taken
        .saturating_mul(MAX_TIMES_AS_LONG)
        .saturating_add(SOME_MORE);
    let descending = MachineConfig {
        order: Order::Descending,
        progress: Progress::default(),
        jobs: 1,
        limit: Some(machine.limit.map_or(most, |limit| limit.min(most))),
        ..machine.clone()
    };
    let counters = || Counters::new(&machine.rules, run.code.counters.len());
    let second = Run {
        machine: &descending,
        ..*run
    };
    let (result, _) = second.with(&|| Checker::new(counters(), subject), &mut |_| {});
    // Differences in more than order and rounding come first.
    let mut differs = after.differences();
    differs.sort_by_key(|differs| !differs.is_grave);
    after.restore(run);
    report.order.ran = Orders::Both;
    let (other, trap) = match result {
        Ok(report) => (report, None),
        Err(LaunchFailure::Trap { trap, report }) => (*report, Some(trap)),
        Err(LaunchFailure::Invalid(_)) => return,
    };
    let has_ended = trap.is_none();
    add(report, other);
    // If there is a race, that finding already says more.
    let is_clean = !report.findings.iter().any(races) && report.skipped.is_empty();
    if let (Some(at), true) = (run.code.effects.talks_at, has_ended && is_clean) {
        let differs = differs.into_iter().take(MAX_REGIONS);
        let findings = differs.map(|differs| schedule_dependent(run, at, differs));
        report.findings.extend(findings);
    }
    // A run that takes too long is not a fault.
    report.order.trap_descending =
        trap.filter(|trap| !matches!(trap.kind, TrapKind::Limit { .. } | TrapKind::Stopped(_)));
}

/// What identifies a finding within a launch.
pub(crate) fn places(finding: &Finding) -> (FindingKind, Option<Space>, Vec<LocId>) {
    let mut places: Vec<_> = finding.accesses.iter().map(|access| access.loc).collect();
    places.sort_unstable();
    (finding.kind, finding.space, places)
}

/// Adds the findings that only the other order has.
fn add(report: &mut LaunchReport, other: LaunchReport) {
    let known: Vec<_> = report.findings.iter().map(places).collect();
    let kinds: Vec<FindingKind> = report.findings.iter().map(|finding| finding.kind).collect();
    for finding in other.findings {
        // Equal values in this order say nothing new about a race.
        let is_echo = finding.severity == Severity::Note && kinds.contains(&finding.kind);
        if !is_echo && !known.contains(&places(&finding)) {
            report.findings.push(Finding {
                descending: true,
                ..finding
            });
        }
    }
    for mut skipped in other.skipped {
        let is_like = |known: &crate::fault::trap::SkippedAccess| {
            known.trap.loc == skipped.trap.loc && known.trap.kind.name() == skipped.trap.kind.name()
        };
        if !report.skipped.iter().any(is_like) {
            skipped.descending = true;
            report.skipped.push(skipped);
        }
    }
}

/// A finding about memory that ends differently in the other order.
fn schedule_dependent(run: &Run<'_>, talk: Talk, differs: Difference) -> Finding {
    let fact = Fact::ScheduleDependent {
        ends: differs.ends(run),
        // Programs of this kind are meant to allow a list in another order, or a sum with another rounding.
        is_grave: talk.decides && differs.is_grave,
        spans: differs.spans,
        suspect: None,
    };
    let op = match talk.is_atomic {
        true => FindingOp::Atomic,
        false => FindingOp::Read,
    };
    at_difference(run, fact, (op, talk.loc), differs.address)
}

/// A finding about memory that ends differently, with an access that is involved.
pub(crate) fn at_difference(
    run: &Run<'_>,
    fact: Fact,
    (op, loc): (FindingOp, LocId),
    address: u64,
) -> Finding {
    let region = run.map.regions[run.map.find(address) as usize];
    let object = run.memory.object_at(region.base, address);
    let size = object.as_ref().map_or(0, |object| object.size_bytes);
    let name = object.map_or_else(|| "memory".to_owned(), |object| object.name);
    let element = element_of(run, region.base).map_or(4, |ty| u64::from(ty.bytes()));
    let offset_bytes = address - region.base;
    let access = FindingAccess {
        op,
        loc,
        block: [0; 3],
        thread: [0; 3],
        warp: 0,
        lane: 0,
        bytes: 0,
        value: None,
        volatile: op != FindingOp::Atomic,
    };
    Finding {
        space: Some(Space::Global),
        object: Some(FindingObject {
            name,
            index: match size > element {
                true => format!("[{}]", offset_bytes / element),
                false => String::new(),
            },
            offset_bytes,
        }),
        ..Finding::new(fact, vec![access])
    }
}
