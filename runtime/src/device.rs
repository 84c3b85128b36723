//! What a host program runs against: something with memory and kernels.
//!
//! The simulator ([`simulator::Simulator`]) is one, a GPU ([`gpu::Gpu`]) the other. Both share the program's [`Memory`] for the host's side; the
//! simulator keeps device memory there too, a GPU enters its own addresses. Nothing here prints: faults and reports are values.

use std::fmt;

use interp::{
    LaunchConfig, LaunchFailure, LaunchReport, Memory, MemoryFault, NotComputed, Program,
    Uncomputed,
    rules::{
        BankWidth,
        limits::{BlockLimits, Residency},
    },
};
use ir::{FuncId, LocId};

use thiserror::Error;

use crate::error::CudaError;

pub mod gpu;
pub mod simulator;
pub mod split;
pub mod vary;

use split::SplitResult;

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
    /// What a block may have.
    pub block: BlockLimits,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// What one of them holds.
    pub residency: Residency,
    /// Its registers.
    pub registers_per_multiprocessor: u32,
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

/// A kernel faulted on a real device: everything on it is lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceFault {
    /// What the driver says.
    pub error: CudaError,
    /// The launch, among all of the device; `None` if nothing was launched.
    pub launch: Option<usize>,
    /// It may as well have been a later one, up to this: the driver does not say.
    pub or_up_to: Option<usize>,
    /// The launch's kernel.
    pub kernel: Option<FuncId>,
    /// The launch statement.
    pub loc: LocId,
    /// What is odd about the launch's arguments.
    pub suspicion: Option<String>,
}

impl fmt::Display for DeviceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.launch, self.or_up_to) {
            (Some(first), Some(last)) => write!(f, "one of the launches {first} to {last}: ")?,
            (Some(launch), None) => write!(f, "launch {launch}: ")?,
            (None, _) => {}
        }
        write!(f, "{}", self.error)?;
        match &self.suspicion {
            Some(suspicion) => write!(f, "; {suspicion}"),
            None => Ok(()),
        }
    }
}

/// Why work on memory of a device failed.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum DeviceError {
    /// The bytes are not there.
    #[error("{0}")]
    Memory(MemoryFault),
    /// The device refuses.
    #[error("{0}")]
    Cuda(CudaError),
    /// A kernel before it faulted. Said once; from then on the device refuses with the same error.
    #[error("{0}")]
    Lost(Box<DeviceFault>),
}

impl From<MemoryFault> for DeviceError {
    fn from(fault: MemoryFault) -> DeviceError {
        DeviceError::Memory(fault)
    }
}

/// Why a launch failed.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum LaunchError {
    /// It was refused, or a thread trapped.
    #[error("{0}")]
    Failed(LaunchFailure),
    /// The device did not get so far: a kernel before it faulted, or something was refused.
    #[error("{0}")]
    Device(DeviceError),
    /// It can neither be counted nor run: it needs what a launch that was only counted did not compute.
    #[error("{0}")]
    NotComputed(Box<NotComputed>),
}

impl From<DeviceError> for LaunchError {
    fn from(error: DeviceError) -> LaunchError {
        LaunchError::Device(error)
    }
}

/// A program's PTX for one architecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ptx<'a> {
    /// The least compute capability it runs on, as a number: 80 is sm_80.
    pub sm: u32,
    /// The text.
    pub text: &'a str,
}

/// A device.
pub trait Device {
    /// What it is.
    fn info(&self) -> &DeviceInfo;

    /// Whether it counts what accesses cost.
    fn is_simulator(&self) -> bool {
        true
    }

    /// Whether time passes for the host program too: `time`, `clock` and the like run.
    fn has_clock(&self) -> bool {
        false
    }

    /// To be called where the thread that uses the device may be another one than before.
    fn enter(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Whether it looks for accesses that nothing orders.
    fn finds_races(&self) -> bool {
        false
    }

    /// Whether it looks for unwritten values.
    fn finds_unset(&self) -> bool {
        false
    }

    /// Whether launches may be counted without computing their results.
    fn counts_only(&self) -> bool {
        false
    }

    /// Before the host gets bytes of the device: they are computed if a launch that was only counted was to write them, or the error says why
    /// they are not. A host that is followed may go on without them.
    fn compute(
        &mut self,
        _program: &Program,
        _memory: &mut Memory,
        _bytes: (u64, u64),
        _out: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Uncomputed> {
        Ok(())
    }

    /// Before another program is used: counted launches of this one run, unless they take long.
    fn settle(&mut self, _program: &Program, _memory: &mut Memory, _out: &mut dyn FnMut(&[u8])) {}

    /// What lies where the host reads without asking, and was not computed.
    fn unseen(&self, _memory: &Memory) -> Option<Uncomputed> {
        None
    }

    /// Whether it tells of memory that was never freed.
    fn finds_leaks(&self) -> bool {
        false
    }

    /// Makes a program ready, before anything of it runs: its kernels and its variables. `ptx` is what the program brings along for
    /// GPUs. The error says why it cannot be made ready.
    fn prepare(
        &mut self,
        _program: &Program,
        _memory: &mut Memory,
        _ptx: &[Ptx<'_>],
    ) -> Result<(), String> {
        Ok(())
    }

    /// Gives out memory; `managed` memory may be touched by the host too.
    fn malloc(
        &mut self,
        memory: &mut Memory,
        bytes: u64,
        managed: bool,
    ) -> Result<u64, DeviceError>;

    /// Takes memory back.
    fn free(&mut self, memory: &mut Memory, address: u64) -> Result<(), DeviceError>;

    /// Copies between host and device, or on either.
    fn copy(
        &mut self,
        memory: &mut Memory,
        to: u64,
        from: u64,
        bytes: u64,
    ) -> Result<(), DeviceError>;

    /// Sets bytes of device memory.
    fn fill(
        &mut self,
        memory: &mut Memory,
        address: u64,
        byte: u8,
        bytes: u64,
    ) -> Result<(), DeviceError>;

    /// The bytes of device (or host) memory, after all work before.
    fn read(&mut self, memory: &Memory, address: u64, bytes: u64) -> Result<Vec<u8>, DeviceError>;

    /// Puts bytes into device (or host) memory.
    fn write(&mut self, memory: &mut Memory, address: u64, bytes: &[u8])
    -> Result<(), DeviceError>;

    /// Runs a kernel: to its end, or (a real device) until something waits for it. `out` receives what its threads print; a real
    /// device's driver writes it to the process's standard output itself, when something waits.
    fn launch(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        kernel: FuncId,
        config: &LaunchConfig,
        args: &[u64],
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<LaunchReport, LaunchError>;

    /// The next launch may take that many warp instructions, if the device counts them; one that takes more ends in
    /// [`TrapKind::Limit`](interp::TrapKind::Limit) with that number.
    fn bound_launch(&mut self, _instructions: u64) {}

    /// Waits for all work.
    fn synchronize(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// The event with this number happens when all work before is done.
    fn record(&mut self, _event: u64) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Milliseconds between two recorded events; `None` on a device without a clock.
    fn elapsed_ms(&mut self, _start: u64, _stop: u64) -> Result<Option<f32>, DeviceError> {
        Ok(None)
    }

    /// The event with this number is not used any more.
    fn destroy_event(&mut self, _event: u64) {}

    /// Waits for all work of the program; gives the milliseconds of each launch, where the device has a clock.
    fn finish(&mut self) -> Result<Vec<Option<f64>>, DeviceError> {
        Ok(Vec::new())
    }

    /// Kernels shall reach this memory of the host's at its own address.
    fn share(&mut self, _address: u64, _bytes: u64) -> Result<(), DeviceError> {
        Ok(())
    }

    /// They need not any more.
    fn unshare(&mut self, _address: u64) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Whether the program ends here: of its last launch only a part has run, or it was put together from parts.
    fn is_over(&self) -> bool {
        false
    }

    /// What came of splitting a launch, if that was asked for and has happened.
    fn take_split(&mut self) -> Option<SplitResult> {
        None
    }

    /// So many CPU threads run a launch, where CPU threads do.
    fn set_jobs(&mut self, _jobs: usize) {}

    /// How large the heap is that kernels take memory from; `false` if that cannot be, as once a kernel uses it.
    fn set_heap(&mut self, memory: &mut Memory, bytes: u64) -> bool {
        memory.set_device_heap(bytes)
    }

    /// How much local memory the calls of a kernel's thread may take; `false` if that cannot be.
    fn set_stack(&mut self, memory: &mut Memory, bytes: u64) -> bool {
        memory.set_device_stack(bytes)
    }

    /// Chooses the width of shared-memory banks; `false` where the hardware has only one.
    fn set_bank_width(&mut self, width: BankWidth) -> bool;

    /// The width of shared-memory banks.
    fn bank_width(&self) -> BankWidth;

    /// Bytes given out and not taken back.
    fn bytes_in_use(&self, memory: &Memory) -> u64;
}
