//! What counted launches did not compute, where somebody needs it: which launch, and why it does not run.

use ir::LocId;
use thiserror::Error;

use super::InFull;
use crate::launch::report::LaunchFailure;

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
    /// It was run, and did not end: it was stopped, or the limit of instructions is lower than what it takes.
    Unfinished,
}

/// Bytes that a launch was to compute, and why they are not there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", self.text())]
pub struct Uncomputed {
    /// The kernel of the launch, and its file and line; `None` if they are a copy of what it was to compute.
    pub launch: Option<(String, String, u32)>,
    /// Why it does not run now.
    pub why: Missing,
}

/// Why a counted launch does not run when its results are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// It cannot run any more.
    Changed(Changed),
    /// It would take so many warp instructions, with the launches that it needs.
    Long(u64),
}

impl Uncomputed {
    /// What is missing and why: `a result of the launch of `k` at a.cu:7, which was only counted: …`.
    pub fn text(&self) -> String {
        let launch = match &self.launch {
            None => "an earlier launch".to_owned(),
            Some((kernel, _, 0)) => format!("a launch of `{kernel}`"),
            Some((kernel, file, line)) => format!("the launch of `{kernel}` at {file}:{line}"),
        };
        let why = match self.why {
            Missing::Long(instructions) => {
                format!("computing it would take {instructions} warp instructions")
            }
            Missing::Changed(changed) => changed.text().to_owned(),
        };
        format!("a result of {launch}, which was only counted: {why}")
    }
}

impl Changed {
    /// In words, of a launch that cannot run any more.
    pub fn text(self) -> &'static str {
        match self {
            Changed::Overwritten => {
                "that one cannot run any more, for the program has written to its memory since"
            }
            Changed::Freed => {
                "that one cannot run any more, for the program has freed its memory since"
            }
            Changed::Managed => {
                "that one cannot run later, for the host may have changed its managed memory since"
            }
            Changed::Elsewhere => "that one belongs to another program",
            Changed::PassedOn => "the program has copied that elsewhere since",
            Changed::Unfinished => "that one did not end when it was run",
        }
    }
}
