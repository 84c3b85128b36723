//! Events: which exist, whether they keep times, and whether they have been recorded. Work is done in the order of the program, so
//! that a recorded event has always happened.

use std::collections::HashMap;

use dsl::ir::{HostFn, LocId};

use super::super::{Host, Stop};
use crate::error::CudaError;

/// The events of a program, by their handles.
#[derive(Debug, Default)]
pub(super) struct Events {
    by_handle: HashMap<u64, Event>,
}

#[derive(Debug, Default)]
struct Event {
    /// Made with `cudaEventDisableTiming`.
    has_no_time: bool,
    is_recorded: bool,
}

/// `cudaEventBlockingSync`, `cudaEventDisableTiming` and `cudaEventInterprocess`.
const ALL_FLAGS: u64 = 7;
const DISABLE_TIMING: u64 = 2;
const INTERPROCESS: u64 = 4;

impl Events {
    pub(super) fn is_event(&self, handle: u64) -> bool {
        self.by_handle.contains_key(&handle)
    }

    pub(super) fn len(&self) -> usize {
        self.by_handle.len()
    }

    /// Its time can be asked for.
    fn has_time(&self, handle: u64) -> bool {
        let event = self.by_handle.get(&handle);
        event.is_some_and(|event| event.is_recorded && !event.has_no_time)
    }
}

impl Host<'_> {
    /// Answers a call about events.
    pub(super) fn event(
        &mut self,
        function: HostFn,
        args: &[u64],
        loc: LocId,
    ) -> Result<Result<(), CudaError>, Stop> {
        match function {
            HostFn::CudaEventCreate => {
                let flags = args[1] & 0xffff_ffff;
                let has_no_time = flags & DISABLE_TIMING != 0;
                // What other processes wait for keeps no time.
                if flags & !ALL_FLAGS != 0 || (flags & INTERPROCESS != 0 && !has_no_time) {
                    return Ok(Err(CudaError::InvalidValue));
                }
                let Some(handle) = self.new_handle(loc) else {
                    return Ok(Err(CudaError::MemoryAllocation));
                };
                let event = Event {
                    has_no_time,
                    is_recorded: false,
                };
                self.state.events.by_handle.insert(handle, event);
                self.store(args[0], &handle.to_le_bytes(), loc)?;
            }
            HostFn::CudaEventRecord => {
                let Some(event) = self.state.events.by_handle.get_mut(&args[0]) else {
                    return Ok(Err(CudaError::InvalidResourceHandle));
                };
                event.is_recorded = true;
                let result = self.device.record(args[0]);
                return Ok(self.device_result(result, "cudaEventRecord", loc));
            }
            HostFn::CudaEventElapsedTime => {
                let events = &self.state.events;
                if !events.has_time(args[1]) || !events.has_time(args[2]) {
                    return Ok(Err(CudaError::InvalidResourceHandle));
                }
                let result = self.device.elapsed_ms(args[1], args[2]);
                let ms = match self.device_result(result, "cudaEventElapsedTime", loc) {
                    Ok(ms) => ms,
                    Err(error) => return Ok(Err(error)),
                };
                if ms.is_none() {
                    self.say_once(
                        loc,
                        "the simulator has no clock: cudaEventElapsedTime gives 0 ms",
                    );
                }
                self.store(args[0], &ms.unwrap_or(0.0).to_le_bytes(), loc)?;
            }
            _ => {
                if self.state.events.by_handle.remove(&args[0]).is_none() {
                    return Ok(Err(CudaError::InvalidResourceHandle));
                }
                self.order.destroy_event(args[0]);
                self.device.destroy_event(args[0]);
            }
        }
        Ok(Ok(()))
    }
}
