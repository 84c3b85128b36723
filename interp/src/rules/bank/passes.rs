//! The passes of one request, with the lanes that each serves. They are for illustration; the counts come from
//! [`shared_cost`](super::shared_cost), and there are as many passes as it says.

use super::{Cells, SharedOp, pairs_agree};
use crate::{
    isa::mask::LaneMask,
    rules::{AtomicRule, SharedRules},
};

/// The lanes of each pass, in order; `None` if the rule set does not model the access. A pass that the architecture
/// adds to a wide access serves no lane.
///
/// Lanes are served as early as possible. In each bank, the cell of the lowest lane comes first.
///
/// ```
/// use interp::mask::LaneMask;
/// use interp::rules::{Arch, RuleSet, bank::{SharedOp, passes}};
/// let rules = RuleSet::for_arch(Arch::SM_90).shared;
/// let mut addresses = [0; 32];
/// addresses[..4].copy_from_slice(&[0, 128, 4, 0]);
/// let lanes = passes(&rules, SharedOp::Load, 4, LaneMask::first(4), &addresses).unwrap();
/// assert_eq!(lanes, [LaneMask(0b1101), LaneMask(0b0010)]);
/// ```
pub fn passes(
    rules: &SharedRules,
    op: SharedOp,
    width_bytes: u32,
    mask: LaneMask,
    addresses: &[u32; 32],
) -> Option<Vec<LaneMask>> {
    let is_atomic = matches!(op, SharedOp::Atomic | SharedOp::AtomicCas);
    let is_loop = op == SharedOp::AtomicLoop;
    if is_loop || is_atomic && rules.atomics == AtomicRule::NotModelled {
        return None;
    }
    let mut lanes_per_group = rules.lanes_per_group(width_bytes)?;
    let merges = rules.merges_pairs && op == SharedOp::Load && width_bytes >= 8;
    if merges && (pairs_agree::<1>(mask, addresses) || pairs_agree::<2>(mask, addresses)) {
        lanes_per_group *= 2;
    }
    let cells = Cells::new(rules, width_bytes);
    let (times, extra) = match op {
        SharedOp::AtomicCas => (2, 0),
        SharedOp::Atomic => (1, 0),
        _ if lanes_per_group < 32 => (1, rules.extra_passes(width_bytes)),
        _ => (1, 0),
    };
    let mut all = vec![];
    for group in mask.groups(lanes_per_group) {
        let mut passes: Vec<LaneMask> = vec![];
        // The rows that each bank has delivered; for an atomic, a row for each lane.
        let mut rows: Vec<Vec<u32>> = vec![vec![]; cells.banks() as usize];
        for lane in group {
            let rows = &mut rows[cells.bank(addresses[lane])];
            let row = cells.row(addresses[lane]);
            let known = rows.iter().position(|&known| known == row && !is_atomic);
            let pass = known.unwrap_or_else(|| {
                rows.push(row);
                rows.len() - 1
            });
            if pass == passes.len() {
                passes.push(LaneMask::EMPTY);
            }
            passes[pass] |= LaneMask::single(lane);
        }
        all.extend(
            passes
                .into_iter()
                .flat_map(|lanes| [lanes; 2].into_iter().take(times)),
        );
        all.extend((0..extra).map(|_| LaneMask::EMPTY));
    }
    Some(all)
}
