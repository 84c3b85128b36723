//! Counts a launch as compiled: after the written kernel, the compiled one runs on the memory as it was before.
//!
//! The written kernel's memory, output and findings are the program's. The compiled one runs without checks; what it writes is compared with
//! what the written one wrote, and discarded.

use ir::{FuncId, Function, LocId};

use crate::config::{Checks, LaunchConfig, MachineConfig, MemoryOrder, Schedule};
use crate::count::stats::LaunchCounts;
use crate::launch::orders::Saved;
use crate::launch::report::{LaunchFailure, LaunchReport, Site};
use crate::launch::{Run, begin, launch};
use crate::memory::Memory;
use crate::memory::map::GlobalRegion;
use crate::observe::counters::Counters;
use crate::program::Program;
use crate::progress::Progress;

/// The most warp instructions of a launch that runs a second time.
const MAX_INSTRUCTIONS: u64 = 100_000_000;
/// The most memory that is saved for it.
const MAX_BYTES: u64 = 1 << 30;
/// The compiled kernel is given up after this many times the written one's instructions, plus `SOME_MORE`.
const MAX_TIMES_AS_LONG: u64 = 4;
const SOME_MORE: u64 = 100_000;

/// A program's kernels as a compiler made them, with the parameters, variables and places of the written ones.
#[derive(Debug)]
pub struct Compiled {
    program: Program,
    /// The kernels that could not be read, and why.
    refused: Vec<(FuncId, String)>,
    /// The compiler.
    by: String,
    /// Whether reports have the compiled counts in place of the written ones.
    instead: bool,
}

impl Compiled {
    /// Kernels made by a compiler with this name.
    pub fn new(
        program: Program,
        refused: Vec<(FuncId, String)>,
        by: impl Into<String>,
    ) -> Compiled {
        Compiled {
            program,
            refused,
            by: by.into(),
            instead: false,
        }
    }

    /// The same kernels, whose counts take the place of the written ones in a launch's report.
    #[must_use]
    pub fn instead(self) -> Compiled {
        Compiled {
            instead: true,
            ..self
        }
    }
}

/// What a launch costs as compiled.
#[derive(Clone, Debug, PartialEq)]
pub enum CompiledCounts {
    /// It was not counted, because of this.
    Not(String),
    /// It was.
    Counted {
        /// The compiler.
        by: String,
        /// Totals.
        counts: Box<LaunchCounts>,
        /// Counts per access and place of the source. An access without a place is at line 0.
        sites: Vec<Site>,
        /// Whether memory ended as the written kernel left it.
        same_memory: bool,
    },
    /// It was, and the report's counts are these.
    Instead {
        /// The compiler.
        by: String,
        /// Whether memory ended as the written kernel left it.
        same_memory: bool,
    },
}

impl CompiledCounts {
    /// What is said of a kernel that was made of PTX: its accesses are the compiled ones.
    pub(crate) fn of_ptx(kernel: &Function) -> Option<CompiledCounts> {
        let by = kernel.compiled_by.clone()?;
        Some(CompiledCounts::Instead {
            by,
            same_memory: true,
        })
    }
}

/// Runs a kernel as written, then as compiled. The report's `compiled` has the counts of the second run.
pub fn launch_both(
    (program, compiled): (&Program, &Compiled),
    (kernel, config, args): (FuncId, &LaunchConfig, &[u64]),
    memory: &mut Memory,
    machine: &MachineConfig,
    out: &mut dyn FnMut(&[u8]),
) -> Result<LaunchReport, LaunchFailure> {
    if program.module().function(kernel).compiled_by.is_some() {
        return launch(program, kernel, config, args, memory, machine, out);
    }
    let refused = compiled.refused.iter().find(|(id, _)| *id == kernel);
    if let Some((_, why)) = refused {
        let mut report = launch(program, kernel, config, args, memory, machine, out)?;
        report.compiled = Some(CompiledCounts::Not(why.clone()));
        return Ok(report);
    }
    memory.extend(compiled.program.module());
    let plain = MachineConfig {
        checks: Checks::NONE,
        schedule: Schedule::default(),
        schedules: (0, 1),
        memory: MemoryOrder::default(),
        keep_going: false,
        trace: false,
        reuse: false,
        progress: Progress::default(),
        ..machine.clone()
    };
    let written = begin(program, kernel, config, args, memory, &plain)?;
    let begun = match begin(&compiled.program, kernel, config, args, memory, &plain) {
        Ok(begun) => begun,
        // More shared memory than the source declares, for example: the program's launch is the written one.
        Err(failure) => {
            let mut report = launch(program, kernel, config, args, memory, machine, out)?;
            report.compiled = Some(fails(&failure));
            return Ok(report);
        }
    };
    let before = {
        let run = begun.run(&compiled.program, (kernel, config), memory, &plain);
        let regions = regions(
            &run,
            &written.run(program, (kernel, config), memory, &plain),
        );
        let bytes: u64 = regions.iter().map(|region| region.size).sum();
        (bytes <= MAX_BYTES).then(|| Saved::of(&run, &regions))
    };
    let mut report = launch(program, kernel, config, args, memory, machine, out)?;
    let instructions = report.counts.warp_instructions;
    report.compiled = Some(match before {
        None => CompiledCounts::Not("it may write more than 1 GiB of memory".to_string()),
        Some(_) if instructions > MAX_INSTRUCTIONS => {
            CompiledCounts::Not("it executes more than 10^8 warp instructions".to_string())
        }
        Some(_) if !report.children.is_empty() => {
            CompiledCounts::Not("it launches kernels".to_string())
        }
        Some(_) if !report.skipped.is_empty() => {
            CompiledCounts::Not("it makes invalid accesses".to_string())
        }
        Some(before) => {
            let limit = instructions * MAX_TIMES_AS_LONG + SOME_MORE;
            let plain = MachineConfig {
                limit: Some(limit),
                ..plain
            };
            count((compiled, kernel, config), args, memory, &plain, &before)
        }
    });
    if compiled.instead {
        take_over(&mut report, program);
    }
    Ok(report)
}

/// Makes the compiled counts those of the report.
fn take_over(report: &mut LaunchReport, program: &Program) {
    report.compiled = match report.compiled.take() {
        Some(CompiledCounts::Counted {
            by,
            counts,
            mut sites,
            same_memory,
        }) => {
            // Places that only the compiled module has: their line is known.
            let locs = program.module().locs.len();
            for site in &mut sites {
                if site.loc.index() >= locs {
                    site.loc = LocId(0);
                }
            }
            sites.retain(|site| site.counts.requests > 0);
            report.counts = *counts;
            report.sites = sites;
            Some(CompiledCounts::Instead { by, same_memory })
        }
        other => other,
    };
}

/// The regions that either run may write.
fn regions(one: &Run<'_>, other: &Run<'_>) -> Vec<GlobalRegion> {
    let written = one.written().into_iter().zip(other.written());
    let regions = one.map.regions.iter().zip(written);
    regions
        .filter(|(_, (one, other))| *one || *other)
        .map(|(region, _)| *region)
        .collect()
}

/// Runs the compiled kernel on the memory as it was before. Memory is then as the written kernel left it.
fn count(
    (compiled, kernel, config): (&Compiled, FuncId, &LaunchConfig),
    args: &[u64],
    memory: &mut Memory,
    machine: &MachineConfig,
    before: &Saved,
) -> CompiledCounts {
    let begun = match begin(&compiled.program, kernel, config, args, memory, machine) {
        Ok(begun) => begun,
        Err(failure) => return fails(&failure),
    };
    let run = begun.run(&compiled.program, (kernel, config), memory, machine);
    let after = before.again(&run);
    before.restore(&run);
    let counters = || Counters::new(&machine.rules, run.code.counters.len());
    let (result, _) = run.with(&counters, &mut |_| {});
    let same_memory = after.differences().is_empty();
    after.restore(&run);
    match result {
        Ok(report) => CompiledCounts::Counted {
            by: compiled.by.clone(),
            counts: Box::new(report.counts),
            sites: report.sites,
            same_memory,
        },
        Err(failure) => fails(&failure),
    }
}

fn fails(failure: &LaunchFailure) -> CompiledCounts {
    CompiledCounts::Not(format!("as compiled it fails: {failure}"))
}
