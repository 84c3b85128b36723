//! The shape of a launch, and the identity of its threads.

use ir::SpecialReg;

/// What is the same for all blocks of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape<'a> {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u64,
    pub(crate) cooperative: bool,
    pub(crate) multiprocessors: u32,
    pub(crate) args: &'a [u64],
}

impl Shape<'_> {
    pub(crate) fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Whether `tid.y` and `tid.z` are the same in all active lanes of every warp.
    pub(crate) fn has_row_warps(block: [u32; 3]) -> bool {
        block[0].is_multiple_of(32) || block[1] == 1 && block[2] == 1
    }

    /// Whether the `tid`s of every warp's lanes, active or not, have the same distances as those of the first warp.
    pub(crate) fn has_like_warps(block: [u32; 3]) -> bool {
        block[0].is_multiple_of(32)
            || 32u32.is_multiple_of(block[0]) && (block[0] * block[1]).is_multiple_of(32)
    }

    /// The multiprocessor that a block runs on. Blocks are distributed in turn.
    pub(crate) fn multiprocessor(&self, block: u64) -> u32 {
        (block % u64::from(self.multiprocessors.max(1))) as u32
    }

    /// The block's index in x, y, z.
    pub(crate) fn block_index(&self, index: u64) -> [u32; 3] {
        unlinear(index, self.grid)
    }

    /// A thread's index in x, y, z.
    pub(crate) fn thread_index(&self, warp: usize, lane: u32) -> [u32; 3] {
        unlinear(warp as u64 * 32 + u64::from(lane), self.block)
    }

    /// The thread in that lane.
    pub(crate) fn identity(&self, block: u64, warp: usize, lane: u32) -> Identity<'_> {
        Identity {
            shape: self,
            block: self.block_index(block),
            multiprocessor: self.multiprocessor(block),
            thread: self.thread_index(warp, lane),
            lane,
        }
    }
}

/// A thread of a launch, and the values of its special registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity<'a> {
    pub(crate) shape: &'a Shape<'a>,
    pub(crate) block: [u32; 3],
    pub(crate) multiprocessor: u32,
    pub(crate) thread: [u32; 3],
    pub(crate) lane: u32,
}

impl Identity<'_> {
    /// The value of a register; `None` if it changes.
    pub(crate) fn register(&self, register: SpecialReg) -> Option<u32> {
        Some(match register {
            SpecialReg::TidX => self.thread[0],
            SpecialReg::TidY => self.thread[1],
            SpecialReg::TidZ => self.thread[2],
            SpecialReg::CtaidX => self.block[0],
            SpecialReg::CtaidY => self.block[1],
            SpecialReg::CtaidZ => self.block[2],
            SpecialReg::NtidX => self.shape.block[0],
            SpecialReg::NtidY => self.shape.block[1],
            SpecialReg::NtidZ => self.shape.block[2],
            SpecialReg::NctaidX => self.shape.grid[0],
            SpecialReg::NctaidY => self.shape.grid[1],
            SpecialReg::NctaidZ => self.shape.grid[2],
            SpecialReg::CooperativeGrid => self.shape.cooperative.into(),
            SpecialReg::LaneId => self.lane,
            SpecialReg::SmId => self.multiprocessor,
            SpecialReg::NSmId => self.shape.multiprocessors,
            SpecialReg::Clock
            | SpecialReg::Clock64
            | SpecialReg::GlobalTimer
            | SpecialReg::ActiveMask => return None,
        })
    }
}

fn unlinear(index: u64, size: [u32; 3]) -> [u32; 3] {
    let [x, y] = [u64::from(size[0].max(1)), u64::from(size[1].max(1))];
    [
        (index % x) as u32,
        (index / x % y) as u32,
        (index / x / y) as u32,
    ]
}
