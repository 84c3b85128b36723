//! Keeps the worst request of each site as evidence (or the first one, if no request wastes anything), with the
//! addresses that its lanes accessed.
//!
//! "Worst" means the most transactions (shared) or sectors (global) beyond the ideal. Among equal requests it is the
//! first in the order of blocks, and within a block in the order of execution. The witness is therefore the same with
//! any number of workers.

use crate::coded::coded;

/// The worst request of one site so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Worst {
    waste: u32,
    block: u64,
    warp: u32,
    mask: u32,
    addresses: Option<Box<[u64; 32]>>,
}

/// The origin of the request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestOrigin {
    /// The block's number in the grid.
    pub(crate) block: u64,
    /// The warp's number in the block.
    pub(crate) warp: u32,
}

impl Worst {
    /// Whether a request with this waste has to be kept.
    #[inline]
    pub(crate) fn is_beaten_by(&self, waste: u32) -> bool {
        waste > self.waste || self.addresses.is_none()
    }

    /// Keeps a request.
    #[cold]
    pub(crate) fn keep(
        &mut self,
        waste: u32,
        whence: RequestOrigin,
        mask: u32,
        address: impl Fn(usize) -> u64,
    ) {
        (self.waste, self.block, self.warp, self.mask) = (waste, whence.block, whence.warp, mask);
        let addresses = self.addresses.get_or_insert_with(|| Box::new([0; 32]));
        for (lane, slot) in addresses.iter_mut().enumerate() {
            *slot = if mask >> lane & 1 == 1 {
                address(lane)
            } else {
                0
            };
        }
    }

    /// Takes another worker's request if it is worse, or equal and earlier.
    pub(crate) fn absorb(&mut self, other: &Worst) {
        let first = other.waste == self.waste && other.block < self.block;
        if other.addresses.is_some() && (first || self.is_beaten_by(other.waste)) {
            self.clone_from(other);
        }
    }

    /// The request for the report.
    pub(crate) fn witness(&self, block_index: impl Fn(u64) -> [u32; 3]) -> Option<Box<Witness>> {
        let addresses = self.addresses.as_deref()?;
        let block = block_index(self.block);
        let (waste, mask, warp) = (self.waste, self.mask, self.warp);
        Some(Box::new(Witness {
            waste,
            mask,
            addresses: *addresses,
            block,
            warp,
        }))
    }
}

/// One request in full, with the addresses that its lanes accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Transactions (shared) or sectors (global) beyond the ideal.
    pub waste: u32,
    /// Active lanes.
    pub mask: u32,
    /// By lane: byte offset in the block's shared memory, or the global address. 0 for inactive lanes.
    pub addresses: [u64; 32],
    /// The block's index.
    pub block: [u32; 3],
    /// The warp in the block.
    pub warp: u32,
}

coded!(struct Worst { waste, block, warp, mask, addresses });
