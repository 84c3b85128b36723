//! The device that a host program runs against: something with memory and kernels.
//!
//! There are two: the simulator ([`simulator::Simulator`]) and a GPU ([`gpu::Gpu`]). Both use the program's [`Memory`] for the host's side.
//! The simulator keeps device memory there too; a GPU enters its own addresses. Nothing here prints: faults and reports are values.

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

/// The properties that `cudaGetDeviceProperties` gives, as numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceInfo {
    /// `NVIDIA H200 (simulated)`.
    pub name: String,
    /// Major compute capability.
    pub major: u32,
    /// Minor compute capability.
    pub minor: u32,
    /// Bytes of device memory.
    pub global_bytes: u64,
    /// Bytes of constant memory.
    pub constant_bytes: u64,
    /// The limits of a block.
    pub block: BlockLimits,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// What a multiprocessor can hold.
    pub residency: Residency,
    /// Registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Most blocks of a grid in x, y, z.
    pub grid_limit: [u32; 3],
    /// Clock in kHz.
    pub clock_khz: u32,
    /// Memory clock in kHz.
    pub memory_clock_khz: u32,
    /// Memory bus in bits.
    pub memory_bus_bits: u32,
    /// Bytes of L2 cache.
    pub l2_bytes: u64,
}

/// A fault of a kernel on a real device: all state of the device is lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceFault {
    /// The driver's error.
    pub error: CudaError,
    /// The launch's index among all launches of the device; `None` if nothing was launched.
    pub launch: Option<usize>,
    /// The fault may also belong to a later launch, up to this one: the driver does not say.
    pub or_up_to: Option<usize>,
    /// The launch's kernel.
    pub kernel: Option<FuncId>,
    /// The launch statement.
    pub loc: LocId,
    /// A suspicious property of the launch's arguments.
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

/// Why an operation on a device's memory failed.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum DeviceError {
    /// The bytes do not exist.
    #[error("{0}")]
    Memory(MemoryFault),
    /// The device refuses the operation.
    #[error("{0}")]
    Cuda(CudaError),
    /// An earlier kernel faulted. This is returned once; from then on the device refuses with the same error.
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
    /// The device did not get to it: an earlier kernel faulted, or an operation was refused.
    #[error("{0}")]
    Device(DeviceError),
    /// It can neither be counted nor run: it needs results of a launch that was only counted.
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
    /// The lowest compute capability that it runs on, as a number: 80 is sm_80.
    pub sm: u32,
    /// The text.
    pub text: &'a str,
}

/// A device.
pub trait Device {
    /// Its properties.
    fn info(&self) -> &DeviceInfo;

    /// Whether it counts the cost of accesses.
    fn is_simulator(&self) -> bool {
        true
    }

    /// Whether time passes for the host program too: `time`, `clock` and similar functions advance.
    fn has_clock(&self) -> bool {
        false
    }

    /// To be called when another thread than before may use the device.
    fn enter(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Whether it reports races.
    fn finds_races(&self) -> bool {
        false
    }

    /// Whether it reports reads of uninitialised memory.
    fn finds_unset(&self) -> bool {
        false
    }

    /// Whether launches may be counted without computing their results.
    fn counts_only(&self) -> bool {
        false
    }

    /// Called before the host reads bytes of the device. If a launch that was only counted should have written them, they are computed now,
    /// or the error says why not. A host that is followed may continue without them.
    fn compute(
        &mut self,
        _program: &Program,
        _memory: &mut Memory,
        _bytes: (u64, u64),
        _out: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Uncomputed> {
        Ok(())
    }

    /// Called before another program is used: runs counted launches of this program, unless they take long.
    fn settle(&mut self, _program: &Program, _memory: &mut Memory, _out: &mut dyn FnMut(&[u8])) {}

    /// Memory that the host reads without a call, and that was not computed.
    fn unseen(&self, _memory: &Memory) -> Option<Uncomputed> {
        None
    }

    /// Whether it reports memory that was never freed.
    fn finds_leaks(&self) -> bool {
        false
    }

    /// Prepares a program before anything of it runs: its kernels and its variables. `ptx` is the program's own code for GPUs. The error
    /// says why the program cannot be prepared.
    fn prepare(
        &mut self,
        _program: &Program,
        _memory: &mut Memory,
        _ptx: &[Ptx<'_>],
    ) -> Result<(), String> {
        Ok(())
    }

    /// Allocates memory; the host may access `managed` memory too.
    fn malloc(
        &mut self,
        memory: &mut Memory,
        bytes: u64,
        managed: bool,
    ) -> Result<u64, DeviceError>;

    /// Frees memory.
    fn free(&mut self, memory: &mut Memory, address: u64) -> Result<(), DeviceError>;

    /// Copies between host and device, or within either.
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

    /// The bytes of device (or host) memory, after all earlier work.
    fn read(&mut self, memory: &Memory, address: u64, bytes: u64) -> Result<Vec<u8>, DeviceError>;

    /// Writes bytes to device (or host) memory.
    fn write(&mut self, memory: &mut Memory, address: u64, bytes: &[u8])
    -> Result<(), DeviceError>;

    /// Runs a kernel: to its end, or (on a real device) until something waits for it. `out` receives what its threads print. A real
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

    /// Limits the warp instructions of the next launch, if the device counts them. A launch that takes more ends in
    /// [`TrapKind::Limit`](interp::TrapKind::Limit) with that number.
    fn bound_launch(&mut self, _instructions: u64) {}

    /// Waits until all work is done.
    fn synchronize(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Records the event with this number: it happens when all earlier work is done.
    fn record(&mut self, _event: u64) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Milliseconds between two recorded events; `None` on a device without a clock.
    fn elapsed_ms(&mut self, _start: u64, _stop: u64) -> Result<Option<f32>, DeviceError> {
        Ok(None)
    }

    /// Destroys the event with this number.
    fn destroy_event(&mut self, _event: u64) {}

    /// Waits until all work of the program is done; gives the milliseconds of each launch, if the device has a clock.
    fn finish(&mut self) -> Result<Vec<Option<f64>>, DeviceError> {
        Ok(Vec::new())
    }

    /// Makes host memory accessible to kernels at its own address.
    fn share(&mut self, _address: u64, _bytes: u64) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Ends that.
    fn unshare(&mut self, _address: u64) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Whether the program ends here, because only a part of its last launch ran, or the launch was put together from parts.
    fn is_over(&self) -> bool {
        false
    }

    /// The result of splitting a launch, if that was requested and has happened.
    fn take_split(&mut self) -> Option<SplitResult> {
        None
    }

    /// Sets the number of CPU threads that run a launch, if CPU threads do.
    fn set_jobs(&mut self, _jobs: usize) {}

    /// Sets the size of the heap from which kernels allocate; `false` if that is impossible, as after a kernel has used it.
    fn set_heap(&mut self, memory: &mut Memory, bytes: u64) -> bool {
        memory.set_device_heap(bytes)
    }

    /// Sets the local memory for a thread's calls; `false` if that is impossible.
    fn set_stack(&mut self, memory: &mut Memory, bytes: u64) -> bool {
        memory.set_device_stack(bytes)
    }

    /// Sets the width of shared-memory banks; `false` if the hardware has only one.
    fn set_bank_width(&mut self, width: BankWidth) -> bool;

    /// The width of shared-memory banks.
    fn bank_width(&self) -> BankWidth;

    /// Bytes that are allocated and not freed.
    fn bytes_in_use(&self, memory: &Memory) -> u64;
}
