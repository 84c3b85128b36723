//! Suggestions: what would cure a finding or a line that wastes, and the edits for it.
//!
//! A suggestion with `verified` set was applied to the source, compiled and run again. Its numbers are counts of that run, its output was
//! the same byte for byte, and the findings it names were gone. [`Holds`] says for which further runs it is right. Any other suggestion is
//! an idea and has no numbers.

use interp::Site;
use serde::Serialize;

/// What a suggestion changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SuggestionKind {
    /// The rows of a shared array are widened.
    Pad,
    /// A one-dimensional shared array gets an unused element after every 32, so its indices change.
    #[serde(rename = "index")]
    Spread,
    /// The columns of a shared array are permuted by row: `tile[row][col ^ row]`.
    Swizzle,
    /// The elements of an array are reordered: a struct of arrays for an array of structs.
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
    /// Values that lanes would add one by one are summed in the warp first.
    Aggregate,
    /// A variable moves to another kind of memory.
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
    /// For all sizes and data: shown by an argument over the IR.
    Proved,
    /// For this run and some further ones, with other sizes and data.
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
    /// The column after the last replaced character, from 1; `column` for an insertion.
    pub end_column: u32,
    /// The replacement.
    pub text: String,
}

/// The cost of the accesses that a suggestion is about. Without a site, it is the cost of the launch, as in that launch's metrics.
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
    /// The kind of waste, as a hot spot names it.
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
    /// The launch it was found in: an index into all launches.
    pub launch: usize,
    /// The site it is about: an index into that launch's sites.
    pub site: Option<usize>,
    /// The hot spot it is about, if that is not a site: a branch, a barrier, or an atomic that the edits move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_spot: Option<Place>,
    /// The cure in one sentence.
    pub text: String,
    /// Whether it was applied and run: see the module. If so, `holds` is not [`Holds::Idea`].
    pub verified: bool,
    /// The edits, which belong together; empty for an idea without edits.
    pub edits: Vec<Edit>,
    /// The cost before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Cost>,
    /// The cost with the edits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Cost>,
    /// What the launch costs as compiled, before and with the edits, in the same measure; `None` if that was not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiled: Option<(u64, u64)>,
    /// The site with the edits applied, with its worst request: for pictures.
    #[serde(skip)]
    pub after_site: Option<Box<Site>>,
    /// The findings that the edits remove: indices into the run's findings.
    pub findings_removed: Vec<usize>,
    /// For which runs it is right.
    pub holds: Holds,
    /// The reason: the argument, or the further runs. For an idea, what speaks against it.
    pub because: String,
    /// The number of further runs, besides the program's, in which it was right.
    pub runs: usize,
}

impl Suggestion {
    /// The cure, and its effect if that was counted: `… (4096 transactions become 128)`.
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
            (before != after).then(|| {
                // It is told where the compiler leaves another saving.
                let saved = before.abs_diff(after);
                let compiled = self.compiled.filter(|(a, b)| a.abs_diff(*b) != saved);
                let compiled = compiled.map_or(String::new(), |(before, after)| {
                    format!("; of the launch as compiled, {before} become {after}")
                });
                format!(" ({before} {name} become {after}{compiled})")
            })
        });
        format!("{text}{}", change.unwrap_or_default())
    }
}
