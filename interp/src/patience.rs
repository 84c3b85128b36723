//! When to try again what has been in vain: another pattern of a site, rounds of a loop at once, a block written down for those behind it.

#![allow(
    clippy::inline_always,
    reason = "what asks must vanish into the engine"
)]

/// Occasions to let pass before another attempt, and how many it will be next time: grows while attempts are useless.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Patience {
    skip: u32,
    backoff: u32,
}

/// Most occasions that pass without an attempt.
const MAX_SKIPS: u32 = 31;

impl Patience {
    /// Never: of a shortcut that is off.
    pub(crate) const NEVER: Patience = Patience {
        skip: u32::MAX,
        backoff: MAX_SKIPS,
    };

    /// An attempt is made. If the one before was of no use, more occasions pass before the next.
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
