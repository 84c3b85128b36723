//! What would help against a race, as data: what is missing, and where it goes. `render` words it. Lines are of the program.

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

/// A fence of the source: the narrowest that both threads see.
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

/// What would help against a race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// A statement that reads, changes and writes one place: an atomic.
    Atomic(LostUpdate),
    /// Several threads write at this line: one of them is enough, or each needs an element of its own.
    OneWriter {
        /// The line.
        line: u32,
        /// It is one instruction of theirs.
        at_once: bool,
    },
    /// All write the same value. One that does would say what is meant.
    SayWhatIsMeant,
    /// The atomic of an update has block scope, and the threads are of different blocks.
    WiderAtomic,
    /// Two arrays of different names have the same bytes: the two accesses in the source.
    SameBytes([String; 2]),
    /// A barrier.
    Barrier(MissingBarrier),
    /// A barrier; or, if a lock or flag is to order the two, a fence before that is set.
    BarrierOrFence(MissingBarrier),
    /// There are fences and locks: see that they are where they have to be; or a barrier.
    CheckFenceOrBarrier(MissingBarrier),
    /// Lanes meet between these lines already, other ones than these.
    OtherLanesMeet {
        /// The two lines.
        lines: (u32, u32),
    },
    /// A fence behind the loop that takes a lock.
    FenceBehindLock(Fence),
    /// A fence between an access and what announces it.
    Fence {
        /// Which.
        fence: Fence,
        /// The access that changes the flag, as in the source; empty if that is not known.
        sign: String,
        /// The line of what is announced, and of the flag.
        lines: (u32, u32),
        /// The flag is a lock that the thread has taken: the place of that needs a fence, too.
        is_lock: bool,
    },
    /// A fence between these lines is too narrow: the other thread is of another block.
    WiderFence {
        /// The two lines.
        lines: (u32, u32),
    },
    /// A flag that a loop waits for is read or set by an ordinary access.
    PlainFlag {
        /// The read, as in the source.
        sign: String,
        /// The line that sets it, and that of the loop.
        lines: (u32, u32),
    },
    /// Threads with another index in one dimension take the same element.
    IndexOmits {
        /// The line.
        line: u32,
        /// What its index leaves out.
        what: &'static str,
    },
    /// A loop over elements goes on by the threads of a block, where the threads of all blocks begin side by side.
    StrideOfBlock {
        /// The line of the step.
        line: u32,
    },
    /// A fence before a lock or flag is set, if one is to order the two.
    FenceIfFlag,
    /// There are fences: see that they are where they have to be.
    CheckFence,
    /// There are fences, and nothing that a thread could wait for: the lines that were to be ordered.
    FenceIsNoBarrier {
        /// The two lines.
        lines: (u32, u32),
    },
    /// Both lines take the same half of a double buffer, in one round.
    SameHalf(SameHalf),
    /// Bit-fields that share the bytes that a store reads and writes.
    SharedBits([String; 2]),
    /// The accesses are on the two sides of a branch, which threads go at the same time.
    OtherSide {
        /// The line of the branch.
        branch: u32,
        /// The earlier access in time, and the later one.
        lines: (u32, u32),
        /// Which barrier holds the threads.
        barrier: Barrier,
        /// Both sides go on in loops.
        in_loops: bool,
    },
    /// A flag is set before what it announces.
    EarlyFlag {
        /// The fence that goes between them.
        fence: Fence,
        /// The access that changes the flag, as in the source.
        sign: String,
        /// The line of the flag, and of what it announces.
        lines: (u32, u32),
    },
    /// Nothing in one launch orders blocks.
    SeparateBlocks,
}

/// A statement whose updates can be lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LostUpdate {
    /// The lines of the load and of the store.
    pub lines: (u32, u32),
    /// What it stores to, as in the source.
    pub place: String,
    /// The atomic function that does what it does.
    pub atomic: Option<&'static str>,
}

/// A buffer whose halves (or thirds) are filled and used by turns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SameHalf {
    /// The buffer.
    pub buffer: String,
    /// How many parts it has.
    pub parts: u64,
    /// The part that both lines take, as in the source.
    pub index: String,
    /// The line that writes, and the line that reads.
    pub lines: (u32, u32),
}

/// A barrier, and where it goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MissingBarrier {
    /// Which.
    pub barrier: Barrier,
    /// Where.
    pub place: BarrierPlace,
    /// A fence is there.
    pub fenced: bool,
    /// Another is missing at the end of the loop around both: behind that, before the loop comes back to that line.
    pub again: Option<(Edge, u32)>,
    /// The line of a loop inside the branch that not all threads enter.
    pub round: Option<u32>,
}

impl MissingBarrier {
    /// The two lines that it goes between, where that is all there is to say.
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

/// Where a barrier is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarrierPlace {
    /// At the end of a loop.
    NextRound {
        /// It goes behind that.
        after: Edge,
        /// The line that the loop comes back to.
        head: u32,
    },
    /// Between the two accesses of one line.
    WithinLine {
        /// The line.
        line: u32,
        /// The line of a branch that not all threads enter.
        outside: Option<u32>,
    },
    /// Between a test, and what changes the thing tested.
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
        /// It goes behind that,
        after: Edge,
        /// and before that.
        before: Edge,
        /// The line of a branch that not all threads enter.
        outside: Option<u32>,
    },
}

/// A line, or the statement that begins there.
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
    /// The barrier that it proposes, and nothing else.
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
