//! Events: which exist, whether they have times, and whether they were recorded. Work is done in program order, so a recorded event has
//! always happened.

use std::collections::HashMap;

use ir::LocId;

use super::{super::Host, CallError};
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
    pub(super) fn len(&self) -> usize {
        self.by_handle.len()
    }

    /// Whether its time can be queried.
    fn has_time(&self, handle: u64) -> bool {
        let event = self.by_handle.get(&handle);
        event.is_some_and(|event| event.is_recorded && !event.has_no_time)
    }
}

impl Host<'_> {
    pub(in super::super) fn create_event(
        &mut self,
        target: u64,
        flags: u64,
        loc: LocId,
    ) -> Result<(), CallError> {
        let flags = flags & 0xffff_ffff;
        let has_no_time = flags & DISABLE_TIMING != 0;
        // An event that other processes wait for has no time.
        if flags & !ALL_FLAGS != 0 || (flags & INTERPROCESS != 0 && !has_no_time) {
            return Err(CudaError::InvalidValue.into());
        }
        let handle = self.new_handle(loc)?;
        let event = Event {
            has_no_time,
            is_recorded: false,
        };
        self.state.events.by_handle.insert(handle, event);
        Ok(self.store(target, &handle.to_le_bytes(), loc)?)
    }

    pub(in super::super) fn record_event(
        &mut self,
        handle: u64,
        stream: u64,
        loc: LocId,
    ) -> Result<(), CallError> {
        let event = self.state.events.by_handle.get_mut(&handle);
        event.ok_or(CudaError::InvalidResourceHandle)?.is_recorded = true;
        self.check_stream(stream, loc)?;
        let result = self.device.record(handle);
        self.device_result(result, "cudaEventRecord", loc)?;
        self.order.record(handle, stream);
        Ok(())
    }

    /// `cudaEventElapsedTime(result, first, second)`.
    pub(in super::super) fn elapsed_time(
        &mut self,
        args: &[u64],
        loc: LocId,
    ) -> Result<(), CallError> {
        let events = &self.state.events;
        if !events.has_time(args[1]) || !events.has_time(args[2]) {
            return Err(CudaError::InvalidResourceHandle.into());
        }
        let result = self.device.elapsed_ms(args[1], args[2]);
        let ms = self.device_result(result, "cudaEventElapsedTime", loc)?;
        if ms.is_none() {
            let text = "the simulator has no clock: cudaEventElapsedTime gives 0 ms";
            self.say_once(loc, text);
        }
        self.store(args[0], &ms.unwrap_or(0.0).to_le_bytes(), loc)?;
        for event in [args[1], args[2]] {
            self.check_has_happened(event, loc);
        }
        // The call fails unless both have happened.
        self.order.wait_for_event(args[1]);
        self.order.wait_for_event(args[2]);
        Ok(())
    }

    pub(in super::super) fn destroy_event(&mut self, handle: u64) -> Result<(), CallError> {
        let event = self.state.events.by_handle.remove(&handle);
        event.ok_or(CudaError::InvalidResourceHandle)?;
        self.order.destroy_event(handle);
        self.device.destroy_event(handle);
        Ok(())
    }

    pub(in super::super) fn check_event(&self, handle: u64) -> Result<(), CudaError> {
        match self.state.events.by_handle.contains_key(&handle) {
            true => Ok(()),
            false => Err(CudaError::InvalidResourceHandle),
        }
    }
}
