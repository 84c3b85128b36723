//! Blocks side by side on several CPU threads, with the result of blocks in order.
//!
//! Only kernels whose blocks cannot see each other's order are tried (no global atomics, volatile accesses, fences). The
//! regions that both stores and loads can reach are copied first. Workers take blocks in ascending order and note what they
//! touch; if two workers touched one word, or anything unusual happened (a trap, a block that waits, the limit), memory is
//! put back and the caller runs all blocks in order. So no result depends on the number of workers or on their timing.
//!
//! What is only written needs no copy: blocks in order write every word again that blocks side by side wrote, for no address
//! or value comes from there. Where they trap before that, the device is lost to the program as on hardware, and nothing can
//! read the rest. All this holds while pointers stay in the allocation they start from; where one did not (undefined in
//! CUDA) and blocks have to be run again, the launch ends with an error instead of a value that may be wrong.
//!
//! Workers whose blocks do conflict race on plain bytes until that is found out; what they computed is thrown away.

use crate::memory::map::GlobalRegion;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::config::Order;
use crate::fault::trap::{Trap, TrapKind};
use crate::launch::Run;
use crate::machine::Machine;
use crate::machine::block::{Block, MAX_PRINTED, Turn};
use crate::machine::engine;
use crate::machine::track::{self, Reachable, Tracker};
use crate::observe::Observer;

/// Regions that would have to be copied beyond this are not worth it.
const SNAPSHOT_BYTES: u64 = 2 << 30;
/// Local memory of all blocks that run side by side.
const LOCAL_BYTES: u64 = 2 << 30;
/// Blocks a worker takes at a time, at most: replayed, each takes less than a microsecond.
const MAX_BLOCKS: u64 = 64;

/// How often it is looked whether the other workers are done, before this thread sleeps until they are: some tens of microseconds, as long as
/// it takes to wake a thread.
const SPINS: u32 = 2000;
/// Words of what workers touched that one thread compares before it could have woken others.
const FEW_WORDS: usize = 1 << 16;

/// What the blocks of one worker printed, by block.
type Printed = Vec<(u64, Vec<u8>)>;

/// What came of running blocks side by side.
pub(crate) enum Outcome<'a, O: Observer> {
    /// All ran.
    Done(Box<Machine<'a, O>>),
    /// They were asked to stop.
    Stopped(Box<Machine<'a, O>>, Trap),
    /// They must run in order; memory is as it was before, as far as they can see.
    InOrder,
    /// They would have to run in order, but memory cannot be put back.
    LeftAllocation,
}

/// All blocks.
pub(crate) fn run<'a, O: Observer + Send>(
    run: &Run<'a>,
    observer: &(impl Fn() -> O + Sync),
    out: &mut dyn FnMut(&[u8]),
) -> Outcome<'a, O> {
    let blocks = u64::try_from(run.count()).unwrap_or(0);
    let lanes = 32 * u64::from(run.shape.threads().div_ceil(32));
    let block_bytes = run.code.memory.local_bytes.saturating_mul(lanes);
    let workers = (run.machine.jobs as u64)
        .min(blocks / 2)
        .min(LOCAL_BYTES / block_bytes.max(1));
    let ascending = run.machine.order == Order::Ascending;
    if workers < 2 || run.code.effects.ordered || !ascending {
        return Outcome::InOrder;
    }
    let reachable = Reachable {
        stores: run.written(),
        loads: run.read(),
    };
    let written: Vec<GlobalRegion> = run
        .map
        .regions
        .iter()
        .filter(|region| {
            let index = region.index as usize;
            reachable.stores[index] && reachable.loads[index]
        })
        .copied()
        .collect();
    if written.iter().map(|region| region.size).sum::<u64>() > SNAPSHOT_BYTES {
        return Outcome::InOrder;
    }
    let snapshot = copy(&written, workers as usize, run.memory.take_spare());

    let next = AtomicU64::new(0);
    let (failed, left_allocation) = (AtomicBool::new(false), AtomicBool::new(false));
    let stopped = Mutex::new(None);
    let stop = Stop {
        failed: &failed,
        left_allocation: &left_allocation,
        stopped: &stopped,
    };
    let share = Share {
        next: &next,
        blocks,
        workers,
    };
    let mut results: Vec<Option<(Machine<'a, O>, Printed)>> = (0..workers).map(|_| None).collect();
    let running = AtomicUsize::new(results.len());
    let work = |result: &mut Option<_>| {
        *result = worker(run, observer(), &share, &stop, reachable.clone());
        if result.is_none() {
            failed.store(true, Ordering::Relaxed);
        }
        running.fetch_sub(1, Ordering::Release);
    };
    let (work, (first, others)) = (&work, results.split_first_mut().expect("two or more"));
    rayon::in_place_scope(|scope| {
        for result in others {
            scope.spawn(move |_| work(result));
        }
        // This thread need not be woken. Nor when it is done: all workers end at nearly the same time.
        work(first);
        for _ in 0..SPINS {
            if running.load(Ordering::Acquire) == 0 {
                break;
            }
            std::hint::spin_loop();
        }
    });
    let results: Option<Vec<_>> = results.into_iter().collect();
    if let Some(trap) = stopped.into_inner().unwrap_or_else(PoisonError::into_inner) {
        // All blocks run again, so what they left behind does not matter.
        let merged = results.and_then(|results| merge(run, observer(), results));
        let (machine, printed) = merged.unwrap_or_else(|| (run.worker(observer()), Printed::new()));
        printed.iter().for_each(|(_, text)| out(text));
        return Outcome::Stopped(Box::new(machine), trap);
    }
    if let Some(results) = results
        && let Some((machine, printed)) = merge(run, observer(), results)
    {
        printed.iter().for_each(|(_, text)| out(text));
        run.memory.keep_spare(snapshot);
        return Outcome::Done(Box::new(machine));
    }
    restore(&written, &snapshot);
    run.memory.keep_spare(snapshot);
    if left_allocation.into_inner() {
        Outcome::LeftAllocation
    } else {
        Outcome::InOrder
    }
}

/// The blocks that nobody has taken yet.
struct Share<'a> {
    next: &'a AtomicU64,
    blocks: u64,
    workers: u64,
}

impl Share<'_> {
    /// A worker's next ones. The fewer are left, the fewer at a time, so that all workers end together though blocks differ.
    fn take(&self) -> Option<std::ops::Range<u64>> {
        let end = |first: u64| {
            let left = self.blocks - first;
            first + (left / self.workers / 8).clamp(1, MAX_BLOCKS)
        };
        let relaxed = Ordering::Relaxed;
        let taken = self.next.fetch_update(relaxed, relaxed, |first| {
            (first < self.blocks).then(|| end(first))
        });
        taken.ok().map(|first| first..end(first))
    }
}

/// What workers tell each other.
struct Stop<'a> {
    /// One of them could not go on.
    failed: &'a AtomicBool,
    /// One of them left the allocation that a pointer started from.
    left_allocation: &'a AtomicBool,
    /// Where the first one stood that saw that it is to stop.
    stopped: &'a Mutex<Option<Trap>>,
}

/// Pieces that one worker copies by itself.
const COPY_BYTES: usize = 1 << 20;

/// The regions' bytes one behind the other, copied by all workers: a launch on large buffers would else wait for one of them.
/// `spare` is the last launch's copy: its pages are there already.
fn copy(regions: &[GlobalRegion], workers: usize, mut spare: Vec<u8>) -> Vec<u8> {
    let size: usize = regions.iter().map(|region| region.size as usize).sum();
    spare.clear();
    spare.reserve_exact(size);
    let mut pieces = Vec::new();
    let mut rest = &mut spare.spare_capacity_mut()[..size];
    for region in regions {
        let (to, behind) = rest.split_at_mut(region.size as usize);
        rest = behind;
        // SAFETY: the region's bytes are valid, no worker runs yet, and `u8`s are valid as what may not be initialised yet.
        let from: &[MaybeUninit<u8>] =
            unsafe { std::slice::from_raw_parts(region.bytes.cast(), region.size as usize) };
        let piece = from.len().div_ceil(workers).max(COPY_BYTES);
        pieces.extend(to.chunks_mut(piece).zip(from.chunks(piece)));
    }
    match pieces.as_mut_slice() {
        [(to, from)] => to.copy_from_slice(from),
        _ => rayon::scope(|scope| {
            for (to, from) in pieces {
                scope.spawn(move |_| to.copy_from_slice(from));
            }
        }),
    }
    // SAFETY: the pieces were all of it.
    unsafe { spare.set_len(size) };
    spare
}

/// Puts the copied bytes back.
fn restore(regions: &[GlobalRegion], copy: &[u8]) {
    let mut rest = copy;
    for region in regions {
        let (bytes, behind) = rest.split_at(region.size as usize);
        rest = behind;
        // SAFETY: the copy is of this region, all workers have ended.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), region.bytes, bytes.len()) };
    }
}

/// Runs blocks until there are none; `None` if one did not simply end.
fn worker<'a, O: Observer>(
    run: &Run<'a>,
    observer: O,
    share: &Share<'_>,
    stop: &Stop<'_>,
    reachable: Reachable,
) -> Option<(Machine<'a, O>, Printed)> {
    let mut machine = run.worker(observer);
    machine.tracker = Some(Box::new(Tracker::new(reachable)));
    let engine = engine::engine(run.code.shortcuts);
    let mut block = Block::new(run.code, &run.shape, run.memory);
    let mut printed = Vec::new();
    let mut printed_bytes = 0;
    loop {
        let Some(portion) = share.take() else {
            machine.settle();
            machine.observer.finish();
            // Many small pieces: better here than on the thread that all wait for.
            machine.replay.forget_list();
            return Some((machine, printed));
        };
        // Those of the portion before: a number for people, who do not see so few.
        run.machine.progress.ended(portion.end - portion.start);
        for index in portion.map(|k| run.block(k)) {
            if stop.failed.load(Ordering::Relaxed) {
                return None;
            }
            let turn = block.run(index, &mut machine, &engine);
            if machine
                .tracker
                .as_ref()
                .is_some_and(|tracker| tracker.left_allocation)
            {
                stop.left_allocation.store(true, Ordering::Relaxed);
            }
            match turn {
                // The first access that is skipped is one of blocks in order.
                Turn::Done if !machine.record.skipped.is_empty() => return None,
                Turn::Done => {}
                Turn::Fault { warp, fault } if matches!(fault.kind, TrapKind::Stopped(_)) => {
                    let mut stopped = stop.stopped.lock().unwrap_or_else(PoisonError::into_inner);
                    stopped.get_or_insert_with(|| run.trap(&machine, &block, warp, *fault));
                    machine.settle();
                    printed.push((index, std::mem::take(&mut block.printed)));
                    return Some((machine, printed));
                }
                Turn::Stuck | Turn::Fault { .. } => return None,
            }
            if !block.printed.is_empty() {
                printed_bytes += block.printed.len();
                // In order each block's text goes out as it ends.
                if printed_bytes > MAX_PRINTED {
                    return None;
                }
                printed.push((index, std::mem::take(&mut block.printed)));
            }
        }
    }
}

/// Whether two workers touched one word.
fn conflict(trackers: &[&Tracker]) -> bool {
    let chunks = track::chunks(trackers);
    let meet = |chunk| track::conflict(trackers, chunk);
    let words: usize = trackers.iter().map(|tracker| tracker.words()).sum();
    match words <= FEW_WORDS {
        true => chunks.into_iter().any(meet),
        false => chunks.into_par_iter().any(meet),
    }
}

/// One machine with everybody's counts, unless two workers touched one word.
fn merge<'a, O: Observer>(
    run: &Run<'a>,
    observer: O,
    results: Vec<(Machine<'a, O>, Printed)>,
) -> Option<(Machine<'a, O>, Printed)> {
    let trackers: Vec<&Tracker> = results
        .iter()
        .filter_map(|(machine, _)| machine.tracker.as_deref())
        .collect();
    if results.iter().any(|result| result.0.observer.needs_order())
        || trackers.iter().any(|tracker| tracker.escaped())
        || conflict(&trackers)
    {
        return None;
    }
    let mut sum = run.worker(observer);
    let mut printed = Vec::new();
    for (machine, texts) in results {
        sum.absorb(&machine);
        printed.extend(texts);
    }
    if sum.record.totals.charged() > sum.policy.limit {
        return None;
    }
    printed.sort_by_key(|(index, _)| *index);
    Some((sum, printed))
}
