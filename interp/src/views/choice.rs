//! Which accesses are late, and by how much: at random, or as given.

use std::collections::HashMap;

use super::random::Random;
use super::{Place, Who};

/// So often a thread reads an old value of one word: one that waits for a value sees it at last.
const MAX_STALE: u8 = 3;
/// So many accesses of a launch are late.
const MAX_LATE: u32 = 1 << 14;
/// Pairs of a thread and a word of which it is kept how many accesses might have been done later.
const MAX_PAIRS: usize = 1 << 20;

/// Who chooses.
#[derive(Clone, Debug)]
pub(crate) enum Choices {
    /// A seed.
    Random(u64),
    /// By how many values these are late; all others are in time.
    Given(HashMap<Key, u32>),
}

/// An access that is late. `true`: one that is done later than it stands, whose number counts those that might have been.
pub(crate) type Key = (Nth, bool);

/// An access of a thread: so many others of it went to the same word before, since the launch wrote that first. What the thread does
/// elsewhere changes nothing about that.
pub(crate) type Nth = (Who, Place, u32);

#[derive(Debug)]
pub(super) struct Chooser {
    choices: Choices,
    random: Random,
    /// One access in so many is late, of those that may.
    one_in: u64,
    counts: HashMap<(Who, Place), u32>,
    /// The same of accesses that might be done later than they stand.
    chances: HashMap<(Who, Place), u32>,
    stale: HashMap<(Who, Place), u8>,
    late: u32,
}

impl Chooser {
    pub(super) fn new(choices: Choices) -> Chooser {
        let mut random = match choices {
            // Not those numbers that the schedule takes.
            Choices::Random(seed) => Random(seed ^ 0x5eed_0f1a_7e57_0e5e),
            Choices::Given(_) => Random(0),
        };
        let one_in = [2, 2, 4, 8][random.below(4) as usize];
        Chooser {
            choices,
            random,
            one_in,
            counts: HashMap::new(),
            chances: HashMap::new(),
            stale: HashMap::new(),
            late: 0,
        }
    }

    /// A thread's next access to a word.
    pub(super) fn nth(&mut self, who: Who, place: Place) -> Nth {
        let count = self.counts.entry((who, place)).or_default();
        *count += 1;
        (who, place, *count - 1)
    }

    /// A thread's next access to a word, if it is to be done later than it stands.
    pub(super) fn later(&mut self, who: Who, place: Place) -> Option<Nth> {
        if self.chances.len() >= MAX_PAIRS && !self.chances.contains_key(&(who, place)) {
            return None;
        }
        let count = self.chances.entry((who, place)).or_default();
        let nth = (who, place, *count);
        *count += 1;
        let is_later = match &self.choices {
            Choices::Given(given) => given.contains_key(&(nth, true)),
            Choices::Random(_) => self.late < MAX_LATE && self.random.below(self.one_in) == 0,
        };
        is_later.then_some(nth)
    }

    /// By how many values an access is late, of at most `most`.
    pub(super) fn back(&mut self, key: Key, is_load: bool, most: usize) -> usize {
        if most == 0 {
            return 0;
        }
        let nth = key.0;
        let back = match &self.choices {
            Choices::Given(given) => given.get(&key).map_or(0, |&back| back as usize),
            Choices::Random(_) => {
                let stale = is_load.then(|| self.stale.entry((nth.0, nth.1)).or_default());
                let may =
                    self.late < MAX_LATE && stale.as_ref().is_none_or(|stale| **stale < MAX_STALE);
                if !may || self.random.below(self.one_in) != 0 {
                    return 0;
                }
                if let Some(stale) = stale {
                    *stale += 1;
                }
                self.late += 1;
                1 + self.random.below(most as u64) as usize
            }
        };
        back.min(most)
    }
}
