//! Lists the GPUs and their properties, without making a context.

use super::{
    GpuError,
    driver::{self, Attribute, DeviceHandle},
};
use crate::device::DeviceInfo;
use crate::error::CudaError;
use interp::rules::limits::{BlockLimits, Residency};

/// Starts the driver.
pub(super) fn start() -> Result<(), GpuError> {
    if !driver::is_present() {
        return Err(GpuError::NoDriver);
    }
    driver::init().map_err(|(error, words)| match error {
        CudaError::NoDevice => GpuError::NoDevice,
        _ => GpuError::Driver(words),
    })
}

/// The CUDA version that the driver supports.
pub fn driver_version() -> Result<(u32, u32), GpuError> {
    if !driver::is_present() {
        return Err(GpuError::NoDriver);
    }
    driver::version().map_err(|error| GpuError::Driver(error.to_string()))
}

/// All GPUs, in the driver's order.
pub fn list() -> Result<Vec<DeviceInfo>, GpuError> {
    start()?;
    let failed = |error: CudaError| GpuError::Driver(error.to_string());
    let count = driver::device_count().map_err(failed)?;
    (0..count)
        .map(|ordinal| driver::device(ordinal).and_then(info).map_err(failed))
        .collect()
}

/// The properties that `cudaGetDeviceProperties` gives.
pub(super) fn info(device: DeviceHandle) -> Result<DeviceInfo, CudaError> {
    use Attribute as A;
    let number = |attribute| driver::attribute(device, attribute);
    Ok(DeviceInfo {
        name: driver::device_name(device)?,
        major: number(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        minor: number(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        global_bytes: driver::device_bytes(device)?,
        constant_bytes: number(A::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY).into(),
        block: BlockLimits {
            threads: number(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
            dims: [
                number(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                number(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                number(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z),
            ],
            shared_bytes: number(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK).into(),
            shared_bytes_optin: number(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
                .into(),
            registers: number(A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
        },
        multiprocessors: number(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        residency: Residency {
            threads: number(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
            blocks: number(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
            shared_bytes: number(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
                .into(),
            reserved_shared_bytes_per_block: number(
                A::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK,
            )
            .into(),
        },
        registers_per_multiprocessor: number(
            A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
        ),
        grid_limit: [
            number(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
            number(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
            number(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z),
        ],
        clock_khz: number(A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
        memory_clock_khz: number(A::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
        memory_bus_bits: number(A::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
        l2_bytes: number(A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE).into(),
    })
}
