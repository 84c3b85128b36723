//! What a run tells its caller: output as it happens, and in the end what ran, what went wrong and what was found.

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
    /// Bytes of the device that the host can see from now on: [`Io::wants_arrivals`] asks for them.
    fn arrived(&mut self, _arrival: &Arrival<'_>) {}
    /// Device memory was given out.
    fn allocated(&mut self, _address: u64, _bytes: u64) {}
    /// Whether [`Io::arrived`] is to be called.
    fn wants_arrivals(&self) -> bool {
        false
    }
}

/// Bytes that came from the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival<'a> {
    /// The call that brought them.
    pub loc: LocId,
    /// `cudaMemcpy`, `cudaMemcpyFromSymbol`, `managed memory`.
    pub how: &'static str,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// Something the user should know, with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The call it is about.
    pub loc: LocId,
    /// One sentence.
    pub text: String,
    /// It makes the program wrong: a refused launch, a failed copy.
    pub is_error: bool,
    /// The call was given memory that is not there, or is the other side's: a finding.
    pub fault: Option<TrapKind>,
    /// One sentence: what to do.
    pub advice: Option<String>,
}

impl Note {
    /// One that is about no fault and gives no advice.
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
    /// The host made an access that is not allowed, which was skipped.
    Skipped(Box<Trap>),
    /// A kernel faulted on a real device.
    Device(Box<DeviceFault>),
}

/// Something that was found of the host program: accesses that nothing orders, unwritten values, memory that was never freed.
#[derive(Clone, PartialEq, Debug)]
pub struct HostFinding {
    /// For `dslc explain`.
    pub code: Code,
    /// The class.
    pub kind: FindingKind,
    /// Severity.
    pub severity: Severity,
    /// Index into [`Outcome::launches`] of the launch that makes it with the host or another launch.
    pub launch: Option<usize>,
    /// One sentence: what happened.
    pub message: String,
    /// One sentence: what to do.
    pub advice: Option<String>,
    /// The memory or variable, and the element.
    pub object: Option<(String, String)>,
    /// The places that make it.
    pub sides: Vec<HostSide>,
    /// Other places that have to do with it.
    pub others: Vec<(LocId, String)>,
    /// How often.
    pub count: u64,
}

/// One place of a [`HostFinding`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HostSide {
    /// What the host does there.
    pub op: FindingOp,
    /// Where it stands.
    pub loc: LocId,
}

/// How a program ended.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// What `main` returned or `exit` was given; as a shell would show it 134 for `abort`, 139 for a fault of the host, 130, 143 or 124 for
    /// one that was asked to stop, and 152 (too much CPU time) for a run that takes more than its [`Budget`](crate::Budget).
    pub exit_code: i32,
    /// The launches that ran, in order; of a faulting launch, the counts up to the fault.
    pub launches: Launches,
    /// What went wrong at run time.
    pub faults: Vec<Fault>,
    /// What was said on the way.
    pub notes: Vec<Note>,
    /// What was found of the host.
    pub findings: Vec<HostFinding>,
    /// Milliseconds of each launch on a device with a clock; `None` for one whose time is not known. Empty on the simulator.
    pub times_ms: Vec<Option<f64>>,
}

impl Outcome {
    /// Adds what two pieces of work do that nothing orders; the same places again only count.
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
