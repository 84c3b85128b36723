//! Which of a warp's 32 lanes take part in an instruction.
//!
//! A warp runs in lockstep; divergence is a mask of active lanes. Lane 0 is the lowest bit, as in CUDA's masks, so
//! `0x0000_ffff` is the first half-warp, and a mask is printed as CUDA programs write it.
//!
//! ```
//! use interp::mask::LaneMask;
//! let mask = LaneMask(0b1010);
//! assert_eq!(mask.lanes().collect::<Vec<_>>(), [1, 3]);
//! assert_eq!(mask.lowest(), Some(1));
//! assert_eq!(mask.to_string(), "0x0000000a");
//! ```

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

/// The number of lanes in a warp, on every CUDA architecture so far.
pub const WARP_SIZE: usize = 32;

/// A set of lanes of one warp; bit `i` is lane `i`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LaneMask(pub u32);

impl LaneMask {
    /// No lane.
    pub const EMPTY: Self = Self(0);
    /// All 32 lanes.
    pub const FULL: Self = Self(u32::MAX);

    /// The `count` lowest lanes: the last warp of a block whose size is not a multiple of 32.
    ///
    /// ```
    /// # use interp::mask::LaneMask;
    /// assert_eq!(LaneMask::first(5), LaneMask(0x1f));
    /// assert_eq!(LaneMask::first(32), LaneMask::FULL);
    /// ```
    #[inline]
    pub const fn first(count: u32) -> Self {
        if count >= 32 {
            Self::FULL
        } else {
            Self((1 << count) - 1)
        }
    }

    /// Only `lane`.
    #[inline]
    pub const fn single(lane: usize) -> Self {
        Self(1 << lane)
    }

    /// Whether `lane` is in the set.
    #[inline]
    pub const fn contains(self, lane: usize) -> bool {
        self.0 >> lane & 1 == 1
    }

    /// The number of lanes in the set.
    #[inline]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set has all lanes.
    #[inline]
    pub const fn is_full(self) -> bool {
        self.0 == u32::MAX
    }

    /// The lowest lane: the one whose value stays if several lanes store to one address.
    #[inline]
    pub const fn lowest(self) -> Option<usize> {
        if self.0 == 0 {
            None
        } else {
            Some(self.0.trailing_zeros() as usize)
        }
    }

    /// The lanes of `self` that are not in `other`.
    #[inline]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The lanes in ascending order.
    #[inline]
    pub const fn lanes(self) -> Lanes {
        Lanes(self.0)
    }

    /// The groups of `lanes_per_group` consecutive lanes (8, 16 or 32), each with its active lanes, lowest first.
    /// Groups without an active lane are left out.
    ///
    /// ```
    /// # use interp::mask::LaneMask;
    /// let halves: Vec<_> = LaneMask(0x8000_0001).groups(16).collect();
    /// assert_eq!(halves, [LaneMask(0x0000_0001), LaneMask(0x8000_0000)]);
    /// assert_eq!(LaneMask(0x1).groups(16).count(), 1);
    /// ```
    #[inline]
    pub fn groups(self, lanes_per_group: u32) -> impl Iterator<Item = Self> {
        let one = Self::first(lanes_per_group);
        (0..32 / lanes_per_group)
            .map(move |group| Self(self.0 & (one.0 << (group * lanes_per_group))))
            .filter(|group| !group.is_empty())
    }
}

/// The lanes of a mask in ascending order.
#[derive(Clone, Debug)]
pub struct Lanes(u32);

impl Iterator for Lanes {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let lane = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(lane)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.0.count_ones() as usize;
        (count, Some(count))
    }
}

impl ExactSizeIterator for Lanes {}

impl IntoIterator for LaneMask {
    type Item = usize;
    type IntoIter = Lanes;

    #[inline]
    fn into_iter(self) -> Lanes {
        self.lanes()
    }
}

impl FromIterator<usize> for LaneMask {
    fn from_iter<I: IntoIterator<Item = usize>>(lanes: I) -> Self {
        lanes
            .into_iter()
            .fold(Self::EMPTY, |mask, lane| mask | Self::single(lane))
    }
}

impl BitAnd for LaneMask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitAndAssign for LaneMask {
    #[inline]
    fn bitand_assign(&mut self, other: Self) {
        self.0 &= other.0;
    }
}

impl BitOr for LaneMask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for LaneMask {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl Not for LaneMask {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl fmt::Display for LaneMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

impl fmt::Debug for LaneMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LaneMask({self})")
    }
}
