//! Remedies for a race, as data: what is missing, and where it goes. `render` words them. Lines are lines of the
//! program.

/// A barrier of the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Barrier {
    /// `__syncwarp()`.
    Warp,
    /// `__syncthreads()`.
    Block,
    /// `grid.sync()`.
    Grid,
}

impl Barrier {
    /// As in the source.
    pub fn name(self) -> &'static str {
        match self {
            Barrier::Warp => "__syncwarp()",
            Barrier::Block => "__syncthreads()",
            Barrier::Grid => "grid.sync()",
        }
    }
}

/// A fence in the source: the narrowest that both threads see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fence {
    /// `__threadfence_block()`.
    Block,
    /// `__threadfence()`.
    Device,
}

impl Fence {
    /// As in the source.
    pub fn name(self) -> &'static str {
        match self {
            Fence::Block => "__threadfence_block()",
            Fence::Device => "__threadfence()",
        }
    }
}

/// A remedy for a race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// A statement that reads, changes and writes one place needs an atomic.
    Atomic(LostUpdate),
    /// Several threads write at this line: one of them is enough, or each needs a separate element.
    OneWriter {
        /// The line.
        line: u32,
        /// Whether they write in one instruction.
        at_once: bool,
    },
    /// All write the same value. Writing it in one thread would state the intent.
    SayWhatIsMeant,
    /// The atomic of an update has block scope, but the threads belong to different blocks.
    WiderAtomic,
    /// Two arrays with different names occupy the same bytes: the two accesses in the source.
    SameBytes([String; 2]),
    /// A barrier.
    Barrier(MissingBarrier),
    /// A barrier; or, if a lock or flag is meant to order the two, a fence before it is set.
    BarrierOrFence(MissingBarrier),
    /// There are fences and locks: check that they are in the right places; or a barrier.
    CheckFenceOrBarrier(MissingBarrier),
    /// Lanes already meet between these lines, but not these lanes.
    OtherLanesMeet {
        /// The two lines.
        lines: (u32, u32),
    },
    /// A fence after the loop that takes a lock.
    FenceBehindLock(Fence),
    /// A fence between an access and the flag that announces it.
    Fence {
        /// The fence.
        fence: Fence,
        /// The access that changes the flag, as in the source; empty if unknown.
        sign: String,
        /// The lines of what is announced, and of the flag.
        lines: (u32, u32),
        /// Whether the flag is a lock that the thread has taken: taking it needs a fence, too.
        is_lock: bool,
    },
    /// A fence between these lines is too narrow, because the other thread belongs to another block.
    WiderFence {
        /// The two lines.
        lines: (u32, u32),
    },
    /// A flag that a loop waits for is read or set by an ordinary access.
    PlainFlag {
        /// The read, as in the source.
        sign: String,
        /// The line that sets it, and the line of the loop.
        lines: (u32, u32),
    },
    /// Threads with different indices in one dimension use the same element.
    IndexOmits {
        /// The line.
        line: u32,
        /// What its index omits.
        what: &'static str,
    },
    /// A loop over elements has the threads of one block as stride, although the threads of all blocks start side by
    /// side.
    StrideOfBlock {
        /// The line of the step.
        line: u32,
    },
    /// A fence before a lock or flag is set, if one is meant to order the two.
    FenceIfFlag,
    /// There are fences: check that they are in the right places.
    CheckFence,
    /// There are fences, but nothing that a thread could wait for: the lines that should be ordered.
    FenceIsNoBarrier {
        /// The two lines.
        lines: (u32, u32),
    },
    /// Both lines use the same half of a double buffer in one round.
    SameHalf(SameHalf),
    /// Bit-fields that share the bytes that a store reads and writes.
    SharedBits([String; 2]),
    /// The accesses are on the two sides of a branch, and threads run both sides at the same time.
    OtherSide {
        /// The line of the branch.
        branch: u32,
        /// The line of the earlier access in time, and of the later one.
        lines: (u32, u32),
        /// The barrier that synchronises the threads.
        barrier: Barrier,
        /// Whether both sides continue in loops.
        in_loops: bool,
    },
    /// A flag is set before the data that it announces.
    EarlyFlag {
        /// The fence that goes between them.
        fence: Fence,
        /// The access that changes the flag, as in the source.
        sign: String,
        /// The lines of the flag, and of what it announces.
        lines: (u32, u32),
    },
    /// Nothing within one launch orders blocks.
    SeparateBlocks,
}

/// A statement whose updates can be lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LostUpdate {
    /// The lines of the load and of the store.
    pub lines: (u32, u32),
    /// What it stores to, as in the source.
    pub place: String,
    /// The equivalent atomic function.
    pub atomic: Option<&'static str>,
}

/// A buffer whose halves (or thirds) are filled and used in turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SameHalf {
    /// The buffer.
    pub buffer: String,
    /// The number of parts.
    pub parts: u64,
    /// The part that both lines use, as in the source.
    pub index: String,
    /// The line that writes, and the line that reads.
    pub lines: (u32, u32),
}

/// A missing barrier and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MissingBarrier {
    /// The barrier.
    pub barrier: Barrier,
    /// The place.
    pub place: BarrierPlace,
    /// Whether a fence is there already.
    pub fenced: bool,
    /// Another one is missing at the end of the loop around both: after this edge, before the loop returns to this
    /// line.
    pub again: Option<(Edge, u32)>,
    /// The line of a loop inside the branch that not all threads enter.
    pub round: Option<u32>,
}

impl MissingBarrier {
    /// The two lines that it goes between, if nothing else has to be said.
    pub fn between(&self) -> Option<(u32, u32)> {
        match self.place {
            BarrierPlace::Between {
                after: Edge::Line(after),
                before: Edge::Line(before),
                outside: None,
            } if !self.fenced && self.again.is_none() => Some((after, before)),
            _ => None,
        }
    }
}

/// The place of a missing barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarrierPlace {
    /// At the end of a loop.
    NextRound {
        /// It goes after this.
        after: Edge,
        /// The line that the loop returns to.
        head: u32,
    },
    /// Between the two accesses in one line.
    WithinLine {
        /// The line.
        line: u32,
        /// The line of a branch that not all threads enter.
        outside: Option<u32>,
    },
    /// Between a test, and the change of what is tested.
    BehindTest {
        /// The line of the test.
        test: u32,
        /// The line of the change.
        change: u32,
        /// The line of a branch that not all threads enter.
        outside: Option<u32>,
    },
    /// Between two lines or statements.
    Between {
        /// It goes after this,
        after: Edge,
        /// and before that.
        before: Edge,
        /// The line of a branch that not all threads enter.
        outside: Option<u32>,
    },
}

/// A line, or the statement that starts there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edge {
    /// A line.
    Line(u32),
    /// A loop.
    Loop(u32),
    /// An `if`.
    If(u32),
}

impl Remedy {
    /// The barrier that it proposes, if it proposes nothing else.
    pub fn missing(&self) -> Option<MissingBarrier> {
        match self {
            Remedy::Barrier(missing) => Some(*missing),
            _ => None,
        }
    }

    /// The barrier that it proposes.
    pub fn barrier(&self) -> Option<Barrier> {
        match self {
            Remedy::Barrier(missing)
            | Remedy::BarrierOrFence(missing)
            | Remedy::CheckFenceOrBarrier(missing) => Some(missing.barrier),
            Remedy::Atomic(_)
            | Remedy::OneWriter { .. }
            | Remedy::SayWhatIsMeant
            | Remedy::WiderAtomic
            | Remedy::SameBytes(_)
            | Remedy::OtherLanesMeet { .. }
            | Remedy::FenceBehindLock(_)
            | Remedy::Fence { .. }
            | Remedy::WiderFence { .. }
            | Remedy::PlainFlag { .. }
            | Remedy::IndexOmits { .. }
            | Remedy::StrideOfBlock { .. }
            | Remedy::FenceIfFlag
            | Remedy::CheckFence
            | Remedy::FenceIsNoBarrier { .. }
            | Remedy::SameHalf(_)
            | Remedy::SharedBits(_)
            | Remedy::OtherSide { .. }
            | Remedy::EarlyFlag { .. }
            | Remedy::SeparateBlocks => None,
        }
    }
}
