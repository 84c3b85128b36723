//! Tests of the library from outside, as one program. Tests that change their process (environment, a faulted GPU) are separate programs.

mod bound;
mod counted;
mod faults;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "npy")]
mod npy;
#[cfg(feature = "source")]
mod source;
mod values;
