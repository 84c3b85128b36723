//! Cures: edits for what a run found or wasted, and how far they hold.
//!
//! In: a [`Model`] of a run, and a [`Runner`], which runs the program with other texts, sizes and data. Out: [`Suggestion`]s. Edits are thought of,
//! applied, compiled and run; only what is better then goes on. [`Holds`](report::Holds) says how far: an argument from the IR
//! (module `argument`) proves it for all sizes and data, or further runs (`trial`) have shown it. What a further run contradicts is an
//! idea at most.
//!
//! A cure of a waste prints the same bytes and ends with the same exit code, its kernels compute the same, no finding is new, the hot spot costs
//! less, and all launches together cost less; where another line or a further run costs more the suggestion says so. A cure of a finding
//! leaves none of its group and brings nothing graver than a note.
//!
//! Edits are made in the text as it is written, before macros (module `text`): a guess about the program's shape may be wrong, which the
//! runs show.

mod aggregate;
mod argument;
mod barrier;
mod candidate;
mod changed;
mod conflict;
mod constant;
mod diverge;
mod effect;
mod fault;
mod needless;
mod publish;
mod rows;
mod scatter;
mod search;
mod size;
mod structs;
mod text;
mod tree;
mod trial;

use std::sync::Arc;

use ir::{Module, source::SourceMap};
use report::{Input, Model, Suggestion, findings::Found};
use runtime::host::Outcome;
pub use text::edited;
pub use trial::Further;

/// A run of the program, with edits or without.
pub struct Run {
    /// What was compiled.
    pub module: Arc<Module>,
    /// Its texts.
    pub map: SourceMap,
    /// How it went.
    pub outcome: Outcome,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What was found.
    pub findings: Vec<Found>,
    /// A hash of what its kernels computed, as far as the program shows it.
    pub digest: u64,
    /// A hash of device memory after each launch.
    pub memory_digest: u64,
    /// Kernels, by name, that were launched with two pointers into one buffer.
    pub aliased: Vec<String>,
    /// A further run met something that it changes.
    pub has_varied: bool,
}

/// Runs the program with other texts, sizes and data.
pub trait Runner {
    /// The program's module.
    fn module(&self) -> Arc<Module>;

    /// Compiles and runs as the first run was, with these texts in the place of the files of these names. `None` if that is not a program.
    fn run(&mut self, texts: &[(String, String)]) -> Option<Run>;

    /// Runs this module in the place of the program's, whose places it has; nothing is compiled.
    fn run_module(&mut self, module: Module) -> Option<Run>;

    /// Runs what was compiled from these texts with other sizes or data.
    fn run_further(
        &mut self,
        module: &Arc<Module>,
        map: &SourceMap,
        further: &Further,
    ) -> Option<Run>;

    /// Whether its runs find all races: only then a barrier can be shown to be needless.
    fn finds_races(&self) -> bool;

    /// Whether it may run more.
    fn has_more(&self) -> bool;

    /// Whether it may run work that grows with the square of the number of blocks, so many times the usual.
    fn affords(&self, times: u64) -> bool;

    /// The arguments that the program's `main` is given; `None` if launches are given instead.
    fn arguments(&self) -> Option<Vec<String>>;
}

/// The first run.
#[derive(Clone, Copy)]
struct Base<'a> {
    input: &'a Input<'a>,
    stdout: &'a [u8],
}

/// Cures of what a run wasted and found; `stdout` is what it printed.
pub fn cures(model: &Model<'_>, stdout: &[u8], runner: &mut dyn Runner) -> Vec<Suggestion> {
    let base = Base {
        input: model.input,
        stdout,
    };
    search::Search::new(base, runner).all(model)
}
