//! The meeting of a block's warps at its barrier.

#![allow(
    clippy::inline_always,
    reason = "barriers open often, and mostly for few warps"
)]

use crate::machine::warp::{Vote, Warp, WarpState};
use crate::observe::Arrival;

/// Whether all threads wait at the same barrier, or no thread waits.
pub(crate) fn is_even(warps: &[Warp]) -> bool {
    let mut waiting = warps.iter().filter(|warp| warp.waits());
    let Some(first) = waiting.next() else {
        return true;
    };
    waiting.all(|warp| warp.pc == first.pc) && warps.iter().all(|warp| warp.gone == 0)
}

/// Where each thread is when a barrier opens.
pub(crate) fn arrivals(warps: &[Warp]) -> Vec<Arrival> {
    let mut arrivals = Vec::new();
    for (number, warp) in (0..).zip(warps) {
        if warp.waits() {
            arrivals.push(Arrival {
                warp: number,
                pc: warp.pc.saturating_sub(1),
                lanes: warp.mask,
                waits: true,
            });
        }
        if warp.gone != 0 {
            arrivals.push(Arrival {
                warp: number,
                pc: warp.left,
                lanes: warp.gone,
                waits: false,
            });
        }
    }
    arrivals
}

/// Releases the waiting warps of a block. Returns false if no warp waits.
pub(crate) fn open(warps: &mut [Warp]) -> bool {
    let opened = release(warps);
    if opened.has_votes {
        count_votes(warps);
    }
    opened.any
}

/// The result of [`release`].
pub(crate) struct Opened {
    /// Whether any warp waited.
    pub(crate) any: bool,
    /// Whether some of them had voted.
    pub(crate) has_votes: bool,
}

/// Releases the waiting warps among these, whatever they voted.
#[inline(always)]
pub(crate) fn release(warps: &mut [Warp]) -> Opened {
    let mut opened = Opened {
        any: false,
        has_votes: false,
    };
    for warp in warps {
        if warp.waits() {
            warp.state = WarpState::Ready;
            opened.any = true;
            opened.has_votes |= warp.vote.is_some();
        }
    }
    opened
}

/// Gives the block's vote to the warps whose barrier has opened. Warps of the idle tail still wait.
#[cold]
pub(crate) fn count_votes(warps: &mut [Warp]) {
    let came = |warp: &&Warp| warp.waits() || warp.state == WarpState::Ready;
    let came = || warps.iter().filter(came);
    let lanes: u32 = came().map(|warp| warp.mask.count_ones()).sum();
    let votes = came().filter_map(|warp| warp.vote);
    let held: u32 = votes.map(|(_, held, _)| held.count_ones()).sum();
    for warp in warps {
        let Some((vote, _, register)) = warp.vote.take() else {
            continue;
        };
        let result = match vote {
            Vote::Count => held,
            Vote::And => u32::from(held == lanes),
            Vote::Or => u32::from(held > 0),
        };
        warp.registers.s[register as usize] = u64::from(result);
    }
}
