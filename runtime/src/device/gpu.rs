//! A real GPU as a device, over the CUDA driver, which is loaded at run time: a machine without one runs everything else.
//!
//! In: programs, with PTX that they bring along, or that a [`Compile`] makes for this GPU when [`Device::prepare`](super::Device::prepare) is
//! called: whoever has the PTX back end hands it in, so that programs without it carry no LLVM. The host program's pointers are the driver's own addresses ([`interp::memory`] keeps them beside its own areas). Launches are asynchronous on one
//! stream; a fault in a kernel shows at the next call that waits, as in CUDA, and is said of the launch it happened in.
//!
//! Simplified: one GPU, one stream (the legacy default one), whatever the program creates. Without the feature `gpu` only the errors remain.

#[cfg(feature = "gpu")]
mod driver;
#[cfg(feature = "gpu")]
mod enabled;
#[cfg(feature = "gpu")]
mod launches;
#[cfg(feature = "gpu")]
mod query;

#[cfg(not(feature = "gpu"))]
mod disabled;

use ir::Module;
use thiserror::Error;

use super::DeviceInfo;

#[cfg(not(feature = "gpu"))]
pub use disabled::{Gpu, driver_version, list};
#[cfg(feature = "gpu")]
pub use enabled::Gpu;
#[cfg(feature = "gpu")]
pub use query::{driver_version, list};

/// Makes PTX of a module, for that device.
pub type Compile = fn(&Module, &DeviceInfo, &GpuOptions) -> Result<String, String>;

/// How a program is brought to the GPU and watched there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GpuOptions {
    /// LLVM's optimisation level, 0 to 3.
    pub opt_level: u8,
    /// Line numbers in the machine code, for profilers.
    pub lines: bool,
    /// Each launch between two events, for [`Device::finish`](super::Device::finish), and a counter between launches, which tells of a fault
    /// whose it is. Without it, nothing lies between a program's launches, and they cost what the driver takes for them.
    pub timing: bool,
    /// Memory is zero when it is given out, and events are always 0 ms apart: as on the simulator, so that outputs can be compared.
    pub like_simulator: bool,
}

impl Default for GpuOptions {
    fn default() -> GpuOptions {
        GpuOptions {
            opt_level: 3,
            lines: true,
            timing: false,
            like_simulator: false,
        }
    }
}

/// Why there is no GPU to run on.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum GpuError {
    /// dslc was built without it.
    #[error(
        "this dslc was built without GPUs (the library's feature `gpu`, the command line's `ptx`)"
    )]
    NotBuilt,
    /// There is no driver library.
    #[error("no NVIDIA driver found (libcuda.so.1 is missing)")]
    NoDriver,
    /// There is a driver, but no GPU.
    #[error("the NVIDIA driver finds no GPU")]
    NoDevice,
    /// There are fewer GPUs.
    #[error("there is no GPU {ordinal}: the driver finds {count}, counted from 0")]
    NoSuchDevice {
        /// Asked for.
        ordinal: u32,
        /// How many there are.
        count: u32,
    },
    /// The driver does not start.
    #[error("the NVIDIA driver failed to start: {0}")]
    Driver(String),
}
