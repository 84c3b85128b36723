//! The SIMT machine: runs verified IR in warps of 32 lanes and counts the cost of every access.
//!
//! The input is a [`Program`] (IR compiled to bytecode), a [`Memory`] and a launch. The output is a [`LaunchReport`]
//! (totals and counts per source access) or a [`LaunchFailure`]. Host functions run on the scalar half of the same
//! machine ([`HostThread`]). Nothing here depends on source text, files, processes or clocks. Equal input gives equal
//! output with any number of threads.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests read files"
    )
)]

mod check;
mod coded;
mod compile;
pub mod config;
mod count;
mod fault;
mod inspect;
mod isa;
mod launch;
mod machine;
pub mod memory;
mod observe;
mod patience;
pub mod printf;
pub mod program;
pub mod progress;
mod race;
pub mod rules;
mod shortcut;
mod views;

pub use count::{metrics, reuse, stats};
pub use fault::{finding, index_text, stop, trap};
pub use isa::mask;
pub use launch::report;
pub use observe::trace;

pub use config::{
    BothOrders, Check, Checks, ChildLaunch, LaunchConfig, LaunchQueue, MachineConfig, MemoryOrder,
    Order, Schedule,
};
pub use finding::{Finding, FindingAccess, FindingKind, FindingOp, Severity};
pub use launch::host::{HostEvent, HostThread, HostUnset, HostUse, UnsetSource};
pub use launch::{
    compiled::{Compiled, launch_both},
    launch,
    limits::{LaunchLimits, check_launch, check_static_shared},
    part,
    repeats::Repeats,
};
pub use memory::{AddressKind, Image, Memory, MemoryFault, MemoryLimits, OutOfMemory};
pub use program::Program;
pub use progress::Progress;
pub use report::{
    Barrier, Branch, CompiledCounts, CountDepends, Counted, Counting, CountingError, InFull,
    InvalidLaunch, LaunchFailure, LaunchReport, NotComputed, OrderReport, Orders, SharedBytes,
    Site, SkippedAccess, Statement, Uncomputed,
};
pub use shortcut::{Shortcut, Shortcuts};
pub use stop::{StopFlag, StopReason};
pub use trap::{MaskFault, Overflow, Trap, TrapKind};

#[cfg(test)]
mod tests;
