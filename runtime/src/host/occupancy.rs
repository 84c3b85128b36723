//! How many blocks of a kernel fit on a multiprocessor, and other queries about a kernel.
//!
//! The limits are threads, blocks and shared memory (with the 1 KiB per block that the system reserves from compute capability 8.0 on).
//! Registers are not modelled: a kernel that takes many has fewer resident blocks on a real device, which a note mentions once.

use ir::{FuncId, LocId};

use super::{Host, cuda::CallError};
use crate::error::CudaError;

impl Host<'_> {
    /// The numbers for `__dslc_kernel_fact`.
    pub(super) fn kernel_fact(&self, which: u64, kernel: FuncId) -> u64 {
        let fixed = self.static_shared(kernel);
        match which {
            0 => fixed,
            1 => self.threads_limit(kernel),
            2 => match self.state.dynamic_limit.get(&kernel) {
                Some(&dynamic) => dynamic,
                None => self.device.info().block.shared_bytes.saturating_sub(fixed),
            },
            _ => 0,
        }
    }

    /// `cudaOccupancyMaxActiveBlocksPerMultiprocessor`.
    pub(super) fn active_blocks(&mut self, args: &[u64], loc: LocId) -> Result<(), CallError> {
        self.say_occupancy(loc);
        let (kernel, threads) = (FuncId(args[1] as u32), args[2] as i32);
        if threads <= 0 {
            return Err(CudaError::InvalidValue.into());
        }
        let blocks = self.resident_blocks(kernel, threads as u64, args[3]) as u32;
        Ok(self.store(args[0], &blocks.to_le_bytes(), loc)?)
    }

    fn say_occupancy(&mut self, loc: LocId) {
        let text = "this occupancy counts threads and shared memory; registers are not modelled";
        self.say_once(loc, text);
    }

    /// `cudaOccupancyMaxPotentialBlockSize`.
    pub(super) fn best_block_size(&mut self, args: &[u64], loc: LocId) -> Result<(), CallError> {
        self.say_occupancy(loc);
        let (kernel, dynamic_bytes) = (FuncId(args[2] as u32), args[3]);
        let mut most = self.threads_limit(kernel);
        if args[4] as i32 > 0 {
            most = most.min(args[4]);
        }
        // Like CUDA's implementation: from large blocks to small ones, where only more resident threads are better.
        let mut best = (0, 0);
        let mut threads = most;
        while threads > 0 {
            let blocks = self.resident_blocks(kernel, threads, dynamic_bytes);
            if blocks * threads > best.0 * best.1 {
                best = (blocks, threads);
            }
            threads = threads.saturating_sub(1) / 32 * 32;
        }
        let grid = best.0 * u64::from(self.device.info().multiprocessors);
        self.store(args[0], &(grid as u32).to_le_bytes(), loc)?;
        Ok(self.store(args[1], &(best.1 as u32).to_le_bytes(), loc)?)
    }

    fn threads_limit(&self, kernel: FuncId) -> u64 {
        let limit = u64::from(self.device.info().block.threads);
        match self.program.module().function(kernel).launch_bounds {
            Some((most, _)) => limit.min(most.into()),
            None => limit,
        }
    }

    fn resident_blocks(&self, kernel: FuncId, threads: u64, dynamic_bytes: u64) -> u64 {
        let info = self.device.info();
        let bytes = self.static_shared(kernel).saturating_add(dynamic_bytes);
        if threads == 0
            || threads > self.threads_limit(kernel)
            || bytes > info.block.shared_bytes_optin
        {
            return 0;
        }
        info.residency.blocks(threads, bytes)
    }
}
