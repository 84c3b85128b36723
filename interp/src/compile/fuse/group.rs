//! What stands side by side and becomes one instruction: a load and the jump on what it gives; a load, an operation and the store of
//! its result to the same place; a load and an operation on what it gives.

use crate::isa::bytecode::Code;
use crate::isa::host::HostOp;
use crate::isa::op::Op;

use super::is_indexable;
use super::plan::{Goal, Plan, comparison};

/// A jump on what a load gives.
#[derive(Clone, Copy)]
pub(super) struct Test {
    pub(super) op: HostOp,
    /// What it has to give for the jump to be taken.
    pub(super) sense: bool,
    /// What it is compared with.
    pub(super) other: u32,
    pub(super) weight: u16,
    /// Where the jump goes, and the first instruction behind it.
    pub(super) goal: Goal,
    pub(super) next: u32,
}

/// An operation on what is in memory.
#[derive(Clone, Copy)]
pub(super) struct Update {
    pub(super) ops: [HostOp; 2],
    pub(super) other: u32,
    /// Where the result is kept, and whether others read it there: an address with an index has no room for that.
    pub(super) result: u32,
    pub(super) is_kept: bool,
    /// The store.
    pub(super) store: u32,
}

/// An operation on what a load gives.
#[derive(Clone, Copy)]
pub(super) struct Feed {
    pub(super) ops: [HostOp; 8],
    pub(super) result: u32,
    pub(super) other: u32,
    /// The last instruction that this one stands for.
    pub(super) last: u32,
}

impl Plan {
    /// Whether only the next instruction reads what the one at `at` gives, and nothing jumps to that.
    fn is_for_next(&self, at: usize) -> bool {
        self.uses.get(&(at as u32)) == Some(&1) && !self.leaders[at + 1]
    }

    /// A load, a comparison with what it gives, and the jump that this decides. Others may read what it gives, too.
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
            Some((compared, sense)) => {
                let sides = [next.a, next.c];
                (compared, sense, sides, at as u32 + 1, next.weight)
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

    /// A load, an operation on what it gives, and a store of that to the same place.
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
        // Of the operands of a sum either may be the one in memory, but for the bits of a NaN.
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

    /// A load and a sum or product of what it gives; or a product and the sum that adds it to a register. Which products melt into sums
    /// and what goes back to memory has been decided.
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
        // What the load is multiplied with or added to.
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
                // The sum goes on in its own register.
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
