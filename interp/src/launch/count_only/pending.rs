//! The launches of a program of which only the counts are known: what they would have written, and running them after all when a
//! later launch needs it.

use std::collections::HashMap;
use std::sync::Arc;

use super::missing::{Changed, CountingError, Missing, NotComputed, Uncomputed};
use super::{Counted, count};
use crate::config::{Checks, LaunchConfig, MachineConfig};
use crate::launch::report::{InFull, LaunchFailure, LaunchReport};
use crate::launch::{Begun, Run, begin, launch};
use crate::memory::{AddressKind, Memory};
use crate::program::Program;
use ir::{FuncId, LocId, Module};

/// Warp instructions that may be spent in all on results that a host asks for ([`Counting::compute`]): some tenths of a second.
const MAX_COMPUTED: u64 = 1 << 26;
/// A host that is followed gets so many bytes or more computed, if that takes so few warp instructions for each of them: to follow them through
/// a loop takes longer then.
const MANY_BYTES: u64 = 1 << 20;
const MAX_FOR_EACH_BYTE: u64 = 2;

/// A launch whose counts are known.
#[derive(Clone, Debug)]
struct Pending {
    kernel: FuncId,
    config: LaunchConfig,
    args: Vec<u64>,
    /// The bases of regions that it may read, and write.
    reads: Vec<u64>,
    writes: Vec<u64>,
    changed: Option<Changed>,
    /// What it takes to run it.
    warp_instructions: u64,
    /// Its module, for the names of its kernel and place.
    module: Arc<Module>,
}

impl Pending {
    fn new(
        program: &Program,
        (kernel, config, args): (FuncId, &LaunchConfig, &[u64]),
        (reads, writes): (Vec<u64>, Vec<u64>),
        warp_instructions: u64,
    ) -> Pending {
        Pending {
            kernel,
            config: config.clone(),
            args: args.to_vec(),
            reads,
            writes,
            changed: None,
            warp_instructions,
            module: program.module().clone(),
        }
    }

    fn place(&self) -> (String, String, u32) {
        let module = &self.module;
        let at = module.loc(self.config.loc);
        let file = module.files.get(at.file as usize);
        (
            module.function(self.kernel).name.clone(),
            file.unwrap_or(&module.name).clone(),
            at.line,
        )
    }

    fn touches(&self, base: u64) -> bool {
        self.reads.contains(&base) || self.writes.contains(&base)
    }
}

/// What decides a launch's counts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Key {
    kernel: FuncId,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u64,
    cooperative: bool,
    loc: LocId,
    args: Vec<u64>,
    /// First bytes and sizes of all that it may touch.
    regions: Vec<(u64, u64)>,
}

/// Launches of one memory, counted where that can be.
#[derive(Debug, Default)]
pub struct Counting {
    /// Whose launches they are.
    program: Option<Arc<Module>>,
    /// Nothing follows what the host does with results: it asks for them, and may look at managed memory after any launch.
    is_blind: bool,
    /// Warp instructions that results took which the host asked for.
    spent: u64,
    pending: Vec<Pending>,
    known: HashMap<Key, Box<LaunchReport>>,
}

/// Reports that are kept to be given again.
const MAX_KNOWN: usize = 1024;

impl Counting {
    /// For a host that nothing follows: one that is compiled.
    pub fn blind() -> Counting {
        Counting {
            is_blind: true,
            ..Counting::default()
        }
    }

    /// Counts a launch, or runs it where it cannot be counted. As [`launch`], and without checks.
    pub fn launch(
        &mut self,
        program: &Program,
        (kernel, config, args): (FuncId, &LaunchConfig, &[u64]),
        memory: &mut Memory,
        machine: &MachineConfig,
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<LaunchReport, CountingError> {
        self.enter(program);
        let unchecked = MachineConfig {
            checks: Checks::NONE,
            ..machine.clone()
        };
        let failed = |why, needed_at, changed| {
            CountingError::NotComputed(NotComputed {
                kernel: name(program, kernel),
                at: config.loc,
                why,
                needed_at,
                changed,
            })
        };
        let mut in_full = None;
        for is_again in [false, true] {
            let begun = begin(program, kernel, config, args, memory, &unchecked)
                .map_err(CountingError::Failed)?;
            let run = begun.run(program, (kernel, config), memory, &unchecked);
            let (reads, writes) = (bases(&run, &run.read()), bases(&run, &run.written()));
            let key = key(&begun, kernel, config, args);
            if let Some(report) = self.known.get(&key) {
                let mut report = report.as_ref().clone();
                report.order.counted = Counted::From {
                    blocks: 0,
                    warp_instructions: 0,
                };
                let warp_instructions = report.counts.warp_instructions;
                let pending = Pending::new(
                    program,
                    (kernel, config, args),
                    (reads, writes),
                    warp_instructions,
                );
                self.counted(program, memory, &unchecked, pending, out);
                return Ok(report);
            }
            match count(&run) {
                Ok(counts) => {
                    let regions = run.map.regions.iter().zip(&counts.matters);
                    let matter: Vec<u64> = regions
                        .filter(|(_, matters)| **matters)
                        .map(|(region, _)| region.base)
                        .collect();
                    let missing = matter.iter().find_map(|base| memory.not_computed(*base));
                    let Some(needed_at) = missing else {
                        if matter.is_empty() && self.known.len() < MAX_KNOWN {
                            self.known.insert(key, Box::new(counts.report.clone()));
                        }
                        let warp_instructions = counts.report.counts.warp_instructions;
                        let pending = Pending::new(
                            program,
                            (kernel, config, args),
                            (reads, writes),
                            warp_instructions,
                        );
                        self.counted(program, memory, &unchecked, pending, out);
                        return Ok(counts.report);
                    };
                    if is_again {
                        return Err(failed(None, needed_at, Changed::PassedOn));
                    }
                    // Its counts follow from memory that an earlier launch was to write.
                    self.catch_up(program, memory, &unchecked, (&matter, &[]), out)
                        .map_err(|(at, changed)| failed(None, at, changed))?;
                }
                Err(why) => {
                    self.catch_up(program, memory, &unchecked, (&reads, &writes), out)
                        .map_err(|(at, changed)| failed(Some(why), at, changed))?;
                    let missing = reads.iter().find_map(|base| memory.not_computed(*base));
                    if let Some(needed_at) = missing {
                        return Err(failed(Some(why), needed_at, Changed::PassedOn));
                    }
                    in_full = Some(why);
                    break;
                }
            }
        }
        let mut report = launch(program, kernel, config, args, memory, &unchecked, out)
            .map_err(CountingError::Failed)?;
        if let Some(why) = in_full {
            report.order.counted = Counted::InFull(Box::new(why));
        }
        Ok(report)
    }

    /// What a launch would be counted as, if it can be counted, on memory that is as the program would have it. Nothing is remembered.
    pub fn count(
        program: &Program,
        (kernel, config, args): (FuncId, &LaunchConfig, &[u64]),
        memory: &mut Memory,
        machine: &MachineConfig,
    ) -> Result<Result<LaunchReport, InFull>, LaunchFailure> {
        let begun = begin(program, kernel, config, args, memory, machine)?;
        let counts = count(&begun.run(program, (kernel, config), memory, machine));
        Ok(counts.map(|counts| counts.report))
    }

    /// The host has written to memory, or a copy has.
    pub fn changed(&mut self, memory: &Memory, address: u64) {
        let Some((base, _)) = memory.bounds(address) else {
            return;
        };
        self.change(base, Changed::Overwritten);
    }

    /// An allocation is to be freed.
    pub fn freed(&mut self, address: u64) {
        self.change(address, Changed::Freed);
        self.known.clear();
    }

    fn change(&mut self, base: u64, how: Changed) {
        for pending in &mut self.pending {
            if pending.touches(base) {
                pending.changed.get_or_insert(how);
            }
        }
    }

    /// Launches are this program's from now on.
    fn enter(&mut self, program: &Program) {
        if self.is_of(program) {
            return;
        }
        self.known.clear();
        for pending in &mut self.pending {
            pending.changed.get_or_insert(Changed::Elsewhere);
        }
        self.program = Some(program.module().clone());
    }

    fn is_of(&self, program: &Program) -> bool {
        let module = self.program.as_ref();
        module.is_some_and(|module| Arc::ptr_eq(module, program.module()))
    }

    /// A launch was counted: what it may write holds nothing.
    fn counted(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        machine: &MachineConfig,
        pending: Pending,
        out: &mut dyn FnMut(&[u8]),
    ) {
        // Launches whose results nobody can ask for any more need not be remembered.
        self.pending.retain(|pending| {
            let mut writes = pending.writes.iter();
            pending.changed.is_none() || writes.any(|base| memory.not_computed(*base).is_some())
        });
        for &base in &pending.writes {
            memory.set_not_computed(base, pending.config.loc);
        }
        let mut touched = pending.reads.iter().chain(&pending.writes);
        let is_managed = touched.any(|base| memory.kind_of(*base) == AddressKind::Managed);
        let writes = pending.writes.clone();
        self.pending.push(pending);
        if !is_managed {
            return;
        }
        // The host may change what it reads, or look at what it writes, so it runs now or never.
        let computed = match self.is_blind {
            true => self.compute_all(program, memory, machine, (&writes, u64::MAX), out),
            false => Ok(()),
        };
        if (computed.is_err() || !self.is_blind)
            && let Some(pending) = self.pending.last_mut()
        {
            pending.changed.get_or_insert(Changed::Managed);
        }
    }

    /// The host asks for bytes: the launches that were to compute them run, unless that takes long. A host that is followed may as well do
    /// without them; it has them computed only where following them would take longer.
    pub fn compute(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        machine: &MachineConfig,
        (address, bytes): (u64, u64),
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Uncomputed> {
        let Some(base) = memory.lacks(address, bytes) else {
            return Ok(());
        };
        let unchecked = MachineConfig {
            checks: Checks::NONE,
            ..machine.clone()
        };
        let most = match self.is_blind {
            true => u64::MAX,
            false if bytes < MANY_BYTES => return Ok(()),
            false => bytes.saturating_mul(MAX_FOR_EACH_BYTE),
        };
        self.compute_all(program, memory, &unchecked, (&[base], most), out)?;
        match memory.lacks(address, bytes) {
            None => Ok(()),
            Some(_) => Err(self.missing(base, Missing::Changed(Changed::PassedOn))),
        }
    }

    fn missing(&self, base: u64, why: Missing) -> Uncomputed {
        let mut pending = self.pending.iter().rev();
        let found = pending.find(|pending| pending.writes.contains(&base));
        Uncomputed {
            launch: found.map(Pending::place),
            why,
        }
    }

    /// Runs what regions lack, if that takes no more than so many warp instructions.
    fn compute_all(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        machine: &MachineConfig,
        (bases, most): (&[u64], u64),
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Uncomputed> {
        let first = bases.first().copied().unwrap_or_default();
        let takes = self.takes(memory, bases.to_vec());
        let taken = takes.iter().zip(&self.pending).filter(|(takes, _)| **takes);
        let cost: u64 = taken.map(|(_, pending)| pending.warp_instructions).sum();
        if cost > 0 && !self.is_of(program) {
            return Err(self.missing(first, Missing::Changed(Changed::Elsewhere)));
        }
        if cost > most || self.spent.saturating_add(cost) > MAX_COMPUTED {
            return Err(self.missing(first, Missing::Long(cost)));
        }
        let caught_up = self.catch_up(program, memory, machine, (bases, &[]), out);
        caught_up.map_err(|(_, changed)| self.missing(first, Missing::Changed(changed)))?;
        self.spent += cost;
        Ok(())
    }

    /// Another program's launches follow: those of this one run now, as far as they need no long time, for later they cannot.
    pub fn settle(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        machine: &MachineConfig,
        out: &mut dyn FnMut(&[u8]),
    ) {
        let unchecked = MachineConfig {
            checks: Checks::NONE,
            ..machine.clone()
        };
        let mut bases: Vec<u64> = Vec::new();
        for pending in &self.pending {
            bases.extend(&pending.writes);
        }
        for base in bases {
            if memory.not_computed(base).is_some() {
                // What cannot be computed stays so, and is said where it is asked for.
                let _ = self.compute_all(program, memory, &unchecked, (&[base], u64::MAX), out);
            }
        }
    }

    /// What the host may look at without asking, and what is not there.
    pub fn unseen(&self, memory: &Memory) -> Option<Uncomputed> {
        self.pending.iter().rev().find_map(|pending| {
            let mut writes = pending.writes.iter().copied();
            let base = writes.find(|base| {
                memory.kind_of(*base) == AddressKind::Managed
                    && memory.not_computed(*base).is_some()
            })?;
            Some(self.missing(base, Missing::Long(pending.warp_instructions)))
        })
    }

    /// Which launches have to run for what regions are to hold.
    fn takes(&self, memory: &Memory, mut needed: Vec<u64>) -> Vec<bool> {
        let mut takes = vec![false; self.pending.len()];
        for (takes, pending) in takes.iter_mut().zip(&self.pending).rev() {
            let is_missing = |base: &u64| memory.not_computed(*base).is_some();
            let mut writes = pending.writes.iter();
            *takes = writes.any(|base| needed.contains(base) && is_missing(base));
            if *takes {
                needed.extend(pending.reads.iter().chain(&pending.writes));
            }
        }
        takes
    }

    /// Runs the counted launches that wrote what is to be read, or were to read what is to be written.
    fn catch_up(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        machine: &MachineConfig,
        (reads, writes): (&[u64], &[u64]),
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<(), (LocId, Changed)> {
        let takes = self.takes(memory, reads.iter().chain(writes).copied().collect());
        let mut written: Vec<u64> = writes.to_vec();
        let taken = takes.iter().zip(&self.pending).filter(|(takes, _)| **takes);
        let mut taken: Vec<Pending> = taken.map(|(_, pending)| pending.clone()).collect();
        if let Some((changed, pending)) = taken
            .iter()
            .find_map(|pending| Some((pending.changed?, pending)))
        {
            return Err((pending.config.loc, changed));
        }
        for pending in &mut taken {
            // It was counted, so it neither faults nor waits; but it may be stopped.
            let args = &pending.args;
            let ran = launch(
                program,
                pending.kernel,
                &pending.config,
                args,
                memory,
                machine,
                out,
            );
            if ran.is_err() {
                return Err((pending.config.loc, Changed::Unfinished));
            }
            written.extend(&pending.writes);
        }
        let mut takes = takes.iter();
        self.pending
            .retain(|_| !takes.next().is_some_and(|takes| *takes));
        for &base in &written {
            memory.set_computed(base);
        }
        // What is left was to read memory as it was.
        for pending in &mut self.pending {
            if pending.reads.iter().any(|base| written.contains(base)) {
                pending.changed.get_or_insert(Changed::Overwritten);
            }
        }
        Ok(())
    }
}

fn name(program: &Program, kernel: FuncId) -> String {
    program.module().function(kernel).name.clone()
}

/// The regions that are marked.
fn bases(run: &Run<'_>, marked: &[bool]) -> Vec<u64> {
    let regions = run.map.regions.iter().zip(marked);
    regions
        .filter(|(region, marked)| **marked && region.size > 0)
        .map(|(region, _)| region.base)
        .collect()
}

fn key(begun: &Begun<'_>, kernel: FuncId, config: &LaunchConfig, args: &[u64]) -> Key {
    Key {
        kernel,
        grid: config.grid,
        block: config.block,
        shared_bytes: config.shared_bytes,
        cooperative: config.cooperative,
        loc: config.loc,
        args: args.to_vec(),
        regions: begun
            .map
            .regions
            .iter()
            .map(|region| (region.base, region.size))
            .collect(),
    }
}
