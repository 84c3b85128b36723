//! The nodes that a program adds itself: the parameters of each kind, and changes of them.

use std::ffi::{c_int, c_uint, c_void};

use runtime::error::CudaError;

use super::{Inputs, Node, NodeKind, Op, listed, put};
use crate::{
    copy::{Copy3D, Kind, Rows},
    launch::Dim3,
    state::{State, call},
    stream::HostFunction,
};

/// `cudaKernelNodeParams`.
#[repr(C)]
#[derive(Clone, Copy)]
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
#[derive(Clone, Copy)]
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
#[derive(Clone, Copy)]
pub(crate) struct HostNode {
    function: Option<extern "C" fn(*mut c_void)>,
    data: *mut c_void,
}

/// The parameters of a kind of node.
trait Params: Copy {
    const KIND: NodeKind;

    fn node(&self, state: &mut State) -> Result<Node, CudaError>;
}

/// The bytes of one of CUDA's structs.
fn bytes_of<T: Copy>(value: &T) -> Vec<u8> {
    // SAFETY: CUDA's structs are plain data; padding is copied along.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()).to_vec() }
}

impl Params for KernelNode {
    const KIND: NodeKind = NodeKind::Kernel;

    fn node(&self, state: &mut State) -> Result<Node, CudaError> {
        let shape = (self.grid, self.block, self.shared_bytes as usize);
        let launch = state.prepare(self.function, shape, self.args, false)?;
        let args = state.arguments(&launch);
        let inputs = Inputs {
            params: bytes_of(self),
            args,
            handle: 0,
        };
        Ok(Node::new(Self::KIND, vec![Op::Launch(launch)], inputs))
    }
}

impl Params for FillNode {
    const KIND: NodeKind = NodeKind::Fill;

    fn node(&self, _: &mut State) -> Result<Node, CudaError> {
        let size = match self.element_bytes {
            size @ (1 | 2 | 4) => size as usize,
            _ => return Err(CudaError::InvalidValue),
        };
        let pattern = &self.value.to_le_bytes()[..size];
        let is_one = pattern.iter().all(|byte| *byte == pattern[0]);
        let width = self.width * size;
        let mut ops = Vec::new();
        for row in 0..self.height.max(1) {
            let address = self.to + (row * self.pitch) as u64;
            if is_one {
                ops.push(Op::Fill(address, pattern[0], width as u64));
                continue;
            }
            for byte in 0..width {
                let address = address + byte as u64;
                ops.push(Op::Fill(address, pattern[byte % size], 1));
            }
        }
        Ok(Node::new(Self::KIND, ops, inputs(self)))
    }
}

impl Params for HostNode {
    const KIND: NodeKind = NodeKind::Host;

    fn node(&self, _: &mut State) -> Result<Node, CudaError> {
        let host = HostFunction {
            function: self.function.ok_or(CudaError::InvalidValue)?,
            data: self.data as usize,
        };
        Ok(Node::new(Self::KIND, vec![Op::Host(host)], inputs(self)))
    }
}

impl Params for Copy3D {
    const KIND: NodeKind = NodeKind::Copy;

    fn node(&self, state: &mut State) -> Result<Node, CudaError> {
        let kind = self.kind()?;
        let slices = self.slices(&state.given.arrays)?.into_iter();
        let ops = slices.map(|rows| Op::Copy(rows, kind)).collect();
        Ok(Node::new(Self::KIND, ops, inputs(self)))
    }
}

fn inputs<T: Copy>(params: &T) -> Inputs {
    Inputs {
        params: bytes_of(params),
        ..Inputs::default()
    }
}

/// A copy of bytes from one address to another.
fn flat(to: u64, from: u64, bytes: usize) -> Node {
    let bytes = bytes as u64;
    let rows = Rows {
        to,
        to_pitch: bytes,
        from,
        from_pitch: bytes,
        width: bytes,
        height: 1,
    };
    let ops = vec![Op::Copy(rows, Kind::Default)];
    Node::new(NodeKind::Copy, ops, Inputs::default())
}

/// Adds the node that `make` returns.
pub(super) fn add(
    node: *mut usize,
    graph: usize,
    after: (*const usize, usize),
    make: impl FnOnce(&mut State) -> Result<Node, CudaError>,
) -> c_int {
    call(|state| {
        let made = make(state)?;
        put(
            node,
            state.graphs.add(graph, listed(after.0, after.1), made)?,
        )
    })
}

/// Reads `params`, which may be null.
fn read<T: Copy>(params: *const T) -> Result<T, CudaError> {
    // SAFETY: the program passes a pointer to a description, or null.
    unsafe { params.as_ref() }
        .copied()
        .ok_or(CudaError::InvalidValue)
}

/// Changes a node's work.
fn set(node: &mut Node, new: Node) -> Result<(), CudaError> {
    if node.kind != new.kind {
        return Err(CudaError::InvalidValue);
    }
    node.ops = new.ops;
    node.inputs = new.inputs;
    Ok(())
}

/// Returns the parameters that a node was made from.
fn get<T: Params>(state: &mut State, node: usize, params: *mut T) -> Result<(), CudaError> {
    let found = state.graphs.node(node)?;
    // A captured node was not made from parameters.
    if found.kind != T::KIND || found.inputs.params.len() != size_of::<T>() {
        return Err(CudaError::NotSupported);
    }
    // SAFETY: the bytes are those of a `T`, and the program passes a pointer to one.
    unsafe { params.write_unaligned(found.inputs.params.as_ptr().cast::<T>().read_unaligned()) };
    Ok(())
}

/// The functions of a kind of node: to add one, to read it, and to change it in a graph and in an executable one.
macro_rules! kinds {
    ($($params:ty: $add:ident $get:ident $set:ident $set_exec:ident;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $add(node: *mut usize, graph: usize, after: *const usize, count: usize, params: *const $params) -> c_int {
            add(node, graph, (after, count), |state| read(params)?.node(state))
        }

        #[unsafe(no_mangle)]
        extern "C" fn $set(node: usize, params: *const $params) -> c_int {
            call(|state| {
                let new = read(params)?.node(state)?;
                set(state.graphs.node(node)?, new)
            })
        }

        #[unsafe(no_mangle)]
        extern "C" fn $set_exec(exec: usize, node: usize, params: *const $params) -> c_int {
            call(|state| {
                let new = read(params)?.node(state)?;
                set(state.graphs.executable_node(exec, node)?, new)
            })
        }

        #[unsafe(no_mangle)]
        extern "C" fn $get(node: usize, params: *mut $params) -> c_int {
            call(|state| {
                get(state, node, params)?;
                <$params>::finish(state, node, params)
            })
        }
    )*};
}

kinds! {
    KernelNode: cudaGraphAddKernelNode cudaGraphKernelNodeGetParams cudaGraphKernelNodeSetParams cudaGraphExecKernelNodeSetParams;
    FillNode: cudaGraphAddMemsetNode cudaGraphMemsetNodeGetParams cudaGraphMemsetNodeSetParams cudaGraphExecMemsetNodeSetParams;
    HostNode: cudaGraphAddHostNode cudaGraphHostNodeGetParams cudaGraphHostNodeSetParams cudaGraphExecHostNodeSetParams;
    Copy3D: cudaGraphAddMemcpyNode cudaGraphMemcpyNodeGetParams cudaGraphMemcpyNodeSetParams cudaGraphExecMemcpyNodeSetParams;
}

/// Completes parameters that were read back.
trait Finish: Sized {
    fn finish(_: &mut State, _: usize, _: *mut Self) -> Result<(), CudaError> {
        Ok(())
    }
}

impl Finish for FillNode {}
impl Finish for HostNode {}
impl Finish for Copy3D {}

impl Finish for KernelNode {
    /// The program's own arguments may no longer exist, so pointers to the node's copies are returned. They stay until the process ends,
    /// because no call tells how long the program uses them.
    fn finish(state: &mut State, node: usize, params: *mut Self) -> Result<(), CudaError> {
        let args = state.graphs.node(node)?.inputs.args.clone();
        let places = args.into_iter().map(|arg| {
            let words = Box::leak(arg.into_boxed_slice());
            words.as_mut_ptr().cast::<c_void>()
        });
        let places: Box<[*mut c_void]> = places.collect();
        // SAFETY: `get` wrote there.
        unsafe { (*params).args = Box::leak(places).as_mut_ptr() };
        Ok(())
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphAddMemcpyNode1D(
    node: *mut usize,
    graph: usize,
    after: *const usize,
    count: usize,
    to: u64,
    from: u64,
    bytes: usize,
    _kind: c_int,
) -> c_int {
    add(node, graph, (after, count), |_| Ok(flat(to, from, bytes)))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphMemcpyNodeSetParams1D(
    node: usize,
    to: u64,
    from: u64,
    bytes: usize,
    _kind: c_int,
) -> c_int {
    call(|state| set(state.graphs.node(node)?, flat(to, from, bytes)))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphExecMemcpyNodeSetParams1D(
    exec: usize,
    node: usize,
    to: u64,
    from: u64,
    bytes: usize,
    _kind: c_int,
) -> c_int {
    call(|state| {
        let node = state.graphs.executable_node(exec, node)?;
        set(node, flat(to, from, bytes))
    })
}

/// An address inside a device variable.
fn in_symbol(state: &mut State, symbol: *const c_void, offset: usize) -> Result<u64, CudaError> {
    Ok(state.symbol(symbol)?.0 + offset as u64)
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphAddMemcpyNodeToSymbol(
    node: *mut usize,
    graph: usize,
    after: *const usize,
    count: usize,
    symbol: *const c_void,
    from: u64,
    bytes: usize,
    offset: usize,
    _kind: c_int,
) -> c_int {
    add(node, graph, (after, count), |state| {
        Ok(flat(in_symbol(state, symbol, offset)?, from, bytes))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphAddMemcpyNodeFromSymbol(
    node: *mut usize,
    graph: usize,
    after: *const usize,
    count: usize,
    to: u64,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    _kind: c_int,
) -> c_int {
    add(node, graph, (after, count), |state| {
        Ok(flat(to, in_symbol(state, symbol, offset)?, bytes))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphAddEmptyNode(
    node: *mut usize,
    graph: usize,
    after: *const usize,
    count: usize,
) -> c_int {
    add(node, graph, (after, count), |_| {
        Ok(Node::new(NodeKind::Empty, Vec::new(), Inputs::default()))
    })
}

/// A child graph's work, in its order.
fn child(state: &mut State, graph: usize) -> Result<Node, CudaError> {
    let ops = state.graphs.work(graph)?;
    let inputs = Inputs {
        handle: graph,
        ..Inputs::default()
    };
    Ok(Node::new(NodeKind::Graph, ops, inputs))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphAddChildGraphNode(
    node: *mut usize,
    graph: usize,
    after: *const usize,
    count: usize,
    inner: usize,
) -> c_int {
    add(node, graph, (after, count), |state| child(state, inner))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphChildGraphNodeGetGraph(node: usize, graph: *mut usize) -> c_int {
    call(|state| {
        let node = state.graphs.node(node)?;
        match node.kind {
            NodeKind::Graph => put(graph, node.inputs.handle),
            _ => Err(CudaError::InvalidValue),
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphExecChildGraphNodeSetParams(
    exec: usize,
    node: usize,
    inner: usize,
) -> c_int {
    call(|state| {
        let new = child(state, inner)?;
        set(state.graphs.executable_node(exec, node)?, new)
    })
}

/// Nodes that only order others: work runs in order anyway. An event has the time of its last record in a stream.
macro_rules! events {
    ($($name:ident $kind:ident;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(node: *mut usize, graph: usize, after: *const usize, count: usize, event: usize) -> c_int {
            add(node, graph, (after, count), |_| {
                let inputs = Inputs { handle: event, ..Inputs::default() };
                Ok(Node::new(NodeKind::$kind, Vec::new(), inputs))
            })
        }
    )*};
}

events! {
    cudaGraphAddEventRecordNode RecordEvent;
    cudaGraphAddEventWaitNode WaitEvent;
}

/// The relevant part of `cudaMemAllocNodeParams`; the pool's properties and the access list come before it.
#[repr(C)]
pub(crate) struct AllocationNode {
    properties: [u64; 11],
    access: *const c_void,
    access_count: usize,
    bytes: usize,
    pointer: u64,
}

/// Allocates at once: a graph's allocation has one address, however often it is launched.
#[unsafe(no_mangle)]
extern "C" fn cudaGraphAddMemAllocNode(
    node: *mut usize,
    graph: usize,
    after: *const usize,
    count: usize,
    params: *mut AllocationNode,
) -> c_int {
    add(node, graph, (after, count), |state| {
        // SAFETY: the program passes a pointer to a description, or null.
        let params = unsafe { params.as_mut() }.ok_or(CudaError::InvalidValue)?;
        params.pointer = state.allocate_device(params.bytes as u64)?;
        let inputs = Inputs {
            handle: params.pointer as usize,
            ..Inputs::default()
        };
        Ok(Node::new(NodeKind::Allocate, Vec::new(), inputs))
    })
}

/// Does not free the memory, because the graph may be launched again.
#[unsafe(no_mangle)]
extern "C" fn cudaGraphAddMemFreeNode(
    node: *mut usize,
    graph: usize,
    after: *const usize,
    count: usize,
    pointer: usize,
) -> c_int {
    add(node, graph, (after, count), |_| {
        let inputs = Inputs {
            handle: pointer,
            ..Inputs::default()
        };
        Ok(Node::new(NodeKind::Free, Vec::new(), inputs))
    })
}
