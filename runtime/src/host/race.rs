//! The runtime's calls as work in streams, and what of it nothing orders, in words. [`super::order`] knows what orders what.

use dsl::diagnostic::Code;
use dsl::ir::{FuncId, HostFn, LocId};
use interp::finding::RACE;
use interp::memory::traffic::HostAccess;
use interp::{AddressKind, FindingKind, FindingOp, Severity};

use super::order::{Conflict, Deed, Job, Second, Task, Work};
use super::{Host, HostFinding, HostSide};

impl Host<'_> {
    /// After the host ran: what it touched meanwhile.
    pub(super) fn host_ran(&mut self) {
        if !self.memory.watches_host() {
            return;
        }
        for access in self.memory.take_host_accesses() {
            self.order.host(&access);
        }
        self.report_races();
    }

    /// Before the host goes on: whether it has to be watched.
    pub(super) fn watch_host(&mut self) {
        let busy =
            self.order.is_busy() && self.state.pending.is_none() && self.state.sticky.is_none();
        self.memory.watch_host(busy);
        self.memory.track(self.order.track());
    }

    /// A function of C's library touches memory for the host.
    pub(super) fn note_host(&mut self, address: u64, bytes: u64, writes: bool, loc: LocId) {
        self.memory.note_host(HostAccess {
            span: (address, address.saturating_add(bytes)),
            writes,
            looks: false,
            loc,
        });
    }

    /// A launch has run.
    pub(super) fn ran(&mut self, stream: u64, kernel: FuncId, loc: LocId) {
        if !self.order.on {
            return;
        }
        let touched = self.memory.take_touched();
        let task = Task::Kernel(self.program.module().function(kernel).name.clone());
        let index = self.outcome.launches.len().checked_sub(1);
        let job = self.order.begin(stream, task, index, loc);
        self.order.launched(job, &touched);
        self.report_races();
    }

    /// Whether kernels can reach it.
    fn is_shared(&self, address: u64) -> bool {
        matches!(
            self.memory.kind_of(address),
            AddressKind::Device | AddressKind::Constant | AddressKind::Managed
        )
    }

    /// Memory is there from a place in a stream on.
    pub(super) fn made_in_stream(&mut self, address: u64, bytes: u64, stream: u64, loc: LocId) {
        if self.order.on {
            let task = Task::Call(HostFn::CudaMallocAsync);
            let job = self.order.begin(stream, task, None, loc);
            let span = (address, address + bytes);
            self.order.touch(job, Deed::Write, &[span]);
        }
    }

    /// Memory is there up to a place in a stream; to be called before it is freed.
    pub(super) fn freed_in_stream(&mut self, address: u64, stream: u64, loc: LocId) {
        let bytes = self.memory.allocation_bytes(address);
        if let (true, Some(bytes)) = (self.order.on, bytes) {
            let task = Task::Call(HostFn::CudaFreeAsync);
            let job = self.order.begin(stream, task, None, loc);
            let span = (address, address + bytes);
            self.order.find_conflicts(job, Deed::Write, &[span]);
            self.report_races();
        }
    }

    /// Bytes were copied; `stream`: of a copy that the host need not wait for.
    pub(super) fn copied(
        &mut self,
        function: HostFn,
        (to, from): (u64, u64),
        bytes: u64,
        stream: Option<u64>,
        loc: LocId,
    ) {
        if !self.order.on {
            return;
        }
        let job = self
            .order
            .begin(stream.unwrap_or(0), Task::Call(function), None, loc);
        for (address, deed) in [(from, Deed::Read), (to, Deed::Write)] {
            if self.is_shared(address) {
                self.order.touch(job, deed, &[(address, address + bytes)]);
            }
        }
        self.report_races();
        let reaches_host = self.memory.kind_of(to) == AddressKind::Host;
        match stream {
            Some(stream) if reaches_host => self.order.wait_for_stream(stream),
            Some(_) => {}
            None => self.order.wait_for_stream(0),
        }
    }

    /// Bytes were set; `stream` as above.
    pub(super) fn filled(&mut self, address: u64, bytes: u64, stream: Option<u64>, loc: LocId) {
        if !self.order.on {
            return;
        }
        let function = match stream {
            Some(_) => HostFn::CudaMemsetAsync,
            None => HostFn::CudaMemset,
        };
        let job = self
            .order
            .begin(stream.unwrap_or(0), Task::Call(function), None, loc);
        let span = [(address, address + bytes)];
        match stream {
            Some(_) => self.order.touch(job, Deed::Write, &span),
            None => self.order.find_conflicts(job, Deed::Write, &span),
        }
        self.report_races();
        if stream.is_none() && self.memory.kind_of(address) == AddressKind::Managed {
            self.order.wait_for_stream(0);
        }
    }

    /// Puts what was found into words.
    fn report_races(&mut self) {
        for conflict in self.order.take_found() {
            let race = self.word(&conflict);
            let places = |race: &HostFinding| [race.sides[0].loc, race.sides[1].loc];
            let mut known = self.outcome.findings.iter_mut();
            match known.find(|known| places(known) == places(&race)) {
                Some(known) => known.count += 1,
                None => self.outcome.findings.push(race),
            }
        }
    }

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
        self.program.module().loc(loc).line
    }

    fn word(&self, conflict: &Conflict) -> HostFinding {
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

    /// The host's access to `name`, which `earlier` may still use: what it does, its side, and the advice.
    fn describe_host(
        &self,
        earlier: &Work,
        loc: LocId,
        deed: Deed,
        name: &str,
    ) -> (String, HostSide, String) {
        let verb = verb(deed);
        let text = &self.program.module().loc(loc).text;
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

    /// The same of work in another stream.
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
