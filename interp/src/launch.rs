//! One launch: validates it, runs its blocks, gathers the counts.

use dsl::ir::FuncId;

use crate::config::{LaunchConfig, MachineConfig};
use crate::memory::Memory;
use crate::program::Program;
use crate::report::{InvalidLaunch, LaunchFailure, LaunchReport};

/// Runs a kernel. `args` holds the bits of one argument per parameter; `out` receives what threads print, in order.
pub fn launch(
    program: &Program,
    kernel: FuncId,
    _config: &LaunchConfig,
    _args: &[u64],
    _memory: &mut Memory,
    _machine: &MachineConfig,
    _out: &mut dyn FnMut(&[u8]),
) -> Result<LaunchReport, LaunchFailure> {
    let name = program.module().function(kernel).name.clone();
    Err(LaunchFailure::Invalid(InvalidLaunch::NotAKernel(name)))
}
