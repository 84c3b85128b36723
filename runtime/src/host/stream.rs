//! Which streams exist, and whether the host has waited before it queries a time or ends.

use ir::LocId;

use super::{Host, order::unseen_prints};
use crate::error::CudaError;

/// `cudaStreamLegacy` and `cudaStreamPerThread` are handles besides 0.
const LAST_DEFAULT: u64 = 2;

impl Host<'_> {
    /// Whether a call may use a stream. Using a destroyed stream is an error of the program: a device may refuse it or crash.
    pub(super) fn check_stream(&mut self, handle: u64, loc: LocId) -> Result<(), CudaError> {
        if handle <= LAST_DEFAULT || self.state.streams.contains(&handle) {
            return Ok(());
        }
        let what = match self.state.destroyed.get(&handle) {
            Some(&at) => format!("this stream was destroyed at line {}", self.line(at)),
            None => "this is not a stream: `cudaStreamCreate` makes one".to_owned(),
        };
        self.say(loc, format!("invalid resource handle: {what}"), true);
        Err(CudaError::InvalidResourceHandle)
    }

    /// Checks a query of the time between two events: on a device there is none before both have happened.
    pub(super) fn check_has_happened(&mut self, event: u64, loc: LocId) {
        if !self.order.has_happened(event) {
            self.say_once(
                loc,
                "nothing waits for the event before its time is asked for: on a GPU cudaEventElapsedTime gives cudaErrorNotReady while the \
                 work before the event runs; call `cudaEventSynchronize` on the second event first",
            );
        }
    }

    /// After the program's end by itself: the output of its last kernels appears only if something waited for them.
    pub(super) fn say_unseen_prints(&mut self) {
        if let Some((kernel, loc)) = self.state.unseen_prints.take() {
            let text = unseen_prints(&kernel, self.line(loc));
            self.say(loc, text, false);
        }
    }

    fn line(&self, loc: LocId) -> u32 {
        self.program.module().loc(loc).line
    }
}
