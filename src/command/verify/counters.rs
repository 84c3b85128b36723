//! The counters of all launches: per kernel, the hardware's own beside the simulator's, and the lines that explain what differs.

use dsl::ir::Module;
use interp::{LaunchReport, stats::LaunchCounts};
use runtime::host::Outcome;

use super::{
    child::Scratch,
    lines::{self, Kind, Row, RowVerdict},
    ncu::{self, Measured},
};
use crate::{
    args::{SourceArgs, VerifyArgs},
    failure::Failure,
};

/// What `ncu` told.
pub(super) enum Counters {
    /// Nothing, for this reason.
    NotMeasured(String),
    /// Per kernel, in the order of their first launches.
    Measured {
        kernels: Vec<KernelCounters>,
        /// Launches that were not profiled.
        left_out: usize,
    },
}

/// A kernel's launches together.
#[derive(Clone, Debug)]
pub(super) struct KernelCounters {
    pub(super) kernel: String,
    pub(super) launches: usize,
    /// Simulated and measured, by [`Kind`]; `None`: not modelled, or the GPU has no such counter.
    pub(super) totals: [(Option<u64>, Option<u64>); 6],
    /// Lines, over all launches.
    pub(super) rows: Vec<Row>,
    /// In some launch a counter differs, and no line explains it.
    pub(super) unexplained: Vec<Kind>,
}

/// What came of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KernelVerdict {
    /// All counters are the same.
    Same,
    /// They differ where the compiler made other accesses.
    Explained,
    /// They differ.
    Different,
}

impl KernelCounters {
    pub(super) fn verdict(&self) -> KernelVerdict {
        let rows_differ = self
            .rows
            .iter()
            .any(|row| row.verdict == RowVerdict::Different);
        if rows_differ || !self.unexplained.is_empty() {
            KernelVerdict::Different
        } else if self
            .totals
            .iter()
            .all(|(ours, theirs)| ours == theirs || theirs.is_none())
        {
            KernelVerdict::Same
        } else {
            KernelVerdict::Explained
        }
    }
}

impl Counters {
    /// Whether something differs that the compiler does not explain.
    pub(super) fn differ(&self) -> bool {
        match self {
            Counters::NotMeasured(_) => false,
            Counters::Measured { kernels, .. } => kernels
                .iter()
                .any(|kernel| kernel.verdict() == KernelVerdict::Different),
        }
    }
}

/// Measures, if `ncu` is there.
pub(super) fn measure(
    source: &SourceArgs,
    args: &VerifyArgs,
    scratch: &Scratch,
    module: &Module,
    simulated: &Outcome,
) -> Result<Counters, Failure> {
    let launches = &simulated.launches;
    if launches.is_empty() {
        return Ok(Counters::NotMeasured("there are no launches".to_string()));
    }
    let Some(ncu) = ncu::find() else {
        return Ok(Counters::NotMeasured("ncu is not installed".to_string()));
    };
    let measured = match ncu::measure(&ncu, source, args, scratch)? {
        Ok(measured) => measured,
        Err(why) => return Ok(Counters::NotMeasured(format!("ncu: {why}"))),
    };
    let expected = launches.len().min(ncu::MOST_LAUNCHES);
    if measured.len() != expected {
        return Ok(Counters::NotMeasured(format!(
            "ncu saw {} launches, the simulator made {}",
            measured.len(),
            launches.len()
        )));
    }
    Ok(Counters::Measured {
        kernels: kernels(launches, &measured, module),
        left_out: launches.len() - expected,
    })
}

fn kernels(
    launches: &[LaunchReport],
    measured: &[Measured],
    module: &Module,
) -> Vec<KernelCounters> {
    let mut kernels: Vec<KernelCounters> = Vec::new();
    for (launch, measured) in launches.iter().zip(measured) {
        let totals = totals(&launch.counts, &measured.counters);
        let rows = lines::rows(launch, &measured.instructions, module);
        let unexplained = Kind::ALL.into_iter().filter(|&kind| {
            let (ours, theirs) = totals[kind as usize];
            let of_kind = || rows.iter().filter(|row| row.kind == kind);
            let changed = || of_kind().any(|row| matches!(row.verdict, RowVerdict::Changed(_)));
            theirs.is_some() && ours.is_some() && ours != theirs && !changed()
        });
        let unexplained: Vec<Kind> = unexplained.collect();
        let known = kernels
            .iter_mut()
            .find(|known| known.kernel == launch.kernel_name);
        match known {
            Some(known) => add(known, totals, rows, unexplained),
            None => kernels.push(KernelCounters {
                kernel: launch.kernel_name.clone(),
                launches: 1,
                totals,
                rows,
                unexplained,
            }),
        }
    }
    kernels
}

/// Simulated and measured, by kind.
fn totals(counts: &LaunchCounts, measured: &[Option<u64>; 7]) -> [(Option<u64>, Option<u64>); 6] {
    let [sl, ss, sa, gl, gs, atom, red] = *measured;
    let atomics = match (atom, red) {
        (None, None) => None,
        (atom, red) => Some(atom.unwrap_or(0) + red.unwrap_or(0)),
    };
    let shared =
        |site: &interp::stats::SiteCounts| (!site.not_modelled()).then_some(site.transactions);
    let global = |site: &interp::stats::SiteCounts| (!site.not_modelled()).then_some(site.sectors);
    [
        (shared(&counts.shared_load), sl),
        (shared(&counts.shared_store), ss),
        (shared(&counts.shared_atomic), sa),
        (global(&counts.global_load), gl),
        (global(&counts.global_store), gs),
        (global(&counts.global_atomic), atomics),
    ]
}

fn add(
    known: &mut KernelCounters,
    totals: [(Option<u64>, Option<u64>); 6],
    rows: Vec<Row>,
    unexplained: Vec<Kind>,
) {
    let plus = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
    known.launches += 1;
    for (sum, more) in known.totals.iter_mut().zip(totals) {
        *sum = (plus(sum.0, more.0), plus(sum.1, more.1));
    }
    for row in rows {
        let same = |other: &&mut Row| {
            (other.file, other.line, other.kind) == (row.file, row.line, row.kind)
        };
        match known.rows.iter_mut().find(same) {
            Some(other) => {
                for (sum, more) in [
                    (&mut other.simulated, &row.simulated),
                    (&mut other.measured, &row.measured),
                ] {
                    sum.instructions += more.instructions;
                    sum.cost += more.cost;
                    sum.lanes += more.lanes;
                    for (&width, count) in &more.widths {
                        *sum.widths.entry(width).or_default() += count;
                    }
                    for opcode in &more.opcodes {
                        if !sum.opcodes.contains(opcode) {
                            sum.opcodes.push(opcode.clone());
                        }
                    }
                }
                // The worst of all launches stands.
                let rank = |verdict: &RowVerdict| match verdict {
                    RowVerdict::Different => 3,
                    RowVerdict::Changed(_) => 2,
                    RowVerdict::NotCompared => 1,
                    RowVerdict::Same => 0,
                };
                if rank(&row.verdict) > rank(&other.verdict) {
                    other.verdict = row.verdict;
                }
            }
            None => known.rows.push(row),
        }
    }
    known.rows.sort_by_key(|row| (row.file, row.line, row.kind));
    for kind in unexplained {
        if !known.unexplained.contains(&kind) {
            known.unexplained.push(kind);
        }
    }
}
