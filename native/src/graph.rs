//! Graphs: work that is recorded, and done when the graph is launched. A node has its work, and the nodes that it follows. A launch does
//! the nodes one after another, in an order that their edges allow.
//!
//! Handles are numbers that look like pointers. An executable graph is a copy, whose nodes keep the handles of the original graph.

mod conditional;
mod node;

use std::{
    collections::{BTreeMap, HashMap},
    ffi::{c_int, c_uint},
};

use runtime::error::CudaError;

use conditional::Conditional;

use crate::{
    copy::{Kind, Rows},
    launch::{Argument, Launch},
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
    Conditional(Conditional),
}

/// A graph, possibly one that a stream is captured into.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct CaptureId(pub(crate) usize);

/// The kind of a node; the numbers are those of `cudaGraphNodeType`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NodeKind {
    Kernel = 0,
    Copy = 1,
    Fill = 2,
    Host = 3,
    Graph = 4,
    Empty = 5,
    WaitEvent = 6,
    RecordEvent = 7,
    Allocate = 10,
    Free = 11,
    Conditional = 13,
}

/// A node: its work, and the parameters that the program gave it, for calls that read them.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// One piece of work, or the slices of a copy, or the nodes of a child graph.
    pub(crate) ops: Vec<Op>,
    /// The nodes that it follows.
    after: Vec<usize>,
    is_enabled: bool,
    pub(crate) inputs: Inputs,
}

/// The parameters that the program gave a node: the bytes of CUDA's struct. Pointers in them to a kernel's arguments point to copies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) params: Vec<u8>,
    pub(crate) args: Vec<Argument>,
    /// The handle of a child graph or an event, or an address.
    pub(crate) handle: usize,
}

impl Node {
    pub(crate) fn new(kind: NodeKind, ops: Vec<Op>, inputs: Inputs) -> Node {
        Node {
            kind,
            ops,
            after: Vec::new(),
            is_enabled: true,
            inputs,
        }
    }

    /// The node for a stream's captured work.
    fn captured(op: Op) -> Node {
        let kind = match op {
            Op::Copy(..) => NodeKind::Copy,
            Op::Fill(..) => NodeKind::Fill,
            Op::Launch(_) => NodeKind::Kernel,
            Op::Host(_) => NodeKind::Host,
            Op::Conditional(_) => NodeKind::Conditional,
        };
        Node::new(kind, vec![op], Inputs::default())
    }
}

/// A graph's nodes by handle. Handles increase in the order in which nodes were added.
#[derive(Clone, Default, Debug)]
pub(crate) struct Graph {
    pub(crate) nodes: BTreeMap<usize, Node>,
    /// For a clone: its nodes by those of the original graph.
    originals: HashMap<usize, usize>,
}

impl Graph {
    /// The nodes in an order that the edges allow, the first added first; `None` if the edges have a cycle.
    pub(crate) fn order(&self) -> Option<Vec<usize>> {
        let mut order: Vec<usize> = Vec::new();
        while order.len() < self.nodes.len() {
            let mut nodes = self.nodes.iter();
            let is_next = |(handle, node): &(&usize, &Node)| {
                !order.contains(handle) && node.after.iter().all(|before| order.contains(before))
            };
            let (next, _) = nodes.find(is_next)?;
            order.push(*next);
        }
        Some(order)
    }

    fn edges(&self) -> Vec<(usize, usize)> {
        let of_node = |(to, node): (&usize, &Node)| {
            let to = *to;
            node.after
                .iter()
                .map(move |from| (*from, to))
                .collect::<Vec<_>>()
        };
        self.nodes.iter().flat_map(of_node).collect()
    }
}

/// All graphs.
#[derive(Default)]
pub(crate) struct Graphs {
    graphs: HashMap<usize, Graph>,
    executable: HashMap<usize, Graph>,
    /// The value of each condition at a launch, if it has a default.
    conditions: HashMap<u64, Option<u32>>,
    handles: usize,
}

impl Graphs {
    pub(crate) fn create(&mut self) -> CaptureId {
        let handle = self.handle();
        self.graphs.insert(handle, Graph::default());
        CaptureId(handle)
    }

    fn handle(&mut self) -> usize {
        self.handles += 1;
        0x9000_0000 + 0x10 * self.handles
    }

    /// Adds a stream's work to a graph, after the stream's earlier work; returns its node.
    pub(crate) fn capture(&mut self, graph: CaptureId, after: &[usize], op: Op) -> usize {
        let handle = self.handle();
        let mut node = Node::captured(op);
        node.after = after.to_vec();
        let graph = self.graphs.entry(graph.0).or_default();
        graph.nodes.insert(handle, node);
        handle
    }

    pub(crate) fn graph(&mut self, graph: usize) -> Result<&mut Graph, CudaError> {
        self.graphs.get_mut(&graph).ok_or(CudaError::InvalidValue)
    }

    /// The graph that contains a node.
    fn of_node(&mut self, node: usize) -> Result<&mut Graph, CudaError> {
        let mut graphs = self.graphs.values_mut();
        graphs
            .find(|graph| graph.nodes.contains_key(&node))
            .ok_or(CudaError::InvalidValue)
    }

    pub(crate) fn node(&mut self, node: usize) -> Result<&mut Node, CudaError> {
        let graph = self.of_node(node)?;
        graph.nodes.get_mut(&node).ok_or(CudaError::InvalidValue)
    }

    /// A node of an executable graph.
    pub(crate) fn executable_node(
        &mut self,
        exec: usize,
        node: usize,
    ) -> Result<&mut Node, CudaError> {
        let exec = self.executable.get_mut(&exec);
        let exec = exec.ok_or(CudaError::InvalidValue)?;
        exec.nodes.get_mut(&node).ok_or(CudaError::InvalidValue)
    }

    /// Adds a node after others of its graph.
    pub(crate) fn add(
        &mut self,
        graph: usize,
        after: &[usize],
        mut node: Node,
    ) -> Result<usize, CudaError> {
        let handle = self.handle();
        let graph = self.graph(graph)?;
        if !after.iter().all(|before| graph.nodes.contains_key(before)) {
            return Err(CudaError::InvalidValue);
        }
        node.after = after.to_vec();
        graph.nodes.insert(handle, node);
        Ok(handle)
    }
}

impl State {
    /// Does the work.
    pub(crate) fn perform(&mut self, op: &Op) -> Result<(), CudaError> {
        match op {
            Op::Copy(rows, kind) => self.copy_rows(rows, *kind),
            Op::Fill(address, byte, bytes) => self.fill(*address, *byte, *bytes),
            Op::Launch(launch) => self.launch(launch),
            // These run without the lock.
            Op::Host(_) | Op::Conditional(_) => Ok(()),
        }
    }
}

pub(crate) fn put<T>(target: *mut T, value: T) -> Result<(), CudaError> {
    // SAFETY: the program passes a pointer to a `T`, or null.
    *unsafe { target.as_mut() }.ok_or(CudaError::InvalidValue)? = value;
    Ok(())
}

/// The program's list of nodes.
pub(crate) fn listed<'l>(nodes: *const usize, count: usize) -> &'l [usize] {
    match nodes.is_null() || count == 0 {
        true => &[],
        // SAFETY: the program passes that many handles.
        false => unsafe { std::slice::from_raw_parts(nodes, count) },
    }
}

/// Returns a list to the program: its length, if `places` are null; otherwise as much as fits.
fn put_list(all: &[usize], places: &[*mut usize], count: *mut usize) -> Result<(), CudaError> {
    // SAFETY: the program passes a pointer to the number.
    let count = unsafe { count.as_mut() }.ok_or(CudaError::InvalidValue)?;
    let wide = places.len();
    let there = all.len() / wide;
    if places.iter().any(|place| place.is_null()) {
        *count = there;
        return Ok(());
    }
    let room = *count;
    for index in 0..room {
        for (number, place) in places.iter().enumerate() {
            let value = all.get(index * wide + number).copied().unwrap_or(0);
            // SAFETY: the program guarantees room for that many.
            unsafe { place.add(index).write(value) };
        }
    }
    *count = there.min(room);
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphCreate(graph: *mut usize, _flags: c_uint) -> c_int {
    call(|state| put(graph, state.graphs.create().0))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphDestroy(graph: usize) -> c_int {
    call(|state| match state.graphs.graphs.remove(&graph) {
        Some(_) => Ok(()),
        None => Err(CudaError::InvalidValue),
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphClone(clone: *mut usize, graph: usize) -> c_int {
    call(|state| {
        let original = state.graphs.graph(graph)?.clone();
        let mut made = Graph::default();
        for handle in original.nodes.keys() {
            made.originals.insert(*handle, state.graphs.handle());
        }
        for (handle, node) in &original.nodes {
            let mut node = node.clone();
            for before in &mut node.after {
                *before = made.originals[&*before];
            }
            made.nodes.insert(made.originals[handle], node);
        }
        let handle = state.graphs.handle();
        state.graphs.graphs.insert(handle, made);
        put(clone, handle)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphNodeFindInClone(found: *mut usize, node: usize, clone: usize) -> c_int {
    call(|state| {
        let originals = &state.graphs.graph(clone)?.originals;
        let copy = originals.get(&node).copied();
        put(found, copy.ok_or(CudaError::InvalidValue)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphAddDependencies(
    graph: usize,
    from: *const usize,
    to: *const usize,
    count: usize,
) -> c_int {
    call(|state| {
        let graph = state.graphs.graph(graph)?;
        for (from, to) in listed(from, count).iter().zip(listed(to, count)) {
            let is_there = graph.nodes.contains_key(from) && from != to;
            let node = graph.nodes.get_mut(to).filter(|_| is_there);
            let node = node.ok_or(CudaError::InvalidValue)?;
            if node.after.contains(from) {
                return Err(CudaError::InvalidValue);
            }
            node.after.push(*from);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphRemoveDependencies(
    graph: usize,
    from: *const usize,
    to: *const usize,
    count: usize,
) -> c_int {
    call(|state| {
        let graph = state.graphs.graph(graph)?;
        for (from, to) in listed(from, count).iter().zip(listed(to, count)) {
            let node = graph.nodes.get_mut(to).ok_or(CudaError::InvalidValue)?;
            let place = node.after.iter().position(|before| before == from);
            node.after.remove(place.ok_or(CudaError::InvalidValue)?);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphDestroyNode(node: usize) -> c_int {
    call(|state| {
        let graph = state.graphs.of_node(node)?;
        graph.nodes.remove(&node);
        for other in graph.nodes.values_mut() {
            other.after.retain(|before| *before != node);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphGetNodes(graph: usize, nodes: *mut usize, count: *mut usize) -> c_int {
    call(|state| {
        let all: Vec<usize> = state.graphs.graph(graph)?.nodes.keys().copied().collect();
        put_list(&all, &[nodes], count)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphGetRootNodes(graph: usize, nodes: *mut usize, count: *mut usize) -> c_int {
    call(|state| {
        let all = state.graphs.graph(graph)?.nodes.iter();
        let roots = all.filter(|(_, node)| node.after.is_empty());
        let roots: Vec<usize> = roots.map(|(handle, _)| *handle).collect();
        put_list(&roots, &[nodes], count)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphGetEdges(
    graph: usize,
    from: *mut usize,
    to: *mut usize,
    count: *mut usize,
) -> c_int {
    call(|state| {
        let edges = state.graphs.graph(graph)?.edges();
        let flat: Vec<usize> = edges.iter().flat_map(|(from, to)| [*from, *to]).collect();
        put_list(&flat, &[from, to], count)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphNodeGetDependencies(
    node: usize,
    nodes: *mut usize,
    count: *mut usize,
) -> c_int {
    call(|state| {
        let after = state.graphs.node(node)?.after.clone();
        put_list(&after, &[nodes], count)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphNodeGetDependentNodes(
    node: usize,
    nodes: *mut usize,
    count: *mut usize,
) -> c_int {
    call(|state| {
        let edges = state.graphs.of_node(node)?.edges();
        let behind = edges.iter().filter(|(from, _)| *from == node);
        let behind: Vec<usize> = behind.map(|(_, to)| *to).collect();
        put_list(&behind, &[nodes], count)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphNodeGetType(node: usize, kind: *mut c_int) -> c_int {
    call(|state| put(kind, state.graphs.node(node)?.kind as c_int))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphInstantiateWithFlags(exec: *mut usize, graph: usize, _flags: u64) -> c_int {
    call(|state| {
        let mut graph = state.graphs.graph(graph)?.clone();
        graph.order().ok_or(CudaError::InvalidValue)?;
        for node in graph.nodes.values_mut() {
            let ops = node.ops.iter().map(|op| state.graphs.filled(op));
            node.ops = ops.collect::<Result<_, _>>()?;
        }
        let handle = state.graphs.handle();
        state.graphs.executable.insert(handle, graph);
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

/// `cudaGraphExecUpdateResultInfo`.
#[repr(C)]
pub(crate) struct UpdateResult {
    result: c_int,
    node: usize,
    from: usize,
}

/// Replaces the work of an executable graph by that of another graph of the same shape: the same kinds of nodes in the same order.
#[unsafe(no_mangle)]
extern "C" fn cudaGraphExecUpdate(exec: usize, graph: usize, info: *mut UpdateResult) -> c_int {
    /// `cudaGraphExecUpdateErrorTopologyChanged`, `…NodeTypeChanged`.
    const OTHER_SHAPE: c_int = 2;
    const OTHER_KIND: c_int = 3;
    call(|state| {
        let new = state.graphs.graph(graph)?.clone();
        let old = state.graphs.executable.get_mut(&exec);
        let old = old.ok_or(CudaError::InvalidValue)?;
        let shape = |graph: &Graph| -> Vec<Vec<usize>> {
            let handles: Vec<usize> = graph.nodes.keys().copied().collect();
            let places = |node: &Node| {
                let place = |before: &usize| handles.binary_search(before).unwrap_or(0);
                let mut places: Vec<usize> = node.after.iter().map(place).collect();
                places.sort_unstable();
                places
            };
            graph.nodes.values().map(places).collect()
        };
        let pairs = old.nodes.values().zip(&new.nodes);
        let other = pairs
            .filter(|(before, (_, after))| before.kind != after.kind)
            .map(|(_, (handle, _))| *handle)
            .next();
        let (result, node) = match other {
            _ if shape(old) != shape(&new) => (OTHER_SHAPE, 0),
            Some(node) => (OTHER_KIND, node),
            None => (0, 0),
        };
        if !info.is_null() {
            let from = 0;
            put(info, UpdateResult { result, node, from })?;
        }
        if result != 0 {
            return Err(CudaError::GraphExecUpdateFailure);
        }
        // The program knows the nodes by the handles of the graph from which the executable one was made.
        for (before, after) in old.nodes.values_mut().zip(new.nodes.values()) {
            before.ops = after.ops.clone();
            before.inputs = after.inputs.clone();
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphNodeSetEnabled(exec: usize, node: usize, is_enabled: c_uint) -> c_int {
    call(|state| {
        let node = state.graphs.executable_node(exec, node)?;
        match node.kind {
            NodeKind::Kernel | NodeKind::Copy | NodeKind::Fill => {
                node.is_enabled = is_enabled != 0;
                Ok(())
            }
            _ => Err(CudaError::InvalidValue),
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphNodeGetEnabled(exec: usize, node: usize, is_enabled: *mut c_uint) -> c_int {
    call(|state| {
        let node = state.graphs.executable_node(exec, node)?;
        put(is_enabled, c_uint::from(node.is_enabled))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphLaunch(exec: usize, stream: Stream) -> c_int {
    let graph = state().graphs.executable.get(&exec).cloned();
    let Some(graph) = graph else {
        return crate::state::remember(CudaError::InvalidValue);
    };
    // A graph that is launched in a captured stream becomes a part of the captured graph.
    let mut captured = false;
    let error = call(|state| {
        captured = state.streams.capture_of(stream)?.is_some();
        Ok(())
    });
    if error != 0 {
        return error;
    }
    let order = graph.order().unwrap_or_default();
    let nodes = order.iter().map(|node| &graph.nodes[node]);
    let ops = nodes
        .filter(|node| node.is_enabled)
        .flat_map(|node| &node.ops);
    let ops: Vec<Op> = ops.cloned().collect();
    let error = match captured {
        true => 0,
        false => Conditional::start(&ops),
    };
    match error {
        0 => run(&ops, stream, captured),
        error => error,
    }
}

/// Does work in its order, until the first error.
fn run(ops: &[Op], stream: Stream, is_captured: bool) -> c_int {
    for op in ops {
        let error = match op {
            op if is_captured => call(|state| state.submit(Some(stream), op.clone())),
            Op::Host(host) => {
                run_host(*host);
                0
            }
            Op::Conditional(conditional) => conditional.run(stream),
            op => call(|state| state.within_stream(Some(stream), |state| state.perform(op))),
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
