//! Accesses that wait while their warp goes on (`views/later`): which registers they have to do with, and what they are done before.
//!
//! A load has been done as ever, and what it gave stands in its register; another value may take its place there, as long as nobody has used that. Copies to
//! other registers, as variables are, only make these wait for it, too. An atomic has not been done at all; its operands have to stay.

use dsl::ir::{AtomicOp, FenceScope};

use super::{How, Spot, atomic, spots};
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Class, Code, Form, Inst, MemSite, Place as Register};
use crate::isa::mask::LaneMask;
use crate::isa::op::{Op, lane_ops};
use crate::isa::registers::View;
use crate::machine::Machine;
use crate::machine::ops::address::{addresses, offsets};
use crate::machine::ops::fault::Done;
use crate::machine::ops::skip::perform;
use crate::machine::ops::{global, shared};
use crate::memory::layout::SHARED_BASE;
use crate::observe::Observer;
use crate::views::Views;
use crate::views::later::{Later, What};

/// So many accesses of a warp wait at a time.
pub(super) const MAX_WAITING: usize = 4;

/// A register, and whether a varying one has 64 bits.
#[derive(Clone, Copy, Debug)]
struct Wide(Register, bool);

impl Wide {
    fn overlaps(self, other: Wide) -> bool {
        match (self.0, other.0) {
            (Register::S(one), Register::S(other)) => one == other,
            (Register::V(first), Register::V(second)) => {
                let ends = (first + u32::from(self.1), second + u32::from(other.1));
                first <= ends.1 && second <= ends.0
            }
            _ => false,
        }
    }
}

/// What an instruction has to do with accesses that wait.
enum Effect {
    /// All of them are done before it.
    Orders,
    /// A fence for the block.
    BlockFence,
    /// Lanes of a register become those of another one, of 32 bits both.
    Copies(Register, Register, u32),
    /// Registers that it reads, and those that it writes, with the lanes.
    Computes(Vec<Wide>, Vec<(Wide, u32)>),
}

/// Before an instruction: does what must not wait any longer.
#[cold]
pub(crate) fn before<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
    local: &mut [u8],
) -> Done {
    let effect = effect(machine.code, i, mask);
    let due = match machine.observer.views() {
        Some(views) => views.take(|later| is_due(later, &effect)),
        None => return Ok(()),
    };
    finish(machine, r, due, local)
}

/// All that wait are done.
#[cold]
pub(crate) fn all<O: Observer>(machine: &mut Machine<'_, O>, r: View, local: &mut [u8]) -> Done {
    let due = machine.observer.views().map(|views| views.take(|_| true));
    finish(machine, r, due.unwrap_or_default(), local)
}

/// Before an access: those of the same thread to the same word are done.
pub(super) fn before_access<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    spots: &[Option<Spot>; 32],
    local: &mut [u8],
) -> Done {
    let Some(views) = machine.observer.views() else {
        return Ok(());
    };
    accesses(views, mask, spots);
    if !views.has_later() {
        return Ok(());
    }
    let goes_to = |lane: usize, place| {
        let spot: &Option<Spot> = &spots[lane];
        spot.is_some_and(|spot| (0..spot.words).any(|word| spot.place(word) == place))
    };
    let due = views.take(|later| {
        let mut parts = later.parts.iter();
        parts.any(|part| {
            let mut lanes = LaneMask(part.lanes & mask).lanes();
            lanes.any(|lane| goes_to(lane, part.place))
        })
    });
    finish(machine, r, due, local)
}

/// Lanes are about to access words that loads of other threads may wait for.
fn accesses(views: &mut Views, mask: u32, spots: &[Option<Spot>; 32]) {
    for lane in LaneMask(mask) {
        if let Some(spot) = &spots[lane] {
            (0..spot.words).for_each(|word| views.accesses(lane, spot.place(word)));
        }
    }
}

/// Whether an atomic waits; then it is not done now.
pub(super) fn puts_off<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
    (spots, how): (&[Option<Spot>; 32], How),
) -> bool {
    let site = &machine.code.sites[i.c as usize];
    if matches!(site.atomic, Some((AtomicOp::Store, _))) {
        return false;
    }
    let first = mask.trailing_zeros() as usize & 31;
    let Some(place) = spots[first].map(|spot| spot.place(0)) else {
        return false;
    };
    // It must not fail.
    let has_place = LaneMask(mask).lanes().all(|lane| spots[lane].is_some());
    let is_allowed = match i.op {
        Op::AtomicGlobal => {
            let addresses = addresses(r, i, site);
            global::refused(machine, site, i.c as usize, mask, &addresses) == 0
        }
        Op::AtomicShared => {
            let (offsets, size) = (
                offsets(r, i, site, SHARED_BASE),
                machine.shared.len() as u64,
            );
            let mut lanes = LaneMask(mask).lanes();
            lanes.all(|lane| shared::is_inside(site, 0, offsets[lane], size))
        }
        _ => false,
    };
    let insts = machine.code.insts.as_ptr();
    // SAFETY: the instruction is one of the code's.
    let pc = unsafe { std::ptr::from_ref(i).offset_from(insts) } as usize;
    let Some(views) = machine.observer.views() else {
        return false;
    };
    let Some(part) = views.puts_off(1 << first, place) else {
        return false;
    };
    if !has_place || !is_allowed || views.later_count() >= MAX_WAITING {
        return false;
    }
    let mut parts = Vec::new();
    for lane in LaneMask(mask) {
        if let Some(spot) = &spots[lane] {
            let places = (0..spot.words).map(|word| spot.place(word));
            parts.extend(places.map(|place| part.with(1 << lane, place)));
        }
    }
    let (reads, writes) = registers(site, i, mask);
    let what = What::Atomic {
        pc,
        needs: reads
            .iter()
            .flat_map(|&Wide(register, is_wide)| units(register, is_wide))
            .collect(),
        result: writes
            .first()
            .map(|&(Wide(register, is_wide), _)| (register, is_wide)),
    };
    views.put_off(mask, how, what, parts);
    true
}

/// The units of a register, each as one.
fn units(register: Register, is_wide: bool) -> impl Iterator<Item = Register> {
    let second = match register {
        Register::V(first) if is_wide => Some(Register::V(first + 1)),
        Register::V(_) | Register::S(_) => None,
    };
    [register].into_iter().chain(second)
}

/// Does accesses that waited.
fn finish<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    due: Vec<Later>,
    local: &mut [u8],
) -> Done {
    for mut later in due {
        let Some(views) = machine.observer.views() else {
            return Ok(());
        };
        let is_load = matches!(later.what, What::Load { .. });
        let is_late = is_load && views.read(&mut later);
        match &later.what {
            What::Load {
                holds, is_uniform, ..
            } => {
                // Who has read an old value will read another one some day.
                machine.pass.changed |= is_late;
                for part in &later.parts {
                    let Some(value) = part.value else {
                        continue;
                    };
                    for &(register, lanes) in holds {
                        let lanes = match is_uniform {
                            true => lanes,
                            false => lanes & part.lanes,
                        };
                        set(r, register, lanes, value);
                    }
                }
            }
            &What::Atomic { pc, result, .. } => {
                let i = &machine.code.insts[pc];
                let site = &machine.code.sites[i.c as usize];
                let is_wide = Class::of(site.access.ty.value_type()) == Class::W64;
                // The register that would get the result may hold something else by now.
                let kept: Vec<[u32; 32]> = units(Register::V(site.result), is_wide)
                    .filter_map(|unit| match unit {
                        Register::V(unit) => Some(*r.v32(unit)),
                        Register::S(_) => None,
                    })
                    .collect();
                let spots = spots(machine, r, i, site, later.mask);
                let how = later.how;
                if let Some(views) = machine.observer.views() {
                    accesses(views, later.mask, &spots);
                }
                perform(machine, r, later.mask, i, local)?;
                if let Some(views) = machine.observer.views() {
                    let is_old = atomic(views, r, (site, how), later.mask, &spots);
                    views.has_acted(&later);
                    machine.pass.changed |= is_old;
                }
                if result.is_none() {
                    for (unit, kept) in (site.result..).zip(kept) {
                        *r.v32_mut(unit) = kept;
                    }
                }
            }
        }
    }
    Ok(())
}

fn set(r: View, register: Register, lanes: u32, value: u32) {
    match register {
        Register::S(register) => r.set_s(register, value.into()),
        Register::V(register) => {
            let unit = r.v32_mut(register);
            LaneMask(lanes).lanes().for_each(|lane| unit[lane] = value);
        }
    }
}

/// Whether an access has to be done before an instruction. If not, this notes what the instruction does to its registers.
fn is_due(later: &mut Later, effect: &Effect) -> bool {
    let narrow = |register| Wide(register, false);
    match (&mut later.what, effect) {
        (_, Effect::Orders) | (What::Atomic { .. }, Effect::BlockFence) => true,
        (
            What::Load {
                is_behind_fence, ..
            },
            Effect::BlockFence,
        ) => {
            *is_behind_fence = true;
            false
        }
        (What::Load { holds, .. }, &Effect::Copies(from, to, lanes)) => {
            let mut held = holds.iter().filter(|(register, _)| *register == from);
            // A scalar register is the same for all lanes.
            let held = held.next().map_or(0, |(_, held)| held & lanes);
            overwrite(holds, narrow(to), lanes);
            match holds.iter_mut().find(|(register, _)| *register == to) {
                Some((_, known)) => *known |= held,
                None if held != 0 => holds.push((to, held)),
                None => {}
            }
            false
        }
        (What::Load { holds, .. }, Effect::Computes(reads, writes)) => {
            let is_used = holds
                .iter()
                .any(|&(register, _)| reads.iter().any(|read| read.overlaps(narrow(register))));
            if !is_used {
                for &(write, lanes) in writes {
                    overwrite(holds, write, lanes);
                }
            }
            is_used
        }
        (What::Atomic { needs, result, .. }, &Effect::Copies(from, to, lanes)) => {
            let (reads, writes) = ([narrow(from)], [(narrow(to), lanes)]);
            changes(needs, result, &reads, &writes)
        }
        (What::Atomic { needs, result, .. }, Effect::Computes(reads, writes)) => {
            changes(needs, result, reads, writes)
        }
    }
}

/// Registers that wait for a load get other values.
fn overwrite(holds: &mut Vec<(Register, u32)>, write: Wide, lanes: u32) {
    for (register, held) in holds.iter_mut() {
        if write.overlaps(Wide(*register, false)) {
            *held &= !lanes;
        }
    }
    holds.retain(|(_, held)| *held != 0);
}

/// Whether registers that an atomic has to do with are used.
fn changes(
    needs: &[Register],
    result: &mut Option<(Register, bool)>,
    reads: &[Wide],
    writes: &[(Wide, u32)],
) -> bool {
    let writes_it = |&need: &Register| {
        let mut writes = writes.iter();
        writes.any(|(write, _)| write.overlaps(Wide(need, false)))
    };
    if needs.iter().any(writes_it) {
        return true;
    }
    let Some((register, is_wide)) = *result else {
        return false;
    };
    let it = Wide(register, is_wide);
    if reads.iter().any(|read| read.overlaps(it)) {
        return true;
    }
    let mut writes = writes.iter().filter(|(write, _)| write.overlaps(it));
    match (writes.next(), writes.next()) {
        (None, _) => false,
        // All of it has another value from now on.
        (Some((Wide(write, covers), u32::MAX)), None)
            if *write == register && (*covers || !is_wide) =>
        {
            *result = None;
            false
        }
        (Some(_), _) => true,
    }
}

fn effect(code: &Code, i: &Inst, mask: u32) -> Effect {
    let (s, v) = (
        |register| Wide(Register::S(register), false),
        |register| Wide(Register::V(register), false),
    );
    let wide = |register| Wide(Register::V(register), true);
    let all =
        |reads: &[Wide], write: Wide| Effect::Computes(reads.to_vec(), vec![(write, u32::MAX)]);
    let (a, b, c, d) = (i.a, i.b, i.c, i.d);
    match i.op {
        Op::SMove => Effect::Copies(Register::S(a), Register::S(d), u32::MAX),
        Op::VMove32 => Effect::Copies(Register::V(a), Register::V(d), u32::MAX),
        Op::VBlend32 => Effect::Copies(Register::V(a), Register::V(d), mask),
        Op::VSplat32 => Effect::Copies(Register::S(a), Register::V(d), u32::MAX),
        Op::VMove64 => all(&[wide(a)], wide(d)),
        Op::VBlend64 => Effect::Computes(vec![wide(a)], vec![(wide(d), mask)]),
        Op::VSplat64 => all(&[s(a)], wide(d)),
        Op::MBlend => Effect::Computes(vec![s(a), s(d)], vec![]),
        Op::MAnd
        | Op::MOr
        | Op::MXor
        | Op::MEq
        | Op::SPtrS
        | Op::SPtrU
        | Op::SPtrL
        | Op::SPtr32 => all(&[s(a), s(b)], s(d)),
        Op::MNot | Op::SBool => all(&[s(a)], s(d)),
        Op::MSelect | Op::SSelect | Op::SFma32 | Op::SFma64 | Op::SFmaHalves | Op::SFmaBfloats => {
            all(&[s(a), s(b), s(c)], s(d))
        }
        Op::VSelect32 => all(&[s(a), v(b), v(c)], v(d)),
        Op::VSelect64 => all(&[s(a), wide(b), wide(c)], wide(d)),
        Op::VBool => all(&[s(a)], v(d)),
        Op::VFma32 | Op::VFmaHalves | Op::VFmaBfloats => all(&[v(a), v(b), v(c)], v(d)),
        Op::VFma64 => all(&[wide(a), wide(b), wide(c)], wide(d)),
        Op::VPtrVS | Op::VPtrVU => all(&[wide(a), v(b)], wide(d)),
        Op::VPtrVL => all(&[wide(a), wide(b)], wide(d)),
        Op::VPtr32V => all(&[v(a), v(b)], v(d)),
        Op::VPtrSS | Op::VPtrSU => all(&[s(a), v(b)], wide(d)),
        Op::VPtr32S => all(&[s(a), v(b)], v(d)),
        Op::Clock | Op::Clock64 | Op::ActiveMask | Op::Clear => all(&[], s(d)),
        Op::Tick | Op::Jump | Op::Loop | Op::Tally | Op::Lifetime => {
            Effect::Computes(vec![], vec![])
        }
        Op::JumpIf
        | Op::JumpIfNot
        | Op::JumpEq32
        | Op::JumpNe32
        | Op::JumpSlt32
        | Op::JumpSle32
        | Op::JumpSgt32
        | Op::JumpSge32
        | Op::JumpUlt32
        | Op::JumpUle32
        | Op::JumpUgt32
        | Op::JumpUge32
        | Op::If
        | Op::Else
        | Op::Join
        | Op::Park
        | Op::ParkIf
        | Op::ParkIfNot => Effect::Computes(vec![s(a), s(c), s(d)], vec![]),
        // One that is not sequentially consistent has no place among those of the block, which what waits relies on.
        Op::Fence if FenceScope::ALL[a as usize] == FenceScope::Block && b == 1 => {
            Effect::BlockFence
        }
        Op::LoadShared
        | Op::StoreShared
        | Op::AtomicShared
        | Op::LoadGlobal
        | Op::StoreGlobal
        | Op::AtomicGlobal
        | Op::LoadLocal
        | Op::StoreLocal
        | Op::AtomicLocal
        | Op::LoadGeneric
        | Op::StoreGeneric
        | Op::AtomicGeneric => {
            let (reads, writes) = registers(&code.sites[c as usize], i, mask);
            Effect::Computes(reads, writes)
        }
        op => match flow(op) {
            Some((Flow::V1, [reads, writes])) => {
                all(&[Wide(Register::V(a), reads)], Wide(Register::V(d), writes))
            }
            Some((Flow::V2, [reads, writes])) => all(
                &[Wide(Register::V(a), reads), Wide(Register::V(b), reads)],
                Wide(Register::V(d), writes),
            ),
            Some((Flow::S, _)) => all(&[s(a), s(b)], s(d)),
            Some((Flow::Compare, [reads, _])) => all(
                &[Wide(Register::V(a), reads), Wide(Register::V(b), reads)],
                s(d),
            ),
            Some((Flow::CompareScalar, [reads, _])) => {
                all(&[Wide(Register::V(a), reads), s(b)], s(d))
            }
            // Barriers, exchanges, calls, ends: whatever else there is.
            None => Effect::Orders,
        },
    }
}

/// The registers that an access reads and writes.
fn registers(site: &MemSite, i: &Inst, mask: u32) -> (Vec<Wide>, Vec<(Wide, u32)>) {
    let is_short = matches!(
        i.op,
        Op::LoadShared
            | Op::StoreShared
            | Op::AtomicShared
            | Op::LoadLocal
            | Op::StoreLocal
            | Op::AtomicLocal
    );
    let base = Wide(Register::V(i.a), !is_short);
    let (uniform, index) = (Wide(Register::S(i.a), false), Wide(Register::V(i.b), false));
    let mut reads = match site.address.form {
        Form::Uniform => vec![uniform],
        Form::UniformIndexed => vec![uniform, index],
        Form::Varying => vec![base],
        Form::VaryingIndexed => vec![base, index],
    };
    reads.push(Wide(Register::S(site.address.term), false));
    if let Some(subscript) = &site.subscript {
        let varying = subscript
            .varying
            .map(|at| Wide(Register::V(at), subscript.is_long));
        let uniform = subscript.uniform.map(|at| Wide(Register::S(at), false));
        reads.extend(varying.into_iter().chain(uniform));
    }
    let class = Class::of(site.access.ty.value_type());
    let one = |register| match site.uniform_values || class == Class::Mask {
        true => Wide(Register::S(register), false),
        false => Wide(Register::V(register), class == Class::W64),
    };
    let values = site.values[..site.access.count as usize].iter();
    let values = values.map(|&register| one(register));
    match site.op {
        AccessOp::Load => {
            let lanes = if site.uniform_values { u32::MAX } else { mask };
            (reads, values.map(|value| (value, lanes)).collect())
        }
        AccessOp::Store => {
            reads.extend(values);
            (reads, Vec::new())
        }
        AccessOp::Atomic => {
            reads.extend(values);
            reads.extend(site.atomic.map(|(_, compare)| one(compare)));
            (reads, vec![(one(site.result), mask)])
        }
    }
}

/// What a computing instruction reads and writes.
enum Flow {
    V1,
    V2,
    /// Scalar registers alone.
    S,
    /// Two varying registers to a mask.
    Compare,
    /// A varying and a scalar register to a mask.
    CompareScalar,
}

macro_rules! flows {
    ({ $op:ident }
     unary32 { $(($u32:ident, $u32t:ident, $u32v:ident, $u32s:ident, $u32f:path))* }
     unary64 { $(($u64:ident, $u64t:ident, $u64v:ident, $u64s:ident, $u64f:path))* }
     binary32 { $(($b32:ident, $b32t:ident, $b32v:ident, $b32s:ident, $b32f:path))* }
     binary64 { $(($b64:ident, $b64t:ident, $b64v:ident, $b64s:ident, $b64f:path))* }
     compare32 { $(($c32:ident, $c32t:ident, $c32v:ident, $c32b:ident, $c32s:ident, $c32f:path))* }
     compare64 { $(($c64:ident, $c64t:ident, $c64v:ident, $c64b:ident, $c64s:ident, $c64f:path))* }
     convert32to32 { $(($x:ident, $xv:ident, $xs:ident, $xf:path))* }
     convert32to64 { $(($w:ident, $wv:ident, $ws:ident, $wf:path))* }
     convert64to32 { $(($n:ident, $nv:ident, $ns:ident, $nf:path))* }
     convert64to64 { $(($l:ident, $lv:ident, $ls:ident, $lf:path))* }) => {
        match $op {
            $(Op::$u32v => Some((Flow::V1, [false; 2])), Op::$u32s => Some((Flow::S, [false; 2])),)*
            $(Op::$u64v => Some((Flow::V1, [true; 2])), Op::$u64s => Some((Flow::S, [false; 2])),)*
            $(Op::$b32v => Some((Flow::V2, [false; 2])), Op::$b32s => Some((Flow::S, [false; 2])),)*
            $(Op::$b64v => Some((Flow::V2, [true; 2])), Op::$b64s => Some((Flow::S, [false; 2])),)*
            $(Op::$c32v => Some((Flow::Compare, [false; 2])), Op::$c32b => Some((Flow::CompareScalar, [false; 2])),
              Op::$c32s => Some((Flow::S, [false; 2])),)*
            $(Op::$c64v => Some((Flow::Compare, [true, false])), Op::$c64b => Some((Flow::CompareScalar, [true, false])),
              Op::$c64s => Some((Flow::S, [false; 2])),)*
            $(Op::$xv => Some((Flow::V1, [false; 2])), Op::$xs => Some((Flow::S, [false; 2])),)*
            $(Op::$wv => Some((Flow::V1, [false, true])), Op::$ws => Some((Flow::S, [false; 2])),)*
            $(Op::$nv => Some((Flow::V1, [true, false])), Op::$ns => Some((Flow::S, [false; 2])),)*
            $(Op::$lv => Some((Flow::V1, [true; 2])), Op::$ls => Some((Flow::S, [false; 2])),)*
            _ => None,
        }
    };
}

/// Of an instruction that computes; which varying registers it reads and writes have 64 bits.
fn flow(op: Op) -> Option<(Flow, [bool; 2])> {
    lane_ops! { flows! { op } }
}
