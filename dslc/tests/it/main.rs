//! The library from outside, as one program. What changes its process (the environment, a GPU that has faulted) has a program to itself.

mod bound;
mod counted;
mod faults;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "source")]
mod source;
mod values;
