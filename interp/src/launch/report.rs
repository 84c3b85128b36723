//! What a launch gives back.

pub use crate::count::witness::Witness;
pub use crate::fault::trap::SkippedAccess;
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
    /// How often its loads ask for the same bytes of global memory, all loads together; `None`: it has none, or they go to too many pieces.
    pub reuse: Option<Reuse>,
    /// Counts per source access, sorted by file, line, column, text, operation, space and width.
    pub sites: Vec<Site>,
    /// Branches that parted their warps, by source place: sorted by file, line and column.
    pub branches: Vec<Branch>,
    /// Barriers by source place: sorted by file, line and column.
    pub barriers: Vec<Barrier>,
    /// What the checks found, in the order of their first source access.
    pub findings: Vec<Finding>,
    /// The race check could not keep who had touched what in global memory, and forgot it once or more: races between blocks before that and
    /// blocks after it are not among the findings. It keeps some 16 million accesses of warps.
    pub forgot: bool,
    /// How often its threads called `printf`.
    pub printf_calls: u64,
    /// Accesses that are not allowed, where [`MachineConfig::keep_going`](crate::MachineConfig::keep_going) had the launch go on: the
    /// first of each kind and place. What was computed after it, here and later, is not what the program computes.
    pub skipped: Vec<SkippedAccess>,
    /// In which orders of blocks and warps it ran.
    pub order: OrderReport,
    /// What its threads launched, in order: to be run after it. See [`LaunchQueue`](crate::LaunchQueue).
    pub children: Vec<ChildLaunch>,
    /// All that it did, if [`MachineConfig::trace`](crate::MachineConfig::trace) asked for that.
    pub trace: Vec<Event>,
}

impl LaunchReport {
    /// A launch that ran elsewhere: nothing was counted.
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
            trace: Vec::new(),
        }
    }
}

/// Shared memory of a launch's blocks, in bytes.
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

/// How a launch ran: what the order of blocks and warps has to do with it, and for how many blocks.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OrderReport {
    /// Whether it ran in both: see [`MachineConfig::both_orders`](crate::MachineConfig::both_orders).
    pub ran: Orders,
    /// What ended it in descending order, where it ran to its end in ascending order.
    pub trap_descending: Option<Box<Trap>>,
    /// What ended it under a random schedule, and under which.
    pub trap_scheduled: Option<(Box<Trap>, Box<Scheduled>)>,
    /// Under how many random schedules it ran; `None`: its memory is too large to run it again.
    pub schedules: Option<u32>,
    /// For how many of its blocks, under [`Counting`].
    pub counted: Counted,
    /// Accesses that were made more or less often under one of those.
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
    /// The least and the most, under all schedules.
    pub least: u64,
    /// See above.
    pub most: u64,
}

impl LaunchReport {
    /// Leaves out findings about bytes that nobody read afterwards, and of those that depend on the schedule, or on the order, all but the
    /// gravest.
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

    /// Of findings with such a fact, the first of the gravest stays.
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

/// In which orders of blocks and warps a launch ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Orders {
    /// In one; its threads tell each other nothing, so it is the same in any.
    #[default]
    Same,
    /// In one, although its threads communicate.
    One,
    /// In both.
    Both,
}

/// A source access: all instructions that come from one place and do the same thing.
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
    /// The space that was accessed: of a generic access, the one its address turned out to be in.
    pub space: Space,
    /// What it does.
    pub op: AccessOp,
    /// Bytes per lane.
    pub width_bytes: u32,
    /// What it cost.
    pub counts: SiteCounts,
    /// The first of its worst requests.
    pub witness: Option<Box<Witness>>,
    /// Global memory: how often it asks for the same bytes; `None`: no block that was looked at made it, or it goes to too many pieces.
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
    /// The source text of the condition, where it is known.
    pub text: String,
    /// How often a warp's lanes parted there.
    pub divergent: u64,
    /// Lanes that went the way of fewer, summed over those.
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
    /// How often a warp met it.
    pub warps: u64,
}

impl Barrier {
    /// Whether both are the same one of the source.
    pub fn is_at(&self, other: &Barrier) -> bool {
        (self.file, self.line, self.column) == (other.file, other.line, other.column)
    }
}

/// Why a launch did not run, or not to its end.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum LaunchFailure {
    /// CUDA would refuse it; nothing ran.
    #[error("{0}")]
    Invalid(InvalidLaunch),
    /// A thread did something that ends the program. With several jobs, memory that the kernel only writes may hold results of
    /// later blocks too; a CUDA program cannot look, for the device is lost to it.
    #[error("{trap}")]
    Trap {
        /// What, and who.
        trap: Box<Trap>,
        /// The counts up to there.
        report: Box<LaunchReport>,
    },
}

/// A launch CUDA would refuse, with the limit it breaks.
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
        /// Asked for.
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
        /// Asked for.
        value: u32,
        /// The most.
        limit: u32,
    },
    /// Too much shared memory.
    #[error("{bytes} bytes of shared memory per block; the limit is {limit}")]
    TooMuchShared {
        /// Static and dynamic together.
        bytes: u64,
        /// Those of the launch statement among them.
        dynamic: u64,
        /// The most.
        limit: u64,
        /// The most after `cudaFuncSetAttribute`.
        most: u64,
    },
    /// Too much static shared memory, which no call raises: ptxas refuses such a kernel.
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
        /// Asked for.
        threads: u64,
        /// The most.
        limit: u64,
    },
    /// A launch inside of too many others.
    #[error("launches from kernels are nested more than {limit} deep")]
    NestedTooDeep {
        /// The deepest.
        limit: u32,
    },
    /// More blocks than the device holds at once, in a cooperative launch.
    #[error("a cooperative launch of {blocks} blocks; the device holds {limit} of them at once")]
    CooperativeTooLarge {
        /// Asked for.
        blocks: u64,
        /// The most.
        limit: u64,
    },
    /// The number of arguments is not the number of parameters.
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
    /// Blocks that ran side by side depend on each other, and memory cannot be put back as it was before them.
    #[error(
        "a pointer to one allocation is used to reach another, and blocks depend on each other there: only one job \
         (--jobs 1) gives a result"
    )]
    LeftAllocation,
    /// A real device refuses it.
    #[error("{0}")]
    Device(String),
}
