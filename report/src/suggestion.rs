//! Suggestions: what would cure a line that wastes or a finding, and the edits that do it.
//!
//! One with `verified` set was applied to the source, compiled and run again: its numbers are counts of that run, its output was the same
//! byte for byte, and the findings it names were gone. How far that goes beyond the run, [`Holds`] says. Any other is an idea, and gives
//! no number.

use interp::Site;
use serde::Serialize;

/// What a suggestion changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SuggestionKind {
    /// Rows of a shared array are made wider.
    Pad,
    /// A one-dimensional shared array gets an unused element after every 32: its indices change.
    #[serde(rename = "index")]
    Spread,
    /// The columns of a shared array are permuted by row: `tile[row][col ^ row]`.
    Swizzle,
    /// The elements of an array stand in another order: a struct of arrays for an array of structs.
    Layout,
    /// An index is computed in another way.
    Index,
    /// A barrier is added or moved.
    Barrier,
    /// A `__threadfence` is added.
    Fence,
    /// A `__syncwarp` is added.
    SyncWarp,
    /// `volatile` is added to a declaration.
    Volatile,
    /// `__shared__` is added to a declaration.
    Shared,
    /// A bound is changed: `<=` to `<`.
    Bound,
    /// A test is added that stops the surplus threads.
    Guard,
    /// A branch is decided in another way, so that the lanes of a warp agree.
    Branch,
    /// What lanes would add one by one is added up in the warp first.
    Aggregate,
    /// A variable goes to another kind of memory.
    Memory,
    /// A barrier that nothing needs is removed.
    NoBarrier,
    /// Anything else.
    Other,
}

/// For which runs a suggestion is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// For all sizes and data: an argument from the IR says so.
    Proved,
    /// For this run and for further ones, with other sizes and data.
    Checked,
    /// No run has shown it.
    Idea,
}

impl Holds {
    /// The word in JSON and in the report.
    pub fn word(self) -> &'static str {
        match self {
            Holds::Proved => "proved",
            Holds::Checked => "checked",
            Holds::Idea => "idea",
        }
    }
}

/// One replacement in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Edit {
    /// The file as the module names it.
    pub file: String,
    /// The first line, from 1.
    pub line: u32,
    /// The first column, from 1, in characters.
    pub column: u32,
    /// The line of the end, from 1.
    pub end_line: u32,
    /// The column behind the last character that is replaced, from 1; `column` for an insertion.
    pub end_column: u32,
    /// What stands there then.
    pub text: String,
}

/// What the accesses that a suggestion is about cost; without a site, what its launch does, as in that launch's metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Transactions of shared memory, or of global memory as the architecture's profiler counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transactions: Option<u64>,
    /// Sectors of global memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sectors: Option<u64>,
    /// Instructions of the launch's warps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warp_instructions: Option<u64>,
    /// Branches of the launch at which the lanes of a warp diverge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergent_branches: Option<u64>,
    /// Barriers of the launch, by each warp that meets one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub barriers: Option<u64>,
    /// Different words of constant memory that the launch's requests read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constant_words: Option<u64>,
    /// Transactions of the launch's atomics on shared memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_atomic_transactions: Option<u64>,
    /// Sectors of the launch's atomics on global memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global_atomic_sectors: Option<u64>,
}

/// A line that wastes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// As a hot spot's.
    pub waste: &'static str,
    /// The source file.
    pub file: String,
    /// From 1.
    pub line: u32,
}

/// A cure for a line or a finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// What it changes.
    pub kind: SuggestionKind,
    /// The launch it was found in: an index among all launches.
    pub launch: usize,
    /// The site it is about: an index into that launch's sites.
    pub site: Option<usize>,
    /// The hot spot it is about, where that is not a site: a branch, a barrier, or an atomic that the edits move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_spot: Option<Place>,
    /// The cure in one sentence.
    pub text: String,
    /// It was applied and run: see the module. `holds` is not [`Holds::Idea`].
    pub verified: bool,
    /// The edits, which belong together; none for a thought.
    pub edits: Vec<Edit>,
    /// What it cost before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Cost>,
    /// What it costs with the edits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Cost>,
    /// The site as it is with the edits, with its worst request: for pictures.
    #[serde(skip)]
    pub after_site: Option<Box<Site>>,
    /// The findings that are gone after the edits: indices into the run's findings.
    pub findings_removed: Vec<usize>,
    /// For which runs it is right.
    pub holds: Holds,
    /// Why that is known: the argument, or the further runs; what speaks against it, of an idea.
    pub because: String,
    /// Further runs, beside the program's, in which it was right.
    pub runs: usize,
}

impl Suggestion {
    /// The cure, and what it is worth where that was counted: `… (4096 transactions become 128)`.
    pub fn sentence(&self) -> String {
        let text = &self.text;
        let (Some(before), Some(after)) = (self.before, self.after) else {
            return text.clone();
        };
        let counts = [
            (
                before.constant_words,
                after.constant_words,
                "words of constant memory",
            ),
            (
                before.shared_atomic_transactions,
                after.shared_atomic_transactions,
                "passes of shared atomics",
            ),
            (
                before.global_atomic_sectors,
                after.global_atomic_sectors,
                "sectors of atomics",
            ),
            (before.barriers, after.barriers, "barriers"),
            (
                before.divergent_branches,
                after.divergent_branches,
                "divergent branches",
            ),
            (
                before.warp_instructions,
                after.warp_instructions,
                "warp instructions",
            ),
            (before.sectors, after.sectors, "sectors"),
            (before.transactions, after.transactions, "transactions"),
        ];
        let change = counts.into_iter().find_map(|(before, after, name)| {
            let (before, after) = (before?, after?);
            (before != after).then(|| format!(" ({before} {name} become {after})"))
        });
        format!("{text}{}", change.unwrap_or_default())
    }
}
