//! The throughput of a multiprocessor's pipes, with which counts of different kinds can be compared.
//!
//! A shared transaction, a sector and an instruction have no common unit, but the cycles that a multiprocessor needs
//! for them do. They do not predict time: pipes work in parallel, and caches are not modelled.
//!
//! ```
//! use interp::rules::{Arch, rates::Rates};
//! let rates = Rates::of(Arch::SM_90);
//! assert_eq!((rates.wavefronts, rates.l2_sectors, rates.instructions), (1.0, 2.0, 4.0));
//! // Fermi's banks deliver a word every second cycle.
//! assert_eq!(Rates::of(Arch::SM_20).wavefronts, 0.5);
//! ```

use super::{Arch, Generation};

/// The source of `wavefronts` and `instructions`: the bandwidth of a bank, and the warp schedulers of a multiprocessor.
pub const SOURCE: &str =
    "CUDA C Programming Guide, compute capabilities: shared memory, architecture";
/// The source of the rates of sectors.
pub const SECTOR_SOURCE: &str = "assumed: 64 bytes a cycle from L2 to a multiprocessor; from L1 128, and 64 where L1 is not one memory with shared memory, and on Turing";
/// The source of `dram_bytes`.
pub const DRAM_SOURCE: &str = "data sheets: bandwidth over multiprocessors and clock of one device of each compute capability, rounded";

/// The maximum throughput of a multiprocessor per cycle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rates {
    /// Wavefronts of shared memory.
    pub wavefronts: f64,
    /// Warp instructions.
    pub instructions: f64,
    /// Sectors that hit in L1.
    pub l1_sectors: f64,
    /// Sectors from L2.
    pub l2_sectors: f64,
    /// Bytes of device memory: the multiprocessor's share of the device's bandwidth.
    pub dram_bytes: f64,
}

impl Rates {
    /// The rates of an architecture.
    pub fn of(arch: Arch) -> Rates {
        let generation = arch.generation();
        Rates {
            wavefronts: match generation {
                Generation::Fermi => 0.5,
                _ => 1.0,
            },
            instructions: match (generation, arch.number()) {
                (Generation::Fermi, _) => 1.0,
                (_, 60) => 2.0,
                _ => 4.0,
            },
            l1_sectors: match generation {
                Generation::Fermi
                | Generation::Kepler
                | Generation::Maxwell
                | Generation::Pascal
                | Generation::Turing => 2.0,
                Generation::Volta
                | Generation::Ampere
                | Generation::Ada
                | Generation::Hopper
                | Generation::Blackwell => 4.0,
            },
            l2_sectors: 2.0,
            dram_bytes: match (generation, arch.number()) {
                (Generation::Fermi, _) => 9.0,
                (Generation::Kepler, _) => 20.0,
                (Generation::Maxwell, _) => 12.0,
                // Jetson modules: LPDDR memory and few multiprocessors.
                (Generation::Pascal, 62) => 23.0,
                (Generation::Volta, 72) => 12.0,
                (Generation::Ampere, 87) => 10.0,
                (Generation::Blackwell, 101 | 110) => 9.0,
                (Generation::Blackwell, 121) => 2.0,
                (Generation::Pascal, _) => 10.0,
                (Generation::Volta, _) => 7.0,
                (Generation::Turing, _) => 5.0,
                (Generation::Ampere, 80) => 10.0,
                (Generation::Ampere, _) => 7.0,
                (Generation::Ada, _) => 3.0,
                (Generation::Hopper, _) => 18.0,
                (Generation::Blackwell, ..110) => 27.0,
                (Generation::Blackwell, _) => 4.0,
            },
        }
    }
}
