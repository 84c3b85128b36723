//! The host side of dslc: runs a program's `main()` against a device, and launches kernels of programs without one.
//!
//! [`host`] drives a host function of the machine, and answers its calls as the CUDA runtime and C's library would. [`device`] is what it
//! runs against. [`standalone`], [`launch`] and [`buffer`] are launches described on a command line. Nothing here prints or reads files:
//! output goes to a [`host::Io`], and results are values. Only [`back_end`] starts a program, and keeps what that made.

#[cfg(feature = "back-end")]
pub mod back_end;
mod budget;
#[cfg(feature = "standalone")]
pub mod buffer;
pub mod device;
pub mod error;
pub mod host;
#[cfg(feature = "standalone")]
pub mod launch;
pub mod launches;
#[cfg(feature = "rules")]
pub mod rules;
#[cfg(feature = "standalone")]
pub mod standalone;
pub mod words;

pub use budget::Budget;
pub use launches::Launches;
