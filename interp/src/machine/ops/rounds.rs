//! Runs many iterations of a loop together ([`isa::rounds`](crate::isa::rounds)).
//!
//! One iteration (a *round*) has just run in the usual way, so the last request of every load matched its site's
//! pattern or became it. The distance of each later request follows from the counter's step. The first and the last
//! request show whether all of them match the pattern. If so, they are counted as hits and shown to the observer as
//! one, and only data has to be moved.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "these are compiled with the features of the engine that calls them"
)]

use super::address::is_within;
use super::element::WordLayout;
use super::{global, int, lanes, overflow, shared};
use crate::count::pattern::{Last, Requests, Shape};
use crate::isa::bytecode::{Code, Form, Inst, MemSite, Place};
use crate::isa::op::Op;
use crate::isa::registers::{Registers, View};
use crate::isa::rounds::{FEW_LOADS, MOST_WORDS, Numbered, Products, Rounds, Step, Work};
use crate::machine::Machine;
use crate::machine::level::Level;
use crate::machine::vectors::{Feed, Loaded, Vectors};
use crate::observe::{Like, Observer, Swept};
use ir::Space;

/// The most rounds at once, so that their distances stay far below what 64 bits hold.
const MOST_ROUNDS: u32 = 1 << 16;
/// No program has longer steps.
const MOST_STRIDE_BYTES: u64 = 1 << 40;
/// The most words of all lanes that are loaded before they are multiplied, so that they stay in the first-level cache.
const MOST_LOADED: u32 = 2 * MOST_WORDS as u32;

/// Space for what the loops of a kernel load.
pub(crate) fn loaded(code: &Code) -> Registers {
    let sums_up = code.rounds.iter().any(|rounds| rounds.products.is_some());
    Registers::new(if sums_up { MOST_LOADED } else { 0 }, 0)
}

/// The end of a loop, and its head.
#[derive(Clone, Copy)]
pub(crate) struct Edge<'a> {
    pub(crate) row: u32,
    pub(crate) step: &'a Inst,
    pub(crate) head: &'a Inst,
}

/// Runs up to `most` rounds of a loop with at most `LOADS` loads, whose body is about to start again. Returns how many.
/// The counter then has its value after the last one.
#[inline(always)]
pub(crate) fn run<L: Level, O: Observer, const LOADS: usize>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    edge: &Edge<'_>,
    most: u64,
) -> u32 {
    let rounds = &machine.code.rounds[edge.row as usize];
    if !machine.rounds[edge.row as usize].tries() {
        return 0;
    }
    let counter = edge.step.d;
    let (from, by) = (r.s(counter) as u32, r.s(edge.step.c) as u32);
    let most = u64::from(MOST_ROUNDS).min(most) as u32;
    let count = left(edge, r, by, most);
    let ran = count >= 2 && at_once::<L, O, LOADS>(machine, r, mask, edge, rounds, count);
    let last = if ran { by.wrapping_mul(count) } else { 0 };
    r.set_s(counter, u64::from(from.wrapping_add(last)));
    machine.rounds[edge.row as usize].renew(ran || count < 2);
    if ran { count } else { 0 }
}

/// The number of rounds, at most `most`, before the head's jump leaves the loop.
#[inline(always)]
fn left(edge: &Edge<'_>, r: View, by: u32, most: u32) -> u32 {
    let (head, counter) = (edge.head, edge.step.d);
    let is_first = head.a == counter;
    let other = r.s(if is_first { head.c } else { head.a }) as u32;
    let from = r.s(counter) as u32;
    macro_rules! count {
        ($leaves:path) => {{
            let (mut count, mut at) = (0, from);
            while count < most {
                let (a, b) = if is_first { (at, other) } else { (other, at) };
                if $leaves(a, b) {
                    break;
                }
                // An overflow is reported, and changes the distance if the index is widened.
                let Some(next) = (at as i32).checked_add(by as i32) else {
                    break;
                };
                (count, at) = (count + 1, next as u32);
            }
            count
        }};
    }
    match head.op {
        // Counting up by one to a limit is the most common loop.
        Op::JumpSge32 if is_first && by == 1 => {
            (i64::from(other as i32) - i64::from(from as i32)).clamp(0, most.into()) as u32
        }
        Op::JumpEq32 => count!(int::eq32),
        Op::JumpNe32 => count!(int::ne32),
        Op::JumpSlt32 => count!(int::slt32),
        Op::JumpSle32 => count!(int::sle32),
        Op::JumpSgt32 => count!(int::sgt32),
        Op::JumpSge32 => count!(int::sge32),
        Op::JumpUlt32 => count!(int::ult32),
        Op::JumpUle32 => count!(int::ule32),
        Op::JumpUgt32 => count!(int::ugt32),
        Op::JumpUge32 => count!(int::uge32),
        _ => 0,
    }
}

/// Whether an operation has an invalid operand that the observer has to see.
#[inline(always)]
fn is_wrong<O: Observer>(machine: &Machine<'_, O>, r: View, mask: u32, of: &Numbered) -> bool {
    let inst = &of.inst;
    O::SEES_REPEATS
        && O::RISKY[inst.op as usize]
        && machine.observer.risks(of.pc as usize)
        && overflow::is_wrong(inst, r, mask)
}

/// Computes the values that move, from a round's counter. Returns `false` if an operand is invalid.
#[inline(always)]
fn compute<O: Observer>(machine: &Machine<'_, O>, r: View, mask: u32, of: &Numbered) -> bool {
    let (inst, scales) = (&of.inst, &machine.code.scales);
    if is_wrong(machine, r, mask, of) {
        return false;
    }
    match inst.op {
        Op::SAdd32 | Op::SAddS32 => lanes::s_binary32(r, inst, int::add32),
        Op::SSub32 | Op::SSubS32 => lanes::s_binary32(r, inst, int::sub32),
        Op::SMul32 | Op::SMulS32 => lanes::s_binary32(r, inst, int::mul32),
        Op::SPtrS => lanes::s_ptr(r, inst, scales, |x| i64::from(x as i32)),
        Op::SPtrU => lanes::s_ptr(r, inst, scales, |x| i64::from(x as u32)),
        Op::SPtrL => lanes::s_ptr(r, inst, scales, |x| x as i64),
        Op::SPtr32 => lanes::s_ptr32(r, inst, scales),
        Op::SMove => r.set_s(inst.d, r.s(inst.a)),
        _ => return false,
    }
    true
}

/// The scalars of a load's address in a round, or their distance from those of the round before.
#[derive(Clone, Copy, Default)]
struct Scalars {
    base: u64,
    term: u32,
}

impl Scalars {
    #[inline(always)]
    fn of(r: View, site: &MemSite, load: &Inst) -> Scalars {
        let base = match site.address.form {
            Form::Uniform | Form::UniformIndexed => r.s(load.a),
            Form::Varying | Form::VaryingIndexed => 0,
        };
        Scalars {
            base,
            term: r.s(site.address.term) as u32,
        }
    }

    #[inline(always)]
    fn behind(self, other: Scalars) -> Scalars {
        Scalars {
            base: self.base.wrapping_sub(other.base),
            term: self.term.wrapping_sub(other.term),
        }
    }
}

/// Whether all requests of a load match its pattern. If so, returns them.
#[inline(always)]
fn requests<O: Observer>(
    machine: &Machine<'_, O>,
    site: &MemSite,
    mask: u32,
    moved: Scalars,
    count: u32,
) -> Option<Requests> {
    let pattern = &machine.patterns[site.row as usize];
    let is_shared = site.access.space == Space::Shared;
    if pattern.last.first == Last::NONE {
        return None;
    }
    let stride_bytes = match is_shared {
        true => {
            let moved_term = moved.term.wrapping_mul(site.address.term_scale as u32);
            i64::from((moved.base as u32).wrapping_add(moved_term) as i32)
        }
        false => {
            let moved_term = i64::from(moved.term as i32).checked_mul(site.address.scale)?;
            (moved.base as i64).checked_add(moved_term)?
        }
    };
    if stride_bytes.unsigned_abs() > MOST_STRIDE_BYTES {
        return None;
    }
    let requests = Requests {
        first: pattern.last.first.wrapping_add_signed(stride_bytes),
        stride_bytes,
        count,
    };
    let admits = match is_shared {
        true => pattern.admits_all::<false>(&requests, mask),
        false => pattern.admits_all::<true>(&requests, mask),
    };
    if !is_shared {
        // The index is widened, so it must not pass the end of 32 bits on the way.
        let is_indexed = site.address.form == Form::UniformIndexed;
        let index = pattern.last.index.wrapping_sub(pattern.index.from);
        let end = i64::from(index) + i64::from(moved.term as i32) * i64::from(count);
        if moved.term != 0 && !(is_indexed && (0..=i64::from(pattern.index.range)).contains(&end)) {
            return None;
        }
        let tracker = machine.tracker.as_ref();
        if tracker.is_some_and(|tracker| tracker.follows(pattern.region, false)) {
            return None;
        }
    }
    admits.then_some(requests)
}

/// Runs `count` rounds. Returns `false`, with only temporaries changed, if that is impossible.
#[inline(always)]
fn at_once<L: Level, O: Observer, const LOADS: usize>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    edge: &Edge<'_>,
    rounds: &Rounds,
    count: u32,
) -> bool {
    let (counter, by) = (edge.step.d, r.s(edge.step.c) as u32);
    let from = r.s(counter) as u32;
    if rounds.fixed.iter().any(|of| is_wrong(machine, r, mask, of)) {
        return false;
    }
    let mut all = [Requests::default(); LOADS];
    let mut first = [Scalars::default(); LOADS];
    let mut moved = [Scalars::default(); LOADS];
    // Two rounds give the distance by which a value moves. It is right in all rounds if it is right in the first and
    // the last one.
    for round in [0, 1, count - 1] {
        let at = from.wrapping_add(by.wrapping_mul(round));
        r.set_s(counter, u64::from(at));
        for step in &rounds.steps {
            let number = match step {
                Step::Moves(of) if compute(machine, r, mask, of) => continue,
                Step::Moves(_) => return false,
                Step::Load(number) => *number as usize,
            };
            let load = &rounds.loads[number];
            let site = &machine.code.sites[load.c as usize];
            let scalars = Scalars::of(r, site, load);
            match round {
                0 => first[number] = scalars,
                1 => moved[number] = scalars.behind(first[number]),
                _ => {}
            }
            // An index that wraps around before it is widened shows in the last round.
            let way = moved[number].base.wrapping_mul(round.into());
            if scalars.base != first[number].base.wrapping_add(way) {
                return false;
            }
            // A subscript that is in bounds in two rounds moves by less than its array's length. It cannot wrap around
            // before the address leaves its memory.
            if O::SEES_REPEATS
                && !match rounds.still[number] {
                    true => machine.patterns[load.c as usize].last.is_within,
                    false => is_within::<L::Vectors>(r, site),
                }
            {
                return false;
            }
        }
        if round == 1 {
            for (number, load) in rounds.loads.iter().enumerate() {
                let site = &machine.code.sites[load.c as usize];
                let Some(found) = requests(machine, site, mask, moved[number], count) else {
                    return false;
                };
                all[number] = found;
            }
        }
    }
    if O::SEES_REPEATS && !see(machine, r, mask, rounds, &all) {
        return false;
    }
    for (number, load) in rounds.loads.iter().enumerate() {
        let requests = all[number];
        let pattern = &mut machine.patterns[load.c as usize];
        let site = &machine.code.sites[load.c as usize];
        let is_global = !matches!(site.access.space, Space::Shared | Space::Constant);
        if machine.record.reach.is_on && is_global {
            let rounds = (requests.first - pattern.below, requests.stride_bytes, count);
            let (counter, like) = (site.counter, (&*pattern, mask));
            let reach = &mut machine.record.reach;
            reach.note_swept(counter, site.width_bytes, like, rounds);
        }
        pattern.count_all(mask, count);
        pattern.last.first = requests.at(count - 1);
        pattern.last.index = pattern
            .last
            .index
            .wrapping_add(moved[number].term.wrapping_mul(count));
    }
    for tally in &rounds.tallies {
        let hits = &mut machine.patterns[tally.site as usize].hits;
        hits.count_times(mask, u64::from(tally.times) * u64::from(count));
    }
    let mut feeds = [Feed::NONE; LOADS];
    for (number, load) in rounds.loads.iter().enumerate() {
        let requests = all[number];
        let pattern = &machine.patterns[load.c as usize];
        let (memory, base) = match load.op {
            Op::LoadShared => (&raw const machine.shared[..], 0),
            _ => {
                let region = &machine.map.regions[pattern.region as usize];
                let bytes = region.bytes.cast_const();
                let memory = std::ptr::slice_from_raw_parts(bytes, region.size as usize);
                (memory, region.base)
            }
        };
        feeds[number] = Feed {
            layout: WordLayout {
                shape: match machine.code.sites[load.c as usize].uniform_values {
                    true => Shape::Splat,
                    false => pattern.shape,
                },
                bytes: &pattern.bytes,
                half_lows: pattern.half_lows,
                memory,
            },
            lowest: (requests.first - pattern.below - base) as usize,
            stride_bytes: requests.stride_bytes as isize,
        };
    }
    #[cfg(test)]
    crate::tests::AT_ONCE.set(crate::tests::AT_ONCE.get() + count as usize);
    let loaded = machine.loaded.view();
    // SAFETY: every request's bytes lie inside of its memory (the pattern's invariant, of all requests that it admits).
    unsafe {
        match &rounds.products {
            Some(of) => products::<L::Vectors>(r, of, &feeds[..rounds.loads.len()], loaded, count),
            None => work::<L::Vectors>(r, &machine.code.sites, rounds, &feeds, count),
        }
    }
    true
}

/// Shows all requests to an observer that has to see them. Returns whether it accepted them without a finding.
#[inline(always)]
fn see<O: Observer, const LOADS: usize>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    rounds: &Rounds,
    all: &[Requests; LOADS],
) -> bool {
    let loads = &rounds.loads;
    macro_rules! swept {
        ($number:expr) => {{
            let load = &loads[$number];
            let requests = all[$number];
            let site = &machine.code.sites[load.c as usize];
            let pattern = &machine.patterns[load.c as usize];
            let access = match load.op {
                Op::LoadShared => {
                    shared::access((site, site.counter), mask, r, machine.shared.as_ptr())
                }
                _ => global::access(r, site, mask),
            };
            Swept {
                access,
                like: Like {
                    pattern,
                    is_within: true,
                    lowest: requests.first - pattern.below,
                },
                stride_bytes: requests.stride_bytes,
                count: requests.count,
            }
        }};
    }
    // No allocated list, because it would slow down loops of few rounds.
    let observer = &mut machine.observer;
    match loads.len() {
        1 => observer.repeat_rounds(&[swept!(0)]),
        2 => observer.repeat_rounds(&[swept!(0), swept!(1)]),
        3 => observer.repeat_rounds(&[swept!(0), swept!(1), swept!(2)]),
        _ if LOADS <= FEW_LOADS => {
            observer.repeat_rounds(&[swept!(0), swept!(1), swept!(2), swept!(3)])
        }
        count => {
            // The unused entries repeat the last one and are not read.
            let all: [_; LOADS] = std::array::from_fn(|number| swept!(number.min(count - 1)));
            observer.repeat_rounds(&all[..count])
        }
    }
}

/// Loads the words of some rounds, adds the products of each row to its sums, and continues with the next rounds.
/// Afterwards the registers hold the last round's words.
///
/// # Safety
/// Everything that the feeds name must be readable.
#[inline(always)]
unsafe fn products<V: Vectors>(
    r: View,
    products: &Products,
    feeds: &[Feed<'_>],
    loaded: View,
    count: u32,
) {
    let quick = |load: u32| Some(&feeds[load as usize]).filter(|feed| feed.is_quick());
    if let (Some(factors), [row]) = (products.factors, &products.rows[..])
        && let [Some(one), Some(other)] = factors.map(quick)
    {
        // SAFETY: guaranteed by the caller.
        unsafe {
            V::sum_rounds(r.v32_mut(row.sums[0].0), one, other, count);
            for &(to, load) in &products.ends {
                let feed = &feeds[load as usize];
                match to {
                    Place::V(to) => feed.quick::<V>(count - 1, r.v32_mut(to)),
                    Place::S(to) => r.set_s(to, feed.word(count - 1, 0).into()),
                }
            }
        }
        return;
    }
    let words = products.words;
    let mut loaded = Loaded {
        r: loaded,
        words,
        rounds: 0,
    };
    let mut from = 0;
    while from < count {
        loaded.rounds = (MOST_LOADED / words).min(count - from);
        for (number, feed) in feeds.iter().enumerate() {
            let first = products.first[number];
            let end = products.first.get(number + 1).map_or(words, |&next| next);
            for round in 0..loaded.rounds {
                let at = round * words;
                let registers = [at + first, at + first + 1, at + first + 2, at + first + 3];
                let registers = &registers[..(end - first) as usize];
                // SAFETY: guaranteed by the caller.
                unsafe { feed.words::<V>(from + round, loaded.r, registers) };
            }
        }
        for row in &products.rows {
            V::sum_row(r, row, &loaded);
        }
        from += loaded.rounds;
    }
    let last = (loaded.rounds - 1) * words;
    for &(to, word) in &products.ends {
        let word = loaded.r.v32(last + word);
        match to {
            Place::V(to) => *r.v32_mut(to) = *word,
            Place::S(to) => r.set_s(to, word[0].into()),
        }
    }
}

/// The loads and the sums, one round after the other.
///
/// # Safety
/// Everything that the feeds name must be readable.
#[inline(always)]
unsafe fn work<V: Vectors>(
    r: View,
    sites: &[MemSite],
    rounds: &Rounds,
    feeds: &[Feed<'_>],
    count: u32,
) {
    for round in 0..count {
        for work in &rounds.work {
            match work {
                Work::Load(load) => {
                    let site = &sites[rounds.loads[*load as usize].c as usize];
                    let feed = &feeds[*load as usize];
                    let registers = &site.values[..site.access.count as usize];
                    // SAFETY: guaranteed by the caller.
                    unsafe {
                        match site.uniform_values {
                            true => {
                                for (behind, &register) in registers.iter().enumerate() {
                                    r.set_s(register, feed.word(round, behind).into());
                                }
                            }
                            false => feed.words::<V>(round, r, registers),
                        }
                    }
                }
                Work::Spread(spread) => lanes::splat32(r, spread),
                Work::Move(from) => lanes::move32(r, from),
                Work::Copy(from) => r.set_s(from.d, r.s(from.a)),
                Work::Sum(sum) => V::fma_into32(r, sum),
            }
        }
    }
}
