//! Graphs: work that is kept, and done when the graph is launched. Its order is the order in which it was added, which every graph
//! allows: a node can only follow nodes that were there before it.

use std::{
    collections::HashMap,
    ffi::{c_int, c_uint, c_void},
};

use runtime::error::CudaError;

use crate::{
    copy::{Copy3D, Kind, Rows},
    launch::{Dim3, Launch},
    state::{State, call, state},
    stream::{HostFunction, Stream, run_host},
};

/// One piece of a stream's work.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Copy(Rows, Kind),
    Fill(u64, u8, u64),
    Launch(Launch),
    Host(HostFunction),
    /// A node that only orders others.
    Nothing,
}

/// A graph that is being captured, and its number afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct CaptureId(usize);

/// All graphs.
#[derive(Default)]
pub(crate) struct Graphs {
    graphs: HashMap<CaptureId, Vec<Op>>,
    executable: HashMap<usize, Vec<Op>>,
    handles: usize,
}

impl Graphs {
    fn create(&mut self) -> CaptureId {
        let id = CaptureId(self.handle());
        self.graphs.insert(id, Vec::new());
        id
    }

    fn handle(&mut self) -> usize {
        self.handles += 1;
        0x9000_0000 + 0x10 * self.handles
    }

    /// Adds work to a graph.
    pub(crate) fn add(&mut self, graph: CaptureId, op: Op) {
        self.graphs.entry(graph).or_default().push(op);
    }
}

impl State {
    /// Does the work.
    pub(crate) fn perform(&mut self, op: &Op) -> Result<(), CudaError> {
        match op {
            Op::Copy(rows, kind) => self.copy_rows(rows, *kind),
            Op::Fill(address, byte, bytes) => self.fill(*address, *byte, *bytes),
            Op::Launch(launch) => self.launch(launch),
            Op::Host(_) | Op::Nothing => Ok(()),
        }
    }

    fn node(&mut self, graph: usize, node: *mut usize, op: Op) -> Result<(), CudaError> {
        let handle = self.graphs.handle();
        let ops = self.graphs.graphs.get_mut(&CaptureId(graph));
        ops.ok_or(CudaError::InvalidValue)?.push(op);
        put(node, handle)
    }
}

fn put(target: *mut usize, value: usize) -> Result<(), CudaError> {
    // SAFETY: the program hands in a place for a handle, or null.
    *unsafe { target.as_mut() }.ok_or(CudaError::InvalidValue)? = value;
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamBeginCapture(stream: Stream, _mode: c_int) -> c_int {
    call(|state| {
        let capture = state.graphs.create();
        state.streams.begin(stream, capture)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamEndCapture(stream: Stream, graph: *mut usize) -> c_int {
    call(|state| {
        let CaptureId(handle) = state.streams.end(stream)?;
        put(graph, handle)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphCreate(graph: *mut usize, _flags: c_uint) -> c_int {
    call(|state| {
        let CaptureId(handle) = state.graphs.create();
        put(graph, handle)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphDestroy(graph: usize) -> c_int {
    call(
        |state| match state.graphs.graphs.remove(&CaptureId(graph)) {
            Some(_) => Ok(()),
            None => Err(CudaError::InvalidValue),
        },
    )
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphInstantiateWithFlags(exec: *mut usize, graph: usize, _flags: u64) -> c_int {
    call(|state| {
        let ops = state.graphs.graphs.get(&CaptureId(graph));
        let ops = ops.ok_or(CudaError::InvalidValue)?.clone();
        let handle = state.graphs.handle();
        state.graphs.executable.insert(handle, ops);
        put(exec, handle)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphExecDestroy(exec: usize) -> c_int {
    call(|state| match state.graphs.executable.remove(&exec) {
        Some(_) => Ok(()),
        None => Err(CudaError::InvalidValue),
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphLaunch(exec: usize, _stream: Stream) -> c_int {
    let ops = state().graphs.executable.get(&exec).cloned();
    let Some(ops) = ops else {
        return crate::state::remember(CudaError::InvalidValue);
    };
    for op in &ops {
        let error = match op {
            Op::Host(host) => {
                run_host(*host);
                0
            }
            op => call(|state| state.perform(op)),
        };
        if error != 0 {
            return error;
        }
    }
    0
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphUpload(exec: usize, _stream: Stream) -> c_int {
    call(|state| match state.graphs.executable.contains_key(&exec) {
        true => Ok(()),
        false => Err(CudaError::InvalidValue),
    })
}

/// `cudaKernelNodeParams`.
#[repr(C)]
pub(crate) struct KernelNode {
    function: *const c_void,
    grid: Dim3,
    block: Dim3,
    shared_bytes: c_uint,
    args: *mut *mut c_void,
    extra: *mut *mut c_void,
}

/// `cudaMemsetParams`.
#[repr(C)]
pub(crate) struct FillNode {
    to: u64,
    pitch: usize,
    value: c_uint,
    element_bytes: c_uint,
    width: usize,
    height: usize,
}

/// `cudaHostNodeParams`.
#[repr(C)]
pub(crate) struct HostNode {
    function: Option<extern "C" fn(*mut c_void)>,
    data: *mut c_void,
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphAddKernelNode(
    node: *mut usize,
    graph: usize,
    _after: *const usize,
    _count: usize,
    params: *const KernelNode,
) -> c_int {
    call(|state| {
        // SAFETY: the program hands in a description, or null.
        let params = unsafe { params.as_ref() }.ok_or(CudaError::InvalidValue)?;
        let shape = (params.grid, params.block, params.shared_bytes as usize);
        let launch = state.prepare(params.function, shape, params.args, false)?;
        state.node(graph, node, Op::Launch(launch))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphAddMemcpyNode1D(
    node: *mut usize,
    graph: usize,
    _after: *const usize,
    _count: usize,
    to: u64,
    from: u64,
    bytes: usize,
    _kind: c_int,
) -> c_int {
    let bytes = bytes as u64;
    let rows = Rows {
        to,
        to_pitch: bytes,
        from,
        from_pitch: bytes,
        width: bytes,
        height: 1,
    };
    call(|state| state.node(graph, node, Op::Copy(rows, Kind::Default)))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphAddMemcpyNode(
    node: *mut usize,
    graph: usize,
    _after: *const usize,
    _count: usize,
    params: *const Copy3D,
) -> c_int {
    call(|state| {
        // SAFETY: the program hands in a description, or null.
        let copy = unsafe { params.as_ref() }.ok_or(CudaError::InvalidValue)?;
        let kind = copy.kind()?;
        for rows in copy.slices()? {
            state.node(graph, node, Op::Copy(rows, kind))?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphAddMemsetNode(
    node: *mut usize,
    graph: usize,
    _after: *const usize,
    _count: usize,
    params: *const FillNode,
) -> c_int {
    call(|state| {
        // SAFETY: the program hands in a description, or null.
        let fill = unsafe { params.as_ref() }.ok_or(CudaError::InvalidValue)?;
        let bytes = fill.value.to_le_bytes();
        let is_one = bytes[..fill.element_bytes.clamp(1, 4) as usize]
            .iter()
            .all(|byte| *byte == bytes[0]);
        if !is_one {
            return Err(CudaError::NotSupported);
        }
        let width = fill.width as u64 * u64::from(fill.element_bytes);
        for row in 0..fill.height.max(1) {
            let address = fill.to + (row * fill.pitch) as u64;
            state.node(graph, node, Op::Fill(address, bytes[0], width))?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphAddHostNode(
    node: *mut usize,
    graph: usize,
    _after: *const usize,
    _count: usize,
    params: *const HostNode,
) -> c_int {
    call(|state| {
        // SAFETY: the program hands in a description, or null.
        let host = unsafe { params.as_ref() }.ok_or(CudaError::InvalidValue)?;
        let host = HostFunction {
            function: host.function.ok_or(CudaError::InvalidValue)?,
            data: host.data as usize,
        };
        state.node(graph, node, Op::Host(host))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphAddEmptyNode(
    node: *mut usize,
    graph: usize,
    _after: *const usize,
    _count: usize,
) -> c_int {
    call(|state| state.node(graph, node, Op::Nothing))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphGetNodes(graph: usize, nodes: *mut usize, count: *mut usize) -> c_int {
    call(|state| {
        let ops = state.graphs.graphs.get(&CaptureId(graph));
        let there = ops.ok_or(CudaError::InvalidValue)?.len();
        if !nodes.is_null() {
            return Err(CudaError::NotSupported);
        }
        put(count, there)
    })
}
