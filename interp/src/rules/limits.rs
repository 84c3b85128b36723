//! The limits of an architecture on launches. Launches are checked against them, and device properties are filled from
//! them.
//!
//! Source of the limits: CUDA C Programming Guide, "technical specifications per compute capability" (for Fermi and
//! Kepler the editions of their time). The device is one that was sold with the compute capability, so that
//! `cudaGetDeviceProperties` has a plausible answer. Clocks and memory sizes are rounded data-sheet values.
//!
//! ```
//! use interp::rules::{Arch, limits::Limits};
//! let limits = Limits::of(Arch::SM_90);
//! assert_eq!(limits.block.shared_bytes_optin, 227 * 1024);
//! assert_eq!(limits.max_grid, [2_147_483_647, 65_535, 65_535]);
//! assert_eq!(limits.device, "NVIDIA H200");
//! ```

use super::Arch;

/// The source of the numbers in [`Limits`].
pub const SOURCE: &str =
    "CUDA C Programming Guide, technical specifications per compute capability";

const KIB: u32 = 1024;

/// The limits and properties of one architecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Lanes in a warp.
    pub warp_size: u32,
    /// Grid size in x, y, z.
    pub max_grid: [u32; 3],
    /// The limits of a block.
    pub block: BlockLimits,
    /// The resources of one of its multiprocessors.
    pub residency: Residency,
    /// 32-bit registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Registers of one thread.
    pub max_registers_per_thread: u32,
    /// Constant memory.
    pub constant_bytes: u32,
    /// A device with this compute capability.
    pub device: &'static str,
    /// Its multiprocessors.
    pub multiprocessors: u32,
    /// Its clock in kHz.
    pub clock_khz: u32,
    /// Its global memory.
    pub global_bytes: u64,
    /// Its L2 cache.
    pub l2_bytes: u32,
}

/// The limits of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockLimits {
    /// Threads, the product of all dimensions.
    pub threads: u32,
    /// Threads in x, y, z.
    pub dims: [u32; 3],
    /// Shared memory without an opt-in, static and dynamic together.
    pub shared_bytes: u64,
    /// The same after `cudaFuncSetAttribute(MaxDynamicSharedMemorySize)`; equal if there is no such opt-in.
    pub shared_bytes_optin: u64,
    /// 32-bit registers.
    pub registers: u32,
}

/// What differs between architectures. Shared memory in KiB is for a block (opt-in) and for a multiprocessor; registers
/// in units of 1024 are for a block and for a multiprocessor.
struct Row {
    arch: u32,
    shared_optin_kib: u32,
    shared_sm_kib: u32,
    registers_block: u32,
    registers_sm: u32,
    threads_sm: u32,
    blocks_sm: u32,
    device: &'static str,
    multiprocessors: u32,
    clock_mhz: u32,
    global_mib: u64,
    l2_kib: u32,
}

#[rustfmt::skip]
#[expect(clippy::too_many_arguments, reason = "one line of the table below")]
const fn row(
    arch: u32, shared: (u32, u32), registers: (u32, u32), threads_sm: u32, blocks_sm: u32,
    device: &'static str, multiprocessors: u32, clock_mhz: u32, global_mib: u64, l2_kib: u32,
) -> Row {
    Row {
        arch, shared_optin_kib: shared.0, shared_sm_kib: shared.1, registers_block: registers.0, registers_sm: registers.1,
        threads_sm, blocks_sm, device, multiprocessors, clock_mhz, global_mib, l2_kib,
    }
}

#[rustfmt::skip]
const ROWS: [Row; 26] = [
    //   arch  shared KiB  registers  threads blocks  device                       SMs   MHz    MiB      L2 KiB
    row( 20, ( 48,  48), (32,  32), 1536,  8, "Tesla C2050",                        14, 1147,   2_687,    768),
    row( 21, ( 48,  48), (32,  32), 1536,  8, "GeForce GTX 460",                     7, 1350,   1_024,    512),
    row( 30, ( 48,  48), (64,  64), 2048, 16, "GeForce GTX 680",                     8, 1058,   2_048,    512),
    row( 32, ( 48,  48), (32,  64), 2048, 16, "Tegra K1",                            1,  852,   1_892,    128),
    row( 35, ( 48,  48), (64,  64), 2048, 16, "Tesla K40c",                         15,  745,  11_520,  1_536),
    row( 37, ( 48, 112), (64, 128), 2048, 16, "Tesla K80",                          13,  823,  11_441,  1_536),
    row( 50, ( 48,  64), (64,  64), 2048, 32, "GeForce GTX 750 Ti",                  5, 1110,   2_048,  2_048),
    row( 52, ( 48,  96), (64,  64), 2048, 32, "GeForce GTX 980",                    16, 1216,   4_096,  2_048),
    row( 53, ( 48,  64), (32,  64), 2048, 32, "Tegra X1",                            1,  998,   3_964,    256),
    row( 60, ( 48,  64), (64,  64), 2048, 32, "Tesla P100-PCIE-16GB",               56, 1328,  16_276,  4_096),
    row( 61, ( 48,  96), (64,  64), 2048, 32, "GeForce GTX 1080",                   20, 1733,   8_192,  2_048),
    row( 62, ( 48,  64), (32,  64), 2048, 32, "Tegra X2",                            2, 1300,   7_846,    512),
    row( 70, ( 96,  96), (64,  64), 2048, 32, "Tesla V100-SXM2-16GB",               80, 1530,  16_160,  6_144),
    row( 72, ( 96,  96), (64,  64), 2048, 32, "Xavier",                              8, 1377,  31_918,    512),
    row( 75, ( 64,  64), (64,  64), 1024, 16, "Tesla T4",                           40, 1590,  14_910,  4_096),
    row( 80, (163, 164), (64,  64), 2048, 32, "NVIDIA A100-SXM4-40GB",             108, 1410,  40_536, 40_960),
    row( 86, ( 99, 100), (64,  64), 1536, 16, "NVIDIA GeForce RTX 3090",            82, 1695,  24_268,  6_144),
    row( 87, (163, 164), (64,  64), 1536, 16, "Orin",                               16, 1300,  30_536,  4_096),
    row( 89, ( 99, 100), (64,  64), 1536, 24, "NVIDIA GeForce RTX 4090",           128, 2520,  24_080, 73_728),
    row( 90, (227, 228), (64,  64), 2048, 32, "NVIDIA H200",                       132, 1980, 143_167, 61_440),
    row(100, (227, 228), (64,  64), 2048, 32, "NVIDIA B200",                       148, 1965, 182_642, 129_536),
    row(101, (227, 228), (64,  64), 1536, 24, "NVIDIA Thor",                        20, 1575, 125_771, 32_768),
    row(103, (227, 228), (64,  64), 2048, 32, "NVIDIA B300",                       148, 1920, 275_040, 129_536),
    row(110, (227, 228), (64,  64), 1536, 24, "NVIDIA Thor",                        20, 1575, 125_771, 32_768),
    row(120, ( 99, 100), (64,  64), 1536, 24, "NVIDIA GeForce RTX 5090",           170, 2407,  32_109, 98_304),
    row(121, ( 99, 100), (64,  64), 1536, 24, "NVIDIA GB10",                        48, 2418, 122_502, 24_576),
];

impl Limits {
    /// The limits of `arch`.
    pub fn of(arch: Arch) -> Self {
        let row = ROWS.iter().find(|row| row.arch == arch.number());
        Self::from(row.expect("every architecture has a row"))
    }
}

/// The resources of a multiprocessor at one time. Registers are not modelled, so fewer blocks of a kernel with many
/// registers may fit.
///
/// ```
/// use interp::rules::{Arch, limits::Limits};
/// let residency = Limits::of(Arch::SM_90).residency;
/// assert_eq!(residency.blocks(256, 0), 8);
/// assert_eq!(residency.blocks(128, 32 * 1024), 6);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Residency {
    /// Threads.
    pub threads: u32,
    /// Blocks.
    pub blocks: u32,
    /// Shared memory.
    pub shared_bytes: u64,
    /// Shared memory that the system reserves for each block.
    pub reserved_shared_bytes_per_block: u64,
}

impl Residency {
    /// How many blocks with this many threads and this much shared memory fit.
    pub fn blocks(&self, threads: u64, shared_bytes: u64) -> u64 {
        let warps = threads.max(1).next_multiple_of(32);
        let by_threads = u64::from(self.threads) / warps;
        let by_shared = self
            .shared_bytes
            .checked_div(shared_bytes.saturating_add(self.reserved_shared_bytes_per_block))
            .unwrap_or(u64::MAX);
        by_threads.min(by_shared).min(self.blocks.into())
    }
}

impl From<&Row> for Limits {
    fn from(row: &Row) -> Self {
        let fermi = row.arch < 30;
        let kib = |count: u32| u64::from(count * KIB);
        Self {
            warp_size: 32,
            max_grid: [if fermi { 65_535 } else { i32::MAX as u32 }, 65_535, 65_535],
            block: BlockLimits {
                threads: 1024,
                dims: [1024, 1024, 64],
                shared_bytes: kib(48),
                shared_bytes_optin: kib(row.shared_optin_kib),
                registers: row.registers_block * KIB,
            },
            residency: Residency {
                threads: row.threads_sm,
                blocks: row.blocks_sm,
                shared_bytes: kib(row.shared_sm_kib),
                reserved_shared_bytes_per_block: kib(u32::from(row.arch >= 80)),
            },
            registers_per_multiprocessor: row.registers_sm * KIB,
            max_registers_per_thread: if row.arch < 32 { 63 } else { 255 },
            constant_bytes: 64 * KIB,
            device: row.device,
            multiprocessors: row.multiprocessors,
            clock_khz: row.clock_mhz * 1000,
            global_bytes: row.global_mib << 20,
            l2_bytes: row.l2_kib * KIB,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_architecture_has_limits_that_fit_together() {
        for (arch, row) in Arch::ALL.into_iter().zip(&ROWS) {
            assert_eq!(arch.number(), row.arch);
            let limits = Limits::of(arch);
            let (block, residency) = (limits.block, limits.residency);
            assert!(block.shared_bytes <= block.shared_bytes_optin);
            assert!(block.shared_bytes_optin <= residency.shared_bytes);
            assert!(block.registers <= limits.registers_per_multiprocessor);
            assert!(block.threads <= residency.threads);
        }
    }
}
