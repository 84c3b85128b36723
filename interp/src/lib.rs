//! The SIMT machine.
