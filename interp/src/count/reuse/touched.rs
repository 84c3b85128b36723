//! The set of bytes that an access of one block touched: one bit for each, in pages.

use super::stretches::Stretch;

/// The size of a page in bytes, as a power of two.
const PAGE_BITS: u32 = 12;
/// The number of words with a page's bits.
const WORDS: usize = (1 << PAGE_BITS) / 64;
/// The most pages that an access may touch in a block. An access with more is dropped in all blocks, because going
/// through them would take noticeable time.
const MOST_PAGES: usize = 4096;
/// The size of the first hash table of pages.
const FIRST_PLACES: usize = 16;
/// Spreads page numbers over the hash table: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A set of bytes with fast insertion.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched {
    /// The number of each page, in order of insertion.
    numbers: Vec<u64>,
    bits: Vec<[u64; WORDS]>,
    /// Open addressing: a page's index plus one; 0 is free. Never more than half full.
    table: Vec<u32>,
}

impl Touched {
    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Adds the bytes from `start` up to `end`. `None`: there are too many.
    #[inline]
    pub(super) fn add(&mut self, start: u64, end: u64) -> Option<()> {
        let (word, from) = (word_of(start), start % 64);
        let len = end - start;
        if from + len <= 64 && len > 0 {
            self.page(start >> PAGE_BITS)?[word] |= ones(len) << from;
            return Some(());
        }
        self.add_long(start, end)
    }

    #[inline(never)]
    fn add_long(&mut self, mut start: u64, end: u64) -> Option<()> {
        while start < end {
            let number = start >> PAGE_BITS;
            let behind = match (number + 1).checked_mul(1 << PAGE_BITS) {
                Some(next) => next.min(end),
                None => end,
            };
            let page = self.page(number)?;
            while start < behind {
                let len = (64 - start % 64).min(behind - start);
                page[word_of(start)] |= ones(len) << (start % 64);
                start += len;
            }
        }
        Some(())
    }

    #[inline]
    fn page(&mut self, number: u64) -> Option<&mut [u64; WORDS]> {
        if !self.table.is_empty() {
            let mut place = self.place(number);
            while let Some(at) = self.table[place].checked_sub(1) {
                if self.numbers[at as usize] == number {
                    return self.bits.get_mut(at as usize);
                }
                place = (place + 1) & (self.table.len() - 1);
            }
        }
        self.new_page(number)
    }

    fn place(&self, number: u64) -> usize {
        let bits = self.table.len().trailing_zeros();
        (number.wrapping_mul(SPREAD) >> (64 - bits)) as usize
    }

    #[cold]
    #[inline(never)]
    fn new_page(&mut self, number: u64) -> Option<&mut [u64; WORDS]> {
        if self.numbers.len() == MOST_PAGES {
            return None;
        }
        self.numbers.push(number);
        self.bits.push([0; WORDS]);
        if self.table.len() < 2 * self.numbers.len() {
            let places = (2 * self.table.len()).max(FIRST_PLACES);
            self.table.clear();
            self.table.resize(places, 0);
            (0..self.numbers.len()).for_each(|at| self.enter(at));
        } else {
            self.enter(self.numbers.len() - 1);
        }
        self.bits.last_mut()
    }

    fn enter(&mut self, at: usize) {
        let mut place = self.place(self.numbers[at]);
        while self.table[place] != 0 {
            place = (place + 1) & (self.table.len() - 1);
        }
        self.table[place] = at as u32 + 1;
    }

    /// Removes and returns all of them, as sorted stretches that neither overlap nor touch.
    pub(super) fn drain(&mut self) -> Vec<Stretch> {
        let mut pages: Vec<usize> = (0..self.numbers.len()).collect();
        pages.sort_unstable_by_key(|&at| self.numbers[at]);
        let mut stretches: Vec<Stretch> = Vec::new();
        for at in pages {
            let mut base = self.numbers[at] << PAGE_BITS;
            for &word in &self.bits[at] {
                stretches_of(word, base, &mut stretches);
                base = base.wrapping_add(64);
            }
        }
        self.numbers.clear();
        self.bits.clear();
        self.table.fill(0);
        stretches
    }
}

fn word_of(address: u64) -> usize {
    (address >> 6) as usize % WORDS
}

/// The lowest `len` bits, of 1 to 64.
fn ones(len: u64) -> u64 {
    u64::MAX >> (64 - len)
}

/// Adds the stretches of a word's bits. The lowest bit is the byte `base`.
fn stretches_of(mut word: u64, base: u64, stretches: &mut Vec<Stretch>) {
    let mut at = 0;
    while word != 0 {
        let zeros = u64::from(word.trailing_zeros());
        let len = u64::from((word >> zeros).trailing_ones());
        let start = base + at + zeros;
        match stretches.last_mut() {
            Some(last) if last.1 == start => last.1 += len,
            _ => stretches.push((start, start + len)),
        }
        at += zeros + len;
        word = (word >> zeros).checked_shr(len as u32).unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn more_pages_than_allowed_are_refused() {
        let mut touched = Touched::default();
        let all = (0..MOST_PAGES as u64).map(|page| page << PAGE_BITS);
        for start in all.clone() {
            assert_eq!(touched.add(start, start + 4), Some(()));
        }
        let next = (MOST_PAGES as u64) << PAGE_BITS;
        assert_eq!(touched.add(next, next + 4), None);
        assert_eq!(touched.add(8, 12), Some(()));
        let expected = [(0, 4), (8, 12), (4096, 4100)];
        assert_eq!(touched.drain()[..3], expected);
        assert!(touched.drain().is_empty());
    }

    proptest! {
        /// The bytes are the same as in a plain set, also if the set was used before.
        #[test]
        fn bytes_are_those_of_a_set(
            rounds in prop::collection::vec(
                prop::collection::vec((0..20_000u64, 0..9000u64), 0..40), 1..4,
            ),
            base in prop::sample::select(vec![0, 64, 0x7f00_0000_0000]),
        ) {
            let mut touched = Touched::default();
            for pieces in rounds {
                let mut set = BTreeSet::new();
                for (start, len) in pieces {
                    let len = if start % 3 == 0 { len } else { len % 17 };
                    prop_assert_eq!(touched.add(base + start, base + start + len), Some(()));
                    set.extend(base + start..base + start + len);
                }
                let stretches = touched.drain();
                for pair in stretches.windows(2) {
                    prop_assert!(pair[0].1 < pair[1].0);
                }
                let found: Vec<u64> = stretches.into_iter().flat_map(|(start, end)| start..end).collect();
                prop_assert_eq!(found, set.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
