//! What the caller chooses: the machine, and one launch on it.

use dsl::ir::LocId;

use crate::rules::RuleSet;

/// The machine a kernel runs on.
#[derive(Clone, Debug)]
pub struct MachineConfig {
    /// The architecture: its cost rules and limits.
    pub rules: RuleSet,
    /// CPU threads that run blocks. Results do not depend on it.
    pub jobs: usize,
    /// Most warp instructions of one launch; more end in [`TrapKind::Limit`](crate::TrapKind::Limit).
    pub limit: Option<u64>,
    /// Whether findings (races, uninitialised reads …) are looked for. Traps do not depend on it.
    pub checks: bool,
}

/// `kernel<<<grid, block, shared_bytes>>>` and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory.
    pub shared_bytes: u64,
    /// The launch statement; 0 for a launch from outside the program.
    pub loc: LocId,
}

impl LaunchConfig {
    /// Threads of a block.
    pub fn threads_per_block(&self) -> u64 {
        self.block.iter().map(|&n| u64::from(n)).product()
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u128 {
        self.grid.iter().map(|&n| u128::from(n)).product()
    }
}
