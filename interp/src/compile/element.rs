//! Compiles accesses to arrays in registers (see [`array`](super::array)). A load is another name for the element, or a
//! copy of it if the element changes before the load's last use. The instruction that computes a value writes it to the
//! element. Each access is counted.

use ir::{Access, LocalId, Operand, Space, ValueId};

use super::{Compiler, array};
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Class, CounterSite, Place, Tally};
use crate::isa::op::Op;

impl Compiler<'_> {
    /// Registers for the elements.
    pub(super) fn arrays(&mut self, arrays: &[LocalId]) {
        for &local in arrays {
            let words = self.function.locals[local.index()].size_bytes as u32 / 4;
            // `redirect` does not write a result next to a register that the operation reads, so arrays used in one
            // operation must not be adjacent.
            let first = self.allocator.units.reserve(words + 1);
            self.arrays.units.insert(local, first);
        }
    }

    pub(super) fn load_registers(&mut self, access: &Access, first: u32, results: &[ValueId]) {
        self.count_element(AccessOp::Load, access);
        let class = Class::of(access.ty.value_type());
        let units = (first..).step_by(array::words_each(access) as usize);
        for (unit, &id) in units.zip(results) {
            let element = Place::V(unit);
            if self.analyses.lifetimes.alias[id.index()] {
                self.values.places[id.index()] = Some(element);
            } else {
                let to = self.define(id);
                self.copy(to, element, class);
            }
        }
    }

    pub(super) fn store_registers(&mut self, access: &Access, first: u32, values: &[Operand]) {
        self.count_element(AccessOp::Store, access);
        let is_whole = !self.parted();
        let class = Class::of(access.ty.value_type());
        let units = (first..).step_by(array::words_each(access) as usize);
        for (unit, value) in units.zip(values) {
            let element = Place::V(unit);
            if !is_whole {
                self.blend(element, value, class);
            } else if !self.redirect(None, value, element) {
                let from = self.place(value);
                if from != element {
                    self.copy(element, from, class);
                }
            }
        }
    }

    /// Counts one more access at this place of the source in the segment.
    fn count_element(&mut self, op: AccessOp, access: &Access) {
        let counter = CounterSite {
            loc: self.loc,
            space: Space::Local,
            op,
            width_bytes: access.width_bytes(),
            block_scope: false,
        };
        let site = match self.arrays.sites.get(&counter) {
            Some(&site) => site,
            None => {
                let site = self.counting_site(op, access);
                self.arrays.sites.insert(counter, site);
                site
            }
        };
        let pending = &mut self.arrays.pending;
        match pending.iter_mut().find(|tally| tally.site == site) {
            Some(tally) => tally.times += 1,
            None => pending.push(Tally { site, times: 1 }),
        }
    }

    /// The source branches of the segment, if nothing else has to be counted, for an instruction that counts branches.
    pub(super) fn branches_alone(&mut self) -> u32 {
        match self.arrays.pending.is_empty() {
            true => std::mem::take(&mut self.arrays.branches),
            false => 0,
        }
    }

    /// Emits the counts of the segment's register accesses and of its source branches.
    pub(super) fn tally(&mut self) {
        let branches = std::mem::take(&mut self.arrays.branches);
        if self.arrays.pending.is_empty() && branches == 0 {
            return;
        }
        let first = self.code.tallies.len() as u32;
        self.code.tallies.append(&mut self.arrays.pending);
        let end = self.code.tallies.len() as u32;
        self.emit(Op::Tally, 0, first, end, branches);
    }
}
