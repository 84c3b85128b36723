//! The bank rule: the cost of one warp's access to shared memory.
//!
//! The input is 32 byte offsets in the shared window, the width, and the active lanes. The output is transactions
//! (ncu's wavefronts). The warp is served in groups of lanes (32, 16 or 8, depending on the width). A *cell* is what
//! one bank delivers at once: a bank and a row of `row_bytes`. The cost of a group is the largest number of different
//! cells that its lanes touch in one bank.
//!
//! An example with 4-byte banks and lanes 0 to 7 at offsets 0, 128, 256, 4, 4, 132, 8, 12: banks 0, 0, 0, 1, 1, 1, 2,
//! 3. Bank 0 must deliver rows 0, 1 and 2; bank 1 rows 0 (for two lanes: a broadcast) and 1; banks 2 and 3 one row
//! each. The largest number is 3: three transactions, two of which are bank conflicts.
//!
//! Addresses are multiples of the width (the machine traps others). An access of 8 or 16 bytes therefore always fills
//! one aligned run of banks, and it is enough to count those runs.
//!
//! ```
//! use interp::mask::LaneMask;
//! use interp::rules::{Arch, RuleSet, bank::{SharedOp, shared_cost}};
//! let rules = RuleSet::for_arch(Arch::SM_90).shared;
//! let mut addresses = [0; 32];
//! addresses[..8].copy_from_slice(&[0, 128, 256, 4, 4, 132, 8, 12]);
//! let cost = shared_cost(&rules, SharedOp::Load, 4, LaneMask::first(8), &addresses).unwrap();
//! assert_eq!((cost.transactions, cost.ideal, cost.degree, cost.bank_conflicts()), (3, 1, 3, 2));
//! ```

mod passes;

pub use passes::passes;

use crate::isa::mask::LaneMask;

use ir::{AtomicOp, MemType};

use super::{AtomicRule, SharedRules, given::MAX_BANKS};

/// The kind of a shared-memory instruction, as far as its cost depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SharedOp {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A read-modify-write in one pass: on 32-bit integers add, min, max, and, or, xor, inc, dec; on 4 and 8 bytes exchange.
    Atomic,
    /// Compare-and-swap of 4 or 8 bytes, which takes two passes.
    AtomicCas,
    /// A read-modify-write without a hardware instruction: the compiler makes a loop of loads and compare-and-swaps.
    /// Its cost is not modelled.
    AtomicLoop,
}

impl SharedOp {
    /// The hardware's form of an atomic, from sm_50 on. Source: the instructions that ptxas 13.5 makes for sm_75 to
    /// sm_100 (`ATOMS`; a loop has `ATOMS.CAST.SPIN`, or `ATOMS.CAS` for two bytes).
    ///
    /// ```
    /// use interp::rules::bank::SharedOp;
    /// use ir::{AtomicOp, MemType};
    /// assert_eq!(SharedOp::of_atomic(AtomicOp::Add, MemType::I32), SharedOp::Atomic);
    /// assert_eq!(SharedOp::of_atomic(AtomicOp::Add, MemType::F32), SharedOp::AtomicLoop);
    /// assert_eq!(SharedOp::of_atomic(AtomicOp::Add, MemType::I64), SharedOp::AtomicLoop);
    /// assert_eq!(SharedOp::of_atomic(AtomicOp::Exch, MemType::I64), SharedOp::Atomic);
    /// ```
    pub const fn of_atomic(op: AtomicOp, ty: MemType) -> SharedOp {
        match (op, ty) {
            (_, MemType::Bool | MemType::S8 | MemType::U8 | MemType::S16 | MemType::U16)
            | (AtomicOp::Cas, MemType::F32) => SharedOp::AtomicLoop,
            (AtomicOp::Exch | AtomicOp::Store, _) => SharedOp::Atomic,
            (AtomicOp::Cas, _) => SharedOp::AtomicCas,
            (
                AtomicOp::Add
                | AtomicOp::Sub
                | AtomicOp::SMin
                | AtomicOp::SMax
                | AtomicOp::UMin
                | AtomicOp::UMax
                | AtomicOp::And
                | AtomicOp::Or
                | AtomicOp::Xor
                | AtomicOp::Inc
                | AtomicOp::Dec,
                ty,
            ) => match ty {
                MemType::I32 => SharedOp::Atomic,
                _ => SharedOp::AtomicLoop,
            },
        }
    }
}

/// The cost of one warp instruction on shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Cost {
    /// Passes over the banks: transactions (nvprof), wavefronts (ncu).
    pub transactions: u32,
    /// The transactions of the same request without conflicts.
    pub ideal: u32,
    /// The degree of the conflict: the largest cost of one group; 1 is conflict-free.
    pub degree: u32,
}

impl Cost {
    /// ncu's definition: transactions beyond the ideal ones.
    #[inline]
    pub const fn bank_conflicts(self) -> u32 {
        self.transactions - self.ideal
    }
}

/// The cost of the access; `None` if the rule set does not model it (see [`SharedRules::provenance`] for the reason).
///
/// `addresses` are byte offsets in the shared window, multiples of `width_bytes` (1, 2, 4, 8 or 16). Those of inactive
/// lanes are ignored. Without an active lane the cost is zero, because nothing was requested.
#[inline]
pub fn shared_cost(
    rules: &SharedRules,
    op: SharedOp,
    width_bytes: u32,
    mask: LaneMask,
    addresses: &[u32; 32],
) -> Option<Cost> {
    debug_assert!(
        matches!(width_bytes, 1 | 2 | 4 | 8 | 16),
        "no access is {width_bytes} bytes wide"
    );
    match op {
        SharedOp::Load | SharedOp::Store => access_cost(rules, op, width_bytes, mask, addresses),
        SharedOp::Atomic | SharedOp::AtomicCas => {
            atomic_cost(rules, op, width_bytes, mask, addresses)
        }
        SharedOp::AtomicLoop => None,
    }
}

#[inline]
fn access_cost(
    rules: &SharedRules,
    op: SharedOp,
    width_bytes: u32,
    mask: LaneMask,
    addresses: &[u32; 32],
) -> Option<Cost> {
    let mut lanes_per_group = rules.lanes_per_group(width_bytes)?;
    if mask.is_empty() {
        return Some(Cost::default());
    }
    let merges = rules.merges_pairs && op == SharedOp::Load && width_bytes >= 8;
    if merges && (pairs_agree::<1>(mask, addresses) || pairs_agree::<2>(mask, addresses)) {
        lanes_per_group *= 2;
    }
    let cells = Cells::new(rules, width_bytes);
    if lanes_per_group == 32 {
        let degree = cells.degree(mask, addresses);
        return Some(Cost {
            transactions: degree,
            ideal: 1,
            degree,
        });
    }
    let extra = rules.extra_passes(width_bytes);
    let mut cost = Cost::default();
    for group in mask.groups(lanes_per_group) {
        let degree = cells.degree(group, addresses) + extra;
        cost.transactions += degree;
        cost.ideal += 1;
        cost.degree = cost.degree.max(degree);
    }
    Some(cost)
}

/// Whether the active lanes `i` and `i ^ DISTANCE` of every pair have the same address. A pair with an inactive lane
/// does.
#[inline]
fn pairs_agree<const DISTANCE: usize>(mask: LaneMask, addresses: &[u32; 32]) -> bool {
    let mut differing = 0;
    for lane in 0..32 {
        let differs = addresses[lane] != addresses[lane ^ DISTANCE];
        differing |= u32::from(differs) << lane;
    }
    let pair_active = mask.0 & swap_pairs::<DISTANCE>(mask.0);
    differing & pair_active == 0
}

/// The mask with the lanes of each pair swapped.
#[inline]
const fn swap_pairs<const DISTANCE: usize>(mask: u32) -> u32 {
    let low = if DISTANCE == 1 {
        0x5555_5555
    } else {
        0x3333_3333
    };
    (mask & low) << DISTANCE | (mask >> DISTANCE) & low
}

/// Atomics: the lanes of a group in one bank are served one after another, including those with the same address.
#[inline]
fn atomic_cost(
    rules: &SharedRules,
    op: SharedOp,
    width_bytes: u32,
    mask: LaneMask,
    addresses: &[u32; 32],
) -> Option<Cost> {
    let passes = match rules.atomics {
        AtomicRule::NotModelled => return None,
        AtomicRule::LanesPerBank if op == SharedOp::AtomicCas => 2,
        AtomicRule::LanesPerBank => 1,
    };
    let lanes_per_group = rules.lanes_per_group(width_bytes)?;
    let cells = Cells::new(rules, width_bytes);
    let mut cost = Cost::default();
    for group in mask.groups(lanes_per_group) {
        let mut in_bank = [0u8; MAX_BANKS as usize];
        for lane in group {
            in_bank[cells.bank(addresses[lane])] += 1;
        }
        let degree = u32::from(in_bank.into_iter().max().unwrap_or(0));
        cost.transactions += passes * degree;
        cost.ideal += passes;
        cost.degree = cost.degree.max(degree);
    }
    Some(cost)
}

/// How accesses of one width map to the banks: a unit is the run of banks that one access fills.
#[derive(Clone, Copy)]
pub(super) struct Cells {
    unit_shift: u32,
    bank_mask: u32,
    row_shift: u32,
}

impl Cells {
    #[inline]
    pub(super) fn new(rules: &SharedRules, width_bytes: u32) -> Self {
        let unit_bytes = width_bytes.max(rules.bank_bytes);
        Self {
            unit_shift: unit_bytes.trailing_zeros(),
            bank_mask: ((rules.banks * rules.bank_bytes) >> unit_bytes.trailing_zeros()) - 1,
            row_shift: rules.row_bytes.trailing_zeros(),
        }
    }

    /// How many units fit side by side in the banks.
    #[inline]
    pub(super) fn banks(self) -> u32 {
        self.bank_mask + 1
    }

    /// Bytes in a unit.
    #[inline]
    pub(super) fn unit_bytes(self) -> u32 {
        1 << self.unit_shift
    }

    #[inline]
    fn bank(self, address: u32) -> usize {
        (address >> self.unit_shift & self.bank_mask) as usize
    }

    #[inline]
    fn row(self, address: u32) -> u32 {
        address >> self.row_shift
    }

    /// The largest number of different cells in one bank. `group` must have an active lane.
    #[inline]
    fn degree(self, group: LaneMask, addresses: &[u32; 32]) -> u32 {
        let (low, high) = self.rows(group, addresses);
        if low == high
            || group.is_full() && self.consecutive(addresses)
            || self.one_lane_a_bank(group, addresses)
        {
            return 1;
        }
        if self.bank_mask > 31 {
            self.count_degree::<{ MAX_BANKS as usize }>(group, addresses, low, high)
        } else {
            self.count_degree::<32>(group, addresses, low, high)
        }
    }

    /// The lowest and the highest row. If they are equal, no bank has two cells, whatever the lanes do.
    #[inline]
    fn rows(self, group: LaneMask, addresses: &[u32; 32]) -> (u32, u32) {
        let (mut low, mut high) = (u32::MAX, 0);
        for (lane, &address) in addresses.iter().enumerate() {
            let active = 0u32.wrapping_sub(u32::from(group.0 & 1 << lane != 0));
            low = low.min(address | !active);
            high = high.max(address & active);
        }
        (self.row(low), self.row(high))
    }

    /// Recognises consecutive units in two rows.
    #[inline]
    fn consecutive(self, addresses: &[u32; 32]) -> bool {
        let first = addresses[0];
        let mut unlike_a_row = 0;
        for (lane, &address) in addresses.iter().enumerate() {
            unlike_a_row |= address.wrapping_sub(first) ^ ((lane as u32) << self.unit_shift);
        }
        unlike_a_row == 0 && self.bank_mask >= 31
    }

    /// Recognises any permutation: no two lanes share a bank.
    #[inline]
    fn one_lane_a_bank(self, group: LaneMask, addresses: &[u32; 32]) -> bool {
        if self.bank_mask > 31 {
            let bits = group.lanes().map(|lane| 1u64 << self.bank(addresses[lane]));
            return bits.fold(0, |seen, bank| seen | bank).count_ones() == group.count();
        }
        let mut seen = 0u32;
        if group.is_full() {
            for &address in addresses {
                seen |= 1 << self.bank(address);
            }
        } else {
            for lane in group {
                seen |= 1 << self.bank(addresses[lane]);
            }
        }
        seen.count_ones() == group.count()
    }

    /// The general rule. Rows within 64 of the lowest (a tile of 8 KiB) have one bit each; others are hashed.
    fn count_degree<const BANKS: usize>(
        self,
        group: LaneMask,
        addresses: &[u32; 32],
        low: u32,
        high: u32,
    ) -> u32 {
        let mut in_bank = [0u8; BANKS];
        if high - low < 64 {
            let mut rows = [0u64; BANKS];
            for lane in group {
                let bank = self.bank(addresses[lane]);
                let row = 1u64 << (self.row(addresses[lane]) - low);
                in_bank[bank] += u8::from(rows[bank] & row == 0);
                rows[bank] |= row;
            }
        } else {
            let mut seen = SmallSet::new();
            for lane in group {
                let bank = self.bank(addresses[lane]);
                let cell = u64::from(self.row(addresses[lane])) << 6 | bank as u64;
                in_bank[bank] += u8::from(seen.insert(cell));
            }
        }
        u32::from(in_bank.into_iter().max().unwrap_or(0))
    }
}

/// A set of at most 32 numbers on the stack, with open addressing in 64 places. `u64::MAX` cannot be a member.
pub(super) struct SmallSet([u64; 64]);

impl SmallSet {
    #[inline]
    pub(super) fn new() -> Self {
        Self([u64::MAX; 64])
    }

    /// Adds `value`. Returns whether it was new.
    #[inline]
    pub(super) fn insert(&mut self, value: u64) -> bool {
        // Fibonacci hashing: the top six bits of the product depend on all of the value's low bits.
        let mut place = (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize;
        loop {
            if self.0[place] == value {
                return false;
            }
            if self.0[place] == u64::MAX {
                self.0[place] = value;
                return true;
            }
            place = (place + 1) % 64;
        }
    }
}
