//! Decides when to retry something that was useless before: another pattern for a site, running rounds of a loop
//! together, or recording a block.

#![allow(
    clippy::inline_always,
    reason = "what asks must vanish into the engine"
)]

/// How many occasions to skip before the next attempt, and how many next time: the number grows while attempts are
/// useless.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Patience {
    skip: u32,
    backoff: u32,
}

/// The most occasions that are skipped in a row.
const MAX_SKIPS: u32 = 31;

impl Patience {
    /// Never try: for a shortcut that is off.
    pub(crate) const NEVER: Patience = Patience {
        skip: u32::MAX,
        backoff: MAX_SKIPS,
    };

    /// Records an attempt. If the one before was useless, more occasions are skipped before the next one.
    #[inline(always)]
    pub(crate) fn renew(&mut self, was_useful: bool) {
        self.backoff = match was_useful {
            true => 0,
            false => (2 * self.backoff + 1).min(MAX_SKIPS),
        };
        self.skip = self.backoff;
    }

    /// Whether it is time to try again.
    #[inline(always)]
    pub(crate) fn tries(&mut self) -> bool {
        let tries = self.skip == 0;
        self.skip = match self.skip {
            u32::MAX => u32::MAX,
            skip => skip.saturating_sub(1),
        };
        tries
    }
}
