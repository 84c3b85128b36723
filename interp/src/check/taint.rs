//! Tracks uninitialised values from memory or variables through the registers of a warp.
//!
//! While a warp has none, nothing is tracked. Each register has the lanes whose value is undefined, and the origin of
//! the first such value. A use counts if the value decides a branch, is part of an address, is stored to global memory,
//! or is printed. A store to shared or local memory only moves the value.

pub(crate) use crate::fault::finding::Use;
use crate::isa::bytecode::{
    Code, ExchangeKind, Form, Inst, MemSite, Move, Place, PrintRow, RoutineCall,
};
use crate::isa::mask::LaneMask;
use crate::isa::op::Op;
use crate::isa::operands::{Wide, reads_and_write};
use crate::isa::registers::View;

/// The origin of an undefined value: an index in the checker's list.
pub(super) type Origin = u32;

/// A use that counts, by the lowest of these lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matters {
    pub(super) what: Use,
    pub(super) lanes: u32,
    pub(super) origin: Origin,
    /// The origin of another undefined value that is combined with it.
    pub(super) second: Option<Origin>,
}

/// Lanes with undefined values, and their origin.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    lanes: u32,
    origin: Origin,
    /// Lanes in which two such values are combined, and the origin of the second.
    both: u32,
    second: Origin,
}

impl Cell {
    fn or(self, other: Cell) -> Cell {
        if self.lanes == 0 {
            return other;
        }
        let both = self.lanes & other.lanes;
        let (both, second) = match other.origin == self.origin || both == 0 {
            false if self.both == 0 => (both, other.origin),
            _ if self.both == 0 => (other.both, other.second),
            _ => (self.both, self.second),
        };
        Cell {
            lanes: self.lanes | other.lanes,
            both,
            second,
            ..self
        }
    }

    fn only(self, lanes: u32) -> Cell {
        Cell {
            lanes: self.lanes & lanes,
            both: self.both & lanes,
            ..self
        }
    }

    /// For a use by the lanes of `mask`: the part of it that counts.
    fn matters(self, what: Use, mask: u32) -> Option<Matters> {
        let lanes = self.lanes & mask;
        (lanes != 0).then_some(Matters {
            what,
            lanes,
            origin: self.origin,
            second: (self.both & mask != 0).then_some(self.second),
        })
    }
}

/// The registers of one warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Taint {
    v: Vec<Cell>,
    s: Vec<Cell>,
    /// Whether some register may have an undefined value.
    pub(super) live: bool,
    steps: u32,
    /// For each active call: the caller's registers, if any had an undefined value.
    kept: Vec<Option<(Vec<Cell>, Vec<Cell>)>>,
    /// Lanes that store such a value in the current instruction, and its origin.
    pub(super) storing: (u32, Origin),
}

impl Taint {
    pub(super) fn new(code: &Code) -> Taint {
        Taint {
            v: vec![Cell::default(); code.registers.v_units as usize],
            s: vec![Cell::default(); code.registers.s_count as usize],
            ..Taint::default()
        }
    }

    pub(super) fn clear(&mut self) {
        self.kept.clear();
        if self.live {
            self.v.fill(Cell::default());
            self.s.fill(Cell::default());
            self.live = false;
        }
    }

    /// Lanes of a warp that ran separately rejoin.
    pub(super) fn join(&mut self, other: &Taint, lanes: u32) {
        if !self.live && !other.live {
            return;
        }
        let files = [(&mut self.v, &other.v), (&mut self.s, &other.s)];
        for (ours, theirs) in files {
            for (ours, theirs) in ours.iter_mut().zip(theirs) {
                *ours = ours.only(!lanes).or(theirs.only(lanes));
            }
        }
        self.live = true;
    }

    /// A routine is called: arguments become parameters, and the caller's registers are saved.
    pub(super) fn enter(&mut self, code: &Code, call: &RoutineCall) {
        if !self.live {
            self.kept.push(None);
            return;
        }
        let args: Vec<Cell> = call.args.iter().map(|step| self.at(step.from)).collect();
        let (mut scalars, mut units) = (Vec::new(), Vec::new());
        if let Some(row) = call
            .caller
            .map(|caller| &code.routines.rows[caller as usize])
        {
            let at = row.scalars.iter().cloned().flatten();
            scalars.extend(at.map(|at| self.s[at as usize]));
            let at = row.units.iter().cloned().flatten();
            units.extend(at.map(|at| self.v[at as usize]));
        }
        self.kept.push(Some((scalars, units)));
        self.put(&call.args, args);
    }

    /// A routine ends: its results become the call's, and the caller's registers are restored.
    pub(super) fn leave(&mut self, code: &Code, call: &RoutineCall) {
        let kept = self.kept.pop().flatten();
        if !self.live && kept.is_none() {
            return;
        }
        let results = call.results.iter().map(|step| self.at(step.from)).collect();
        let (scalars, units) = kept.unwrap_or_default();
        if let Some(row) = call
            .caller
            .map(|caller| &code.routines.rows[caller as usize])
        {
            let (mut scalars, mut units) = (scalars.into_iter(), units.into_iter());
            for at in row.scalars.iter().cloned().flatten() {
                self.s[at as usize] = scalars.next().unwrap_or_default();
            }
            for at in row.units.iter().cloned().flatten() {
                self.v[at as usize] = units.next().unwrap_or_default();
            }
        }
        self.put(&call.results, results);
        self.live = true;
    }

    fn put(&mut self, moves: &[Move], cells: Vec<Cell>) {
        for (step, cell) in moves.iter().zip(cells) {
            *self.at_mut(step.to) = cell;
        }
    }

    /// Marks lanes of a register as undefined, and the others of `mask` as defined.
    pub(super) fn set(&mut self, place: Place, mask: u32, lanes: u32, origin: Origin) {
        let cell = self.at_mut(place);
        let lanes = cell.lanes & !mask | lanes;
        *cell = Cell {
            lanes,
            origin,
            ..Cell::default()
        };
        self.live |= lanes != 0;
    }

    fn at(&self, place: Place) -> Cell {
        match place {
            Place::V(register) => self.v[register as usize],
            Place::S(register) => self.s[register as usize],
        }
    }

    fn at_mut(&mut self, place: Place) -> &mut Cell {
        match place {
            Place::V(register) => &mut self.v[register as usize],
            Place::S(register) => &mut self.s[register as usize],
        }
    }

    fn address(&self, i: &Inst, site: &MemSite) -> Cell {
        let (a, b) = (i.a as usize, i.b as usize);
        match site.address.form {
            Form::Uniform => self.s[a],
            Form::UniformIndexed => self.s[a].or(self.v[b]),
            Form::Varying => self.v[a],
            Form::VaryingIndexed => self.v[a].or(self.v[b]),
        }
    }

    /// Before an instruction runs: tracks what it does. Returns a use that counts.
    pub(super) fn follow(&mut self, code: &Code, r: View, i: &Inst, mask: u32) -> Option<Matters> {
        self.steps += 1;
        if self.steps.is_multiple_of(256) {
            let some = |cells: &[Cell]| cells.iter().any(|cell| cell.lanes != 0);
            self.live = some(&self.v) || some(&self.s);
        }
        self.storing = (0, 0);
        let (d, a, c) = (i.d as usize, i.a as usize, i.c as usize);
        match i.op {
            op if op.tests_lanes() || op == Op::Assert => self.s[a].matters(Use::Branch, mask),
            op if op.is_comparing_jump() => self.s[a].or(self.s[c]).matters(Use::Branch, mask),
            Op::BarrierCount | Op::BarrierAnd | Op::BarrierOr => {
                let used = self.s[a].matters(Use::Branch, mask);
                self.s[d] = Cell::default();
                used
            }
            Op::LoadShared | Op::LoadGlobal | Op::LoadLocal | Op::LoadGeneric => {
                self.load(i, &code.sites[c], mask)
            }
            Op::StoreShared | Op::StoreGlobal | Op::StoreLocal | Op::StoreGeneric => {
                self.store(i, &code.sites[c], mask)
            }
            Op::AtomicShared | Op::AtomicGlobal | Op::AtomicLocal | Op::AtomicGeneric => {
                self.atomic(i, &code.sites[c], mask)
            }
            Op::Print => self.print(&code.prints[a], d, mask),
            Op::Shuffle | Op::Exchange => self.exchange(code, r, i, mask),
            op if op.is_comparing_loop_end() => {
                self.s[d] = self.s[a].or(self.s[c]);
                // The instruction includes the head's comparison.
                let head = &code.insts[i.b as usize - 1];
                let compared = self.s[head.a as usize].or(self.s[head.c as usize]);
                compared.matters(Use::Branch, mask)
            }
            Op::SyncWarp => {
                let named = match i.b {
                    1 => self.s[a],
                    _ => self.v[a],
                };
                named.matters(Use::Argument, mask)
            }
            Op::NumberedBarrier => {
                let row = &code.barriers[a];
                let used = self.at(row.barrier).or(self.at(row.threads));
                used.matters(Use::Argument, mask)
            }
            Op::LaunchChild => {
                let args = code.launches[a].args.iter();
                let mut used = args.map(|&(_, place)| self.at(place));
                used.find_map(|cell| cell.matters(Use::Argument, mask))
            }
            Op::HeapMalloc => {
                let size = self.v[a].matters(Use::Argument, mask);
                self.v[d] = Cell::default();
                size
            }
            Op::HeapFree => self.v[a].matters(Use::Argument, mask),
            op if op.moves_no_value() => None,
            _ => {
                self.compute(r, i, mask);
                None
            }
        }
    }

    /// An instruction that computes: its result is undefined where an operand is.
    fn compute(&mut self, r: View, i: &Inst, mask: u32) {
        let (d, a, b, c) = (i.d as usize, i.a as usize, i.b as usize, i.c as usize);
        match i.op {
            Op::VBlend32 | Op::VBlend64 => {
                self.v[d] = self.v[a].only(mask).or(self.v[d].only(!mask));
            }
            Op::MBlend => self.s[d] = self.s[a].only(mask).or(self.s[d].only(!mask)),
            Op::MAnd | Op::MOr => {
                let (ta, tb) = (self.s[a], self.s[b]);
                let (mut va, mut vb) = (r.mask(i.a), r.mask(i.b));
                if i.op == Op::MOr {
                    (va, vb) = (!va, !vb);
                }
                self.s[d] = ta.only(vb | tb.lanes).or(tb.only(va | ta.lanes));
            }
            Op::MSelect => {
                let cond = r.mask(i.a);
                let chosen = self.s[b].only(cond).or(self.s[c].only(!cond));
                self.s[d] = self.s[a].or(chosen);
            }
            Op::SSelect => {
                let chosen = if r.s(i.a) != 0 { self.s[b] } else { self.s[c] };
                self.s[d] = self.s[a].or(chosen);
            }
            Op::VSelect32 | Op::VSelect64 => {
                let cond = r.mask(i.a);
                let chosen = self.v[b].only(cond).or(self.v[c].only(!cond));
                self.v[d] = self.s[a].or(chosen);
            }
            Op::Clock | Op::Clock64 | Op::ActiveMask => self.s[d] = Cell::default(),
            op => {
                let Some((reads, write)) = reads_and_write(i) else {
                    unreachable!("{op:?} is followed in no way")
                };
                let taken = reads.fold(Cell::default(), |all, Wide(place, _)| {
                    all.or(self.at(place))
                });
                if let Some(Wide(place, _)) = write {
                    *self.at_mut(place) = taken;
                }
            }
        }
    }

    fn load(&mut self, i: &Inst, site: &MemSite, mask: u32) -> Option<Matters> {
        let address = self.address(i, site);
        for &register in site.results() {
            let lanes = if site.uniform_values { u32::MAX } else { mask };
            self.set(site.place(register), lanes, 0, 0);
        }
        address.matters(Use::Address, mask)
    }

    fn store(&mut self, i: &Inst, site: &MemSite, mask: u32) -> Option<Matters> {
        let mut value = Cell::default();
        for &register in &site.values[..usize::from(site.access.count)] {
            value = value.or(self.at(site.place(register)));
        }
        self.storing = (value.lanes & mask, value.origin);
        let address = self.address(i, site).matters(Use::Address, mask);
        let is_global = i.op == Op::StoreGlobal;
        let stored = is_global.then(|| value.matters(Use::Stored, mask));
        address.or(stored.flatten())
    }

    fn atomic(&mut self, i: &Inst, site: &MemSite, mask: u32) -> Option<Matters> {
        let value = self.at(site.place(site.values[0]));
        self.storing = (value.lanes & mask, value.origin);
        let address = self.address(i, site).matters(Use::Address, mask);
        self.set(site.place(site.result), mask, 0, 0);
        let is_global = i.op == Op::AtomicGlobal;
        let stored = is_global.then(|| value.matters(Use::Stored, mask));
        address.or(stored.flatten())
    }

    fn print(&mut self, row: &PrintRow, d: usize, mask: u32) -> Option<Matters> {
        let args = row.args.iter();
        let mut used = args.filter_map(|&(_, place)| self.at(place).matters(Use::Printed, mask));
        let mut first = used.next();
        if let Some(first) = &mut first {
            let mut others = used.map(|other| other.origin);
            let other = others.find(|origin| *origin != first.origin);
            first.second = first.second.or(other);
        }
        self.v[d] = Cell::default();
        first
    }

    fn exchange(&mut self, code: &Code, r: View, i: &Inst, mask: u32) -> Option<Matters> {
        let row = &code.exchanges[i.a as usize];
        let value = self.at(row.value);
        let named = row.mask.map_or(Cell::default(), |place| self.at(place));
        let named = match row.kind {
            ExchangeKind::Shuffle(_) => named.or(self.at(row.lane)).or(self.at(row.width)),
            _ => named,
        };
        let used = named.matters(Use::Argument, mask);
        let lanes = match row.kind {
            ExchangeKind::Shuffle(mode) => {
                let number = |place: Place, lane: usize| match place {
                    Place::S(register) => r.s(register) as u32,
                    Place::V(register) => r.v32(register)[lane],
                };
                let mut lanes = 0;
                for lane in LaneMask(mask) {
                    let from =
                        mode.source(lane as u32, number(row.lane, lane), number(row.width, lane));
                    lanes |= (value.lanes >> (from & 31) & 1) << lane;
                }
                lanes
            }
            ExchangeKind::Vote(_)
            | ExchangeKind::MatchAny { .. }
            | ExchangeKind::MatchAll { .. }
            | ExchangeKind::Reduce(_) => {
                if value.lanes & mask == 0 {
                    0
                } else {
                    u32::MAX
                }
            }
        };
        self.set(row.results[0], u32::MAX, lanes, value.origin);
        if matches!(row.kind, ExchangeKind::MatchAll { .. }) {
            self.set(row.results[1], u32::MAX, lanes, value.origin);
        }
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::fields::fields;
    use crate::isa::op::Sort;

    #[test]
    fn each_instruction_of_a_kernel_is_followed() {
        let follows_by_hand = |op: Op| {
            op.tests_lanes()
                || op.is_comparing_jump()
                || op.is_comparing_loop_end()
                || op.is_access()
                || matches!(
                    op,
                    Op::Assert
                        | Op::BarrierCount
                        | Op::BarrierAnd
                        | Op::BarrierOr
                        | Op::NumberedBarrier
                        | Op::SyncWarp
                        | Op::Print
                        | Op::LaunchChild
                        | Op::HeapMalloc
                        | Op::HeapFree
                        | Op::Shuffle
                        | Op::Exchange
                        | Op::Clock
                        | Op::Clock64
                        | Op::ActiveMask
                )
        };
        for op in Op::all().filter(|op| !matches!(op.sort(), Sort::Host | Sort::Replay)) {
            let ways = [
                follows_by_hand(op),
                op.moves_no_value(),
                fields(op).is_some(),
            ];
            let n = ways.into_iter().filter(|&way| way).count();
            assert_eq!(n, 1, "{op:?}");
        }
    }
}
