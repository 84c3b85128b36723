//! Conditional nodes: graphs that run if, or as long as, a kernel requests it with `cudaGraphSetConditional`.
//!
//! A condition is a word of device memory. Its handle is the address, so that kernels write it themselves (`dsl/library/graph.k`), on the
//! simulator as on a GPU. It lives as long as the process, because no call tells when the last executable graph that reads it is destroyed.

use std::ffi::{c_int, c_uint};

use runtime::error::CudaError;

use super::{Graphs, Inputs, Node, NodeKind, Op, node::add, put, run};
use crate::{
    state::{State, call},
    stream::Stream,
};

/// What the condition decides; the numbers are those of `cudaGraphConditionalNodeType`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// Runs the first graph if it is not 0, otherwise the second one, if there is one.
    If,
    /// Runs the graph as long as it is not 0.
    While,
    /// Runs the graph with that number, if there is one.
    Switch,
}

/// A conditional node.
#[derive(Clone, Debug)]
pub(crate) struct Conditional {
    word: u64,
    /// The word's value when the graph is launched; `None`: it keeps its value.
    start: Option<u32>,
    form: Form,
    /// The graphs, which the program fills after it has made the node.
    graphs: Vec<usize>,
    /// Their work, once the graph around them is instantiated.
    bodies: Vec<Vec<Op>>,
}

impl Graphs {
    /// A graph's work in an order that its edges allow, including the work of the graphs in its conditional nodes.
    pub(crate) fn work(&self, graph: usize) -> Result<Vec<Op>, CudaError> {
        let graph = self.graphs.get(&graph).ok_or(CudaError::InvalidValue)?;
        let order = graph.order().ok_or(CudaError::InvalidValue)?;
        let ops = order.iter().flat_map(|handle| &graph.nodes[handle].ops);
        ops.map(|op| self.filled(op)).collect()
    }

    /// The work with that of a conditional node's graphs filled in.
    pub(super) fn filled(&self, op: &Op) -> Result<Op, CudaError> {
        let Op::Conditional(conditional) = op else {
            return Ok(op.clone());
        };
        if !conditional.bodies.is_empty() {
            return Ok(op.clone());
        }
        let bodies = conditional.graphs.iter().map(|graph| self.work(*graph));
        Ok(Op::Conditional(Conditional {
            bodies: bodies.collect::<Result<_, _>>()?,
            ..conditional.clone()
        }))
    }
}

impl State {
    fn condition(&mut self, word: u64) -> Result<u32, CudaError> {
        self.wait()?;
        let bytes = self
            .device
            .read(&self.memory, word, size_of::<u32>() as u64);
        let bytes = self.device_result(bytes, "cudaGraphLaunch")?;
        let bytes = bytes.first_chunk().ok_or(CudaError::InvalidValue)?;
        Ok(u32::from_le_bytes(*bytes))
    }

    fn set_condition(&mut self, word: u64, value: u32) -> Result<(), CudaError> {
        let result = self
            .device
            .write(&mut self.memory, word, &value.to_le_bytes());
        self.device_result(result, "cudaGraphLaunch")
    }
}

impl Conditional {
    /// Sets the conditions with a default to it at the launch.
    pub(super) fn start(ops: &[Op]) -> c_int {
        for op in ops {
            let Op::Conditional(conditional) = op else {
                continue;
            };
            if let Some(value) = conditional.start {
                let error = call(|state| state.set_condition(conditional.word, value));
                if error != 0 {
                    return error;
                }
            }
            for body in &conditional.bodies {
                let error = Conditional::start(body);
                if error != 0 {
                    return error;
                }
            }
        }
        0
    }

    /// Runs the graphs that the condition selects.
    pub(super) fn run(&self, stream: Stream) -> c_int {
        loop {
            let mut value = 0;
            let error = call(|state| {
                value = state.condition(self.word)?;
                Ok(())
            });
            let body = match self.form {
                Form::If => usize::from(value == 0),
                Form::While if value == 0 => return error,
                Form::While => 0,
                Form::Switch => value as usize,
            };
            if error != 0 {
                return error;
            }
            let error = match self.bodies.get(body) {
                Some(body) => run(body, stream, false),
                None => 0,
            };
            if error != 0 || self.form != Form::While {
                return error;
            }
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphConditionalHandleCreate(
    handle: *mut u64,
    graph: usize,
    value: c_uint,
    flags: c_uint,
) -> c_int {
    /// `cudaGraphCondAssignDefault`.
    const ASSIGNED: c_uint = 1;
    call(|state| {
        state.graphs.graph(graph)?;
        let start = match flags {
            0 => None,
            ASSIGNED => Some(value),
            _ => return Err(CudaError::InvalidValue),
        };
        let word = state.allocate_device(size_of::<u32>() as u64)?;
        state.set_condition(word, value)?;
        state.graphs.conditions.insert(word, start);
        put(handle, word)
    })
}

/// Adds a node with its own graphs, which the program fills; the condition has to be made for the node.
#[unsafe(no_mangle)]
extern "C" fn __dslcGraphAddConditional(
    node: *mut usize,
    graph: usize,
    after: *const usize,
    count: usize,
    condition: u64,
    form: c_uint,
    size: c_uint,
    graphs: *mut *const usize,
) -> c_int {
    add(node, graph, (after, count), |state| {
        let start = state.graphs.conditions.get(&condition);
        let start = *start.ok_or(CudaError::InvalidValue)?;
        let form = match (form, size) {
            (0, 1 | 2) => Form::If,
            (1, 1) => Form::While,
            (2, 1..) => Form::Switch,
            _ => return Err(CudaError::InvalidValue),
        };
        let made: Vec<usize> = (0..size).map(|_| state.graphs.create().0).collect();
        // The program may keep the list for any time.
        put(graphs, Box::leak(made.clone().into_boxed_slice()).as_ptr())?;
        let conditional = Conditional {
            word: condition,
            start,
            form,
            graphs: made,
            bodies: Vec::new(),
        };
        let ops = vec![Op::Conditional(conditional)];
        Ok(Node::new(NodeKind::Conditional, ops, Inputs::default()))
    })
}
