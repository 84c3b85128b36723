//! Fuses adjacent instructions: a load and a jump on its result; a load, an operation, and the store of its result to
//! the same place; a load and an operation on its result.

use crate::isa::bytecode::Code;
use crate::isa::host::HostOp;
use crate::isa::op::Op;

use super::is_indexable;
use super::plan::{Goal, Plan, comparison};

/// A jump on the result of a load.
#[derive(Clone, Copy)]
pub(super) struct Test {
    pub(super) op: HostOp,
    /// The result of the comparison for which the jump is taken.
    pub(super) sense: bool,
    /// The operand that the loaded value is compared with.
    pub(super) other: u32,
    pub(super) weight: u16,
    /// The target of the jump, and the first instruction after it.
    pub(super) goal: Goal,
    pub(super) next: u32,
}

/// An operation on a value in memory.
#[derive(Clone, Copy)]
pub(super) struct Update {
    pub(super) ops: [HostOp; 2],
    pub(super) other: u32,
    /// The register for the result, and whether it is read there. An indexed address has no space for that.
    pub(super) result: u32,
    pub(super) is_kept: bool,
    /// The store.
    pub(super) store: u32,
}

/// An operation on the result of a load.
#[derive(Clone, Copy)]
pub(super) struct Feed {
    pub(super) ops: [HostOp; 8],
    pub(super) result: u32,
    pub(super) other: u32,
    /// The last instruction that is fused into this one.
    pub(super) last: u32,
}

impl Plan {
    /// Whether only the next instruction uses the result of the one at `at`, and no jump goes to that.
    fn is_for_next(&self, at: usize) -> bool {
        self.uses.get(&(at as u32)) == Some(&1) && !self.leaders[at + 1]
    }

    /// Fuses a load, a comparison with its result, and the jump on that. The loaded value may have other uses.
    pub(super) fn test(&mut self, code: &Code, at: usize) {
        let i = &code.insts[at];
        let site = &code.sites[i.c as usize];
        if !is_indexable(site) || self.leaders[at + 1] {
            return;
        }
        let (value, Some(next)) = (site.values[0], code.insts.get(at + 1)) else {
            return;
        };
        let (compared, sense, sides, jump, weight) = match comparison(next.op) {
            Some(compared) => {
                let sides = [next.a, next.c];
                (compared, true, sides, at as u32 + 1, next.weight)
            }
            None => {
                let Some(compared) = HostOp::of(next.op) else {
                    return;
                };
                let Some(taken) = self.taken(code, at as u32 + 1) else {
                    return;
                };
                let sides = [next.a, next.b];
                (compared, taken.sense, sides, taken.jump, taken.weight)
            }
        };
        let (op, other) = match sides {
            [left, right] if left == value && right != value => (compared, right),
            [left, right] if right == value && left != value => (compared.mirrored(), left),
            _ => return,
        };
        self.tests.insert(
            at as u32,
            Test {
                op,
                sense,
                other,
                weight,
                goal: self.goal(code, jump),
                next: jump + 1,
            },
        );
    }

    /// Fuses a load, an operation on its result, and a store to the same place.
    pub(super) fn update(&mut self, code: &Code, at: usize) {
        let Some([load, operation, store]) = code.insts.get(at..at + 3) else {
            return;
        };
        let Some((ops, width)) = HostOp::updates(operation.op) else {
            return;
        };
        let is_inside = !self.leaders[at + 1] && !self.leaders[at + 2];
        if store.op != Op::HostStore || !is_inside || !self.is_for_next(at) {
            return;
        }
        let (from, to) = (&code.sites[load.c as usize], &code.sites[store.c as usize]);
        let is_same = load.a == store.a
            && from.address.offset == to.address.offset
            && from.access.object == to.access.object
            && from.subscript.map(|it| (it.uniform, it.len))
                == to.subscript.map(|it| (it.uniform, it.len));
        let fits = is_indexable(from)
            && is_indexable(to)
            && from.width_bytes == width
            && to.width_bytes == width;
        let (value, result) = (from.values[0], to.values[0]);
        // Either operand of a sum may be the one in memory; the only difference is in the bits of a NaN.
        let commutes = matches!(operation.op, Op::SAdd32 | Op::SAdd64 | Op::SFAdd32);
        let other = match [operation.a, operation.b] {
            [left, right] if left == value && right != value => right,
            [left, right] if commutes && right == value && left != value => left,
            _ => return,
        };
        if is_same && fits && operation.d == result {
            let store = at as u32 + 2;
            let is_kept = !self.is_for_next(at + 1);
            let update = Update {
                ops,
                other,
                result,
                is_kept,
                store,
            };
            self.updates.insert(at as u32, update);
        }
    }

    /// Fuses a load and a sum or product of its result; or a product and the sum that adds it to a register. Products
    /// in sums, and updates of memory, have been decided before.
    pub(super) fn feed(&mut self, code: &Code, at: usize) {
        let load = &code.insts[at];
        let site = &code.sites[load.c as usize];
        let is_taken =
            self.tests.contains_key(&(at as u32)) || self.updates.contains_key(&(at as u32));
        if is_taken || !is_indexable(site) || !self.is_for_next(at) {
            return;
        }
        let (value, Some(&next)) = (site.values[0], code.insts.get(at + 1)) else {
            return;
        };
        // The other operand of the operation.
        let other = match [next.a, next.b] {
            [left, right] if left == value && right != value => right,
            [left, right] if right == value && left != value => left,
            _ => return,
        };
        let Some(loads) = super::access_ops(site) else {
            return;
        };
        let sum = at + 2;
        let is_product = self.products.get(&(sum as u32)) == Some(&(at as u32 + 1));
        let (operation, result, last) = match next.op {
            Op::SFMul32 | Op::SFMul64 if is_product => {
                let add = &code.insts[sum];
                let summand = if add.a == next.d { add.b } else { add.a };
                // The sum must accumulate in its own register.
                if self.leaders[sum] || summand != add.d {
                    return;
                }
                let operation = match next.op {
                    Op::SFMul32 => HostOp::FMulAdd32,
                    _ => HostOp::FMulAdd64,
                };
                (operation, add.d, sum)
            }
            Op::SAdd32 | Op::SAdd64 | Op::SFAdd32 | Op::SFAdd64 | Op::SFMul32 | Op::SFMul64 => {
                let is_apart =
                    self.melts[at + 1].is_some() || self.products.contains_key(&(at as u32 + 1));
                match HostOp::of(next.op) {
                    Some(operation) if !is_apart => (operation, next.d, at + 1),
                    _ => return,
                }
            }
            _ => return,
        };
        if let Some(ops) = HostOp::fed(loads[0], operation) {
            let last = last as u32;
            let feed = Feed {
                ops,
                result,
                other,
                last,
            };
            self.feeds.insert(at as u32, feed);
        }
    }
}
