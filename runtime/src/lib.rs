//! The host side of dslc: runs a program's `main()` against a device, and lets Rust programs launch kernels.
pub mod buffer;
pub mod error;
mod host { mod rand; }
pub mod launch;
