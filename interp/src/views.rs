//! The views of threads on memory that others write: `--memory weak`.
//!
//! Memory itself always holds the newest value of each word. This module also keeps the values that a word had since
//! the launch began, in *coherence order*, and for each thread a *view*: the oldest value of each word that it may
//! still read. A load may give any value from there on. A store may count as earlier than others' stores, as long as
//! its thread has not seen those. Views are joined, and so establish order, by barriers, by `__syncwarp`, by fences
//! among themselves, and by a fence before a strong store (`volatile` or atomic) together with a fence after the strong
//! load that reads it, each as far as its scope reaches.
//!
//! It shows only what the PTX memory model allows (PTX ISA, "Memory Consistency Model"; Lustig et al., ASPLOS 2019),
//! and not all of that:
//!
//! - Loads and atomics may be done later than their place in the program (`later`), but not after a fence that reaches
//!   others, a barrier, an exchange, an access of the same thread to the same word, or the first use of their result.
//! - An atomic acts on the newest value, unless all later values were stored with a scope that does not reach it, or
//!   not strongly.
//! - A word is 4 aligned bytes. Narrower stores never count as earlier. A value of 8 bytes is never torn.
//! - An acquire or a release of `cuda::atomic` is an access and a fence that is not sequentially consistent; it orders
//!   other words, too.
//! - Only the last few values of a word are kept, and only the first words that a launch writes (`MAX_WORDS`); the
//!   others are not weak.

mod choice;
pub(crate) mod late;
pub(crate) mod later;
pub(crate) mod random;
mod view;
mod word;

use std::collections::HashMap;

use ir::{FenceScope, LocId};

use crate::fault::finding::Lacks;
use crate::fault::trap::AccessOp;
use crate::isa::mask::LaneMask;
use choice::Chooser;
pub(crate) use choice::{Choices, Key};
use late::{Acquired, Late};
use later::Later;
use view::View;
use word::{Message, Released, Word};

/// The most words whose values are kept.
const MAX_WORDS: usize = 1 << 16;

/// A thread: its block and its number in the block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Who {
    pub(crate) block: u64,
    pub(crate) thread: u32,
}

/// A word of memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Place {
    Global(u64),
    /// A word of a block's shared memory, by offset.
    Shared(u64, u32),
}

/// The properties of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) at: LocId,
    /// The scope, if it is `volatile` or atomic.
    pub(crate) strong: Option<FenceScope>,
}

/// What a thread has seen.
#[derive(Debug, Default)]
struct Thread {
    view: View,
    /// Read with strong loads since the last fence: releases of the block's own threads, and releases of others for the
    /// device.
    pending: [View; 2],
    /// Its views at its last fence of at least block scope, and of at least device scope.
    fenced: [Option<view::Seen>; 2],
    /// How many words it had accessed at these times.
    fenced_at: [u32; 2],
    /// How many words it has accessed.
    count: u32,
    /// Acquired history, by other thread: the latest store of that thread that this one has read.
    heard: HashMap<Who, Acquired>,
}

/// The views of a launch.
#[derive(Debug)]
pub(crate) struct Views {
    chooser: Chooser,
    warps: usize,
    /// The threads of blocks that have begun and not ended.
    blocks: HashMap<u64, Vec<Thread>>,
    block: u64,
    /// The first thread of the current warp.
    first: u32,
    /// The place of that warp in the block's list.
    at: usize,
    /// Grows with each change of the current warp.
    runs: u64,
    /// Accesses that are not done yet, in order, and how many of them belong to the current warp.
    laters: Vec<Later>,
    here: usize,
    numbers: HashMap<Place, u32>,
    words: Vec<Word>,
    /// Grows with each stored value.
    moment: u64,
    /// Fences are totally ordered: the views of earlier fences of device scope, and of block scope by block.
    fences: View,
    block_fences: HashMap<u64, View>,
    /// By block and number of a barrier.
    barriers: HashMap<(u64, u32), View>,
    /// Values that were read or stored out of order.
    lates: Vec<Late>,
    /// How many of them have been assigned to a turn.
    marked: usize,
}

impl Views {
    pub(crate) fn new(choices: Choices, threads: u32) -> Views {
        Views {
            chooser: Chooser::new(choices),
            warps: threads.div_ceil(32) as usize,
            blocks: HashMap::new(),
            block: 0,
            first: 0,
            at: 0,
            runs: 0,
            laters: Vec::new(),
            here: 0,
            numbers: HashMap::new(),
            words: Vec::new(),
            moment: 0,
            fences: View::default(),
            block_fences: HashMap::new(),
            barriers: HashMap::new(),
            lates: Vec::new(),
            marked: 0,
        }
    }

    pub(crate) fn block(&self) -> u64 {
        self.block
    }

    /// The late accesses, in order.
    pub(crate) fn lates(&self) -> &[Late] {
        &self.lates
    }

    /// Assigns the accesses that were late since the last call to a turn.
    pub(crate) fn mark(&mut self, turn: usize) {
        for late in &mut self.lates[self.marked..] {
            late.turn = turn;
        }
        self.marked = self.lates.len();
    }

    pub(crate) fn begin_block(&mut self, block: u64) {
        self.block = block;
        let warps = self.warps;
        let threads = || (0..32 * warps).map(|_| Thread::default()).collect();
        self.blocks.entry(block).or_insert_with(threads);
    }

    pub(crate) fn end_block(&mut self) {
        self.blocks.remove(&self.block);
        self.block_fences.remove(&self.block);
    }

    pub(crate) fn begin_warp(&mut self, warp: u32, place: usize) {
        (self.first, self.at) = (32 * warp, place);
        self.runs += 1;
        self.count_laters();
    }

    fn who(&self, lane: usize) -> Who {
        Who {
            block: self.block,
            thread: self.first + lane as u32,
        }
    }

    fn thread(&mut self, who: Who) -> &mut Thread {
        let threads = self.blocks.entry(who.block).or_default();
        let number = who.thread as usize;
        if threads.len() <= number {
            threads.resize_with(number + 1, Thread::default);
        }
        &mut threads[number]
    }

    /// A fence of lanes of the current warp. `is_sc`: the fence is sequentially consistent, and so part of the total
    /// order. Other fences do not see earlier ones, but later fences of the block see what their threads have seen.
    pub(crate) fn fence(&mut self, mask: u32, scope: FenceScope, is_sc: bool) {
        let is_device = scope != FenceScope::Block;
        if is_device {
            self.reads_behind_fences(|_| true);
        }
        for lane in LaneMask(mask) {
            let who = self.who(lane);
            let mut view = std::mem::take(&mut self.thread(who).view);
            let pending = &mut self.thread(who).pending;
            view.join(&std::mem::take(&mut pending[0]));
            if is_device {
                view.join(&std::mem::take(&mut pending[1]));
            }
            let of_block = self.block_fences.entry(who.block).or_default();
            if is_sc {
                view.join(of_block);
            }
            if is_sc && is_device {
                view.join(&self.fences);
            }
            let seen = view.seen();
            match is_sc {
                true => of_block.clone_from(&view),
                false => of_block.join(&view),
            }
            if is_sc && is_device {
                self.fences.join(&view);
            }
            let thread = self.thread(who);
            let count = thread.count;
            let levels = 1 + usize::from(is_device);
            for (fenced, at) in thread
                .fenced
                .iter_mut()
                .zip(&mut thread.fenced_at)
                .take(levels)
            {
                *fenced = Some(seen.clone());
                *at = count;
            }
            thread.view = view;
        }
    }

    /// Joins the views of lanes of the current warp.
    fn meet(&mut self, lanes: u32) {
        let mut sum = View::default();
        for lane in LaneMask(lanes) {
            let who = self.who(lane);
            sum.join(&self.thread(who).view);
        }
        sum.seen();
        for lane in LaneMask(lanes) {
            let who = self.who(lane);
            self.thread(who).view.clone_from(&sum);
        }
    }

    /// Lanes synchronise, each with those that it names.
    pub(crate) fn sync_warp(&mut self, mask: u32, named: &[u32; 32]) {
        let mut left = mask;
        while left != 0 {
            let lane = left.trailing_zeros();
            let group = named[lane as usize] & mask | 1 << lane;
            self.meet(group);
            left &= !group;
        }
    }

    /// The block's barrier opens.
    pub(crate) fn barrier(&mut self) {
        let mut sum = View::default();
        for thread in self.blocks.entry(self.block).or_default().iter() {
            sum.join(&thread.view);
        }
        sum.seen();
        for thread in self.blocks.entry(self.block).or_default().iter_mut() {
            thread.view.clone_from(&sum);
        }
    }

    pub(crate) fn arrive(&mut self, barrier: u32, mask: u32) {
        let mut sum = self
            .barriers
            .remove(&(self.block, barrier))
            .unwrap_or_default();
        for lane in LaneMask(mask) {
            let who = self.who(lane);
            sum.join(&self.thread(who).view);
        }
        self.barriers.insert((self.block, barrier), sum);
    }

    pub(crate) fn pass(&mut self, barrier: u32, warp: u32, mask: u32) {
        let sum = self
            .barriers
            .entry((self.block, barrier))
            .or_default()
            .clone();
        let block = self.block;
        for lane in LaneMask(mask) {
            let thread = 32 * warp + lane as u32;
            self.thread(Who { block, thread }).view.join(&sum);
        }
    }

    pub(crate) fn opened(&mut self, barrier: u32) {
        self.barriers.remove(&(self.block, barrier));
    }

    /// Memory of the heap belongs to another object from now on.
    pub(crate) fn allocated(&mut self, address: u64, bytes: u64) {
        let is_old = |place: &Place| match place {
            Place::Global(at) => (address..address + bytes).contains(at),
            Place::Shared(..) => false,
        };
        self.numbers.retain(|place, _| !is_old(place));
    }

    /// A value of one or several words is about to be stored.
    pub(crate) fn tick(&mut self) {
        self.moment += 1;
    }

    /// The number of a word that the launch has written; memory holds `now`.
    fn written(&mut self, place: Place, now: u32) -> Option<u32> {
        let number = *self.numbers.get(&place)?;
        self.words[number as usize].is(now, self.moment);
        Some(number)
    }

    /// The number of a word that is about to be written.
    fn writes(&mut self, place: Place, now: u32) -> Option<u32> {
        if let Some(number) = self.written(place, now) {
            return Some(number);
        }
        if self.words.len() >= MAX_WORDS {
            return None;
        }
        let number = self.words.len() as u32;
        self.words.push(Word::new(place, now));
        self.numbers.insert(place, number);
        Some(number)
    }

    /// Reads words for several lanes with the same views; memory holds `now`. Returns whether the result is older than
    /// that.
    ///
    /// Several words are one value of 8 bytes, which is not torn.
    pub(crate) fn load(&mut self, lanes: u32, words: &mut [(Place, u32)], how: How) -> bool {
        let numbers: Vec<Option<u32>> = words
            .iter()
            .map(|&(place, now)| self.written(place, now))
            .collect();
        let first = self.who(lanes.trailing_zeros() as usize & 31);
        for lane in LaneMask(lanes) {
            let who = self.who(lane);
            self.thread(who).count += words.len() as u32;
        }
        let known: Vec<u32> = numbers.iter().flatten().copied().collect();
        if known.is_empty() {
            return false;
        }
        // What each lane may still read. A uniform load gives all of them one value.
        let oldest: Vec<usize> = known
            .iter()
            .map(|&number| {
                let word = &self.words[number as usize];
                let lanes = LaneMask(lanes).lanes().map(|lane| Who {
                    block: self.block,
                    thread: self.first + lane as u32,
                });
                let threads =
                    lanes.filter_map(|who| self.blocks.get(&who.block)?.get(who.thread as usize));
                let time = threads
                    .map(|thread| thread.view.of(number))
                    .max()
                    .unwrap_or(0);
                word.oldest_from(time)
            })
            .collect();
        let nth = self.chooser.nth(first, self.words[known[0] as usize].place);
        let key = (nth, false);
        let read = self.choose(key, &known, &oldest);
        let mut is_late = false;
        let pairs = words
            .iter_mut()
            .zip(&numbers)
            .filter_map(|(word, number)| Some((word, (*number)?)));
        for (((_, now), number), &index) in pairs.zip(&read) {
            let word = &self.words[number as usize];
            let (message, missed) = (word.at(index).clone(), word.after(index).cloned());
            *now = message.value;
            if let Some(missed) = missed {
                is_late = true;
                self.note_late(key, (number, index), &message, &missed, how, AccessOp::Load);
            }
            for lane in LaneMask(lanes) {
                let who = self.who(lane);
                self.sees(who, number, &message, how);
            }
        }
        is_late
    }

    /// Chooses the message of each word that is read.
    fn choose(&mut self, key: Key, words: &[u32], oldest: &[usize]) -> Vec<usize> {
        if let ([number], [oldest]) = (words, oldest) {
            let newest = self.words[*number as usize].newest();
            let back = self.chooser.back(key, true, newest - oldest);
            return vec![newest - back];
        }
        // All words are read as of one moment: for each, the last value at that time.
        let lists = || {
            words
                .iter()
                .zip(oldest)
                .map(|(&number, &oldest)| (&self.words[number as usize], oldest))
        };
        let from = lists()
            .map(|(word, oldest)| word.at(oldest).moment)
            .max()
            .unwrap_or(0);
        let mut moments: Vec<u64> = lists()
            .flat_map(|(word, _)| word.moments())
            .filter(|&moment| moment >= from)
            .collect();
        moments.sort_unstable();
        moments.dedup();
        let back = self
            .chooser
            .back(key, true, moments.len().saturating_sub(1));
        let moment = moments[moments.len() - 1 - back];
        lists()
            .map(|(word, oldest)| word.last_until(moment, oldest))
            .collect()
    }

    /// A thread has read a message. If it is another thread's, only values that are stored and read by strong accesses
    /// in each other's scope count as seen.
    fn sees(&mut self, who: Who, number: u32, message: &Message, how: How) {
        let is_strong = is_seen(message, who, how);
        let thread = self.thread(who);
        let by = message.by.filter(|by| *by != who);
        if by.is_none() || is_strong {
            thread.view.see(number, message.time);
        }
        let Some(by) = by else {
            return;
        };
        let heard = Acquired::of(message, number, how.at, thread.count, is_strong);
        thread.heard.insert(by, heard);
        if !is_strong {
            return;
        }
        let Some(released) = &message.released else {
            return;
        };
        if let Some((_, seen)) = released.block.iter().find(|(block, _)| *block == who.block) {
            thread.pending[0].join_seen(seen);
        }
        if let Some(seen) = &released.device {
            thread.pending[1].join_seen(seen);
        }
    }

    /// What a strong store releases.
    fn releases(&mut self, who: Who, how: How) -> Option<Released> {
        how.strong?;
        let thread = self.thread(who);
        let released = Released {
            device: thread.fenced[1].clone(),
            block: thread.fenced[0]
                .iter()
                .map(|seen| (who.block, seen.clone()))
                .collect(),
        };
        (!released.block.is_empty()).then_some(released)
    }

    /// A lane stores: memory held `before`, and would hold `value`. Returns what it must hold. `may_move`: the store
    /// may count as earlier.
    pub(crate) fn store(
        &mut self,
        lane: usize,
        place: Place,
        (before, value): (u32, u32),
        may_move: bool,
        how: How,
    ) -> u32 {
        let who = self.who(lane);
        let ordinal = self.thread(who).count;
        self.thread(who).count += 1;
        let Some(number) = self.writes(place, before) else {
            return value;
        };
        let (released, moment) = (self.releases(who, how), self.moment);
        let thread = self.thread(who);
        let (seen, fenced_at) = (thread.view.of(number), thread.fenced_at);
        let message = Message {
            by: Some(who),
            ordinal,
            at: how.at,
            value,
            strong: how.strong,
            released,
            fenced_at,
            moment,
            is_glued: !may_move,
            ..Message::default()
        };
        let room = match may_move {
            true => self.words[number as usize].room_from(seen),
            false => 0,
        };
        let key = (self.chooser.nth(who, place), false);
        let back = self.chooser.back(key, false, room);
        let word = &mut self.words[number as usize];
        let index = word.insert(message, back);
        let (message, missed) = (word.at(index).clone(), word.after(index).cloned());
        let newest = word.at(word.newest()).value;
        self.thread(who).view.see(number, message.time);
        if let Some(missed) = missed {
            self.note_late(
                key,
                (number, index),
                &message,
                &missed,
                how,
                AccessOp::Store,
            );
        }
        newest
    }

    /// The older value that a lane's atomic acts on, if it does, and its index. Memory held `before`. No store between
    /// that value and the atomic's may be strong with respect to both threads.
    pub(crate) fn finds(
        &mut self,
        lane: usize,
        place: Place,
        before: u32,
        how: How,
    ) -> Option<(usize, u32)> {
        let who = self.who(lane);
        let number = self.written(place, before)?;
        let key = (self.chooser.nth(who, place), false);
        let seen = self.thread(who).view.of(number);
        let word = &self.words[number as usize];
        let oldest = word.oldest_from(seen);
        let is_passable = |index: &usize| {
            let message = word.at(*index);
            message.by.is_some_and(|by| by != who) && !is_seen(message, who, how)
        };
        let newest = word.newest();
        let most = (oldest + 1..=newest).rev().take_while(is_passable).count();
        let index = newest - self.chooser.back(key, true, most);
        let word = &self.words[number as usize];
        let (message, missed) = (word.at(index).clone(), word.after(index)?.clone());
        self.note_late(
            key,
            (number, index),
            &message,
            &missed,
            how,
            AccessOp::Atomic,
        );
        Some((index, message.value))
    }

    /// A lane's atomic: memory held `before` and holds `value`. `stores`: the atomic has written that. It has read the
    /// value with the given index, or otherwise the newest.
    pub(crate) fn atomic(
        &mut self,
        lane: usize,
        place: Place,
        (before, value): (u32, u32),
        (stores, index): (bool, Option<usize>),
        how: How,
    ) {
        let who = self.who(lane);
        let ordinal = self.thread(who).count;
        self.thread(who).count += 1;
        let number = match stores {
            true => self.writes(place, before),
            false => self.written(place, before),
        };
        let Some(number) = number else {
            return;
        };
        let word = &self.words[number as usize];
        let read = word.at(index.unwrap_or(word.newest())).clone();
        self.sees(who, number, &read, how);
        if !stores {
            return;
        }
        let mut released = self.releases(who, how);
        // Another thread's release continues through atomics.
        if let Some(before) = read.released.as_ref().filter(|_| is_seen(&read, who, how)) {
            released.get_or_insert_default().add(before);
        }
        let (fenced_at, moment) = (self.thread(who).fenced_at, self.moment);
        let message = Message {
            by: Some(who),
            ordinal,
            at: how.at,
            value,
            strong: how.strong,
            released,
            fenced_at,
            moment,
            is_glued: true,
            ..Message::default()
        };
        let word = &mut self.words[number as usize];
        let index = word.insert(message, 0);
        let time = word.at(index).time;
        self.thread(who).view.see(number, time);
    }

    fn note_late(
        &mut self,
        (nth, is_later): Key,
        (number, index): (u32, usize),
        message: &Message,
        missed: &Message,
        how: How,
        op: AccessOp,
    ) {
        let (who, word) = (nth.0, &self.words[number as usize]);
        let back = (word.newest() - index) as u32;
        let places = |number: u32| self.words[number as usize].place;
        let despite = missed.by.and_then(|by| {
            let thread = self.blocks.get(&who.block)?.get(who.thread as usize)?;
            let heard = thread
                .heard
                .get(&by)
                .filter(|heard| heard.ordinal >= missed.ordinal)?;
            // A fence that reaches the other thread.
            let level = usize::from(by.block != who.block);
            // The thread has already read the value that it misses, but not with a strong access: a fence would not
            // help.
            let is_same = heard.ordinal == missed.ordinal;
            let lacks = |fenced_at, since| match is_same {
                true => Lacks::Nothing,
                false => late::lacks(fenced_at, since, level),
            };
            Some(late::Despite {
                at: heard.at,
                place: places(heard.number),
                value: heard.value,
                stored_at: heard.stored_at,
                writer: lacks(heard.fenced_at, missed.ordinal + 1),
                reader: lacks(thread.fenced_at, heard.count),
                is_flag_strong: heard.is_strong,
            })
        });
        self.lates.push(Late {
            nth,
            back,
            op,
            is_later,
            after: None,
            at: how.at,
            value: message.value,
            missed: missed.value,
            missed_at: missed.at,
            missed_by: missed.by,
            despite,
            turn: 0,
        });
    }
}

/// Whether a thread's read is strong with respect to the message's store, and the store with respect to the read: each
/// is in the other's scope.
fn is_seen(message: &Message, who: Who, how: How) -> bool {
    let reaches = |scope: Option<FenceScope>| match scope {
        None => false,
        Some(FenceScope::Block) => message.by.is_some_and(|by| by.block == who.block),
        Some(FenceScope::Device | FenceScope::System) => true,
    };
    reaches(message.strong) && reaches(how.strong)
}
