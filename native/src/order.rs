//! The happens-before order of work in streams: launches, copies and fills are work of their stream, and waits order it.
//!
//! Host accesses are not visible here, so a finding is always between two streams. What CUDA leaves open is decided in the program's
//! favour, as in [`runtime::host::order`]. All threads of the host count as one, and the nodes of a graph run one after another.

use std::collections::HashMap;

use interp::{
    AddressKind,
    memory::traffic::{Span, Track},
};
use ir::{HostFn, LocId};
use runtime::host::{
    Note,
    order::{Deed, Order, Scene, Task, unseen_prints},
};

use crate::{
    state::{State, eprintln_all},
    stream::Stream,
};

/// The order, and the stream of the current work.
pub(crate) struct Ordered {
    pub(crate) order: Order,
    /// `None` for a call that returns when all work is done.
    running: Option<Stream>,
    /// The last launch that has printed without a later wait: its kernel, and where it was launched.
    unseen_prints: Option<(String, LocId)>,
}

impl Ordered {
    pub(crate) fn new(on: bool) -> Ordered {
        Ordered {
            order: Order::new(on),
            running: None,
            unseen_prints: None,
        }
    }

    /// The memory for which launches have to record their accesses.
    pub(crate) fn track(&self) -> Track {
        match self.matters() {
            true => Track::Everything,
            false => Track::Nothing,
        }
    }

    /// Whether two streams can conflict. Places are looked up only then.
    fn matters(&self) -> bool {
        self.order.track() == Track::Everything
    }
}

impl State {
    /// Does work of a stream, or of a call that returns when all work is done.
    pub(crate) fn within_stream<T>(
        &mut self,
        stream: Option<Stream>,
        work: impl FnOnce(&mut State) -> T,
    ) -> T {
        let before = std::mem::replace(&mut self.ordered.running, stream);
        let result = work(self);
        self.ordered.running = before;
        result
    }

    /// Records a launch of the entered module.
    pub(crate) fn note_launch(&mut self, name: &str, loc: LocId, prints: bool) {
        // A launch makes the output of earlier ones visible.
        self.ordered.unseen_prints = prints.then(|| (name.to_string(), loc));
        if !self.ordered.matters() {
            return;
        }
        let touched = self.memory.take_touched();
        let index = self.story.outcome.launches.len().checked_sub(1);
        let stream = self.stream_number();
        let order = &mut self.ordered.order;
        let job = order.begin(stream, Task::Kernel(name.to_string()), index, loc);
        order.launched(job, &touched);
        self.report_races();
    }

    /// A call waits, so the output of kernels is visible.
    pub(crate) fn prints_are_seen(&mut self) {
        self.ordered.unseen_prints = None;
    }

    /// At the program's end: the output of its last kernel appears only if something waited for it.
    pub(crate) fn note_unseen_prints(&mut self) {
        if let Some((kernel, loc)) = self.ordered.unseen_prints.take() {
            let line = self.story.join.whole(&[]).loc(loc).line;
            let text = unseen_prints(&kernel, line);
            eprintln_all(&format!("dslc: {text}\n"));
            self.note(Note::new(loc, text, false));
        }
    }

    /// Records a copy.
    pub(crate) fn note_copy(&mut self, to: u64, from: u64, bytes: u64) {
        let function = match self.ordered.running {
            Some(_) => HostFn::CudaMemcpyAsync,
            None => HostFn::CudaMemcpy,
        };
        let reads = self.is_tracked(from).then_some((from, from + bytes));
        let writes = self.is_tracked(to).then_some((to, to + bytes));
        self.note_call(function, reads, writes);
        if self.ordered.running.is_none() {
            self.prints_are_seen();
        }
        // The host waits for a copy to pageable memory.
        match self.ordered.running {
            Some(stream) if !self.is_tracked(to) => {
                self.ordered.order.wait_for_stream(stream.number())
            }
            Some(_) => {}
            None => self.ordered.order.wait_for_stream(Stream::LEGACY.number()),
        }
    }

    /// Records a fill. The host is taken to wait for the synchronous call, because many programs continue in a stream that does not wait.
    pub(crate) fn note_fill(&mut self, address: u64, bytes: u64) {
        let function = match self.ordered.running {
            Some(_) => HostFn::CudaMemsetAsync,
            None => HostFn::CudaMemset,
        };
        self.note_call(function, None, Some((address, address + bytes)));
        if self.ordered.running.is_none() {
            self.ordered.order.wait_for_stream(Stream::LEGACY.number());
        }
    }

    /// Memory exists from a place in a stream on.
    pub(crate) fn note_made(&mut self, address: u64, bytes: u64, stream: Stream) {
        self.within_stream(Some(stream), |state| {
            let span = (address, address + bytes);
            state.note_call(HostFn::CudaMallocAsync, None, Some(span));
        });
    }

    /// Memory exists up to a place in a stream; to be called before it is freed.
    pub(crate) fn note_freed(&mut self, address: u64, stream: Stream) {
        let Some(bytes) = self.memory.allocation_bytes(address) else {
            return;
        };
        if self.ordered.matters() {
            let loc = self.place_of_current_call();
            let order = &mut self.ordered.order;
            let task = Task::Call(HostFn::CudaFreeAsync);
            let job = order.begin(stream.number(), task, None, loc);
            order.find_conflicts(job, Deed::Write, &[(address, address + bytes)]);
            self.report_races();
        }
    }

    fn note_call(&mut self, function: HostFn, reads: Option<Span>, writes: Option<Span>) {
        if !self.ordered.matters() {
            return;
        }
        let loc = self.place_of_current_call();
        let stream = self.stream_number();
        let order = &mut self.ordered.order;
        let job = order.begin(stream, Task::Call(function), None, loc);
        for (span, deed) in [(reads, Deed::Read), (writes, Deed::Write)] {
            if let Some(span) = span {
                order.touch(job, deed, &[span]);
            }
        }
        self.report_races();
    }

    fn stream_number(&self) -> u64 {
        self.ordered.running.map_or(0, Stream::number)
    }

    /// Whether kernels can access an address.
    fn is_tracked(&self, address: u64) -> bool {
        matches!(
            self.memory.kind_of(address),
            AddressKind::Device | AddressKind::Constant | AddressKind::Managed
        )
    }

    fn report_races(&mut self) {
        let found = self.ordered.order.take_found();
        if found.is_empty() {
            return;
        }
        let module = self.story.join.whole(&[]);
        for conflict in found {
            let scene = Scene {
                order: &self.ordered.order,
                memory: &self.memory,
                module: &module,
                names: &HashMap::new(),
            };
            let race = scene.finding(&conflict);
            self.story.outcome.add_race(race);
        }
    }
}
