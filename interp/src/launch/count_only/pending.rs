//! Keeps the launches of a program that were only counted, knows what they would have written, and runs them when a
//! later launch needs the results.

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

/// The total warp instructions that may be spent on results that a host asks for ([`Counting::compute`]): a few tenths
/// of a second.
const MAX_COMPUTED: u64 = 1 << 26;
/// If host code is tracked and asks for at least this many bytes, they are computed, provided that this takes few warp
/// instructions per byte: tracking that many missing bytes through a loop would take longer.
const MANY_BYTES: u64 = 1 << 20;
const MAX_FOR_EACH_BYTE: u64 = 2;

/// A launch that was only counted.
#[derive(Clone, Debug)]
struct Pending {
    kernel: FuncId,
    config: LaunchConfig,
    args: Vec<u64>,
    /// The bases of regions that it may read, and of those that it may write.
    reads: Vec<u64>,
    writes: Vec<u64>,
    changed: Option<Changed>,
    /// The warp instructions that running it takes.
    warp_instructions: u64,
    /// Its module, for the names of its kernel and its place.
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

/// What determines the counts of a launch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Key {
    kernel: FuncId,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u64,
    cooperative: bool,
    loc: LocId,
    args: Vec<u64>,
    /// First bytes and sizes of all regions that it may access.
    regions: Vec<(u64, u64)>,
}

/// The launches on one memory, counted where possible.
#[derive(Debug, Default)]
pub struct Counting {
    /// The program that the launches belong to.
    program: Option<Arc<Module>>,
    /// Host code is not tracked: it asks for results, and may read managed memory after any launch.
    is_blind: bool,
    /// Warp instructions spent on results that the host asked for.
    spent: u64,
    pending: Vec<Pending>,
    known: HashMap<Key, Box<LaunchReport>>,
}

/// The most reports that are cached.
const MAX_KNOWN: usize = 1024;

impl Counting {
    /// For a host whose code is not tracked because it is compiled.
    pub fn blind() -> Counting {
        Counting {
            is_blind: true,
            ..Counting::default()
        }
    }

    /// Counts a launch, or runs it if it cannot be counted. Like [`launch`], but without checks.
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
                    // Its counts depend on memory that an earlier launch should have written.
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

    /// Counts a launch if possible, on memory that is as the program would have left it. Remembers nothing.
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

    /// The host or a copy has written to memory.
    pub fn changed(&mut self, memory: &Memory, address: u64) {
        let Some((base, _)) = memory.bounds(address) else {
            return;
        };
        self.change(base, Changed::Overwritten);
    }

    /// An allocation is about to be freed.
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

    /// Switches to the launches of this program.
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

    /// Records a counted launch: the memory that it may write now holds nothing valid.
    fn counted(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        machine: &MachineConfig,
        pending: Pending,
        out: &mut dyn FnMut(&[u8]),
    ) {
        // Drop launches whose results are no longer accessible.
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
        // The host may change what the launch reads, or read what it writes, at any time, so it runs now or never.
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

    /// Called when the host asks for bytes: runs the launches that should have computed them, unless that takes too
    /// long. Tracked host code can do without the bytes; they are computed only where tracking them would take longer.
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

    /// Runs the launches that regions lack, if that takes at most this many warp instructions.
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

    /// Called before another program's launches: runs the pending launches of this one, unless they take long, because
    /// they cannot run later.
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
                // Results that cannot be computed stay missing. That is reported where they are needed.
                let _ = self.compute_all(program, memory, &unchecked, (&[base], u64::MAX), out);
            }
        }
    }

    /// What the host may read without asking and is missing.
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

    /// Which launches have to run to compute the contents of regions.
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

    /// Runs the counted launches that write what is about to be read, or read what is about to be written.
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
            // The launch was counted, so it neither faults nor waits. It may still be stopped.
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
        // The remaining launches needed the old contents of memory.
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

/// The bases of the marked regions.
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
