//! Host functions: the scalar half of the machine. What only the runtime can do leaves it as an event.

use dsl::ir::{FuncId, HostFn, LocId, Type};

use crate::memory::Memory;
use crate::program::Program;
use crate::trap::Trap;

/// Why a host thread stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum HostEvent {
    /// It calls the runtime; resume it with the answer.
    Call {
        /// What.
        func: HostFn,
        /// Types and bits of the arguments.
        args: Vec<(Type, u64)>,
        /// Where.
        loc: LocId,
    },
    /// It launches a kernel; resume it with `None`.
    Launch {
        /// The kernel.
        kernel: FuncId,
        /// Blocks in x, y, z.
        grid: [u32; 3],
        /// Threads in x, y, z.
        block: [u32; 3],
        /// Dynamic shared memory.
        shared_bytes: u64,
        /// The stream.
        stream: u64,
        /// Bits of the arguments, one per parameter.
        args: Vec<u64>,
        /// Where.
        loc: LocId,
    },
    /// It returned.
    Done(Option<u64>),
}

/// A host function in the middle of its work.
#[derive(Debug)]
pub struct HostThread {}

impl HostThread {
    /// A thread that will run `func` with these arguments (bits, one per parameter).
    pub fn new(_program: &Program, _func: FuncId, _args: &[u64]) -> HostThread {
        HostThread {}
    }

    /// Runs on to the next event. `answer` is the result of the call it stopped at; `limit` bounds the instructions
    /// executed over the thread's life.
    pub fn resume(
        &mut self,
        _program: &Program,
        _memory: &mut Memory,
        _answer: Option<u64>,
        _limit: Option<u64>,
    ) -> Result<HostEvent, Trap> {
        Ok(HostEvent::Done(None))
    }
}
