//! Tracks which bytes of a region have been written.

#![allow(
    clippy::inline_always,
    reason = "what is done for each lane must vanish into its loop"
)]

#[cfg(feature = "threads")]
use rayon::prelude::*;

use super::bits::Bits;

/// One bit per byte, stored only if neither all nor no bytes are defined.
#[derive(Clone, Debug, Default)]
pub(crate) enum Defined {
    /// No byte.
    #[default]
    Nothing,
    /// Every byte.
    All,
    /// By byte.
    Some(Bits),
}

/// The largest gap that may be one or several members of a record.
const MAX_MEMBER_BYTES: u64 = 256;

impl Defined {
    /// No byte of a region of `size` bytes, of which few will be accessed.
    pub(crate) fn sparse(size: u64) -> Defined {
        Defined::Some(Bits::sparse(size))
    }

    /// Whether all of these bytes are defined.
    pub(crate) fn holds(&self, offset: u64, len: u64) -> bool {
        match self {
            Defined::Nothing => len == 0,
            Defined::All => true,
            Defined::Some(_) if len == 0 => true,
            Defined::Some(bits) => are_set(bits, offset, offset.saturating_add(len - 1)),
        }
    }

    /// Whether all bytes of 32 lanes are defined: `bytes` bytes each from the lane's offset on.
    pub(crate) fn holds_each(&self, offsets: &[u64; 32], mask: u32, bytes: u64) -> bool {
        let bits = match self {
            Defined::Nothing => return mask == 0,
            Defined::All => return true,
            Defined::Some(bits) => bits,
        };
        let mut missing = 0;
        let mut left = mask;
        while left != 0 {
            let offset = offsets[left.trailing_zeros() as usize];
            left &= left - 1;
            match within_word(offset, bytes) {
                Some((word, own)) => missing |= !bits.get(word).copied().unwrap_or(0) & own,
                None => missing |= u64::from(!are_set(bits, offset, offset + bytes - 1)),
            }
        }
        missing == 0
    }

    /// Marks bytes of 32 lanes in a region of `size` bytes as defined: `bytes` bytes each from the lane's offset on.
    pub(crate) fn define_each(&mut self, offsets: &[u64; 32], mask: u32, bytes: u64, size: u64) {
        if matches!(self, Defined::All) {
            return;
        }
        let mut left = mask;
        while left != 0 {
            let offset = offsets[left.trailing_zeros() as usize];
            left &= left - 1;
            match (&mut *self, within_word(offset, bytes)) {
                (Defined::Some(bits), Some((word, own))) => {
                    if let Some(bits) = bits.get_mut(word) {
                        *bits |= own;
                    }
                }
                (known, _) => known.define(offset, bytes, size),
            }
        }
    }

    /// Marks bytes of a region of `size` bytes as defined.
    pub(crate) fn define(&mut self, offset: u64, len: u64, size: u64) {
        if len == 0 || matches!(self, Defined::All) {
            return;
        }
        if offset == 0 && len >= size {
            *self = Defined::All;
            return;
        }
        if matches!(self, Defined::Nothing) {
            *self = Defined::Some(Bits::new(size));
        }
        let Defined::Some(bits) = self else { return };
        let (first, last) = (offset, offset + len - 1);
        let (low, high) = ((first / 64) as usize, (last / 64) as usize);
        if high >= bits.len() {
            return;
        }
        let (from, to) = (u64::MAX << (first % 64), u64::MAX >> (63 - last % 64));
        if low == high {
            bits[low] |= from & to;
        } else {
            bits[low] |= from;
            bits[low + 1..high].fill(u64::MAX);
            bits[high] |= to;
        }
    }

    /// Marks bytes of a region of `size` bytes as undefined.
    pub(crate) fn forget(&mut self, offset: u64, len: u64, size: u64) {
        if len == 0 || matches!(self, Defined::Nothing) {
            return;
        }
        if offset == 0 && len >= size {
            *self = Defined::Nothing;
            return;
        }
        let Some(bits) = self.bits(size) else {
            return;
        };
        each_word(offset, len, |word, mask| {
            if let Some(word) = bits.get_mut(word) {
                *word &= !mask;
            }
        });
    }

    /// Changes to one bit per byte, in any state.
    fn bits(&mut self, size: u64) -> Option<&mut [u64]> {
        match self {
            Defined::Nothing => *self = Defined::Some(Bits::new(size)),
            Defined::All => {
                let mut bits = Bits::new(size);
                bits.fill(u64::MAX);
                *self = Defined::Some(bits);
            }
            Defined::Some(_) => {}
        }
        match self {
            Defined::Some(bits) => Some(bits),
            Defined::Nothing | Defined::All => None,
        }
    }

    /// The words with the bits of a region of `size` bytes, for reading and writing while the region lives; null if all
    /// bytes are defined.
    pub(crate) fn words(&mut self, size: u64) -> *mut u64 {
        match self {
            Defined::All => std::ptr::null_mut(),
            Defined::Nothing | Defined::Some(_) => self
                .bits(size)
                .map_or(std::ptr::null_mut(), <[u64]>::as_mut_ptr),
        }
    }

    /// Changes to `All` if every byte is defined.
    pub(crate) fn settle(&mut self, size: u64) {
        if matches!(self, Defined::Some(_)) && self.holds(0, size) {
            *self = Defined::All;
        }
    }

    /// The first undefined byte in a range, and the first defined one after it.
    pub(crate) fn gap(&self, offset: u64, len: u64) -> Option<(u64, u64)> {
        if self.holds(offset, len) {
            return None;
        }
        let end = offset + len;
        let is = |at: u64| self.holds(at, 1);
        let whole = |at: u64| at.is_multiple_of(64) && at + 64 <= end;
        let skip = |mut at: u64, value: bool| {
            while at < end && is(at) == value {
                let word = match self {
                    Defined::Some(bits) => bits.get((at / 64) as usize).copied(),
                    Defined::Nothing | Defined::All => None,
                };
                let same = if value { u64::MAX } else { 0 };
                at += if whole(at) && word == Some(same) {
                    64
                } else {
                    1
                };
            }
            at
        };
        let first = skip(offset, true);
        match self {
            Defined::Nothing => Some((offset, end)),
            Defined::All | Defined::Some(_) => Some((first, skip(first, false))),
        }
    }

    /// Copies bytes. Undefined bytes stay undefined.
    pub(crate) fn copy(&mut self, to: u64, size: u64, other: &Defined, from: u64, len: u64) {
        match other {
            Defined::All => self.define(to, len, size),
            Defined::Nothing => self.forget(to, len, size),
            Defined::Some(_) if other.holds(from, len) => self.define(to, len, size),
            Defined::Some(_) => {
                self.define(to, len, size);
                let mut at = from;
                while let Some((first, end)) = other.gap(at, from + len - at) {
                    self.forget(to + (first - from), end - first, size);
                    at = end;
                }
            }
        }
    }

    /// Small gaps between defined bytes are members of records that are not set yet, not missing data: marks them as
    /// defined. Kernels copy records as a whole, and a copy does not count as a use.
    pub(crate) fn fill_members(&mut self, offset: u64, len: u64, size: u64) {
        let end = offset + len;
        let (mut gaps, mut at) = (Vec::new(), offset);
        while let Some((first, until)) = self.gap(at, end - at) {
            if until - first > MAX_MEMBER_BYTES {
                return;
            }
            gaps.push((first, until - first));
            at = until;
        }
        // A gap at the end is probably an omission in the program.
        let inside = gaps
            .iter()
            .any(|&(first, bytes)| first > offset && first + bytes < end);
        if inside {
            for (first, bytes) in gaps {
                self.define(first, bytes, size);
            }
        }
    }

    /// Calls `then` with the start and end of each range of defined bytes in a region of `size` bytes, in ascending
    /// order.
    pub(crate) fn each_run(&self, size: u64, mut then: impl FnMut(u64, u64)) {
        let bits = match self {
            Defined::Nothing => return,
            Defined::All => return then(0, size),
            Defined::Some(bits) => bits,
        };
        let mut open = None;
        for (&word, first) in bits.iter().zip((0..).step_by(64)) {
            let mut bit = 0;
            while bit < 64 {
                let rest = word >> bit;
                match open {
                    None if rest == 0 => break,
                    None => {
                        bit += rest.trailing_zeros();
                        open = Some(first + u64::from(bit));
                    }
                    Some(from) => {
                        // The bits shifted in from above do not belong to the word.
                        bit += rest.trailing_ones();
                        if bit < 64 {
                            then(from, first + u64::from(bit));
                            open = None;
                        }
                    }
                }
            }
        }
        if let Some(from) = open {
            then(from, size);
        }
    }

    /// Adds the bytes that are defined in the other one.
    pub(crate) fn join(&mut self, other: &Defined) {
        match (&mut *self, other) {
            (Defined::All, _) | (_, Defined::Nothing) => {}
            (_, Defined::All) | (Defined::Nothing, _) => self.clone_from(other),
            (Defined::Some(ours), Defined::Some(theirs)) => add(ours, theirs),
        }
    }
}

/// Whether the bits from `first` to `last` exist and are set.
pub(crate) fn are_set(bits: &[u64], first: u64, last: u64) -> bool {
    let (low, high) = ((first / 64) as usize, (last / 64) as usize);
    if high >= bits.len() {
        return false;
    }
    let (from, to) = (u64::MAX << (first % 64), u64::MAX >> (63 - last % 64));
    if low == high {
        return !bits[low] & from & to == 0;
    }
    !bits[low] & from == 0
        && !bits[high] & to == 0
        && bits[low + 1..high].iter().all(|&word| word == u64::MAX)
}

/// The word with the bits of these bytes, and the bits, if it is a single word.
#[inline(always)]
fn within_word(offset: u64, bytes: u64) -> Option<(usize, u64)> {
    let first = offset % 64;
    let is_one = bytes > 0 && first + bytes <= 64;
    is_one.then(|| ((offset / 64) as usize, u64::MAX >> (64 - bytes) << first))
}

/// The most words that one worker adds alone: waking another one would take as long.
#[cfg(feature = "threads")]
const ADDED_WORDS: usize = 1 << 15;

/// `ours |= theirs`.
fn add(ours: &mut [u64], theirs: &[u64]) {
    let each = |(ours, theirs): (&mut [u64], &[u64])| {
        for (ours, theirs) in ours.iter_mut().zip(theirs) {
            *ours |= theirs;
        }
    };
    #[cfg(feature = "threads")]
    if ours.len() > ADDED_WORDS {
        let ours = ours.par_chunks_mut(ADDED_WORDS);
        return ours.zip(theirs.par_chunks(ADDED_WORDS)).for_each(each);
    }
    each((ours, theirs));
}

/// Calls `then` with each word that has bits of these bytes, and those bits.
fn each_word(offset: u64, len: u64, mut then: impl FnMut(usize, u64)) {
    let (first, last) = (offset, offset + len - 1);
    let (low, high) = ((first / 64) as usize, (last / 64) as usize);
    let (from, to) = (u64::MAX << (first % 64), u64::MAX >> (63 - last % 64));
    if low == high {
        return then(low, from & to);
    }
    then(low, from);
    (low + 1..high).for_each(|word| then(word, u64::MAX));
    then(high, to);
}

#[cfg(test)]
mod tests {
    use super::Defined;

    #[test]
    fn what_was_never_written_stays_so_when_it_is_copied() {
        let mut from = Defined::default();
        for at in [3, 64, 65, 130, 199] {
            from.define(at, 1, 200);
        }
        from.define(70, 40, 200);
        let mut to = Defined::All;
        to.copy(5, 300, &from, 1, 199);
        for at in 0..300 {
            let copied = (5..204).contains(&at);
            let expected = !copied || from.holds(at - 4, 1);
            assert_eq!(to.holds(at, 1), expected, "byte {at}");
        }
    }

    #[test]
    fn lanes_are_looked_at_as_one_after_the_other() {
        let size = 1000;
        for bytes in [1, 2, 4, 8, 16, 32] {
            for seed in 0..200u64 {
                let random = |k: u64| (seed * 100 + k).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                let offsets = std::array::from_fn(|lane| {
                    random(lane as u64) % (size / bytes) * bytes.min(16)
                });
                let mask = random(40) as u32;
                let lanes = (0..32).filter(|lane| mask >> lane & 1 == 1);
                let (mut at_once, mut each) = (Defined::default(), Defined::default());
                at_once.define_each(&offsets, mask, bytes, size);
                for lane in lanes.clone() {
                    each.define(offsets[lane], bytes, size);
                }
                let mut runs = Vec::new();
                at_once.each_run(size, |from, to| runs.extend(from..to));
                let expected: Vec<u64> = (0..size).filter(|&at| each.holds(at, 1)).collect();
                assert_eq!(runs, expected, "{bytes} {seed}");
                each.forget(random(41) % size, random(42) % 3, size);
                let expected = lanes.clone().all(|lane| each.holds(offsets[lane], bytes));
                assert_eq!(each.holds_each(&offsets, mask, bytes), expected);
            }
        }
    }

    #[test]
    fn gaps_end_where_something_was_written() {
        let mut defined = Defined::default();
        assert_eq!(defined.gap(7, 500), Some((7, 507)));
        defined.define(0, 64, 1000);
        defined.define(300, 10, 1000);
        assert_eq!(defined.gap(0, 1000), Some((64, 300)));
        assert_eq!(defined.gap(300, 10), None);
        assert_eq!(defined.gap(305, 695), Some((310, 1000)));
        defined.forget(0, 1000, 1000);
        assert!(!defined.holds(20, 1));
        defined.define(0, 999, 1000);
        defined.settle(1000);
        assert!(!defined.holds(999, 1));
        defined.define(999, 1, 1000);
        defined.settle(1000);
        assert!(matches!(defined, Defined::All));
    }
}
