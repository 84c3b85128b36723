//! The SIMT machine: runs verified IR in warps of 32 lanes and counts what every access costs.
//!
//! In: a [`Program`] (IR compiled to bytecode), a [`Memory`], a launch. Out: a [`LaunchReport`] (totals and counts per
//! source access) or a [`LaunchFailure`]. Host functions run on the scalar half of the same machine ([`HostThread`]).
//! Nothing here knows source text, files, processes or clocks; equal input gives equal output at any number of threads.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests read files"
    )
)]

pub mod config;
pub mod finding;
pub mod mask;
pub mod memory;
pub mod metrics;
pub mod printf;
pub mod program;
pub mod progress;
pub mod report;
pub mod rules;
pub mod stats;
pub mod stop;
pub mod trace;
pub mod trap;

mod block;
mod bytecode;
mod check;
mod compile;
mod engine;
mod explain;
mod host;
mod launch;
mod machine;
mod observer;
mod ops;
mod orders;
#[cfg(feature = "threads")]
mod parallel;
mod pattern;
mod race;
mod registers;
#[cfg_attr(
    not(feature = "threads"),
    allow(dead_code, reason = "only blocks side by side are tracked")
)]
mod track;
mod witness;

pub use config::{BothOrders, Check, Checks, LaunchConfig, MachineConfig, Order};
pub use finding::{Finding, FindingAccess, FindingKind, FindingOp, Severity};
pub use host::{HostEvent, HostThread, HostUnset, HostUse, UnsetSource};
pub use launch::{LaunchLimits, check_launch, launch};
pub use memory::{AddressKind, Image, Memory, MemoryFault, MemoryLimits, OutOfMemory};
pub use program::Program;
pub use progress::Progress;
pub use report::{
    Barrier, Branch, InvalidLaunch, LaunchFailure, LaunchReport, Orders, Site, SkippedAccess,
};
pub use stop::{StopFlag, StopReason};
pub use trap::{MaskFault, Overflow, Trap, TrapKind};

#[cfg(test)]
mod tests;
