//! The counters of all launches: for each kernel, the hardware's counters next to the simulator's, and the lines that explain the
//! differences.

use interp::{CompiledCounts, stats::LaunchCounts};
use ir::{FuncId, InstKind, Module};
use runtime::{Launches, host::Outcome};

use super::{
    child::Scratch,
    lines::{self, Kind, Row, RowVerdict},
    ncu::{self, Measured},
};
use crate::{
    args::{SourceArgs, VerifyArgs},
    failure::Failure,
};

/// The result of running `ncu`.
pub(super) enum Counters {
    /// Nothing was measured, for this reason.
    NotMeasured(String),
    /// Counters per kernel, in the order of their first launches.
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
    /// Whether the simulator counted the compiled kernel: else why not, if it was to.
    pub(super) compiled: Result<(), Option<String>>,
    /// Simulated and measured, by [`Kind`]; `None`: not modelled, or the GPU has no such counter.
    pub(super) totals: Totals,
    /// The lines, over all launches.
    pub(super) rows: Vec<Row>,
    /// Wavefronts of shared stores that the hardware counted beyond those of the store instructions, each of which has the simulator's
    /// number. Stores of several warps collided in the data banks and were replayed. The number differs between runs, and is 0 when the
    /// warps store one after the other (`tests/h200/README.md`).
    pub(super) store_replays: u64,
    /// The kinds whose counter differs in some launch without a line that explains it.
    pub(super) unexplained: Vec<Kind>,
    /// Whether it prints or asserts: the driver's own code for that accesses memory too, at no line of the program.
    pub(super) prints: bool,
}

/// The verdict on a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KernelVerdict {
    /// All counters are the same.
    Same,
    /// They differ where the compiler made other accesses.
    Explained,
    /// They differ without an explanation.
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
    /// Whether there is a difference that the compiler does not explain.
    pub(super) fn differ(&self) -> bool {
        match self {
            Counters::NotMeasured(_) => false,
            Counters::Measured { kernels, .. } => kernels
                .iter()
                .any(|kernel| kernel.verdict() == KernelVerdict::Different),
        }
    }
}

/// Measures, if `ncu` is installed.
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
    let expected = launches.len().min(ncu::MAX_LAUNCHES);
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

fn kernels(launches: &Launches, measured: &[Measured], module: &Module) -> Vec<KernelCounters> {
    let mut kernels: Vec<KernelCounters> = Vec::new();
    for (launch, measured) in launches.iter().zip(measured) {
        let totals = totals(&launch.counts, &measured.counters);
        let prints = prints(module, launch.kernel);
        let mut rows = lines::rows(launch, &measured.instructions, module);
        trust_the_hardware(&mut rows, &totals);
        let store_replays = store_replays(&rows, &totals);
        let unexplained = Kind::ALL.into_iter().filter(|&kind| {
            let (ours, theirs) = totals[kind as usize];
            let replayed = kind == Kind::SharedStore && store_replays > 0;
            theirs.is_some()
                && ours.is_some()
                && ours != theirs
                && !changed(&rows, kind)
                && !prints
                && !replayed
        });
        let unexplained: Vec<Kind> = unexplained.collect();
        let known = kernels
            .iter_mut()
            .find(|known| known.kernel == launch.kernel_name);
        match known {
            Some(known) => {
                known.store_replays += store_replays;
                add(known, totals, rows, unexplained);
            }
            None => kernels.push(KernelCounters {
                kernel: launch.kernel_name.clone(),
                launches: 1,
                compiled: match &launch.compiled {
                    Some(CompiledCounts::Instead { .. }) => Ok(()),
                    Some(CompiledCounts::Not(why)) => Err(Some(why.clone())),
                    Some(CompiledCounts::Counted { .. }) | None => Err(None),
                },
                totals,
                rows,
                store_replays,
                unexplained,
                prints,
            }),
        }
    }
    kernels
}

type Totals = [(Option<u64>, Option<u64>); 6];

/// Whether the compiler turned the source's accesses of this kind into others.
fn changed(rows: &[Row], kind: Kind) -> bool {
    let mut of_kind = rows.iter().filter(|row| row.kind == kind);
    of_kind.any(|row| matches!(row.verdict, RowVerdict::Changed(_)))
}

/// A line that differs on the source page is not a difference if the hardware's counter of all lines agrees with the simulator.
fn trust_the_hardware(rows: &mut [Row], totals: &Totals) {
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_shared()) {
        let (ours, theirs) = totals[kind as usize];
        let of_kind = rows.iter().filter(|row| row.kind == kind);
        let page: u64 = of_kind.map(|row| row.measured.cost).sum();
        if ours.is_none() || ours != theirs || theirs == Some(page) || changed(rows, kind) {
            continue;
        }
        for row in rows.iter_mut().filter(|row| row.kind == kind) {
            if row.verdict == RowVerdict::Different {
                row.verdict = RowVerdict::PageOnly;
            }
        }
    }
}

/// [`KernelCounters::store_replays`] of a launch.
fn store_replays(rows: &[Row], totals: &Totals) -> u64 {
    let mut stores = rows.iter().filter(|row| row.kind == Kind::SharedStore);
    match totals[Kind::SharedStore as usize] {
        (Some(ours), Some(theirs)) if stores.all(|row| row.verdict == RowVerdict::Same) => {
            theirs.saturating_sub(ours)
        }
        _ => 0,
    }
}

/// Whether a kernel calls the driver's functions for printing and assertions.
fn prints(module: &Module, kernel: FuncId) -> bool {
    let mut found = false;
    module.function(kernel).body.for_each_inst(&mut |inst| {
        found |= matches!(inst.kind, InstKind::Printf(..) | InstKind::Assert(..));
    });
    found
}

/// Simulated and measured, by kind.
fn totals(counts: &LaunchCounts, measured: &[Option<u64>; 7]) -> Totals {
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

fn add(known: &mut KernelCounters, totals: Totals, rows: Vec<Row>, unexplained: Vec<Kind>) {
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
                // The worst verdict of all launches is kept.
                let rank = |verdict: &RowVerdict| match verdict {
                    RowVerdict::Different => 4,
                    RowVerdict::Changed(_) => 3,
                    RowVerdict::PageOnly => 2,
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

#[cfg(test)]
mod tests {
    use super::{super::lines::Side, *};

    fn row(line: u32, kind: Kind, simulated: u64, measured: u64, verdict: RowVerdict) -> Row {
        let side = |cost| Side {
            instructions: 8,
            cost,
            ..Side::default()
        };
        Row {
            file: Some(0),
            line,
            kind,
            simulated: side(simulated),
            measured: side(measured),
            verdict,
        }
    }

    fn totals(kind: Kind, ours: u64, theirs: u64) -> Totals {
        let mut totals = Totals::default();
        totals[kind as usize] = (Some(ours), Some(theirs));
        totals
    }

    #[test]
    fn a_line_that_only_the_page_has_otherwise_is_no_difference() {
        let load = Kind::SharedLoad;
        let rows = || {
            vec![
                row(1, load, 8, 8, RowVerdict::Same),
                row(2, load, 16, 32, RowVerdict::Different),
            ]
        };
        let verdicts = |totals| {
            let mut rows = rows();
            trust_the_hardware(&mut rows, &totals);
            rows[1].verdict.clone()
        };
        assert_eq!(verdicts(totals(load, 24, 24)), RowVerdict::PageOnly);
        assert_eq!(verdicts(totals(load, 24, 40)), RowVerdict::Different);
        assert_eq!(
            verdicts(totals(Kind::SharedStore, 24, 24)),
            RowVerdict::Different
        );
    }

    #[test]
    fn stores_are_replayed_only_beyond_what_their_instructions_cost() {
        let store = Kind::SharedStore;
        let same = vec![row(1, store, 8, 8, RowVerdict::Same)];
        assert_eq!(store_replays(&same, &totals(store, 8, 11)), 3);
        assert_eq!(store_replays(&same, &totals(store, 8, 8)), 0);
        assert_eq!(store_replays(&same, &totals(store, 8, 7)), 0);
        let differs = vec![row(1, store, 8, 11, RowVerdict::Different)];
        assert_eq!(store_replays(&differs, &totals(store, 8, 11)), 0);
    }
}
