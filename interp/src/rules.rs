//! Rule sets: the cost of memory accesses on an architecture, as data.
//!
//! The input is an architecture and a bank width. The output is a [`RuleSet`], which holds plain numbers for the pure
//! functions of [`bank`] and [`coalesce`]. These know no program and no memory, only 32 addresses, a mask and a width.
//! Every number has a [`Provenance`]. A number that was neither documented nor measured is `None`, never 0.
//!
//! | | banks | distinct within a bank | global memory |
//! |---|---|---|---|
//! | sm_20, sm_21 | 32 of 4 bytes | rows of 128 bytes | loads: 128-byte lines through L1; stores: 32-byte segments |
//! | sm_30 to sm_37 | 32 of 4 or 8 bytes | rows of 256 bytes | 32-byte segments |
//! | sm_50 and later | 32 of 4 bytes | rows of 128 bytes | 32-byte sectors |
//!
//! An example with 4-byte loads, lane `i` at byte `8 * i`: on sm_90 lanes 0 and 16 access bank 0 with rows 0 and 1,
//! which takes two transactions. On sm_35 both words lie in one row of 256 bytes, which takes one transaction.

pub mod affine;
mod arch;
pub mod bank;
pub mod coalesce;
mod given;
pub mod limits;
mod provenance;
pub mod rates;

pub use arch::{Arch, Generation, UnknownArch};
pub use given::InvalidRules;
pub use provenance::Provenance;

use bank::SharedOp;
use coalesce::GlobalOp;

const MEASURED_ON: &str = "an NVIDIA H200 (sm_90, driver 580, ncu 2025.3)";
const GUIDE_2X: &str = "CUDA C Programming Guide, compute capability 2.x, shared memory";
const GUIDE_2X_WIDE: &str =
    "CUDA C Programming Guide, compute capability 2.x, 64-bit accesses (by half-warp)";
const GUIDE_2X_128: &str = "CUDA C Programming Guide, compute capability 2.x, 128-bit accesses \
     (1 + the most threads of a quarter-warp on different addresses in one bank)";
const GUIDE_3X_4: &str =
    "CUDA C Programming Guide, compute capability 3.x, shared memory in 32-bit mode";
const GUIDE_3X_8: &str =
    "CUDA C Programming Guide, compute capability 3.x, shared memory in 64-bit mode";
const GUIDE_2X_GLOBAL: &str = "CUDA C Programming Guide, compute capability 2.x, global memory";
const GUIDE_3X_GLOBAL: &str =
    "CUDA C Programming Guide, compute capability 3.x, global memory (as 2.x, cached in L2 only)";
const SAME_BANKS: &str =
    "the guide describes the same 32 banks of 4 bytes for every architecture since sm_50";
const SAME_SECTORS: &str =
    "the guide describes 32-byte transactions for every architecture since sm_60";

const NOT_GIVEN: Provenance = Provenance::NotModelled {
    why: "the file of rules does not say it",
};

/// Adjacent bytes in one shared-memory bank.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum BankWidth {
    /// The default, and the only one outside Kepler.
    #[default]
    Four,
    /// `cudaSharedMemBankSizeEightByte`, on sm_30 to sm_37.
    Eight,
}

impl BankWidth {
    /// 4 or 8.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}

/// A rule set that no hardware has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RuleError {
    /// 8-byte banks outside Kepler.
    #[error("8-byte shared-memory banks exist on sm_30 to sm_37 only; {arch} has 4-byte banks")]
    NoEightByteBanks {
        /// The architecture requested.
        arch: Arch,
    },
    /// An L1 switch that does not change any count.
    #[error(
        "whether global loads go through L1 changes the counts on sm_20, sm_21, sm_35 and sm_37 only; \
         {arch} counts 32-byte sectors either way"
    )]
    NoL1Switch {
        /// The architecture requested.
        arch: Arch,
    },
}

/// The costs on one architecture, in one bank mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleSet {
    /// The architecture.
    pub arch: Arch,
    /// The bank mode.
    pub bank_width: BankWidth,
    /// Do global loads go through an L1 that moves whole 128-byte lines?
    pub l1: bool,
    /// The source of the rules, if they are not the architecture's: see [`RuleSet::given`].
    pub given_by: Option<&'static str>,
    /// Shared memory.
    pub shared: SharedRules,
    /// Global memory.
    pub global: GlobalRules,
}

/// How shared-memory atomics are charged.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AtomicRule {
    /// Native: the lanes of one bank are served one after another, including duplicates; a compare-and-swap counts
    /// twice.
    LanesPerBank,
    /// A loop of locked loads and stores that the compiler makes, which cannot be counted without its code.
    NotModelled,
}

/// The banks of shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedRules {
    arch: Arch,
    given: bool,
    /// Banks: a power of two up to 64.
    pub banks: u32,
    /// Adjacent bytes in a bank: 4 or 8.
    pub bank_bytes: u32,
    /// Two accesses to one bank are served together if they lie in one row of this many bytes.
    pub row_bytes: u32,
    /// Lanes served together in accesses of up to 4 bytes.
    pub lanes_4: u32,
    /// Lanes served together in 8-byte accesses.
    pub lanes_8: u32,
    /// Lanes served together in 16-byte accesses; `None`: not modelled.
    pub lanes_16: Option<u32>,
    /// Additional passes of each group of a 16-byte access, beyond its degree.
    pub extra_16: u32,
    /// Do loads of 8 and 16 bytes merge pairs of lanes with one address?
    pub merges_pairs: bool,
    /// Atomics.
    pub atomics: AtomicRule,
}

/// The transactions of global memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GlobalRules {
    arch: Arch,
    given: bool,
    /// Do loads move whole 128-byte lines (four sectors)?
    pub loads_lines: bool,
    /// Are 8-byte accesses two memory requests and 16-byte ones four?
    pub splits_wide: bool,
    /// Are atomics modelled?
    pub atomics: bool,
}

impl RuleSet {
    /// The rules of `arch` with banks of `bank_width`. Global loads go through L1 where that is the default (Fermi).
    pub fn new(arch: Arch, bank_width: BankWidth) -> Result<Self, RuleError> {
        if bank_width == BankWidth::Eight && arch.generation() != Generation::Kepler {
            return Err(RuleError::NoEightByteBanks { arch });
        }
        Ok(Self::build(arch, bank_width))
    }

    /// The rules of `arch` with its default banks of 4 bytes.
    pub fn for_arch(arch: Arch) -> Self {
        Self::build(arch, BankWidth::Four)
    }

    fn build(arch: Arch, bank_width: BankWidth) -> Self {
        let l1 = arch.generation() == Generation::Fermi;
        Self {
            arch,
            bank_width,
            l1,
            given_by: None,
            shared: SharedRules::new(arch, bank_width),
            global: GlobalRules::new(arch, l1),
        }
    }

    /// The same rules with the L1 cache on or off for global loads (nvcc's `-Xptxas -dlcm=ca` or `=cg`).
    pub fn with_l1(self, l1: bool) -> Result<Self, RuleError> {
        if l1 == self.l1 {
            return Ok(self);
        }
        if !matches!(self.arch.number(), 20 | 21 | 35 | 37) {
            return Err(RuleError::NoL1Switch { arch: self.arch });
        }
        Ok(Self {
            l1,
            global: GlobalRules::new(self.arch, l1),
            ..self
        })
    }

    /// The bytes that all banks deliver in one transaction: 128, on Kepler 256.
    pub fn shared_transaction_bytes(&self) -> u32 {
        self.shared.row_bytes
    }
}

impl SharedRules {
    fn new(arch: Arch, bank_width: BankWidth) -> Self {
        let kepler = arch.generation() == Generation::Kepler;
        let native = arch >= Arch::SM_50;
        Self {
            arch,
            given: false,
            banks: 32,
            bank_bytes: bank_width.bytes(),
            row_bytes: if kepler { 256 } else { 128 },
            lanes_4: 32,
            lanes_8: if kepler { 32 } else { 16 },
            lanes_16: if kepler { None } else { Some(8) },
            extra_16: u32::from(arch.generation() == Generation::Fermi),
            merges_pairs: native,
            atomics: if native {
                AtomicRule::LanesPerBank
            } else {
                AtomicRule::NotModelled
            },
        }
    }

    /// Lanes served together at one width; `None`: not modelled.
    #[inline]
    pub const fn lanes_per_group(&self, width_bytes: u32) -> Option<u32> {
        match width_bytes {
            ..=4 => Some(self.lanes_4),
            8 => Some(self.lanes_8),
            _ => self.lanes_16,
        }
    }

    /// The period of costs: adding a multiple of this to all addresses of an access changes no cost. If the banks'
    /// units fill a row, that rotates the banks; otherwise it has to be a whole row.
    ///
    /// ```
    /// use interp::rules::{Arch, RuleSet};
    /// assert_eq!(RuleSet::for_arch(Arch::SM_90).shared.period_bytes(2), 4);
    /// ```
    #[inline]
    pub fn period_bytes(&self, width_bytes: u32) -> u32 {
        let unit_bytes = width_bytes.max(self.bank_bytes);
        if self.banks * self.bank_bytes == self.row_bytes {
            unit_bytes
        } else {
            self.row_bytes
        }
    }

    #[inline]
    const fn extra_passes(&self, width_bytes: u32) -> u32 {
        if width_bytes == 16 { self.extra_16 } else { 0 }
    }

    /// The source of the counts for such an access.
    pub fn provenance(&self, op: SharedOp, width_bytes: u32) -> Provenance {
        match op {
            SharedOp::Load | SharedOp::Store => self.access_provenance(width_bytes),
            SharedOp::AtomicLoop => Provenance::NotModelled {
                why: "the hardware has no instruction for them, so the compiler makes a loop of loads and compare-and-swaps; its rounds depend on \
                      which lanes share an address",
            },
            SharedOp::Atomic | SharedOp::AtomicCas => match self.atomics {
                AtomicRule::LanesPerBank if self.given => Provenance::Given,
                AtomicRule::LanesPerBank => self.since_sm_50(),
                AtomicRule::NotModelled if self.given => NOT_GIVEN,
                AtomicRule::NotModelled => Provenance::NotModelled {
                    why: "before sm_50 a shared atomic is a loop of locked loads and stores made by the compiler",
                },
            },
        }
    }

    /// Why the cost of an atomic is not modelled: for all of them, or for those without a hardware instruction.
    pub fn atomics_not_modelled(&self) -> Provenance {
        match self.atomics {
            AtomicRule::NotModelled => self.provenance(SharedOp::Atomic, 4),
            AtomicRule::LanesPerBank => self.provenance(SharedOp::AtomicLoop, 4),
        }
    }

    fn access_provenance(&self, width_bytes: u32) -> Provenance {
        if self.given {
            return match self.lanes_per_group(width_bytes) {
                Some(_) => Provenance::Given,
                None => NOT_GIVEN,
            };
        }
        match (self.arch.generation(), width_bytes) {
            (Generation::Fermi, ..=4) => Provenance::Documented { text: GUIDE_2X },
            (Generation::Fermi, 8) => Provenance::Documented {
                text: GUIDE_2X_WIDE,
            },
            (Generation::Fermi, _) => Provenance::Documented { text: GUIDE_2X_128 },
            (Generation::Kepler, ..=8) if self.bank_bytes == 4 => {
                Provenance::Documented { text: GUIDE_3X_4 }
            }
            (Generation::Kepler, ..=8) => Provenance::Documented { text: GUIDE_3X_8 },
            (Generation::Kepler, _) => Provenance::NotModelled {
                why: "the guide does not say how compute capability 3.x serves 16-byte accesses to shared memory",
            },
            _ => self.since_sm_50(),
        }
    }

    fn since_sm_50(&self) -> Provenance {
        if self.arch == Arch::SM_90 {
            Provenance::Measured {
                device: MEASURED_ON,
            }
        } else {
            Provenance::ByTheSameRule {
                measured_on: MEASURED_ON,
                because: SAME_BANKS,
            }
        }
    }
}

impl GlobalRules {
    /// The period of costs: adding a multiple of this to all addresses of an access changes no cost. It is a sector, or
    /// a line if lines count.
    #[inline]
    pub fn period_bytes(&self) -> u32 {
        if self.loads_lines || self.splits_wide {
            128
        } else {
            32
        }
    }

    fn new(arch: Arch, l1: bool) -> Self {
        let before_maxwell = arch < Arch::SM_50;
        Self {
            arch,
            given: false,
            loads_lines: l1,
            splits_wide: before_maxwell,
            atomics: !before_maxwell,
        }
    }

    /// The source of the counts for such an access.
    pub fn provenance(&self, op: GlobalOp) -> Provenance {
        if self.given {
            return match (op, self.atomics) {
                (GlobalOp::Atomic, false) => NOT_GIVEN,
                _ => Provenance::Given,
            };
        }
        match (self.arch.generation(), op) {
            (Generation::Fermi | Generation::Kepler, GlobalOp::Atomic) => Provenance::NotModelled {
                why: "no document says how L2 serves a warp's atomics before sm_50",
            },
            (Generation::Fermi, _) => Provenance::Documented {
                text: GUIDE_2X_GLOBAL,
            },
            (Generation::Kepler, _) => Provenance::Documented {
                text: GUIDE_3X_GLOBAL,
            },
            (Generation::Maxwell, GlobalOp::Load | GlobalOp::Store) => Provenance::Documented {
                text: "CUDA C Programming Guide, compute capability 5.x, global memory (cached in L2: 32-byte segments)",
            },
            (Generation::Maxwell, GlobalOp::Atomic) => Provenance::Assumed {
                because: "atomics are served in L2's 32-byte segments as on later architectures",
            },
            _ if self.arch == Arch::SM_90 => Provenance::Measured {
                device: MEASURED_ON,
            },
            _ => Provenance::ByTheSameRule {
                measured_on: MEASURED_ON,
                because: SAME_SECTORS,
            },
        }
    }
}
