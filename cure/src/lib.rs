//! Cures: edits that remove a finding or a waste, and for which runs they hold.
//!
//! The input is a [`Model`] of a run, and a [`Runner`], which runs the program with other texts, sizes and data. The output is
//! [`Suggestion`]s. Candidate edits are applied, compiled and run; only those that improve the run are kept. [`Holds`](report::Holds) says
//! for which runs they are right: an argument from the IR (module `argument`) proves it for all sizes and data, or further runs (`trial`)
//! have shown it. Edits that a further run contradicts are at most an idea.
//!
//! A cure of a waste prints the same bytes and ends with the same exit code, and its kernels compute the same. It causes no new finding,
//! the hot spot costs less, and all launches together cost less. If another line or a further run costs more, the suggestion says so. A
//! cure of a finding removes its whole group and causes nothing graver than a note.
//!
//! Edits are made in the text as written, before macros are expanded (module `text`). A guess about the program's shape may be wrong, which
//! the runs show.

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
pub use search::as_idea;
pub use text::edited;
pub use trial::Further;

/// A run of the program, with or without edits.
pub struct Run {
    /// The compiled program.
    pub module: Arc<Module>,
    /// Its texts.
    pub map: SourceMap,
    /// How it ended.
    pub outcome: Outcome,
    /// Its output.
    pub stdout: Vec<u8>,
    /// Its findings.
    pub findings: Vec<Found>,
    /// A hash of what its kernels computed, as far as the program uses it.
    pub digest: u64,
    /// A hash of device memory after each launch.
    pub memory_digest: u64,
    /// Kernels, by name, that were launched with two pointers into one buffer.
    pub aliased: Vec<String>,
    /// Whether a further run met something that it changes.
    pub has_varied: bool,
}

/// Runs the program with other texts, sizes and data.
pub trait Runner {
    /// The program's module.
    fn module(&self) -> Arc<Module>;

    /// Compiles and runs like the first run, with these texts replacing the files of these names. `None` if the result does not compile.
    fn run(&mut self, texts: &[(String, String)]) -> Option<Run>;

    /// Runs this module instead of the program's, with the same places; nothing is compiled.
    fn run_module(&mut self, module: Module) -> Option<Run>;

    /// Runs the program compiled from these texts with other sizes or data.
    fn run_further(
        &mut self,
        module: &Arc<Module>,
        map: &SourceMap,
        further: &Further,
    ) -> Option<Run>;

    /// Whether its runs find all races: only then can a barrier be shown to be unneeded.
    fn finds_races(&self) -> bool;

    /// Whether it may run more.
    fn has_more(&self) -> bool;

    /// Whether it may run `times` the usual work, for work that grows with the square of the number of blocks.
    fn affords(&self, times: u64) -> bool;

    /// The arguments of the program's `main`; `None` if launches are given instead.
    fn arguments(&self) -> Option<Vec<String>>;
}

/// The first run.
#[derive(Clone, Copy)]
struct Base<'a> {
    input: &'a Input<'a>,
    stdout: &'a [u8],
}

/// Cures for the waste and the findings of a run, which printed `stdout`.
pub fn cures(model: &Model<'_>, stdout: &[u8], runner: &mut dyn Runner) -> Vec<Suggestion> {
    let base = Base {
        input: model.input,
        stdout,
    };
    search::Search::new(base, runner).all(model)
}
