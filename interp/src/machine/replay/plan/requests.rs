//! Plans memory requests: their addresses, their cost and the values they move.

use super::Refusal::{Differs, Leaves};
use super::{Draft, Moved, NOTHING, Operand, Origin, Planner, Refusal};
use crate::count::pattern::{Example, Pattern, Shape};
use crate::count::stats::Charge;
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Inst, MemSite, Place};
use crate::isa::mask::LaneMask;
use crate::isa::op::Op;
use crate::isa::operands::Wide;
use crate::isa::registers::View;
use crate::machine::Machine;
use crate::machine::ops::address::{addresses, offsets};
use crate::machine::ops::element::first_active;
use crate::machine::ops::{global, shared};
use crate::machine::replay::{Cost, Reach, Window};
use crate::memory::layout::SHARED_BASE;
use crate::observe::Observer;

/// Whether the innermost subscript is out of bounds in an active lane. It is then so in all blocks.
fn is_beyond(r: View, site: &MemSite, mask: u32) -> bool {
    let Some(subscript) = &site.subscript else {
        return false;
    };
    let mut lanes = LaneMask(mask).into_iter();
    lanes.any(|lane| {
        let scalar = subscript.uniform.map_or(0, |register| r.s(register));
        let index = match (subscript.varying, subscript.is_long) {
            (Some(register), true) => r.v64(register)[lane],
            (Some(register), false) => r.v32(register)[lane].wrapping_add(scalar as u32).into(),
            (None, true) => scalar,
            (None, false) => u64::from(scalar as u32),
        };
        index >= u64::from(subscript.len)
    })
}

impl Planner<'_> {
    /// The registers of an access: those of its address, and for a store the values. Also returns the origin of the
    /// address.
    fn moved(
        &mut self,
        warp: usize,
        inst: &Inst,
        site: &MemSite,
    ) -> Result<(Moved, Origin), Refusal> {
        let mut origin = Origin::Launch;
        let mut moved = Moved::default();
        let mut read = |planner: &mut Planner<'_>, register: Wide| {
            let (field, register) = register.field();
            let (operand, from) = planner.read(warp, field, register)?;
            origin = origin.max(from);
            Ok(operand)
        };
        let (base, index) = site.base_and_index(inst);
        moved.address[0] = Some(read(self, base)?);
        moved.address[1] = index.map(|index| read(self, index)).transpose()?;
        moved.term = Some(read(self, Wide(Place::S(site.address.term), false))?);
        let [varying, uniform] = site.subscripts();
        moved.subscript[0] = varying.map(|part| read(self, part)).transpose()?;
        moved.subscript[1] = uniform.map(|part| read(self, part)).transpose()?;
        for value in site.moved() {
            let (field, register) = value.field();
            let operand = match site.op {
                AccessOp::Load => self.value(field, true),
                AccessOp::Store | AccessOp::Atomic => self.read(warp, field, register)?.0,
            };
            moved.values.push(operand);
        }
        Ok((moved, origin))
    }

    /// Counts `times` requests of a site.
    pub(super) fn count(&mut self, row: u32, charge: Charge, mask: u32, times: u64) {
        let lanes = times * u64::from(mask.count_ones());
        let is_alike = |cost: &&mut Cost| (cost.row, cost.charge) == (row, charge);
        match self.costs.iter_mut().find(is_alike) {
            Some(cost) => {
                cost.requests += times;
                cost.lanes += lanes;
            }
            None => self.costs.push(Cost {
                row,
                charge,
                requests: times,
                lanes,
            }),
        }
    }

    /// The results of a load.
    fn loaded(&mut self, warp: usize, site: &MemSite, moved: &Moved) {
        if site.op == AccessOp::Load {
            for (value, &operand) in site.moved().zip(&moved.values) {
                let (field, register) = value.field();
                self.write(warp, field, register, (operand, Origin::Data));
            }
        }
    }

    /// Plans a request of global memory.
    pub(super) fn reach<O: Observer>(
        &mut self,
        machine: &mut Machine<'_, O>,
        (warp, pc, mask): (usize, u32, u32),
        r: View,
    ) -> Result<(), Refusal> {
        let inst = &self.code.insts[pc as usize];
        let site = &self.code.sites[inst.c as usize];
        let (moved, origin) = self.moved(warp, inst, site)?;
        if origin == Origin::Data || mask == 0 {
            return Err(Differs);
        }
        let addresses = addresses(r, inst, site);
        let first = addresses[mask.trailing_zeros() as usize];
        let declared = machine.regions.declared[inst.c as usize];
        let region = declared.unwrap_or_else(|| machine.map.find(first));
        let region = machine.map.regions[region as usize];
        if site.op == AccessOp::Store && !region.writable {
            return Err(Leaves);
        }
        let charge = machine
            .observer
            .charge_global(&global::access(r, site, mask), &addresses);
        let example = Example {
            inst,
            site,
            mask,
            charge,
            bounds: (region.base, region.base + region.size),
            region: region.index,
            has_like_warps: machine.policy.has_like_warps,
        };
        let mut pattern = Pattern::new();
        pattern.learn(r, &example, &mut machine.observer, |l| addresses[l]);
        if pattern.mask == 0 {
            return Err(Leaves);
        }
        let is_alike = |(row, known): &(u32, Pattern)| *row == inst.c && known.is_same(&pattern);
        let known = self.patterns.iter().position(is_alike);
        let pattern = known.unwrap_or_else(|| {
            self.patterns.push((inst.c, pattern));
            self.patterns.len() - 1
        });
        self.loaded(warp, site, &moved);
        let is_seen = site.subscript.is_some() || machine.observer.watches(region.index);
        let seen = |is: bool| Operand::Raw((O::SEES_REPEATS && is).into());
        let number = Operand::Raw(self.reaches.len() as u32);
        let whence = self.whence(pc, mask);
        self.early.push(Draft {
            a: number,
            b: seen(is_seen && site.op == AccessOp::Load),
            ..Draft::new(Op::ReplayTest, whence)
        });
        let op = match site.op {
            AccessOp::Load => Op::ReplayLoad,
            AccessOp::Store | AccessOp::Atomic => Op::ReplayStore,
        };
        if is_seen {
            self.tell();
        }
        self.late.push(Draft {
            a: number,
            b: seen(is_seen),
            ..Draft::new(op, whence)
        });
        let reach = Reach {
            site: site.clone(),
            inst: *inst,
            mask,
            pattern: pattern as u32,
            lowest: 0,
        };
        self.reaches.push((reach, moved));
        Ok(())
    }

    /// Plans a request of shared memory.
    pub(super) fn window<O: Observer>(
        &mut self,
        machine: &mut Machine<'_, O>,
        (warp, pc, mask): (usize, u32, u32),
        r: View,
    ) -> Result<(), Refusal> {
        let code = self.code;
        let inst = &code.insts[pc as usize];
        let site = &code.sites[inst.c as usize];
        let (moved, origin) = self.moved(warp, inst, site)?;
        let is_beyond = O::SEES_REPEATS && is_beyond(r, site, mask);
        if origin != Origin::Launch || mask == 0 || is_beyond {
            return Err(Differs);
        }
        self.loaded(warp, site, &moved);
        let offsets = offsets(r, inst, site, SHARED_BASE);
        let access = shared::access((site, site.counter), mask, r, machine.shared.as_ptr());
        let charge = machine.observer.charge_window(&access, &offsets);
        self.count(inst.c, charge, mask, 1);
        let size = machine.shared.len() as u64;
        let mut layout = Pattern::new();
        let example = Example {
            inst,
            site,
            mask,
            charge,
            bounds: (0, size),
            region: 0,
            has_like_warps: false,
        };
        layout.learn(r, &example, &mut machine.observer, |l| offsets[l].into());
        let whence = self.whence(pc, mask);
        let is_load = site.op == AccessOp::Load;
        let lowest = offsets[0].wrapping_sub(layout.below as u32);
        let has_layout = layout.mask != 0;
        if has_layout && layout.shape == Shape::Run && site.width_bytes == 4 {
            let (value, b) = (moved.values[0], Operand::Raw(lowest));
            let few = first_active(mask);
            let (op, d, a, c) = match is_load {
                true if few <= 16 => (Op::ReplayLoadFew, value, NOTHING, few),
                true => (Op::ReplayLoadRun, value, NOTHING, 0),
                false if mask == u32::MAX => (Op::ReplayStoreRun, NOTHING, value, 0),
                false => (Op::ReplayStoreSome, NOTHING, value, mask),
            };
            self.late.push(Draft {
                d,
                a,
                b,
                c: Operand::Raw(c),
                ..Draft::new(op, whence)
            });
            return Ok(());
        }
        let layout = has_layout.then(|| {
            let is_alike =
                |(row, known): &(u32, Pattern)| *row == inst.c && known.bytes == layout.bytes;
            let known = self.layouts.iter().position(is_alike);
            known.unwrap_or_else(|| {
                self.layouts.push((inst.c, layout));
                self.layouts.len() - 1
            }) as u32
        });
        let number = Operand::Raw(self.windows.len() as u32);
        let op = match is_load {
            true => Op::ReplayLoadWindow,
            false => Op::ReplayStoreWindow,
        };
        self.late.push(Draft {
            a: number,
            ..Draft::new(op, whence)
        });
        let window = Window {
            site: site.clone(),
            mask,
            layout,
            lowest,
            offsets: Box::new(offsets),
        };
        self.windows.push((window, moved));
        Ok(())
    }
}
