//! What a run reports to its caller: output while it happens, and at the end what ran, what went wrong and what was found.

use interp::{FindingKind, FindingOp, InvalidLaunch, Severity, StopReason, Trap, TrapKind};
use ir::{FuncId, LocId, diagnostic::Code};

use crate::{device::DeviceFault, launches::Launches};

/// Receives what a program prints, and remarks about its calls as they are made.
pub trait Io {
    /// Bytes the program (host or device) printed.
    fn stdout(&mut self, bytes: &[u8]);
    /// Bytes the program printed to `stderr`.
    fn stderr(&mut self, bytes: &[u8]);
    /// Something the user should know.
    fn note(&mut self, note: &Note);
    /// Device bytes that the host can see from now on. Called only if [`Io::wants_arrivals`] returns `true`.
    fn arrived(&mut self, _arrival: &Arrival<'_>) {}
    /// Device memory was allocated.
    fn allocated(&mut self, _address: u64, _bytes: u64) {}
    /// Whether to call [`Io::arrived`].
    fn wants_arrivals(&self) -> bool {
        false
    }
}

/// Bytes that arrived from the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival<'a> {
    /// The call that copied them.
    pub loc: LocId,
    /// `cudaMemcpy`, `cudaMemcpyFromSymbol`, `managed memory`.
    pub how: &'static str,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// Something the user should know, with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The call that it is about.
    pub loc: LocId,
    /// One sentence.
    pub text: String,
    /// Whether it makes the program wrong: a refused launch, a failed copy.
    pub is_error: bool,
    /// The fault of a call with memory that does not exist, or that belongs to the other side: such a note is a finding.
    pub fault: Option<TrapKind>,
    /// What to do, in one sentence.
    pub advice: Option<String>,
}

impl Note {
    /// A note without a fault and without advice.
    pub fn new(loc: LocId, text: impl Into<String>, is_error: bool) -> Note {
        Note {
            loc,
            text: text.into(),
            is_error,
            fault: None,
            advice: None,
        }
    }
}

/// A launch that did not run to its end.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    /// CUDA would refuse it.
    Invalid {
        /// The kernel.
        kernel: FuncId,
        /// The launch statement.
        loc: LocId,
        /// The limit it breaks.
        why: InvalidLaunch,
    },
    /// A thread did something that ends the program.
    Trap {
        /// Index into [`Outcome::launches`]; `None` on the host.
        launch: Option<usize>,
        /// What.
        trap: Box<Trap>,
    },
    /// The host made an access that is not allowed; it was skipped.
    Skipped(Box<Trap>),
    /// A kernel faulted on a real device.
    Device(Box<DeviceFault>),
}

/// A finding about the host program: a race, a read of uninitialised memory, or memory that was never freed.
#[derive(Clone, PartialEq, Debug)]
pub struct HostFinding {
    /// The code for `dslc explain`.
    pub code: Code,
    /// The kind of finding.
    pub kind: FindingKind,
    /// Severity.
    pub severity: Severity,
    /// Index into [`Outcome::launches`] of the launch that conflicts with the host or another launch.
    pub launch: Option<usize>,
    /// What happened, in one sentence.
    pub message: String,
    /// What to do, in one sentence.
    pub advice: Option<String>,
    /// The memory or variable, and the element.
    pub object: Option<(String, String)>,
    /// The places that cause it.
    pub sides: Vec<HostSide>,
    /// Related places.
    pub others: Vec<(LocId, String)>,
    /// How often it occurred.
    pub count: u64,
}

/// One place of a [`HostFinding`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HostSide {
    /// The host's operation.
    pub op: FindingOp,
    /// Its place.
    pub loc: LocId,
}

/// How a program ended.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// The value that `main` returned or passed to `exit`. As in a shell, it is 134 for `abort`, 139 for a fault of the host, 130, 143 or
    /// 124 for a program that was asked to stop, and 152 (too much CPU time) for a run that exceeds its [`Budget`](crate::Budget).
    pub exit_code: i32,
    /// The launches that ran, in order; for a faulting launch, the counts up to the fault.
    pub launches: Launches,
    /// What went wrong at run time.
    pub faults: Vec<Fault>,
    /// Notes made during the run.
    pub notes: Vec<Note>,
    /// Findings about the host.
    pub findings: Vec<HostFinding>,
    /// Milliseconds of each launch on a device with a clock; `None` if the time is unknown. Empty on the simulator.
    pub times_ms: Vec<Option<f64>>,
}

impl Outcome {
    /// Adds a race of the host or between launches; a race at the same places only increases the count.
    pub fn add_race(&mut self, race: HostFinding) {
        let places =
            |race: &HostFinding| race.sides.iter().map(|side| side.loc).collect::<Vec<_>>();
        let mut known = self.findings.iter_mut();
        match known.find(|known| places(known) == places(&race)) {
            Some(known) => known.count += 1,
            None => self.findings.push(race),
        }
    }

    /// Why it was stopped from outside, if it was.
    pub fn stopped(&self) -> Option<StopReason> {
        let fault = self.faults.last()?;
        match fault {
            Fault::Trap { trap, .. } => match trap.kind {
                TrapKind::Stopped(why) => Some(why),
                _ => None,
            },
            Fault::Invalid { .. } | Fault::Skipped(_) | Fault::Device(_) => None,
        }
    }
}
