//! States the rules a second time: byte by byte, with lists, and sharing only the types with the product.
//!
//! Each function follows the sentences of the text that it names, and depends on the architecture's number instead of
//! the rule set's data.

use std::collections::{BTreeMap, BTreeSet};

use interp::mask::LaneMask;
use interp::rules::bank::{Cost, SharedOp};
use interp::rules::coalesce::{GlobalCost, GlobalOp};
use interp::rules::{BankWidth, RuleSet};

fn lanes_in(mask: LaneMask, first: usize, count: usize) -> Vec<usize> {
    (first..first + count)
        .filter(|&lane| mask.0 & (1 << lane) != 0)
        .collect()
}

/// The words of 4 bytes that an access touches.
fn words(address: u32, width: u32) -> impl Iterator<Item = u32> {
    (address..address + width).map(|byte| byte / 4)
}

/// The length of the longest list of different items that a bank must deliver.
fn longest_list(things: impl Iterator<Item = (u32, u32)>) -> u32 {
    let mut banks = vec![Vec::new(); 32];
    for (bank, thing) in things {
        let list: &mut Vec<u32> = &mut banks[bank as usize];
        if !list.contains(&thing) {
            list.push(thing);
        }
    }
    banks.iter().map(Vec::len).max().unwrap() as u32
}

/// Banks of 4 bytes: `bank = word % 32`, different words conflict (guide 2.x; measured on sm_90).
fn plain_degree(lanes: &[usize], width: u32, at: &[u32; 32]) -> u32 {
    longest_list(
        lanes
            .iter()
            .flat_map(|&lane| words(at[lane], width))
            .map(|word| (word % 32, word)),
    )
}

/// Guide 3.x, 32-bit mode: words `i` and `j = i + 32` of one 64-word-aligned segment do not conflict.
fn kepler_4_degree(lanes: &[usize], width: u32, at: &[u32; 32]) -> u32 {
    longest_list(
        lanes
            .iter()
            .flat_map(|&lane| words(at[lane], width))
            .map(|word| (word % 32, word / 64)),
    )
}

/// Guide 3.x, 64-bit mode: successive 64-bit words in successive banks, different ones conflict.
fn kepler_8_degree(lanes: &[usize], width: u32, at: &[u32; 32]) -> u32 {
    longest_list(
        lanes
            .iter()
            .flat_map(|&lane| words(at[lane], width))
            .map(|word| (word / 2 % 32, word / 2)),
    )
}

fn sum(groups: &[Vec<usize>], degree: impl Fn(&[usize]) -> u32) -> Cost {
    let mut cost = Cost {
        transactions: 0,
        ideal: 0,
        degree: 0,
    };
    for group in groups.iter().filter(|group| !group.is_empty()) {
        let ways = degree(group);
        cost.transactions += ways;
        cost.ideal += 1;
        cost.degree = cost.degree.max(ways);
    }
    cost
}

fn split(mask: LaneMask, lanes_per_group: usize) -> Vec<Vec<usize>> {
    (0..32)
        .step_by(lanes_per_group)
        .map(|first| lanes_in(mask, first, lanes_per_group))
        .collect()
}

fn all_pairs_agree(mask: LaneMask, at: &[u32; 32], x: usize) -> bool {
    lanes_in(mask, 0, 32)
        .into_iter()
        .all(|lane| mask.0 & (1 << (lane ^ x)) == 0 || at[lane] == at[lane ^ x])
}

pub(crate) fn shared(
    rules: &RuleSet,
    op: SharedOp,
    width: u32,
    mask: LaneMask,
    at: &[u32; 32],
) -> Option<Cost> {
    let atomic = matches!(op, SharedOp::Atomic | SharedOp::AtomicCas);
    match rules.arch.number() {
        20..50 if atomic => None,
        20 | 21 => {
            let groups = split(
                mask,
                if width == 16 {
                    8
                } else if width == 8 {
                    16
                } else {
                    32
                },
            );
            let extra = u32::from(width == 16);
            Some(sum(&groups, |group| plain_degree(group, width, at) + extra))
        }
        30..50 if width == 16 => None,
        30..50 if rules.bank_width == BankWidth::Four => Some(sum(&split(mask, 32), |group| {
            kepler_4_degree(group, width, at)
        })),
        30..50 => Some(sum(&split(mask, 32), |group| {
            kepler_8_degree(group, width, at)
        })),
        _ if atomic => Some(measured_atomic(op, width, mask, at)),
        _ => {
            let mut lanes = if width == 16 {
                8
            } else if width == 8 {
                16
            } else {
                32
            };
            let merge = op == SharedOp::Load && width >= 8;
            if merge && (all_pairs_agree(mask, at, 1) || all_pairs_agree(mask, at, 2)) {
                lanes *= 2;
            }
            Some(sum(&split(mask, lanes), |group| {
                plain_degree(group, width, at)
            }))
        }
    }
}

/// The largest number of active lanes in one bank, with duplicates; twice for compare-and-swap; 8 bytes by half-warps.
fn measured_atomic(op: SharedOp, width: u32, mask: LaneMask, at: &[u32; 32]) -> Cost {
    let passes = if op == SharedOp::AtomicCas { 2 } else { 1 };
    let mut cost = Cost {
        transactions: 0,
        ideal: 0,
        degree: 0,
    };
    for group in split(
        mask,
        if width == 16 {
            8
        } else if width == 8 {
            16
        } else {
            32
        },
    ) {
        let lanes_on = |bank| {
            group
                .iter()
                .filter(|&&lane| words(at[lane], width).any(|word| word % 32 == bank))
                .count() as u32
        };
        let most = (0..32).map(lanes_on).max().unwrap();
        if most > 0 {
            cost.transactions += passes * most;
            cost.ideal += passes;
            cost.degree = cost.degree.max(most);
        }
    }
    cost
}

/// How many pieces of this size the lanes touch.
pub(crate) fn pieces(lanes: &[usize], width: u32, at: &[u64; 32], piece_bytes: u64) -> u32 {
    let bytes = lanes
        .iter()
        .flat_map(|&lane| at[lane]..at[lane] + u64::from(width));
    bytes
        .map(|byte| byte / piece_bytes)
        .collect::<BTreeSet<_>>()
        .len() as u32
}

pub(crate) fn global(
    rules: &RuleSet,
    op: GlobalOp,
    width: u32,
    mask: LaneMask,
    at: &[u64; 32],
) -> Option<GlobalCost> {
    let all = lanes_in(mask, 0, 32);
    let distinct_bytes = pieces(&all, width, at, 1);
    let mut cost = GlobalCost {
        requests: 0,
        transactions: 0,
        sectors: 0,
        ideal_sectors: distinct_bytes.div_ceil(32),
        distinct_bytes,
    };
    let before_maxwell = rules.arch.number() < 50;
    if op == GlobalOp::Atomic {
        if before_maxwell {
            return None;
        }
        let mut lanes_at = BTreeMap::<u64, u32>::new();
        for &lane in &all {
            *lanes_at.entry(at[lane]).or_default() += 1;
        }
        let mut most_in = BTreeMap::<u64, u32>::new();
        for (address, lanes) in lanes_at {
            let most = most_in.entry(address / 32).or_default();
            *most = lanes.max(*most);
        }
        cost.requests = u32::from(!all.is_empty());
        cost.sectors = most_in.values().sum();
        cost.transactions = cost.sectors;
        return Some(cost);
    }
    let lanes_per_request = match width {
        8 if before_maxwell => 16,
        16 if before_maxwell => 8,
        _ => 32,
    };
    for request in split(mask, lanes_per_request)
        .iter()
        .filter(|request| !request.is_empty())
    {
        let (segments, lines) = (
            pieces(request, width, at, 32),
            pieces(request, width, at, 128),
        );
        cost.requests += 1;
        cost.transactions += if before_maxwell { lines } else { segments };
        cost.sectors += if rules.l1 && op == GlobalOp::Load {
            4 * lines
        } else {
            segments
        };
    }
    Some(cost)
}

/// Custom rules without merging: `banks` banks of 4 bytes, `lanes` lanes at a time for accesses of 4, 8 and 16 bytes.
pub(crate) struct Plain {
    pub(crate) banks: u32,
    pub(crate) lanes: [u32; 3],
}

impl Plain {
    pub(crate) fn shared(&self, op: SharedOp, width: u32, mask: LaneMask, at: &[u32; 32]) -> Cost {
        let lanes = match width {
            16 => self.lanes[2],
            8 => self.lanes[1],
            _ => self.lanes[0],
        };
        let groups = split(mask, lanes as usize);
        let passes = if op == SharedOp::AtomicCas { 2 } else { 1 };
        let atomic = matches!(op, SharedOp::Atomic | SharedOp::AtomicCas);
        let mut cost = sum(&groups, |group| {
            let in_bank = |bank: u32| {
                let mut delivered: Vec<u32> = vec![];
                for &lane in group {
                    let mut own: Vec<u32> = words(at[lane], width)
                        .filter(|word| word % self.banks == bank)
                        .collect();
                    own.dedup();
                    if atomic {
                        delivered.extend(own.first());
                    } else {
                        delivered.extend(own);
                    }
                }
                if !atomic {
                    delivered.sort_unstable();
                    delivered.dedup();
                }
                delivered.len() as u32
            };
            (0..self.banks).map(in_bank).max().unwrap()
        });
        (cost.transactions, cost.ideal) = (cost.transactions * passes, cost.ideal * passes);
        cost
    }
}
