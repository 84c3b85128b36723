//! Describes missing results of counted launches: which launch did not compute them, and why it does not run.

use ir::LocId;
use thiserror::Error;

use super::InFull;
use crate::launch::report::LaunchFailure;

/// Why a launch under `--count-only` failed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CountingError {
    /// The launch itself failed.
    #[error("{0}")]
    Failed(LaunchFailure),
    /// The launch needs results that were not computed.
    #[error("{0}")]
    NotComputed(NotComputed),
}

/// A launch that can neither be counted nor run, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the kernel `{kernel}` needs what a launch that was only counted did not compute")]
pub struct NotComputed {
    /// The launch's kernel.
    pub kernel: String,
    /// The launch statement.
    pub at: LocId,
    /// Why it is not counted; `None`: its counts depend on results that were not computed.
    pub why: Option<InFull>,
    /// The statement of the launch that was only counted and whose results are needed.
    pub needed_at: LocId,
    /// Why that launch cannot run any more.
    pub changed: Changed,
}

/// What prevents a counted launch from running later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// A copy, `cudaMemset` or similar changed memory that the launch reads or writes.
    Overwritten,
    /// Memory was freed.
    Freed,
    /// Managed memory, which the host may change at any time.
    Managed,
    /// The launch belongs to another program, which shares the memory.
    Elsewhere,
    /// Missing results were copied elsewhere in the meantime.
    PassedOn,
    /// It ran but did not finish: it was stopped, or the instruction limit is too low.
    Unfinished,
}

/// Bytes that a launch should have computed, and why they are missing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", self.text())]
pub struct Uncomputed {
    /// The launch's kernel, file and line; `None` if the bytes are a copy of missing results.
    pub launch: Option<(String, String, u32)>,
    /// Why the launch does not run now.
    pub why: Missing,
}

/// Why a counted launch does not run when its results are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// It cannot run any more.
    Changed(Changed),
    /// It would execute this many warp instructions, together with the launches that it needs.
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
    /// The reason in words, for a launch that cannot run any more.
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
