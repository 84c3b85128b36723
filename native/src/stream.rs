//! Streams and events. Work is done when it is enqueued, so every wait is over before it begins. Events keep the time of their record.

use std::{
    collections::HashMap,
    ffi::{c_int, c_uint, c_void},
    time::Instant,
};

use runtime::error::CudaError;

use crate::{
    graph::{CaptureId, Op, listed},
    state::{State, call, state},
};

/// `cudaStream_t`.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Stream(usize);

impl Stream {
    /// The default stream.
    pub(crate) const LEGACY: Stream = Stream(0);

    /// Its number in the happens-before order, where all default streams are one.
    pub(crate) fn number(self) -> u64 {
        if self.is_default() { 0 } else { self.0 as u64 }
    }

    /// 0, `cudaStreamLegacy`, `cudaStreamPerThread`.
    fn is_default(self) -> bool {
        self.0 <= 2
    }
}

/// `cudaEvent_t`.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Event(usize);

impl Event {
    pub(crate) fn number(self) -> u64 {
        self.0 as u64
    }
}

#[derive(Default)]
struct EventState {
    has_no_time: bool,
    recorded: Option<Instant>,
    /// The capture of the stream in which it was recorded.
    capture: Option<Capture>,
}

/// The graph into which a stream's work is captured.
#[derive(Clone, Debug)]
struct Capture {
    graph: CaptureId,
    /// The nodes that the stream's next node follows.
    tail: Vec<usize>,
}

struct StreamState {
    flags: c_uint,
    priority: c_int,
}

/// The existing streams.
#[derive(Default)]
pub(crate) struct Streams {
    streams: HashMap<Stream, StreamState>,
    events: HashMap<Event, EventState>,
    capturing: HashMap<Stream, Capture>,
    /// The stream in which each capture began.
    origins: HashMap<CaptureId, Stream>,
    handles: usize,
}

impl Streams {
    /// Handles look like pointers.
    fn handle(&mut self) -> usize {
        self.handles += 1;
        0x1000 + 0x10 * self.handles
    }

    fn check(&self, stream: Stream) -> Result<(), CudaError> {
        match stream.is_default() || self.streams.contains_key(&stream) {
            true => Ok(()),
            false => Err(CudaError::InvalidResourceHandle),
        }
    }

    /// The graph into which a stream's work is captured.
    pub(crate) fn capture_of(&self, stream: Stream) -> Result<Option<CaptureId>, CudaError> {
        self.check(stream)?;
        Ok(self.capturing.get(&stream).map(|capture| capture.graph))
    }

    /// The nodes that a captured stream's next node follows.
    pub(crate) fn tail(&self, stream: Stream) -> Vec<usize> {
        let capture = self.capturing.get(&stream);
        capture.map_or(Vec::new(), |capture| capture.tail.clone())
    }

    /// Sets the last node of a captured stream.
    pub(crate) fn continues_at(&mut self, stream: Stream, node: usize) {
        if let Some(capture) = self.capturing.get_mut(&stream) {
            capture.tail = vec![node];
        }
    }

    /// Begins a capture.
    pub(crate) fn begin(
        &mut self,
        stream: Stream,
        capture: CaptureId,
        tail: Vec<usize>,
    ) -> Result<(), CudaError> {
        self.check(stream)?;
        if stream == Stream::LEGACY || self.capturing.contains_key(&stream) {
            return Err(CudaError::NotSupported);
        }
        let new = Capture {
            graph: capture,
            tail,
        };
        self.capturing.insert(stream, new);
        self.origins.insert(capture, stream);
        Ok(())
    }

    /// Ends the capture that began in this stream.
    pub(crate) fn end(&mut self, stream: Stream) -> Result<CaptureId, CudaError> {
        let capture = self.capturing.get(&stream).map(|capture| capture.graph);
        let capture = capture.ok_or(CudaError::InvalidValue)?;
        if self.origins.get(&capture) != Some(&stream) {
            return Err(CudaError::InvalidValue);
        }
        self.origins.remove(&capture);
        self.capturing.retain(|_, one| one.graph != capture);
        for event in self.events.values_mut() {
            event.capture.take_if(|one| one.graph == capture);
        }
        Ok(capture)
    }

    fn create(&mut self, flags: c_uint, priority: c_int) -> Stream {
        let stream = Stream(self.handle());
        self.streams.insert(stream, StreamState { flags, priority });
        stream
    }

    fn event(&mut self, event: Event) -> Result<&mut EventState, CudaError> {
        let found = self.events.get_mut(&event);
        found.ok_or(CudaError::InvalidResourceHandle)
    }
}

/// Writes a result through the program's pointer.
fn put<T>(target: *mut T, value: T) -> Result<(), CudaError> {
    // SAFETY: the program passes a pointer to a `T`, or null.
    *unsafe { target.as_mut() }.ok_or(CudaError::InvalidValue)? = value;
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamCreateWithPriority(
    stream: *mut Stream,
    flags: c_uint,
    priority: c_int,
) -> c_int {
    call(|state| match flags {
        0 | 1 => {
            let made = state.streams.create(flags, priority.clamp(-5, 0));
            let number = made.number();
            state.ordered.order.create_stream(number, flags & 1 == 0);
            put(stream, made)
        }
        _ => Err(CudaError::InvalidValue),
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamCreateWithFlags(stream: *mut Stream, flags: c_uint) -> c_int {
    cudaStreamCreateWithPriority(stream, flags, 0)
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamCreate(stream: *mut Stream) -> c_int {
    cudaStreamCreateWithPriority(stream, 0, 0)
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamGetPriority(stream: Stream, priority: *mut c_int) -> c_int {
    call(|state| {
        state.streams.check(stream)?;
        let found = state.streams.streams.get(&stream);
        put(priority, found.map_or(0, |found| found.priority))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamGetFlags(stream: Stream, flags: *mut c_uint) -> c_int {
    call(|state| {
        state.streams.check(stream)?;
        let found = state.streams.streams.get(&stream);
        put(flags, found.map_or(0, |found| found.flags))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamDestroy(stream: Stream) -> c_int {
    call(|state| match state.streams.streams.remove(&stream) {
        Some(_) => {
            state.ordered.order.destroy_stream(stream.number());
            Ok(())
        }
        None => Err(CudaError::InvalidResourceHandle),
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamSynchronize(stream: Stream) -> c_int {
    call(|state| {
        state.streams.check(stream)?;
        state.ordered.order.wait_for_stream(stream.number());
        state.wait()
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamQuery(stream: Stream) -> c_int {
    cudaStreamSynchronize(stream)
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamWaitEvent(stream: Stream, event: Event, _flags: c_uint) -> c_int {
    call(|state| {
        state.streams.check(stream)?;
        // A stream that waits for a captured event is captured, too.
        state
            .ordered
            .order
            .let_wait(stream.number(), event.number());
        if let Some(capture) = state.streams.event(event)?.capture.clone() {
            let known = state.streams.capturing.get_mut(&stream);
            let Some(known) = known.filter(|known| known.graph == capture.graph) else {
                state.streams.capturing.insert(stream, capture);
                return Ok(());
            };
            for node in capture.tail {
                if !known.tail.contains(&node) {
                    known.tail.push(node);
                }
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventCreateWithFlags(event: *mut Event, flags: c_uint) -> c_int {
    call(|state| {
        if flags & !7 != 0 {
            return Err(CudaError::InvalidValue);
        }
        let made = Event(state.streams.handle());
        let has_no_time = flags & 2 != 0;
        let new = EventState {
            has_no_time,
            ..EventState::default()
        };
        state.streams.events.insert(made, new);
        put(event, made)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventCreate(event: *mut Event) -> c_int {
    cudaEventCreateWithFlags(event, 0)
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventDestroy(event: Event) -> c_int {
    call(|state| match state.streams.events.remove(&event) {
        Some(_) => {
            state.ordered.order.destroy_event(event.number());
            Ok(())
        }
        None => Err(CudaError::InvalidResourceHandle),
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventRecord(event: Event, stream: Stream) -> c_int {
    call(|state| {
        state.streams.check(stream)?;
        let capture = state.streams.capturing.get(&stream).cloned();
        let is_captured = capture.is_some();
        let known = state.streams.event(event)?;
        known.capture = capture;
        known.recorded = Some(Instant::now());
        if !is_captured {
            state.ordered.order.record(event.number(), stream.number());
            let result = state.device.record(event.number());
            state.device_result(result, "cudaEventRecord")?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventRecordWithFlags(event: Event, stream: Stream, _flags: c_uint) -> c_int {
    cudaEventRecord(event, stream)
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventSynchronize(event: Event) -> c_int {
    call(|state| {
        state.streams.event(event)?;
        state.ordered.order.wait_for_event(event.number());
        state.wait()
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventQuery(event: Event) -> c_int {
    cudaEventSynchronize(event)
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventElapsedTime(milliseconds: *mut f32, start: Event, end: Event) -> c_int {
    call(|state| {
        let mut time = |event: Event| {
            let event = state.streams.event(event)?;
            match event.has_no_time {
                true => Err(CudaError::InvalidResourceHandle),
                false => event.recorded.ok_or(CudaError::InvalidResourceHandle),
            }
        };
        let numbers = (start.number(), end.number());
        let (start, end) = (time(start)?, time(end)?);
        if state.options.on_gpu {
            let result = state.device.elapsed_ms(numbers.0, numbers.1);
            let measured = state.device_result(result, "cudaEventElapsedTime")?;
            return put(milliseconds, measured.unwrap_or(0.0));
        }
        let seconds = match end.checked_duration_since(start) {
            Some(after) => after.as_secs_f64(),
            None => -start.duration_since(end).as_secs_f64(),
        };
        put(milliseconds, (seconds * 1e3) as f32)
    })
}

/// A host function that runs among a stream's work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostFunction {
    pub(crate) function: extern "C" fn(*mut c_void),
    pub(crate) data: usize,
}

#[unsafe(no_mangle)]
extern "C" fn cudaLaunchHostFunc(
    stream: Stream,
    function: Option<extern "C" fn(*mut c_void)>,
    data: *mut c_void,
) -> c_int {
    let Some(function) = function else {
        return crate::state::remember(CudaError::InvalidValue);
    };
    let mut runs = false;
    let error = call(|state| {
        let host = HostFunction {
            function,
            data: data as usize,
        };
        match state.streams.capture_of(stream)? {
            Some(_) => state.submit(Some(stream), Op::Host(host))?,
            None => {
                runs = true;
                // Its signals to other host threads are not visible here.
                state.ordered.order.wait_for_stream(stream.number());
                state.wait()?;
            }
        }
        Ok(())
    });
    // Without the lock, because the function may call the library.
    if runs && error == 0 {
        function(data);
    }
    error
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamAddCallback(
    stream: Stream,
    callback: Option<extern "C" fn(Stream, c_int, *mut c_void)>,
    data: *mut c_void,
    flags: c_uint,
) -> c_int {
    let Some(callback) = callback.filter(|_| flags == 0) else {
        return crate::state::remember(CudaError::InvalidValue);
    };
    let error = call(|state| {
        state.streams.check(stream)?;
        state.ordered.order.wait_for_stream(stream.number());
        state.wait()
    });
    if error != CudaError::InvalidResourceHandle.code() {
        callback(stream, error, data);
    }
    error
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamBeginCapture(stream: Stream, _mode: c_int) -> c_int {
    call(|state| {
        let capture = state.graphs.create();
        state.streams.begin(stream, capture, Vec::new())
    })
}

/// Captures into an existing graph, after some of its nodes.
#[unsafe(no_mangle)]
extern "C" fn cudaStreamBeginCaptureToGraph(
    stream: Stream,
    graph: usize,
    after: *const usize,
    _edges: *const c_void,
    count: usize,
    _mode: c_int,
) -> c_int {
    call(|state| {
        let after = listed(after, count).to_vec();
        let nodes = &state.graphs.graph(graph)?.nodes;
        if !after.iter().all(|node| nodes.contains_key(node)) {
            return Err(CudaError::InvalidValue);
        }
        state.streams.begin(stream, CaptureId(graph), after)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamEndCapture(stream: Stream, graph: *mut usize) -> c_int {
    call(|state| {
        let CaptureId(handle) = state.streams.end(stream)?;
        // A program that captured into its own graph need not ask for it.
        match graph.is_null() {
            true => Ok(()),
            false => put(graph, handle),
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamGetCaptureInfo(
    stream: Stream,
    status: *mut c_int,
    id: *mut u64,
    graph: *mut usize,
    after: *mut *const usize,
    count: *mut usize,
) -> c_int {
    call(|state| {
        state.streams.check(stream)?;
        let capture = state.streams.capturing.get(&stream).cloned();
        put(status, c_int::from(capture.is_some()))?;
        let Some(capture) = capture else {
            return Ok(());
        };
        if !id.is_null() {
            put(id, capture.graph.0 as u64)?;
        }
        if !graph.is_null() {
            put(graph, capture.graph.0)?;
        }
        if !count.is_null() {
            put(count, capture.tail.len())?;
        }
        if !after.is_null() {
            // The program may use it as long as the capture goes on, and does not tell when it is done.
            put(after, Box::leak(capture.tail.into_boxed_slice()).as_ptr())?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamUpdateCaptureDependencies(
    stream: Stream,
    nodes: *const usize,
    count: usize,
    flags: c_uint,
) -> c_int {
    call(|state| {
        let nodes = listed(nodes, count);
        let capture = state.streams.capturing.get_mut(&stream);
        let tail = &mut capture.ok_or(CudaError::InvalidValue)?.tail;
        if flags == 1 {
            tail.clear();
        }
        tail.extend(nodes);
        Ok(())
    })
}

/// The mode decides which calls other threads may make meanwhile: here they may make any.
#[unsafe(no_mangle)]
extern "C" fn cudaThreadExchangeStreamCaptureMode(mode: *mut c_int) -> c_int {
    thread_local! {
        static MODE: std::cell::Cell<c_int> = const { std::cell::Cell::new(0) };
    }
    call(|_| {
        // SAFETY: the program passes a pointer to the mode.
        let mode = unsafe { mode.as_mut() }.ok_or(CudaError::InvalidValue)?;
        *mode = MODE.replace(*mode);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamIsCapturing(stream: Stream, status: *mut c_int) -> c_int {
    call(|state| {
        let capture = state.streams.capture_of(stream)?;
        put(status, c_int::from(capture.is_some()))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceSynchronize() -> c_int {
    call(|state| {
        state.ordered.order.wait_for_all();
        state.wait()
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaThreadSynchronize() -> c_int {
    cudaDeviceSynchronize()
}

/// Forgets the streams, for `cudaDeviceReset`.
pub(crate) fn forget(state: &mut State) {
    state.ordered.order.wait_for_all();
    let streams: Vec<Stream> = state
        .streams
        .streams
        .drain()
        .map(|(stream, _)| stream)
        .collect();
    streams
        .into_iter()
        .for_each(|stream| state.ordered.order.destroy_stream(stream.number()));
    state.streams.events.clear();
    state.streams.capturing.clear();
}

/// Runs a host function without holding the lock.
pub(crate) fn run_host(host: HostFunction) {
    // All earlier work is done by then; errors show at the next call that waits.
    let mut state = state();
    state.ordered.order.wait_for_all();
    let _ = state.wait();
    drop(state);
    (host.function)(host.data as *mut c_void);
}
