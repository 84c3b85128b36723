//! The observer of a machine with weak memory.

use ir::{FenceScope, LocId};

use crate::count::stats::Charge;
use crate::fault::finding::Finding;
use crate::isa::bytecode::{Code, Inst, MemSite, Place as Register, RoutineCall};
use crate::isa::registers::View;
use crate::memory::defined::Defined;
use crate::memory::traffic::Touch;
use crate::observe::counters::Counters;
use crate::observe::trace::Event;
use crate::observe::{Access, Arrival, Frame, Like, Observer, Scene};
use crate::views::Views;

/// An observer of a machine with weak memory: it keeps the threads' views, and forwards all events.
pub(crate) struct Seeing<O> {
    inner: O,
    views: Views,
}

impl<O> Seeing<O> {
    pub(crate) fn new(inner: O, views: Views) -> Seeing<O> {
        Seeing { inner, views }
    }
}

impl<O: Observer> Observer for Seeing<O> {
    fn views(&mut self) -> Option<&mut Views> {
        Some(&mut self.views)
    }
    fn begin_block(&mut self, index: u64) {
        self.views.begin_block(index);
        self.inner.begin_block(index);
    }
    fn end_block(&mut self) {
        self.views.end_block();
        self.inner.end_block();
    }
    const RISKY: [bool; 1024] = O::RISKY;
    fn risks(&self, pc: usize) -> bool {
        self.inner.risks(pc)
    }
    fn follows(&self) -> bool {
        self.inner.follows()
    }
    fn before(&mut self, r: View, inst: &Inst, mask: u32, pc: usize) {
        self.inner.before(r, inst, mask, pc);
    }
    fn stored(&self) -> Vec<(u64, Defined)> {
        self.inner.stored()
    }
    fn touched(&self) -> Vec<(u64, Touch)> {
        self.inner.touched()
    }
    fn begin_warp(&mut self, number: u32, place: usize) {
        self.views.begin_warp(number, place);
        self.inner.begin_warp(number, place);
    }
    fn part(&mut self, place: usize, to: usize) {
        self.inner.part(place, to);
    }
    fn join(&mut self, place: usize, other: usize, lanes: u32) {
        self.inner.join(place, other, lanes);
    }
    const IS_QUICK: bool = false;
    const SEES_REPEATS: bool = O::SEES_REPEATS;
    fn window(&mut self, access: &Access<'_>, offsets: &[u32; 32]) -> Charge {
        self.inner.window(access, offsets)
    }
    fn global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) -> Charge {
        self.inner.global(access, addresses)
    }
    fn repeat_window(&mut self, access: &Access<'_>, like: &Like<'_>) {
        self.inner.repeat_window(access, like);
    }
    fn repeat_global(&mut self, access: &Access<'_>, like: &Like<'_>) {
        self.inner.repeat_global(access, like);
    }
    fn counters(&self) -> &Counters {
        self.inner.counters()
    }
    fn repeats(&mut self, site: &MemSite, charge: Charge, requests: u64, lanes: u64) {
        self.inner.repeats(site, charge, requests, lanes);
    }
    fn sync_warp(&mut self, mask: u32, named: &[u32; 32], alive: u32, loc: LocId) {
        self.views.sync_warp(mask, named);
        self.inner.sync_warp(mask, named, alive, loc);
    }
    fn exchange(&mut self, mask: u32, named: &[u32; 32], alive: u32) {
        self.inner.exchange(mask, named, alive);
    }
    fn stray_shuffle(&mut self, strays: u32, result: Register, loc: LocId) {
        self.inner.stray_shuffle(strays, result, loc);
    }
    fn arrive(&mut self, barrier: u32, mask: u32) {
        self.views.arrive(barrier, mask);
        self.inner.arrive(barrier, mask);
    }
    fn pass(&mut self, barrier: u32, warp: u32, mask: u32) {
        self.views.pass(barrier, warp, mask);
        self.inner.pass(barrier, warp, mask);
    }
    fn opened(&mut self, barrier: u32) {
        self.views.opened(barrier);
        self.inner.opened(barrier);
    }
    fn fence(&mut self, mask: u32, scope: FenceScope, is_sc: bool) {
        self.views.fence(mask, scope, is_sc);
        self.inner.fence(mask, scope, is_sc);
    }
    fn lifetime(&mut self, mask: u32, bytes: (u32, u32), begins: bool) {
        self.inner.lifetime(mask, bytes, begins);
    }
    fn enter(&mut self, code: &Code, call: &RoutineCall, mask: u32, frame: Frame) {
        self.inner.enter(code, call, mask, frame);
    }
    fn leave(&mut self, code: &Code, call: &RoutineCall) {
        self.inner.leave(code, call);
    }
    fn allocated(&mut self, address: u64, bytes: u64) {
        self.views.allocated(address, bytes);
        self.inner.allocated(address, bytes);
    }
    fn uneven_barrier(&mut self, meeting: &[Arrival]) {
        self.inner.uneven_barrier(meeting);
    }
    fn barrier(&mut self) {
        self.views.barrier();
        self.inner.barrier();
    }
    fn absorb(&mut self, other: &Self) {
        self.inner.absorb(&other.inner);
    }
    fn needs_order(&self) -> bool {
        self.inner.needs_order()
    }
    fn findings(&self, scene: &Scene<'_>) -> Vec<Finding> {
        self.inner.findings(scene)
    }

    fn forgets(&self) -> bool {
        self.inner.forgets()
    }
    fn trace(&self) -> Vec<Event> {
        self.inner.trace()
    }
}
