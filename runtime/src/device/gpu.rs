//! A real GPU as a device. It uses the CUDA driver, which is loaded at run time: a machine without a driver runs everything else.
//!
//! A program brings its own PTX, or a [`Compile`] makes PTX for this GPU when [`Device::prepare`](super::Device::prepare) is called. The
//! caller passes the PTX back end in, so that programs without it do not contain LLVM. The host program's pointers are the driver's own
//! addresses ([`interp::memory`] keeps them next to its own areas). Launches are asynchronous on one stream. A fault in a kernel shows at
//! the next call that waits, as in CUDA, and is reported for the launch in which it happened.
//!
//! Simplified: one GPU and one stream (the legacy default one), whatever the program creates. Without the feature `gpu` only the errors
//! remain.

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

/// Makes PTX of a module, for this device.
pub type Compile = fn(&Module, &DeviceInfo, &GpuOptions) -> Result<String, String>;

/// How a program is compiled for the GPU and watched there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GpuOptions {
    /// LLVM's optimisation level, 0 to 3.
    pub opt_level: u8,
    /// Whether the machine code has line numbers, for profilers.
    pub lines: bool,
    /// Whether each launch is timed with two events, for [`Device::finish`](super::Device::finish), and a counter is updated between
    /// launches, which tells to which launch a fault belongs. Without it, nothing is inserted between a program's launches, and they take
    /// only the driver's time.
    pub timing: bool,
    /// Whether allocated memory is zero and events are always 0 ms apart, as on the simulator, so that outputs can be compared.
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
    /// dslc was built without GPU support.
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
    /// There are not that many GPUs.
    #[error("there is no GPU {ordinal}: the driver finds {count}, counted from 0")]
    NoSuchDevice {
        /// The requested number.
        ordinal: u32,
        /// The number of GPUs.
        count: u32,
    },
    /// The driver does not start.
    #[error("the NVIDIA driver failed to start: {0}")]
    Driver(String),
}
