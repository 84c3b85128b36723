//! Tracks a warp's calls of routines for the checks: where their frames lie in local memory, and uninitialised values
//! in registers that a call saves.

use super::Checker;
use super::taint::Taint;
use crate::isa::bytecode::{Code, RoutineCall};
use crate::observe::Frame;

/// The frames of a warp's calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    /// Innermost last. After `depth` there are calls that have ended and were not replaced by others yet, because
    /// pointers into them may remain.
    all: Vec<Frame>,
    depth: usize,
}

impl Frames {
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.depth = 0;
    }

    /// The offset at which the variable that contains a byte is declared.
    pub(super) fn declared(&self, offset: u32) -> u32 {
        let mut frames = self.all.iter().rev();
        let frame = frames.find(|frame| (frame.start..frame.end).contains(&offset));
        frame.map_or(offset, |frame| offset.wrapping_sub(frame.shift))
    }
}

impl Checker<'_> {
    /// A routine begins: nothing in its frame is written.
    pub(super) fn enters(&mut self, code: &Code, call: &RoutineCall, mask: u32, frame: Frame) {
        let warp = self.races.warp() as usize;
        let Some(frames) = self.values.frames.get_mut(warp) else {
            return;
        };
        frames.all.truncate(frames.depth);
        frames.all.push(frame);
        frames.depth += 1;
        let (start, end) = (frame.start as usize, frame.end as usize);
        let locals = &mut self.values.locals[warp];
        if locals.len() < end {
            locals.resize(end, 0);
        }
        for lanes in &mut locals[start..end] {
            *lanes &= !mask;
        }
        let origins = &mut self.values.local_origins[warp];
        if !origins.is_empty() {
            origins.retain(|at, _| !(frame.start..frame.end).contains(at));
        }
        if !self.values.gone[warp].is_empty() {
            self.lives(mask, (frame.start, frame.end - frame.start), true);
        }
        self.taint(|taint| taint.enter(code, call));
    }

    /// A routine ends.
    pub(super) fn leaves(&mut self, code: &Code, call: &RoutineCall) {
        let warp = self.races.warp() as usize;
        let Some(frames) = self.values.frames.get_mut(warp) else {
            return;
        };
        frames.depth = frames.depth.saturating_sub(1);
        self.taint(|taint| taint.leave(code, call));
    }

    fn taint(&mut self, change: impl FnOnce(&mut Taint)) {
        if let Some(taint) = self.values.taints.get_mut(self.values.place) {
            change(taint);
            self.following = taint.live;
        }
    }
}
