//! Rejects launches that a device rejects, as CUDA does.

use ir::{FuncId, FunctionKind};

use super::shared_bytes;
use crate::config::LaunchConfig;
use crate::launch::report::InvalidLaunch;
use crate::program::Program;
use crate::rules::limits::{Limits, Residency};

/// How deep launches from kernels may be nested: CUDA C++ Programming Guide, "Nesting Depth".
const MAX_DEPTH: u32 = 24;

/// The limits of a device on launches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchLimits {
    /// Most blocks in x, y, z.
    pub grid: [u32; 3],
    /// Most threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Most threads of a block.
    pub threads_per_block: u32,
    /// Most static shared memory of a block.
    pub static_shared_bytes_per_block: u64,
    /// Most shared memory of a block, after `cudaFuncSetAttribute`.
    pub shared_bytes_per_block: u64,
    /// The resources of a multiprocessor.
    pub residency: Residency,
    /// The number of multiprocessors.
    pub multiprocessors: u32,
}

impl LaunchLimits {
    /// The limits of an architecture.
    pub fn of(limits: &Limits) -> LaunchLimits {
        LaunchLimits {
            grid: limits.max_grid,
            block: limits.block.dims,
            threads_per_block: limits.block.threads,
            static_shared_bytes_per_block: limits.block.shared_bytes,
            shared_bytes_per_block: limits.block.shared_bytes_optin,
            residency: limits.residency,
            multiprocessors: limits.multiprocessors,
        }
    }
}

/// Rejects a kernel that declares more shared memory than a block may have.
pub fn check_static_shared(bytes: u64, limit: u64) -> Result<(), InvalidLaunch> {
    match bytes > limit {
        true => Err(InvalidLaunch::TooMuchStaticShared { bytes, limit }),
        false => Ok(()),
    }
}

/// Rejects a launch as CUDA would.
pub fn check_launch(
    program: &Program,
    kernel: FuncId,
    config: &LaunchConfig,
    args: &[u64],
    limits: &LaunchLimits,
) -> Result<(), InvalidLaunch> {
    let function = program.module().function(kernel);
    if function.kind != FunctionKind::Kernel {
        return Err(InvalidLaunch::NotAKernel(function.name.clone()));
    }
    if args.len() != function.params.len() {
        return Err(InvalidLaunch::Arguments {
            given: args.len(),
            expected: function.params.len(),
        });
    }
    for (what, sizes, most) in [
        ("grid", config.grid, limits.grid),
        ("block", config.block, limits.block),
    ] {
        for (axis, (&value, limit)) in "xyz".chars().zip(sizes.iter().zip(most)) {
            if value == 0 {
                return Err(InvalidLaunch::ZeroDimension { what, axis });
            }
            if value > limit {
                return Err(InvalidLaunch::DimensionTooLarge {
                    what,
                    axis,
                    value,
                    limit,
                });
            }
        }
    }
    if config.depth > MAX_DEPTH {
        return Err(InvalidLaunch::NestedTooDeep { limit: MAX_DEPTH });
    }
    let threads = config.threads_per_block();
    let limit = u64::from(limits.threads_per_block);
    if threads > limit {
        return Err(InvalidLaunch::TooManyThreads { threads, limit });
    }
    if let Some((most, _)) = function.launch_bounds
        && most > 0
        && threads > u64::from(most)
    {
        return Err(InvalidLaunch::LaunchBounds {
            threads,
            limit: u64::from(most),
        });
    }
    check_static_shared(
        program.code(kernel).memory.shared_bytes,
        limits.static_shared_bytes_per_block,
    )?;
    let (bytes, limit) = (
        shared_bytes(program.code(kernel), config),
        limits.shared_bytes_per_block,
    );
    if bytes > limit {
        return Err(InvalidLaunch::TooMuchShared {
            bytes,
            dynamic: config.shared_bytes,
            limit,
            most: limit,
        });
    }
    let resident = limits.residency.blocks(threads, bytes) * u64::from(limits.multiprocessors);
    if config.cooperative && config.blocks() > resident.into() {
        return Err(InvalidLaunch::CooperativeTooLarge {
            blocks: u64::try_from(config.blocks()).unwrap_or(u64::MAX),
            limit: resident,
        });
    }
    Ok(())
}
