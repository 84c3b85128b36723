//! Reports the runtime's calls as work in streams to [`super::order`], which finds conflicts.

use interp::AddressKind;
use interp::memory::traffic::HostAccess;
use ir::{FuncId, HostFn, LocId};

use super::Host;
use super::order::{Deed, Scene, Task};

impl Host<'_> {
    /// Records the accesses of the host since the last call.
    pub(super) fn host_ran(&mut self) {
        if !self.memory.watches_host() {
            return;
        }
        for access in self.memory.take_host_accesses() {
            self.order.host(&access);
        }
        self.report_races();
    }

    /// Before the host continues: decides whether it has to be watched.
    pub(super) fn watch_host(&mut self) {
        let busy =
            self.order.is_busy() && self.state.pending.is_none() && self.state.sticky.is_none();
        self.memory.watch_host(busy);
        self.memory.track(self.order.track());
    }

    /// Records an access of a C library function for the host.
    pub(super) fn note_host(&mut self, address: u64, bytes: u64, writes: bool, loc: LocId) {
        self.memory.note_host(HostAccess {
            span: (address, address.saturating_add(bytes)),
            writes,
            looks: false,
            loc,
        });
    }

    /// Records a launch that has run.
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

    /// Whether kernels can access an address.
    fn is_shared(&self, address: u64) -> bool {
        matches!(
            self.memory.kind_of(address),
            AddressKind::Device | AddressKind::Constant | AddressKind::Managed
        )
    }

    /// Memory exists from a place in a stream on.
    pub(super) fn made_in_stream(&mut self, address: u64, bytes: u64, stream: u64, loc: LocId) {
        if self.order.on {
            let task = Task::Call(HostFn::CudaMallocAsync);
            let job = self.order.begin(stream, task, None, loc);
            let span = (address, address + bytes);
            self.order.touch(job, Deed::Write, &[span]);
        }
    }

    /// Memory exists up to a place in a stream; to be called before it is freed.
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

    /// Records a copy; `stream` is set for a copy that the host need not wait for.
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

    /// Records a fill; `stream` as above.
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

    /// Reports the conflicts in words.
    fn report_races(&mut self) {
        for conflict in self.order.take_found() {
            let scene = Scene {
                order: &self.order,
                memory: &self.memory,
                module: self.program.module(),
                names: &self.names,
            };
            self.outcome.add_race(scene.finding(&conflict));
        }
    }
}
