//! The report of a launch.

pub use crate::count::witness::Witness;
pub use crate::fault::trap::SkippedAccess;
pub use crate::launch::compiled::CompiledCounts;
pub use crate::launch::count_only::{
    Cause, Changed, Counted, Counting, CountingError, Decides, InFull, Missing, NotComputed,
    Uncomputed,
};

use ir::{FuncId, LocId, Module, Space};
use thiserror::Error;

use crate::config::{ChildLaunch, LaunchConfig};
use crate::count::reuse::Reuse;
use crate::count::stats::{LaunchCounts, SiteCounts};
use crate::fault::finding::{Fact, Finding, Scheduled};
use crate::fault::trap::{AccessOp, Trap};
use crate::observe::trace::Event;
use crate::program::Program;

/// A kernel that ran to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchReport {
    /// The kernel.
    pub kernel: FuncId,
    /// Its name.
    pub kernel_name: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Its shared memory.
    pub shared: SharedBytes,
    /// The launch statement.
    pub statement: Statement,
    /// Totals.
    pub counts: LaunchCounts,
    /// How often all its loads together access the same bytes of global memory; `None`: it has no loads, or they touch
    /// too many pieces.
    pub reuse: Option<Reuse>,
    /// Counts per source access, sorted by file, line, column, text, operation, space and width.
    pub sites: Vec<Site>,
    /// Divergent branches by source place: sorted by file, line and column.
    pub branches: Vec<Branch>,
    /// Barriers by source place: sorted by file, line and column.
    pub barriers: Vec<Barrier>,
    /// What the checks found, in the order of their first source access.
    pub findings: Vec<Finding>,
    /// Whether the race check ran out of space for the access history of global memory and dropped it at least once.
    /// Races between blocks before and after that are not among the findings. It holds about 16 million accesses of
    /// warps.
    pub forgot: bool,
    /// How often its threads called `printf`.
    pub printf_calls: u64,
    /// Invalid accesses that the launch continued after because of
    /// [`MachineConfig::keep_going`](crate::MachineConfig::keep_going): the first of each kind and place. Results
    /// computed after the first one, here and later, are not those of the program.
    pub skipped: Vec<SkippedAccess>,
    /// The orders of blocks and warps in which it ran.
    pub order: OrderReport,
    /// The launches that its threads made, in order. They run after it. See [`LaunchQueue`](crate::LaunchQueue).
    pub children: Vec<ChildLaunch>,
    /// What it costs as compiled, if that was asked for.
    pub compiled: Option<CompiledCounts>,
    /// Everything it did, if [`MachineConfig::trace`](crate::MachineConfig::trace) requested a trace.
    pub trace: Vec<Event>,
}

impl LaunchReport {
    /// The report of a launch that ran elsewhere, without counts.
    pub fn uncounted(program: &Program, kernel: FuncId, config: &LaunchConfig) -> LaunchReport {
        let module = program.module();
        LaunchReport {
            kernel,
            kernel_name: module.function(kernel).name.clone(),
            grid: config.grid,
            block: config.block,
            shared: SharedBytes {
                fixed: program.code(kernel).memory.shared_bytes,
                dynamic: config.shared_bytes,
            },
            statement: Statement::of(module, config.loc),
            counts: LaunchCounts::default(),
            reuse: None,
            sites: Vec::new(),
            branches: Vec::new(),
            barriers: Vec::new(),
            findings: Vec::new(),
            forgot: false,
            printf_calls: 0,
            skipped: Vec::new(),
            order: OrderReport::default(),
            children: Vec::new(),
            compiled: CompiledCounts::of_ptx(module.function(kernel)),
            trace: Vec::new(),
        }
    }
}

/// Shared memory of each block of a launch, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SharedBytes {
    /// What the kernel declares.
    pub fixed: u64,
    /// What the launch adds.
    pub dynamic: u64,
}

impl SharedBytes {
    /// Both together.
    pub fn all(self) -> u64 {
        self.fixed.saturating_add(self.dynamic)
    }
}

/// A launch statement of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Statement {
    /// Its file: an index into the module's.
    pub file: u32,
    /// Its line, 0 for none.
    pub line: u32,
}

impl Statement {
    pub(crate) fn of(module: &Module, loc: LocId) -> Statement {
        let loc = module.loc(loc);
        Statement {
            file: loc.file,
            line: loc.line,
        }
    }
}

/// How a launch ran: in which orders of blocks and warps, and for how many of its blocks.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OrderReport {
    /// Whether it ran in both orders: see [`MachineConfig::both_orders`](crate::MachineConfig::both_orders).
    pub ran: Orders,
    /// The trap that ended it in descending order, if it completed in ascending order.
    pub trap_descending: Option<Box<Trap>>,
    /// The trap that ended it under a random schedule, and the schedule.
    pub trap_scheduled: Option<(Box<Trap>, Box<Scheduled>)>,
    /// The number of random schedules it ran under; `None`: its memory is too large to run it again.
    pub schedules: Option<u32>,
    /// How many of its blocks ran, under [`Counting`].
    pub counted: Counted,
    /// Accesses whose count differs under some schedule.
    pub counts: Vec<CountDepends>,
}

/// An access whose count depends on the schedule: how often threads made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountDepends {
    /// The access.
    pub loc: LocId,
    /// What it does.
    pub op: AccessOp,
    /// In the usual order.
    pub usual: u64,
    /// The least, over all schedules.
    pub least: u64,
    /// The most.
    pub most: u64,
}

impl LaunchReport {
    /// Removes findings about bytes that no one reads afterwards. Of findings that depend on the schedule or the order,
    /// keeps only the most serious.
    pub fn leave_out_unread(&mut self, is_read: impl Fn(u32) -> bool) {
        self.findings.retain(|finding| match &finding.fact {
            Fact::ResultDepends { suspect, .. } | Fact::ScheduleDependent { suspect, .. } => {
                suspect.is_none_or(&is_read)
            }
            _ => true,
        });
        self.keep_gravest(|fact| matches!(fact, Fact::ResultDepends { .. }));
        self.keep_gravest(|fact| matches!(fact, Fact::ScheduleDependent { .. }));
    }

    /// Of the findings with such a fact, keeps the first of the most serious ones.
    fn keep_gravest(&mut self, is_such: impl Fn(&Fact) -> bool) {
        let all = self
            .findings
            .iter()
            .filter(|finding| is_such(&finding.fact));
        let Some(gravest) = all.map(|finding| finding.severity).max() else {
            return;
        };
        let mut is_told = false;
        self.findings.retain(|finding| {
            let is_such = is_such(&finding.fact);
            let stays = !is_such || !is_told && finding.severity == gravest;
            is_told |= is_such && stays;
            stays
        });
    }
}

/// The orders of blocks and warps in which a launch ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Orders {
    /// In one order. Its threads do not communicate, so every order gives the same.
    #[default]
    Same,
    /// In one order, although its threads communicate.
    One,
    /// In both orders.
    Both,
}

/// A source access: all instructions from one place that do the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// The place, with its file and macro history.
    pub loc: LocId,
    /// Index into the module's files.
    pub file: u32,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// The source text of the access.
    pub text: String,
    /// The accessed space. For a generic access, the space that its address turned out to be in.
    pub space: Space,
    /// What it does.
    pub op: AccessOp,
    /// Bytes per lane.
    pub width_bytes: u32,
    /// Its costs.
    pub counts: SiteCounts,
    /// The first of its worst requests.
    pub witness: Option<Box<Witness>>,
    /// For global memory: how often it accesses the same bytes; `None`: no sampled block made it, or it touches too
    /// many pieces.
    pub reuse: Option<Reuse>,
}

/// A branch of the source at which lanes of a warp went different ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The place.
    pub loc: LocId,
    /// Index into the module's files.
    pub file: u32,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// The source text of the condition, if known.
    pub text: String,
    /// How often lanes of a warp diverged there.
    pub divergent: u64,
    /// Lanes on the side with fewer lanes, summed over all divergences.
    pub fewer_lanes: u64,
}

/// A barrier of the source at which whole blocks wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// Index into the module's files.
    pub file: u32,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// How often a warp arrived at it.
    pub warps: u64,
}

impl Barrier {
    /// Whether both are the same barrier in the source.
    pub fn is_at(&self, other: &Barrier) -> bool {
        (self.file, self.line, self.column) == (other.file, other.line, other.column)
    }
}

/// Why a launch did not run, or did not complete.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum LaunchFailure {
    /// CUDA would reject it; nothing ran.
    #[error("{0}")]
    Invalid(InvalidLaunch),
    /// A thread did something that ends the program. With several jobs, memory that the kernel only writes may also
    /// hold results of later blocks. A CUDA program cannot observe that, because it has lost the device.
    #[error("{trap}")]
    Trap {
        /// The trap, with its thread.
        trap: Box<Trap>,
        /// The counts up to the trap.
        report: Box<LaunchReport>,
    },
}

/// A launch that CUDA would reject, with the limit that it exceeds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidLaunch {
    /// A dimension of the grid or block is 0.
    #[error("{what} dimension {axis} is 0")]
    ZeroDimension {
        /// `grid` or `block`.
        what: &'static str,
        /// `x`, `y` or `z`.
        axis: char,
    },
    /// Too many threads in a block.
    #[error("a block of {threads} threads; the limit is {limit}")]
    TooManyThreads {
        /// The threads requested.
        threads: u64,
        /// The most.
        limit: u64,
    },
    /// A dimension of the grid or block is too large.
    #[error("{what} dimension {axis} is {value}; the limit is {limit}")]
    DimensionTooLarge {
        /// `grid` or `block`.
        what: &'static str,
        /// `x`, `y` or `z`.
        axis: char,
        /// The value requested.
        value: u32,
        /// The most.
        limit: u32,
    },
    /// Too much shared memory.
    #[error("{bytes} bytes of shared memory per block; the limit is {limit}")]
    TooMuchShared {
        /// Static and dynamic together.
        bytes: u64,
        /// The part that the launch statement adds.
        dynamic: u64,
        /// The most.
        limit: u64,
        /// The most after `cudaFuncSetAttribute`.
        most: u64,
    },
    /// Too much static shared memory. No call raises this limit: ptxas rejects such a kernel.
    #[error("{bytes} bytes of static shared memory per block; the limit is {limit}")]
    TooMuchStaticShared {
        /// What the kernel declares.
        bytes: u64,
        /// The most.
        limit: u64,
    },
    /// More threads than the kernel's `__launch_bounds__`.
    #[error("a block of {threads} threads; the kernel's __launch_bounds__ allows {limit}")]
    LaunchBounds {
        /// The threads requested.
        threads: u64,
        /// The most.
        limit: u64,
    },
    /// Launches from kernels are nested too deep.
    #[error("launches from kernels are nested more than {limit} deep")]
    NestedTooDeep {
        /// The maximum depth.
        limit: u32,
    },
    /// More blocks than the device holds at once, in a cooperative launch.
    #[error("a cooperative launch of {blocks} blocks; the device holds {limit} of them at once")]
    CooperativeTooLarge {
        /// The blocks requested.
        blocks: u64,
        /// The most.
        limit: u64,
    },
    /// The number of arguments differs from the number of parameters.
    #[error("{given} arguments for {expected} parameters")]
    Arguments {
        /// Given.
        given: usize,
        /// Expected.
        expected: usize,
    },
    /// The function is not a kernel.
    #[error("`{0}` is not a kernel")]
    NotAKernel(String),
    /// Blocks that ran in parallel depend on each other, and memory cannot be restored to its state before the launch.
    #[error(
        "a pointer to one allocation is used to reach another, and blocks depend on each other there: only one job \
         (--jobs 1) gives a result"
    )]
    LeftAllocation,
    /// A real device rejected it.
    #[error("{0}")]
    Device(String),
}
