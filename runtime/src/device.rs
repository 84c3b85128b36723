//! What a host program runs against: something with memory and kernels.
//!
//! The simulator ([`simulator::Simulator`]) is one; a GPU will be another. Both share the program's [`Memory`] for the host's side; the
//! simulator keeps device memory there too. Nothing here prints: faults and reports are values.

use dsl::ir::FuncId;
use interp::{
    LaunchConfig, LaunchFailure, LaunchReport, Memory, MemoryFault, Program, rules::BankWidth,
};

use crate::error::CudaError;

pub mod simulator;

/// What `cudaGetDeviceProperties` tells, as numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceInfo {
    /// `NVIDIA H200 (simulated)`.
    pub name: String,
    /// Compute capability.
    pub major: u32,
    /// Compute capability.
    pub minor: u32,
    /// Device memory.
    pub global_bytes: u64,
    /// Constant memory.
    pub constant_bytes: u64,
    /// Shared memory a block gets without asking.
    pub shared_bytes_per_block: u64,
    /// Shared memory a block gets after `cudaFuncSetAttribute`.
    pub shared_bytes_per_block_optin: u64,
    /// Shared memory of a multiprocessor.
    pub shared_bytes_per_multiprocessor: u64,
    /// Registers of a block.
    pub registers_per_block: u32,
    /// Registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Threads of a block.
    pub threads_per_block: u32,
    /// Threads of a multiprocessor.
    pub threads_per_multiprocessor: u32,
    /// Blocks of a multiprocessor.
    pub blocks_per_multiprocessor: u32,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Most threads of a block in x, y, z.
    pub block_limit: [u32; 3],
    /// Most blocks of a grid in x, y, z.
    pub grid_limit: [u32; 3],
    /// Clock in kHz.
    pub clock_khz: u32,
    /// Memory clock in kHz.
    pub memory_clock_khz: u32,
    /// Memory bus in bits.
    pub memory_bus_bits: u32,
    /// L2 cache.
    pub l2_bytes: u64,
}

/// A device.
pub trait Device {
    /// What it is.
    fn info(&self) -> &DeviceInfo;

    /// Gives out memory; `managed` memory may be touched by the host too.
    fn malloc(&mut self, memory: &mut Memory, bytes: u64, managed: bool) -> Result<u64, CudaError>;

    /// Takes memory back.
    fn free(&mut self, memory: &mut Memory, address: u64) -> Result<(), MemoryFault>;

    /// Copies between host and device, or on either.
    fn copy(
        &mut self,
        memory: &mut Memory,
        to: u64,
        from: u64,
        bytes: u64,
    ) -> Result<(), MemoryFault>;

    /// Sets bytes of device memory.
    fn fill(
        &mut self,
        memory: &mut Memory,
        address: u64,
        byte: u8,
        bytes: u64,
    ) -> Result<(), MemoryFault>;

    /// Runs a kernel to its end. `out` receives what its threads print.
    fn launch(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        kernel: FuncId,
        config: &LaunchConfig,
        args: &[u64],
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<LaunchReport, LaunchFailure>;

    /// Chooses the width of shared-memory banks; `false` where the hardware has only one.
    fn set_bank_width(&mut self, width: BankWidth) -> bool;

    /// The width of shared-memory banks.
    fn bank_width(&self) -> BankWidth;

    /// Bytes given out and not taken back.
    fn bytes_in_use(&self, memory: &Memory) -> u64;
}
