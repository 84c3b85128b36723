//! Messages of `lint`: what can be wrong with a program that compiles.

use crate::message::{Fact, messages};
use ir::{SpecialReg, Varies, span::Span, uniformity::Cause};

/// What makes threads differ, as the source calls it.
pub(super) struct Root {
    pub(super) cause: Option<Cause>,
    /// The program's call of a library function that contains the cause.
    pub(super) call: Option<String>,
}

impl Fact<()> for Root {
    fn shown(&self, (): &()) -> String {
        if let Some(call) = &self.call {
            return format!("`{call}`");
        }
        let text = match self.cause {
            Some(Cause::Thread(register)) => match register.varies() {
                Varies::Lane | Varies::Row if register != SpecialReg::LaneId => {
                    return format!("`{}`", register.source());
                }
                Varies::Lane | Varies::Row => "the lane",
                Varies::Place => "the active mask",
                Varies::Time => "the clock",
                Varies::Block | Varies::Grid => "the thread",
            },
            Some(Cause::OneByOne) => "the result of an atomic",
            Some(Cause::OtherLane) => "the value of another lane",
            Some(
                Cause::OwnMemory
                | Cause::Operand(_)
                | Cause::Assigned(..)
                | Cause::Divergence(..)
                | Cause::Unset(_)
                | Cause::Call,
            )
            | None => "a value that each thread has for itself",
        };
        text.to_string()
    }
}

/// A step from a condition to the value that differs between threads.
pub(super) enum Step {
    Root(Root),
    Value(String),
    Set(String),
}

impl Fact<()> for Step {
    fn shown(&self, (): &()) -> String {
        match self {
            Step::Root(root) => format!("{} is different in each thread", root.shown(&())),
            Step::Value(name) => format!("`{name}` gets its value here"),
            Step::Set(name) => format!("whether `{name}` is set depends on this"),
        }
    }
}

messages! {
    ();
    /// A barrier that some threads may miss. `differs`: the condition.
    BarrierWarning {
        Branch { barrier: String, root: Root, differs: Option<Span> } => BarrierUnderCondition
            "`{barrier}` under a condition that depends on {root}",
            at "only the threads of this branch come here",
            label differs "this differs between the threads of a block",
            help "end the branch before the barrier and begin it again after, so that all threads come by the barrier";
        Rounds { barrier: String, root: Root, differs: Option<Span> } => BarrierInUnevenLoop
            "`{barrier}` in a loop whose number of rounds depends on {root}",
            at "the threads that have left the loop do not come here",
            label differs "this differs between the threads of a block",
            help "let all threads make the same number of rounds, and put what only some do under an `if` without a barrier in it";
        Jump { barrier: String, root: Root, differs: Option<Span> } => BarrierUnderCondition
            "`{barrier}` that threads jump over, depending on {root}",
            at "the threads that jump do not come here",
            label differs "this differs between the threads of a block",
            help "put what is jumped over under an `if` that ends before the barrier";
        Returned { barrier: String, root: Root, differs: Option<Span> } => BarrierAfterReturn
            "`{barrier}` after a `return` that depends on {root}",
            at "the threads that have returned do not come here",
            label differs "this differs between the threads of a block",
            help "a barrier waits for the threads that have not exited, so this is allowed; threads that must take part later, or load what others read, have to stay";
    }
}

messages! {
    ();
    /// An exchange among whichever lanes are active.
    MaskWarning {
        Stale { name: String, mask: Option<Span>, parts: Option<Span> } => ActiveMaskAfterBranch
            "`{name}` among the lanes that `__activemask()` gives: after a branch or loop, lanes of the warp may be missing",
            label mask "only the lanes that are here at this moment",
            label parts "this parts the lanes, and nothing makes them meet again",
            note "since sm_70 CUDA does not promise that lanes run together again behind the end of a branch or loop",
            help "name the lanes that take part: `0xffffffff` for the whole warp, or a mask that `__ballot_sync` gives before the branch";
    }
}

messages! {
    ();
    /// More memory than there is. `part`: the bytes of the largest variable, if there are others.
    LimitError {
        Local { kernel: String, bytes: u64, limit: u64, part: Option<u64> } => TooMuchLocal
            "the kernel `{kernel}` takes {bytes} bytes of local memory for each thread; the limit is {limit}",
            at "all of it is here",
            at "{part} of them are here" if part,
            help "use global memory instead, a part of one allocation for each thread";
        Constant { bytes: u64, limit: u64, largest: String, part: u64 } => TooMuchConstant
            "the program's `__constant__` variables take {bytes} bytes; the limit is {limit}",
            at "`{largest}` takes {part}",
            help "make it a `__device__` variable";
    }
}
