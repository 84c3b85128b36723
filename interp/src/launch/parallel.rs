//! Runs blocks in parallel on several CPU threads, with the result of running them in order.
//!
//! This is tried only for kernels whose blocks cannot observe each other's order (no global atomics, volatile accesses
//! or fences). Regions that both stores and loads can reach are copied first. Workers take blocks in ascending order
//! and note what they touch. If two workers touched the same word, or something unusual happened (a trap, a block that
//! waits, the limit), the copied memory is restored and the caller runs all blocks in order. The result therefore does
//! not depend on the number of workers or their timing.
//!
//! Regions that are only written need no copy. A second run in order writes every word again that the parallel run
//! wrote, because no address or value comes from there. If the run in order traps before that, the program has lost the
//! device, as on hardware, and nothing can read the rest. All this requires that pointers stay in the allocation they
//! start from. If one did not (undefined in CUDA) and the blocks have to run again, the launch ends with an error
//! instead of a value that may be wrong.
//!
//! Workers with conflicting blocks race on plain bytes until the conflict is detected. Their results are discarded.

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

/// If regions that have to be copied are larger than this, running in parallel does not pay off.
const SNAPSHOT_BYTES: u64 = 2 << 30;
/// The most local memory for all blocks that run in parallel.
const LOCAL_BYTES: u64 = 2 << 30;
/// The most blocks that a worker takes at a time: a replayed block takes less than a microsecond.
const MAX_BLOCKS: u64 = 64;

/// How often this thread checks whether the other workers are done before it sleeps: some tens of microseconds, as long
/// as it takes to wake a thread.
const SPINS: u32 = 2000;
/// The most words of the workers' touched sets that one thread compares alone: waking others would take longer.
const FEW_WORDS: usize = 1 << 16;

/// The text that one worker's blocks printed, by block.
type Printed = Vec<(u64, Vec<u8>)>;

/// The result of running blocks in parallel.
pub(crate) enum Outcome<'a, O: Observer> {
    /// All ran.
    Done(Box<Machine<'a, O>>),
    /// They were stopped on request.
    Stopped(Box<Machine<'a, O>>, Trap),
    /// The blocks must run in order. All memory that they can read is as it was before.
    InOrder,
    /// The blocks would have to run in order, but memory cannot be restored.
    LeftAllocation,
}

/// Runs all blocks.
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
        // This thread works too: it needs no waking, and no sleep at the end, because all workers finish at nearly the
        // same time.
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
        // All blocks run again, so the machines of the workers can be dropped.
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

/// The blocks that no worker has taken yet.
struct Share<'a> {
    next: &'a AtomicU64,
    blocks: u64,
    workers: u64,
}

impl Share<'_> {
    /// A worker's next blocks. The portions shrink towards the end, so that all workers finish together although blocks
    /// differ in length.
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

/// The flags that workers share.
struct Stop<'a> {
    /// A worker could not continue.
    failed: &'a AtomicBool,
    /// A pointer left the allocation that it started from.
    left_allocation: &'a AtomicBool,
    /// Where the first worker was that saw the request to stop.
    stopped: &'a Mutex<Option<Trap>>,
}

/// The size of the pieces in which workers copy.
const COPY_BYTES: usize = 1 << 20;

/// The regions' bytes, one after the other, copied by all workers. Otherwise a launch on large buffers would wait for a
/// single thread. `spare` is the last launch's copy, whose pages are already mapped.
fn copy(regions: &[GlobalRegion], workers: usize, mut spare: Vec<u8>) -> Vec<u8> {
    let size: usize = regions.iter().map(|region| region.size as usize).sum();
    spare.clear();
    spare.reserve_exact(size);
    let mut pieces = Vec::new();
    let mut rest = &mut spare.spare_capacity_mut()[..size];
    for region in regions {
        let (to, behind) = rest.split_at_mut(region.size as usize);
        rest = behind;
        // SAFETY: the region's bytes are valid, no worker runs yet, and initialised `u8`s are valid as
        // `MaybeUninit<u8>`.
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
    // SAFETY: the pieces covered all of it.
    unsafe { spare.set_len(size) };
    spare
}

/// Restores the copied bytes.
fn restore(regions: &[GlobalRegion], copy: &[u8]) {
    let mut rest = copy;
    for region in regions {
        let (bytes, behind) = rest.split_at(region.size as usize);
        rest = behind;
        // SAFETY: the copy is of this region, and all workers have ended.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), region.bytes, bytes.len()) };
    }
}

/// Runs blocks until none are left. Returns `None` if one did not end normally.
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
            // Freeing many small pieces is better done here than on the thread that everyone waits for.
            machine.replay.forget_list();
            return Some((machine, printed));
        };
        // Counts the portion before it runs: a progress display does not need to be exact to so few blocks.
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
                // The first access that is skipped must be the first in block order.
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
                // In order, each block's text is printed as the block ends.
                if printed_bytes > MAX_PRINTED {
                    return None;
                }
                printed.push((index, std::mem::take(&mut block.printed)));
            }
        }
    }
}

/// Whether two workers touched the same word.
fn conflict(trackers: &[&Tracker]) -> bool {
    let chunks = track::chunks(trackers);
    let meet = |chunk| track::conflict(trackers, chunk);
    let words: usize = trackers.iter().map(|tracker| tracker.words()).sum();
    match words <= FEW_WORDS {
        true => chunks.into_iter().any(meet),
        false => chunks.into_par_iter().any(meet),
    }
}

/// One machine with the counts of all workers, unless two of them touched the same word.
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
