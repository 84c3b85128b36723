//! A warp: its registers, its place, and what it waits for.

use crate::isa::bytecode::{Class, Code, Place};
use crate::isa::mask::LaneMask;
use crate::isa::registers::Registers;
use crate::machine::ops::routine::Stack;

/// The state of a warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WarpState {
    Ready,
    AtBarrier,
    /// Its lanes wait at a `__syncwarp` or an exchange for others that their masks name.
    AtSync,
    /// It waits at the barrier with that number.
    AtNumbered(u32),
    Done,
}

/// The threads of a warp, or those of them that run separately from the others (see [`fragment`](super::fragment)).
///
/// The fields that a turn between two barriers needs come first, in few of the CPU's cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Warp {
    pub(crate) registers: Registers,
    pub(crate) pc: u32,
    /// Active lanes.
    pub(crate) mask: u32,
    /// Lanes that are threads and run in this fragment.
    pub(crate) lanes: u32,
    /// Lanes that have ended.
    pub(crate) gone: u32,
    pub(crate) state: WarpState,
    /// How many barriers from here on it reaches without anything to do before each.
    pub(crate) idle: u32,
    /// The idle round before the first of them: a row of [`Code::idle`], plus 1.
    pub(crate) idle_row: u32,
    /// The number of barriers that the [idle tail](super::idle_tail) had reached when the warp joined.
    pub(crate) joined_at: u32,
    /// Lanes of the same warp that run separately and had not ended when this turn began.
    pub(crate) apart: u32,
    /// At a barrier with a reduction: its kind, the lanes whose predicate holds, and the register for the result.
    pub(crate) vote: Option<(Vote, u32, u32)>,
    /// By row: the value of `idle` for the whole warp, if it is known and the same in every block. Fewer lanes are idle
    /// for as many barriers or more.
    pub(crate) known_idle: Vec<Option<u32>>,
    pub(crate) stack: Stack,
    /// The warp's number in its block.
    pub(crate) number: u32,
    /// Where the last of its lanes that have ended did so.
    pub(crate) left: u32,
    /// Lanes of the same warp that ran separately when it began to wait for them.
    pub(crate) awaited: u32,
    /// Thread-local memory, interleaved: word `w` of lane `l` is at `(w * 32 + l) * 4`.
    pub(crate) local: Vec<u8>,
    /// For a loop that may be recognised as endless: where and with which lanes it yielded last, and the values that
    /// the loop's end depended on.
    pub(crate) rounds: Option<(u32, u32, Vec<u64>)>,
    /// The state's fingerprint at the last yield.
    pub(crate) fingerprint: u64,
    /// The same without local memory, if there is much of it.
    pub(crate) outline: u64,
}

/// More local memory than this is compared only if everything else is unchanged.
const MUCH_LOCAL_BYTES: usize = 64 << 10;

/// The reduction of a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Vote {
    Count,
    And,
    Or,
}

impl Warp {
    /// Whether it waits at the block's barrier.
    #[inline(always)]
    pub(crate) fn waits(&self) -> bool {
        self.state == WarpState::AtBarrier
    }

    /// Ends lanes.
    #[inline(always)]
    pub(crate) fn leave(&mut self, lanes: u32, pc: usize) {
        if lanes != 0 {
            self.gone |= lanes;
            self.left = pc as u32;
        }
    }

    /// Whether it yields in a loop that never ends.
    #[cold]
    pub(crate) fn is_endless(&mut self, code: &Code) -> bool {
        let Some(places) = code.endless.get(&self.pc) else {
            return false;
        };
        let mut now = Vec::new();
        for &(place, class) in places {
            match (place, class) {
                (Place::S(at), Class::Mask) => {
                    now.push(self.registers.s[at as usize] & u64::from(self.mask))
                }
                (Place::S(at), _) => now.push(self.registers.s[at as usize]),
                (Place::V(at), Class::W64) => {
                    let lanes = LaneMask(self.mask).into_iter();
                    now.extend(lanes.map(|lane| self.registers.lane64(at, lane)));
                }
                (Place::V(at), _) => {
                    let unit = &self.registers.v[at as usize].0;
                    let lanes = LaneMask(self.mask).into_iter();
                    now.extend(lanes.map(|lane| u64::from(unit[lane])));
                }
            }
        }
        let now = (self.pc, self.mask, now);
        places.is_empty() || self.rounds.replace(now.clone()) == Some(now)
    }

    /// A digest of everything that determines what the warp does next.
    pub(crate) fn digest(&mut self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut add = |word: u64| {
            hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 29;
        };
        add(u64::from(self.pc) << 32 | u64::from(self.mask));
        add(u64::from(self.gone));
        self.stack.words(&mut add);
        self.registers.s.iter().for_each(|&word| add(word));
        for unit in &self.registers.v {
            for pair in unit.0.chunks_exact(2) {
                add(u64::from(pair[0]) << 32 | u64::from(pair[1]));
            }
        }
        if self.local.len() > MUCH_LOCAL_BYTES {
            add(1);
            if std::mem::replace(&mut self.outline, hash) != hash {
                return hash;
            }
        }
        let mut add = |word: u64| {
            hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 29;
        };
        for word in self.local.chunks_exact(4) {
            add(u64::from(u32::from_le_bytes([
                word[0], word[1], word[2], word[3],
            ])));
        }
        hash
    }
}
