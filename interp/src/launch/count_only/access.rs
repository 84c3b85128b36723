//! Derives what an access means for other blocks: whether its cost is the same there, whether it stays within its
//! region, and what it loads.
//!
//! Costs do not change if all lanes move by the same multiple of the rules' period ([`Observer::period_bytes`]). Shared
//! and local memory is separate for each block, so an access to it must not move at all.

use ir::Space;

use super::cell::{Cause, Cell, Why};
use super::cover::{STILL, Step as Distance};
use super::known::{Decides, Number, Reading, difference, narrowed, sum, times};
use super::step::Step;
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Form, Inst, MemSite};
use crate::isa::op::Op;
use crate::machine::ops::address::{addresses, windows};
use crate::memory::map::GlobalMap;

/// What is known of memory.
pub(super) struct Ground<'a> {
    pub(super) map: &'a GlobalMap,
    /// By region: the launch does not write it.
    pub(super) is_still: &'a [bool],
    /// By region: what was read there influences a decision, or may.
    pub(super) matters: &'a mut [bool],
    /// Moving a global access by a multiple of this changes no cost.
    pub(super) period_bytes: u64,
}

impl Step<'_> {
    /// Tracks an access.
    pub(super) fn access(&mut self, i: &Inst, ground: &mut Ground<'_>) {
        let site = &self.code.sites[i.c as usize];
        let is_long = site.is_long();
        let cell = match is_long {
            true => self.long_address(i, site),
            false => self.short_address(i, site),
        };
        if cell.hidden & self.mask != 0 {
            self.known
                .refuse(Decides::Address, self.loc, Some(cell.why));
            return;
        }
        let is_still = cell.is_still(self.mask);
        if !is_still && is_long {
            self.long_moves(i, site, &cell, ground);
        } else if !is_still {
            for lane in self.active() {
                self.known.limits.still(cell.at(lane));
            }
        }
        let result = match site.op {
            AccessOp::Store => return,
            AccessOp::Atomic => Cell::hidden(Why {
                cause: Cause::Atomic,
                loc: self.loc,
            }),
            AccessOp::Load => {
                let why = Why {
                    cause: Cause::Memory,
                    loc: self.loc,
                };
                let is_known = is_long && is_still && !site.access.volatile;
                match is_known && self.reads_what_stays(i, site, ground) {
                    true => Cell::default(),
                    false => Cell::hidden(why),
                }
            }
        };
        for &register in site.results() {
            self.marks.set(site.place(register), result.clone());
        }
    }

    fn active(&self) -> impl Iterator<Item = usize> + Clone + use<> {
        let mask = self.mask;
        (0..32).filter(move |lane| mask >> lane & 1 == 1)
    }

    /// How a 64-bit address moves, by lane.
    fn long_address(&mut self, i: &Inst, site: &MemSite) -> Cell {
        let address = &site.address;
        let (base, index) = site.base_and_index(i);
        let base = self.marks.at(base.0).clone();
        let Some(index) = index else { return base };
        let has_term = address.form == Form::UniformIndexed;
        let index_cell = self.marks.at(index.0).clone();
        let term = match has_term {
            true => self.marks.s[address.term as usize].clone(),
            false => Cell::default(),
        };
        let mask = self.mask;
        if [&base, &index_cell, &term]
            .iter()
            .all(|cell| cell.is_still(mask))
        {
            return Cell::default();
        }
        let cells = [&base, &index_cell, &term];
        let hidden = cells.iter().find(|cell| cell.hidden & mask != 0);
        let why = hidden.map_or(base.why, |cell| cell.why);
        let more = match has_term {
            true => self.r.s(address.term) as u32,
            false => 0,
        };
        let reading = Reading {
            wide: false,
            signed: !address.unsigned,
        };
        let bits = self.r.v32(i.b);
        let at = |lane: usize| narrowed(sum(index_cell.at(lane), term.at(lane)), false);
        if hidden.is_none() && index_cell.all().is_some() {
            // All lanes' indices move alike, so limits on the smallest and the largest hold for the others.
            let step = at(0);
            let numbers = self.active().map(|lane| bits[lane].wrapping_add(more));
            let numbers = numbers.map(|bits| Number {
                bits: bits.into(),
                step,
            });
            let ends = (
                numbers.clone().min_by_key(|a| reading.of(a.bits)),
                numbers.max_by_key(|a| reading.of(a.bits)),
            );
            for end in [ends.0, ends.1].into_iter().flatten() {
                self.known.keep_range(end, reading);
            }
            if let Some(base) = base.all() {
                return Cell::moving(sum(base, times(step, address.scale)));
            }
            return Cell::gather(mask, why, |lane| {
                Some(sum(base.at(lane), times(step, address.scale)))
            });
        }
        Cell::gather(mask, why, |lane| {
            if cells.iter().any(|cell| cell.hides(lane)) {
                return None;
            }
            let step = at(lane);
            let bits = bits[lane].wrapping_add(more).into();
            self.known.keep_range(Number { bits, step }, reading);
            Some(sum(base.at(lane), times(step, address.scale)))
        })
    }

    /// How a 32-bit address moves.
    fn short_address(&self, i: &Inst, site: &MemSite) -> Cell {
        let address = &site.address;
        let (base, index) = site.base_and_index(i);
        let index = index.map(|index| self.marks.at(index.0));
        let base = self.marks.at(base.0);
        let term = &self.marks.s[address.term as usize];
        let cells = [Some(base), index, Some(term)];
        let mut cells_in_use = cells.iter().flatten();
        if cells_in_use.clone().all(|cell| cell.is_still(self.mask)) {
            return Cell::default();
        }
        let hidden = cells_in_use.find(|cell| cell.hidden & self.mask != 0);
        let why = hidden.map_or(base.why, |cell| cell.why);
        Cell::gather(self.mask, why, |lane| {
            if cells.iter().flatten().any(|cell| cell.hides(lane)) {
                return None;
            }
            let indexed = index.map_or(STILL, |cell| times(cell.at(lane), address.scale));
            let term = times(term.at(lane), address.term_scale);
            Some(narrowed(sum(base.at(lane), sum(indexed, term)), false))
        })
    }

    /// Checks a moving access outside shared and local memory: it must move as one piece, by multiples of the period,
    /// within its region.
    fn long_moves(&mut self, i: &Inst, site: &MemSite, cell: &Cell, ground: &Ground<'_>) {
        let addresses = addresses(self.r, i, site);
        let mut outside = self.mask;
        if matches!(i.op, Op::LoadGeneric | Op::StoreGeneric | Op::AtomicGeneric) {
            outside = windows(&addresses, self.mask).2;
        }
        let width = u64::from(site.width_bytes);
        let mut first: Option<Distance> = None;
        let (mut least, mut most) = (u64::MAX, 0);
        for lane in self.active() {
            if outside >> lane & 1 == 0 {
                self.known.limits.still(cell.at(lane));
                continue;
            }
            let step = cell.at(lane);
            let first = *first.get_or_insert(step);
            if step != first {
                self.known.limits.still(difference(step, first));
            }
            least = least.min(addresses[lane]);
            most = most.max(addresses[lane]);
        }
        let Some(step) = first else { return };
        let period = match least == most {
            // A single element lies in one sector wherever it is.
            true => width,
            false => ground.period_bytes.max(width),
        };
        self.known.align(step, period);
        let mut stay = |least: u64, most: u64| {
            let region = &ground.map.regions[ground.map.find(least) as usize];
            let holds = region.holds(most, width);
            if holds {
                let down = i128::from(region.base) - i128::from(least);
                let end = i128::from(region.base) + i128::from(region.size);
                let up = end - i128::from(width) - i128::from(most);
                self.known.limits.within(step, down, up);
            }
            holds
        };
        if !stay(least, most) {
            // The lanes are in several regions. An address in no region faults, and then all blocks run.
            for lane in (0..32).filter(|lane| outside >> lane & 1 == 1) {
                stay(addresses[lane], addresses[lane]);
            }
        }
    }

    /// Whether a load from an address that is the same in all blocks gives the same value in all: it reads memory that
    /// the launch does not write.
    fn reads_what_stays(&self, i: &Inst, site: &MemSite, ground: &mut Ground<'_>) -> bool {
        let addresses = addresses(self.r, i, site);
        if i.op != Op::LoadGlobal && windows(&addresses, self.mask).2 != self.mask {
            return false;
        }
        for lane in self.active() {
            let region = ground.map.find(addresses[lane]) as usize;
            if !ground.is_still[region] {
                return false;
            }
            ground.matters[region] |= site.access.space != Space::Constant;
        }
        true
    }
}
