#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod buffer;
mod device;
mod element;
#[doc(hidden)]
pub mod embed;
mod error;
mod finding;
mod grid;
#[doc = include_str!("../docs/guide.md")]
pub mod guide {}
mod launches;
#[cfg(feature = "npy")]
mod npy;
mod run;
#[cfg(feature = "source")]
mod source;
mod vector;

/// Half precision numbers, re-exported: kernels' `half` is [`half::f16`], `__nv_bfloat16` is [`half::bf16`].
#[cfg(feature = "half")]
pub use half;

pub use buffer::{Buffer, DevicePointer};
#[cfg(feature = "compiled")]
pub use device::Counts;
pub use device::{Builder, Device};
#[cfg(feature = "macros")]
pub use dslc_macros::{include_kernel, kernel};
pub use element::Element;
pub use error::{Error, Result};
pub use finding::{Access, Finding};
pub use grid::{Dim, Extent, Grid};
pub use interp::{
    Check, Checks, Order, Severity,
    rules::{Arch, BankWidth},
};
pub use launches::Launches;
#[cfg(feature = "npy")]
pub use npy::NumpyElement;
pub use run::{Run, Site};
#[cfg(feature = "source")]
pub use source::{Argument, Kernel, Kernels, Number, Parameter, Passed, Source};
pub use vector::*;
