//! Describes conflicts in words.

use std::collections::HashMap;

use interp::finding::RACE;
use interp::{FindingKind, FindingOp, Memory, Severity};
use ir::diagnostic::Code;
use ir::{HostFn, LocId, Module};

use super::{Conflict, Deed, Job, Order, Second, Task, Work};
use crate::host::{HostFinding, HostSide};

/// What the descriptions refer to.
pub struct Scene<'a> {
    /// The work of a conflict.
    pub order: &'a Order,
    /// The objects at addresses.
    pub memory: &'a Memory,
    /// Lines and texts of the places.
    pub module: &'a Module,
    /// Functions that a program calls by another name than the runtime's, by the place of the call.
    pub names: &'a HashMap<LocId, &'static str>,
}

impl Scene<'_> {
    /// `scale, launched at line 20,`; `the cudaMemcpyAsync of line 21`.
    fn who(&self, job: Job) -> String {
        let work = self.order.work(job);
        let line = self.line(work.loc);
        match &work.task {
            Task::Kernel(name) => format!("kernel `{name}`, launched at line {line},"),
            Task::Call(function) => {
                let name = self.names.get(&work.loc).copied();
                format!("the {} at line {line}", name.unwrap_or(function.text()))
            }
        }
    }

    fn line(&self, loc: LocId) -> u32 {
        self.module.loc(loc).line
    }

    /// The finding for a conflict.
    pub fn finding(&self, conflict: &Conflict) -> HostFinding {
        let (first, first_deed) = conflict.first;
        let (second, second_deed) = conflict.second;
        let earlier = self.order.work(first);
        let may = match first_deed {
            _ if earlier.task == Task::Call(HostFn::CudaMallocAsync) => {
                "may not have allocated it yet"
            }
            Deed::Read => "may still be reading it",
            Deed::Write | Deed::Update => "may still be writing it",
        };
        let object = self.memory.describe(conflict.address);
        let name = match &object {
            Some((name, Some(element))) => format!("element {element} of {name}"),
            Some((name, None)) => name.clone(),
            None => "memory".to_owned(),
        };
        let (who, later, advice) = match second {
            Second::Host(loc) => self.describe_host(earlier, loc, second_deed, &name),
            Second::Job(job) => self.describe_job(earlier, job, second_deed, &name),
        };
        HostFinding {
            code: Code::DataRace,
            kind: FindingKind::Race,
            severity: Severity::Error,
            launch: earlier.launch,
            message: format!("{RACE}{who} while {} {may}", self.who(first)),
            advice: Some(advice),
            object: object.map(|(name, element)| {
                let element = element.map_or(String::new(), |element| format!("[{element}]"));
                (name, element)
            }),
            sides: vec![side(earlier), later],
            others: Vec::new(),
            count: 1,
        }
    }

    /// The host's access to `name`, which `earlier` may still use: its description, its side, and the advice.
    fn describe_host(
        &self,
        earlier: &Work,
        loc: LocId,
        deed: Deed,
        name: &str,
    ) -> (String, HostSide, String) {
        let verb = verb(deed);
        let text = &self.module.loc(loc).text;
        let subject = match text.is_empty() {
            true => format!("the host {verb} {name}"),
            false => format!("the host {verb} `{text}` ({name})"),
        };
        let op = match deed {
            Deed::Read => FindingOp::Read,
            Deed::Write | Deed::Update => FindingOp::Write,
        };
        let (what, wait, why) = match earlier.launch {
            Some(_) => (
                "launch",
                "`cudaDeviceSynchronize()`",
                "a launch returns at once, and the host continues while the kernel runs",
            ),
            None => (
                match &earlier.task {
                    Task::Call(function) if function.is_copy() => "copy",
                    Task::Call(_) | Task::Kernel(_) => "call",
                },
                "`cudaStreamSynchronize` of its stream, or `cudaDeviceSynchronize()`,",
                "an asynchronous call returns at once, and the host continues while it runs",
            ),
        };
        let (line, here) = (self.line(earlier.loc), self.line(loc));
        let advice = format!(
            "call {wait} after the {what} at line {line}, before line {here} {verb} it: {why}"
        );
        (subject, HostSide { op, loc }, advice)
    }

    /// The same for work in another stream.
    fn describe_job(
        &self,
        earlier: &Work,
        job: Job,
        deed: Deed,
        name: &str,
    ) -> (String, HostSide, String) {
        let later = self.order.work(job);
        let verb = match deed {
            Deed::Write if later.task == Task::Call(HostFn::CudaFreeAsync) => "frees",
            deed => verb(deed),
        };
        let (line, here) = (self.line(earlier.loc), self.line(later.loc));
        let advice = format!(
            "nothing orders the two streams: call `cudaEventRecord` after line {line} and let the other stream wait for that event \
             with `cudaStreamWaitEvent` before line {here}, or use one stream"
        );
        (
            format!("{} {verb} {name}", self.who(job)),
            side(later),
            advice,
        )
    }
}

/// The note that a program ends without waiting for a kernel that prints, launched at `line`.
pub fn unseen_prints(kernel: &str, line: u32) -> String {
    format!(
        "`{kernel}` prints, and the program ends without waiting for it: on a GPU these lines may be missing; call \
         `cudaDeviceSynchronize()` after line {line}"
    )
}

fn verb(deed: Deed) -> &'static str {
    match deed {
        Deed::Read => "reads",
        Deed::Write => "writes",
        Deed::Update => "updates",
    }
}

fn side(work: &Work) -> HostSide {
    let op = match work.launch {
        Some(_) => FindingOp::Launch,
        None => FindingOp::Call,
    };
    HostSide { op, loc: work.loc }
}
