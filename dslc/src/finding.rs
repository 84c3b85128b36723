//! Findings of the checks, as values.

use interp::Severity;
use ir::Module;
use report::findings::{Found, Side};

/// An error in a kernel, or in a launch.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    code: &'static str,
    kind: &'static str,
    severity: Severity,
    message: String,
    advice: Option<String>,
    accesses: Vec<Access>,
    count: u64,
}

/// One of the accesses of a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// `read`, `write`, `load` …
    pub op: String,
    /// The source file.
    pub file: String,
    /// From 1; 0 if there is no place.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The source text, if it is known.
    pub text: String,
    /// The block's index.
    pub block: [u32; 3],
    /// The thread's index in its block.
    pub thread: [u32; 3],
}

impl Finding {
    pub(crate) fn new(found: &Found, module: &Module) -> Finding {
        let access = |side: &Side| {
            let loc = module.loc(side.loc);
            let file = module.files.get(loc.file as usize);
            Access {
                op: side.op.to_string(),
                file: file.filter(|_| loc.line > 0).cloned().unwrap_or_default(),
                line: loc.line,
                column: loc.column,
                text: loc.text.clone(),
                block: side.block,
                thread: side.thread,
            }
        };
        Finding {
            code: found.code.number(),
            kind: found.kind,
            severity: found.severity,
            message: found.message.clone(),
            advice: found
                .advice
                .as_ref()
                .map(|advice| advice.text().to_string()),
            accesses: found.sides.iter().map(access).collect(),
            count: found.occurrences.count,
        }
    }

    /// The code to pass to `dslc explain`: `R0205`.
    pub fn code(&self) -> &str {
        self.code
    }

    /// Its kind, as in the JSON report: `race`, `uninitialized`, `out_of_bounds`, `barrier_divergence`, `misaligned`, `null_pointer`,
    /// `use_after_free`, `invalid_launch`, `invalid_mask`, `deadlock`, `division_by_zero`, `assertion`, `arithmetic`, `warp_synchronous`,
    /// `schedule_dependent`, `leak`.
    pub fn kind(&self) -> &str {
        self.kind
    }

    /// Severity.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// What is wrong, in one sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// One thing to try.
    pub fn advice(&self) -> Option<&str> {
        self.advice.as_deref()
    }

    /// Its accesses, in the order in which they were found.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// The source line of the first access; 0 if there is none.
    pub fn line(&self) -> u32 {
        self.accesses.first().map_or(0, |access| access.line)
    }

    /// How often it happened.
    pub fn count(&self) -> u64 {
        self.count
    }
}
