//! Chooses which accesses are late, and by how much: at random, or as given.

use std::collections::HashMap;

use super::random::Random;
use super::{Place, Who};

/// How often a thread may read an old value of one word. A thread that waits for a value eventually sees it.
const MAX_STALE: u8 = 3;
/// The most late accesses of a launch.
const MAX_LATE: u32 = 1 << 14;
/// The most pairs of a thread and a word for which the accesses that could be done later are counted.
const MAX_PAIRS: usize = 1 << 20;

/// The source of the choices.
#[derive(Clone, Debug)]
pub(crate) enum Choices {
    /// A random number generator with this seed.
    Random(u64),
    /// By how many values these accesses are late. All others are in time.
    Given(HashMap<Key, u32>),
}

/// A late access. `true`: an access that is done later than its place in the program, numbered among those that could
/// be.
pub(crate) type Key = (Nth, bool);

/// An access of a thread: the thread accessed the same word this many times before, since the launch first wrote the
/// word. The number does not depend on what the thread does elsewhere.
pub(crate) type Nth = (Who, Place, u32);

#[derive(Debug)]
pub(super) struct Chooser {
    choices: Choices,
    random: Random,
    /// One in this many accesses that may be late is.
    one_in: u64,
    counts: HashMap<(Who, Place), u32>,
    /// The same for accesses that could be done later than their place in the program.
    chances: HashMap<(Who, Place), u32>,
    stale: HashMap<(Who, Place), u8>,
    late: u32,
}

impl Chooser {
    pub(super) fn new(choices: Choices) -> Chooser {
        let mut random = match choices {
            // Different numbers from those that the schedule uses.
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

    /// The number of a thread's next access to a word.
    pub(super) fn nth(&mut self, who: Who, place: Place) -> Nth {
        let count = self.counts.entry((who, place)).or_default();
        *count += 1;
        (who, place, *count - 1)
    }

    /// The number of a thread's next access to a word, if it is to be done later than its place in the program.
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

    /// By how many values an access is late, at most `most`.
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
