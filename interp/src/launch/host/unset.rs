//! Tracks uninitialised values in host code: finds them where they are loaded, and follows them bit by bit through
//! registers and memory to where they influence something ([`follow`]). While no register holds one, nothing is
//! tracked. [`scene`] names the variables.

mod follow;
pub(super) mod scene;

use std::collections::{BTreeMap, HashMap};

use ir::{HostFn, LocId, Type};

use crate::isa::bytecode::{Class, MemSite, Place};
use crate::memory::Memory;
use crate::memory::unset::UnsetMemory;
use scene::Scene;

/// The most sources that are distinguished. Values from further sources are not reported.
const MAX_SOURCES: usize = 1 << 12;
/// The low half of a register.
const LOW: u64 = u32::MAX as u64;

/// What an uninitialised value influences.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HostUse {
    /// A branch or a loop.
    Branch,
    /// An address.
    Address,
    /// It is printed.
    Printed,
    /// It is passed to a function of the runtime or of the C library.
    Argument(HostFn),
    /// Such a function reads the memory.
    Content(HostFn),
    /// The shape of a launch.
    Launch,
    /// It is passed to a kernel.
    KernelArgument,
    /// It is the program's exit code.
    ExitCode,
}

/// The source of an uninitialised value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnsetSource {
    /// An uninitialised variable in a register.
    Variable(String),
    /// Memory.
    Memory(Box<UnsetMemory>),
}

impl UnsetSource {
    /// The launch statement that was only counted and should have computed this value.
    pub fn awaits(&self) -> Option<LocId> {
        match self {
            UnsetSource::Variable(_) => None,
            UnsetSource::Memory(memory) => memory.awaits(),
        }
    }
}

/// An uninitialised value that influences something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostUnset {
    /// Where it was read.
    pub read: LocId,
    /// Its source.
    pub source: UnsetSource,
    /// Where it influences something.
    pub used: LocId,
    /// What it influences.
    pub what: HostUse,
    /// How often.
    pub count: u64,
}

/// The undefined bits of a register, and the number of the source of the first of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    bits: u64,
    source: u32,
}

impl Cell {
    fn or(self, other: Cell) -> Cell {
        match self.bits {
            0 => other,
            bits => self.with(bits | other.bits),
        }
    }

    fn with(self, bits: u64) -> Cell {
        Cell { bits, ..self }
    }

    /// Its low half.
    fn low(self) -> Cell {
        self.with(self.bits & LOW)
    }

    /// The result of an operation that mixes all bits.
    fn mixed(self) -> Cell {
        match self.bits {
            0 => self,
            _ => self.with(u64::MAX),
        }
    }
}

#[derive(Debug)]
struct Source {
    read: LocId,
    what: UnsetSource,
}

/// Identifies a source: the place of the read, and the object's address.
type SourceKey = (LocId, u64);

/// The undefined bits of the registers, and the uses found.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    /// Whether tracking is requested.
    pub(super) on: bool,
    /// Whether nothing more is reported.
    pub(super) is_muted: bool,
    /// Parallel to the registers, up to the last one that had undefined bits.
    cells: Vec<Cell>,
    /// How many cells have undefined bits.
    live: usize,
    /// Uninitialised variables that have not been read yet: their registers, and the cells they get on the first read.
    asleep: Vec<(usize, Cell)>,
    sources: Vec<Source>,
    known: HashMap<SourceKey, u32>,
    /// Where in memory such values were stored. Keyed by first address; holds the end and the cell.
    stored: BTreeMap<u64, (u64, Cell)>,
    found: Vec<(u32, HostUse, LocId, u64)>,
    /// The cell of the value that the last function returned.
    returned: Cell,
    /// Whether the thread halts where a result that is missing because its launch was only counted influences
    /// something.
    pub(super) halts: bool,
    /// The use that halted it.
    pub(super) halted: Option<Box<HostUnset>>,
}

impl Shadow {
    /// Whether some register holds an uninitialised value.
    pub(super) fn is_live(&self) -> bool {
        self.live > 0
    }

    /// Whether some uninitialised variables have not been read yet.
    pub(super) fn is_asleep(&self) -> bool {
        !self.asleep.is_empty()
    }

    fn put(&mut self, register: usize, cell: Cell) {
        if self.cells.len() <= register {
            if cell.bits == 0 {
                return;
            }
            self.cells.resize(register + 1, Cell::default());
        }
        let old = std::mem::replace(&mut self.cells[register], cell);
        self.live += usize::from(cell.bits != 0);
        self.live -= usize::from(old.bits != 0);
    }

    fn at(&self, register: usize) -> Cell {
        self.cells.get(register).copied().unwrap_or_default()
    }

    /// Called when a variable that may be uninitialised is read. Returns whether it is.
    pub(super) fn wake(&mut self, register: usize) -> bool {
        let at = self.asleep.iter().position(|&(other, _)| other == register);
        let Some(at) = at else { return false };
        let (register, cell) = self.asleep.swap_remove(at);
        self.put(register, cell);
        true
    }

    /// The variable has been assigned a value.
    #[inline]
    pub(super) fn assigned(&mut self, register: usize) {
        if !self.asleep.is_empty() {
            self.asleep.retain(|&(other, _)| other != register);
        }
    }

    /// Drops this register and all after it.
    pub(super) fn truncate(&mut self, registers: usize) {
        self.asleep.retain(|&(register, _)| register < registers);
        let gone = self.cells.iter().skip(registers);
        self.live -= gone.filter(|cell| cell.bits != 0).count();
        self.cells.truncate(registers);
    }

    /// A function begins: sets up its arguments, its uninitialised variables and its part of the stack.
    pub(super) fn enter(
        &mut self,
        scene: &Scene<'_>,
        args: &[Cell],
        registers: usize,
        stack: (u64, u64),
    ) {
        let Some(frame) = scene.frames.last() else {
            return;
        };
        let code = scene.program.code(frame.function);
        while let Some((&at, _)) = self.stored.range(stack.0..stack.1).next() {
            self.stored.remove(&at);
        }
        for (&(place, _), &cell) in code.registers.params.iter().zip(args) {
            if let Place::S(register) = place {
                self.put(registers + register as usize, cell);
            }
        }
        let function = scene.program.module().function(frame.function);
        for &(slot, place, loc) in &code.registers.unassigned {
            let slot = &function.slots[slot.index()];
            let Place::S(register) = place else { continue };
            let bits = match Class::of(slot.ty) {
                Class::W32 => LOW,
                Class::Mask | Class::W64 => u64::MAX,
            };
            let what = || Some(UnsetSource::Variable(slot.name.clone()));
            let scene = Scene { loc, ..*scene };
            if let Some(source) = self.source(&scene, (loc, u64::from(register)), what) {
                let register = registers + register as usize;
                self.asleep.push((register, Cell { bits, source }));
            }
        }
    }

    /// The cells of a call's arguments.
    pub(super) fn args(&self, registers: usize, args: &[(Type, u32)]) -> Vec<Cell> {
        if !self.is_live() {
            return Vec::new();
        }
        let cell = |&(_, register): &(Type, u32)| self.at(registers + register as usize);
        args.iter().map(cell).collect()
    }

    /// Moves the cell of a function's result to the caller's register.
    pub(super) fn returned(&mut self, to: Option<usize>) {
        let cell = std::mem::take(&mut self.returned);
        if let Some(register) = to {
            self.put(register, cell);
        }
    }

    /// The program ends with the result of its `main`.
    pub(super) fn ended(&mut self, scene: &Scene<'_>) {
        let cell = std::mem::take(&mut self.returned);
        self.used(scene, HostUse::ExitCode, cell);
    }

    fn source(
        &mut self,
        scene: &Scene<'_>,
        key: SourceKey,
        what: impl FnOnce() -> Option<UnsetSource>,
    ) -> Option<u32> {
        if let Some(&known) = self.known.get(&key) {
            return Some(known);
        }
        if self.sources.len() >= MAX_SOURCES {
            return None;
        }
        let (number, what) = (self.sources.len() as u32, what()?);
        let read = scene.shown();
        self.sources.push(Source { read, what });
        self.known.insert(key, number);
        Some(number)
    }

    /// The source of uninitialised bytes.
    fn memory_source(
        &mut self,
        scene: &Scene<'_>,
        memory: &Memory,
        (address, len): (u64, u64),
        element_bytes: u64,
    ) -> Option<u32> {
        let before = self.stored.range(..address + len).next_back();
        if let Some((_, &(end, cell))) = before
            && address < end
        {
            return Some(cell.source);
        }
        let local = scene.local(memory, address);
        let start = match &local {
            Some(local) => local.start,
            None => memory.region(address)?.base,
        };
        self.source(scene, (scene.loc, start), || {
            let mut unset = memory.unset(address, len, local.as_ref())?;
            if unset.element_bytes <= 1 {
                unset.element_bytes = element_bytes;
            }
            Some(UnsetSource::Memory(Box::new(unset)))
        })
    }

    /// An uninitialised value influences something.
    fn used(&mut self, scene: &Scene<'_>, what: HostUse, cell: Cell) {
        // Uses after the one that halts the thread do not happen.
        if cell.bits == 0 || self.is_muted || self.halted.is_some() {
            return;
        }
        let loc = scene.shown();
        if self.halts && what != HostUse::Printed {
            self.halt(what, loc, cell);
        }
        let full = self.found.len() >= MAX_SOURCES;
        let mut found = self.found.iter_mut();
        match found.find(|found| (found.0, found.1, found.2) == (cell.source, what, loc)) {
            Some((.., count)) => *count += 1,
            None if full => {}
            None => self.found.push((cell.source, what, loc, 1)),
        }
    }

    /// Halts if the value depends on a result that was not computed.
    fn halt(&mut self, what: HostUse, used: LocId, cell: Cell) {
        let source = &self.sources[cell.source as usize];
        if source.what.awaits().is_some() {
            self.halted.get_or_insert_with(|| {
                Box::new(HostUnset {
                    read: source.read,
                    source: source.what.clone(),
                    used,
                    what,
                    count: 1,
                })
            });
        }
    }

    /// The runtime reads bytes of memory: their address and number.
    pub(super) fn looked_at(
        &mut self,
        scene: &Scene<'_>,
        memory: &Memory,
        bytes: (u64, u64),
        what: HostUse,
    ) {
        let Some((address, len)) = memory.first_unset(bytes.0, bytes.1) else {
            return;
        };
        if let Some(source) = self.memory_source(scene, memory, (address, len), 1) {
            let bits = u64::MAX;
            self.used(scene, what, Cell { bits, source });
        }
    }

    /// The uses found.
    pub(super) fn take_found(&mut self) -> Vec<HostUnset> {
        let found = std::mem::take(&mut self.found).into_iter();
        let findings = found.map(|(source, what, used, count)| {
            let source = &self.sources[source as usize];
            HostUnset {
                read: source.read,
                source: source.what.clone(),
                used,
                what,
                count,
            }
        });
        findings.collect()
    }

    /// A load read uninitialised bytes, one bit each in `unset`.
    #[cold]
    pub(super) fn loaded(
        &mut self,
        scene: &Scene<'_>,
        memory: &Memory,
        registers: usize,
        site: &MemSite,
        (address, unset): (u64, u32),
    ) {
        // The store that follows this load changes some bits and writes the whole value, so the bits that it keeps
        // count as written from then on.
        if site.access.partial {
            return;
        }
        let ty = site.access.ty;
        let width = ty.bytes();
        let is_mask = Class::of(ty.value_type()) == Class::Mask;
        for (k, &register) in (0..).zip(site.results()) {
            let bytes = unset >> (k * width) & ((1u64 << width) - 1) as u32;
            if bytes == 0 {
                continue;
            }
            let first = bytes.trailing_zeros();
            let at = address + u64::from(k * width + first);
            let len = u64::from((bytes >> first).trailing_ones());
            let Some(source) = self.memory_source(scene, memory, (at, len), width.into()) else {
                continue;
            };
            let of_byte = |byte: u32| match bytes >> byte & 1 {
                0 => 0,
                _ => 0xff << (8 * byte),
            };
            let mut bits = (0..8).map(of_byte).sum();
            // A truth value is a mask, and sign extension may copy the highest bit of a narrow number to all bits above
            // it.
            if is_mask {
                bits = u64::MAX;
            } else if width < 4 && bytes >> (width - 1) & 1 == 1 {
                bits |= u64::from(u32::MAX << (8 * width));
            }
            // For a value that was stored in one piece, each bit is known.
            let start = address + u64::from(k * width);
            if let Some(&(end, cell)) = self.stored.get(&start)
                && end == start + u64::from(width)
            {
                bits &= cell.bits;
            }
            self.put(registers + register as usize, Cell { bits, source });
        }
    }

    /// After a store: marks the undefined bytes of its value as uninitialised in memory, too. Returns whether there
    /// were any.
    pub(super) fn stored(
        &mut self,
        memory: &mut Memory,
        registers: usize,
        site: &MemSite,
        address: u64,
    ) -> bool {
        let (ty, mut is_unset) = (site.access.ty, false);
        let width = u64::from(ty.bytes());
        let is_mask = Class::of(ty.value_type()) == Class::Mask;
        let values = &site.values[..usize::from(site.access.count)];
        for (k, &register) in (0..).zip(values) {
            let cell = self.at(registers + register as usize);
            let start = address + k * width;
            let unset = |byte: &u64| is_mask || cell.bits >> (8 * byte) & 0xff != 0;
            if cell.bits == 0 || !(0..width).any(|byte| unset(&byte)) {
                continue;
            }
            is_unset = true;
            for byte in (0..width).filter(unset) {
                memory.forget(start + byte, 1);
            }
            if let Some(launch) = self.sources[cell.source as usize].what.awaits() {
                memory.follows_from(start, launch);
            }
            self.stored.insert(start, (start + width, cell));
        }
        is_unset
    }
}
