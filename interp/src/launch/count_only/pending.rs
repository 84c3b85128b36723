//! The launches of a program of which only the counts are known: what they would have written, and running them after all when a
//! later launch needs it.

use std::collections::HashMap;

use dsl::ir::{FuncId, LocId};
use thiserror::Error;

use super::{Counted, InFull, count};
use crate::compile::program::Program;
use crate::config::{Checks, LaunchConfig, MachineConfig};
use crate::launch::report::{LaunchFailure, LaunchReport};
use crate::launch::{Begun, Run, begin, launch};
use crate::memory::{AddressKind, Memory};

/// Why a launch under `--count-only` failed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CountingError {
    /// As a launch fails.
    #[error("{0}")]
    Failed(LaunchFailure),
    /// It needs what was not computed.
    #[error("{0}")]
    NotComputed(NotComputed),
}

/// A launch cannot be counted, cannot run either, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the kernel `{kernel}` needs what a launch that was only counted did not compute")]
pub struct NotComputed {
    /// Its kernel.
    pub kernel: String,
    /// Its statement.
    pub at: LocId,
    /// Why it is not counted; `None`: its counts follow from what was not computed.
    pub why: Option<InFull>,
    /// The statement of the launch that was only counted.
    pub needed_at: LocId,
    /// Why that one cannot run any more.
    pub changed: Changed,
}

/// What keeps a counted launch from running later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// A copy, `cudaMemset` …: memory that it reads or writes holds something else now.
    Overwritten,
    /// Memory was freed.
    Freed,
    /// Managed memory, which the host may change at any time.
    Managed,
    /// It belongs to another program, which shares the memory.
    Elsewhere,
    /// What it did not compute has been copied elsewhere since.
    PassedOn,
}

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
}

impl Pending {
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
    program: Option<(usize, String)>,
    pending: Vec<Pending>,
    known: HashMap<Key, Box<LaunchReport>>,
}

/// Reports that are kept to be given again.
const MAX_KNOWN: usize = 1024;

impl Counting {
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
                self.counted(memory, (kernel, config, args), reads, writes);
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
                        self.counted(memory, (kernel, config, args), reads, writes);
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
        let this = (
            std::ptr::from_ref(program) as usize,
            program.module().name.clone(),
        );
        if self.program.as_ref() == Some(&this) {
            return;
        }
        self.known.clear();
        for pending in &mut self.pending {
            pending.changed.get_or_insert(Changed::Elsewhere);
        }
        self.program = Some(this);
    }

    /// A launch was counted: what it may write holds nothing.
    fn counted(
        &mut self,
        memory: &mut Memory,
        (kernel, config, args): (FuncId, &LaunchConfig, &[u64]),
        reads: Vec<u64>,
        writes: Vec<u64>,
    ) {
        for &base in &writes {
            memory.set_not_computed(base, config.loc);
        }
        let mut touched = reads.iter().chain(&writes);
        let managed = touched.any(|base| memory.kind_of(*base) == AddressKind::Managed);
        // Launches whose results nobody can ask for any more need not be remembered.
        self.pending.retain(|pending| {
            pending.changed.is_none()
                || pending
                    .writes
                    .iter()
                    .any(|base| memory.not_computed(*base).is_some())
        });
        self.pending.push(Pending {
            kernel,
            config: config.clone(),
            args: args.to_vec(),
            reads,
            writes,
            changed: managed.then_some(Changed::Managed),
        });
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
        let mut needed: Vec<u64> = reads.iter().chain(writes).copied().collect();
        let mut takes = vec![false; self.pending.len()];
        for (takes, pending) in takes.iter_mut().zip(&self.pending).rev() {
            let is_missing = |base: &u64| memory.not_computed(*base).is_some();
            let mut writes = pending.writes.iter();
            *takes = writes.any(|base| needed.contains(base) && is_missing(base));
            if *takes {
                needed.extend(pending.reads.iter().chain(&pending.writes));
            }
        }
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
            // It was counted, so it neither faults nor waits.
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
            debug_assert!(ran.is_ok(), "a counted launch runs: {ran:?}");
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
