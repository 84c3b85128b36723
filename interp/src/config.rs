//! The caller's choices: the machine, and one launch on it.

use ir::{FuncId, LocId};

use crate::rules::RuleSet;
use crate::{fault::stop::StopFlag, progress::Progress};

/// A family of findings that can be checked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Check {
    /// Races in shared and global memory.
    Race,
    /// Lanes of one warp that are ordered only by lockstep.
    WarpSynchronous,
    /// Reads of unwritten memory and variables.
    Uninit,
    /// Barriers that threads of the block miss, or reach at different statements.
    Barrier,
    /// Masks of `__syncwarp`, shuffles and votes.
    Mask,
    /// Divisions by zero, shifts out of range.
    Arithmetic,
    /// Device, managed and pinned memory that a program has not freed at its end. `runtime` checks for it, not the
    /// machine.
    Leak,
}

impl Check {
    /// All of them.
    pub const ALL: [Check; 7] = [
        Check::Race,
        Check::WarpSynchronous,
        Check::Uninit,
        Check::Barrier,
        Check::Mask,
        Check::Arithmetic,
        Check::Leak,
    ];

    /// The name on the command line: `race`, `warp_synchronous` …
    pub fn name(self) -> &'static str {
        match self {
            Self::Race => "race",
            Self::WarpSynchronous => "warp_synchronous",
            Self::Uninit => "uninit",
            Self::Barrier => "barrier",
            Self::Mask => "mask",
            Self::Arithmetic => "arithmetic",
            Self::Leak => "leak",
        }
    }

    /// The check with that name.
    pub fn from_name(name: &str) -> Option<Check> {
        Self::ALL.into_iter().find(|check| check.name() == name)
    }
}

/// A set of [`Check`]s.
///
/// ```
/// use interp::config::{Check, Checks};
/// let checks = Checks::NONE.with(Check::Race);
/// assert!(checks.has(Check::Race) && !checks.has(Check::Uninit));
/// assert!(Checks::default().has(Check::Uninit));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Checks(u16);

impl Checks {
    /// All checks.
    pub const ALL: Checks = Checks((1 << Check::ALL.len()) - 1);
    /// No checks.
    pub const NONE: Checks = Checks(0);

    /// The set with one more check.
    #[must_use]
    pub fn with(self, check: Check) -> Checks {
        Checks(self.0 | 1 << check as u8)
    }

    /// The set without one check.
    #[must_use]
    pub fn without(self, check: Check) -> Checks {
        Checks(self.0 & !(1 << check as u8))
    }

    /// Whether the check is in the set.
    pub fn has(self, check: Check) -> bool {
        self.0 & 1 << check as u8 != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl Default for Checks {
    fn default() -> Checks {
        Checks::ALL
    }
}

impl FromIterator<Check> for Checks {
    fn from_iter<I: IntoIterator<Item = Check>>(checks: I) -> Checks {
        checks.into_iter().fold(Checks::NONE, Checks::with)
    }
}

/// The machine a kernel runs on.
#[derive(Clone, Debug)]
pub struct MachineConfig {
    /// The architecture: its cost rules and limits.
    pub rules: RuleSet,
    /// CPU threads that run blocks. The results do not depend on it.
    pub jobs: usize,
    /// The most warp instructions of one launch. The end of each warp counts as one. A launch with more ends in
    /// [`TrapKind::Limit`](crate::TrapKind::Limit).
    pub limit: Option<u64>,
    /// The findings to check for. Traps do not depend on it.
    pub checks: Checks,
    /// The order of blocks in a grid, and of warps in a block.
    pub order: Order,
    /// The launches that run a second time, in descending order.
    pub both_orders: BothOrders,
    /// The schedule of threads in every launch.
    pub schedule: Schedule,
    /// The number of random schedules under which each launch also runs, to find what depends on them, and their seed.
    pub schedules: (u32, u64),
    /// When a thread sees what others store, under a schedule. In the usual order it sees it at once.
    pub memory: MemoryOrder,
    /// Whether to continue after an access that is out of bounds, misaligned, freed or null. It is then skipped (a load
    /// gives 0, a store or an atomic changes nothing) and reported in
    /// [`LaunchReport::skipped`](crate::LaunchReport::skipped). Otherwise it ends the launch.
    pub keep_going: bool,
    /// Whether to record everything that launches do, instead of checking for findings. This takes much memory.
    pub trace: bool,
    /// Whether launches are counted from some of their blocks where that gives the same counts. Their results are then
    /// not computed, and nothing is checked: see [`Counting`](crate::Counting). The owner of the memory must use it.
    pub count_only: bool,
    /// Whether some blocks are sampled for how often they access the same bytes:
    /// [`LaunchReport::reuse`](crate::LaunchReport::reuse).
    pub reuse: bool,
    /// Requests a stop. Launches then end in [`TrapKind::Stopped`](crate::TrapKind::Stopped).
    pub stop: StopFlag,
    /// Receives the progress of launches.
    pub progress: Progress,
}

/// The order of blocks, and of the warps of a block between two barriers. A program without races computes the same in
/// any order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Order {
    /// In ascending order.
    #[default]
    Ascending,
    /// In descending order, on one CPU thread.
    Descending,
}

impl Order {
    /// The number of the item in position `k` of `n`.
    pub(crate) fn number(self, k: u64, n: u64) -> u64 {
        match self {
            Order::Ascending => k,
            Order::Descending => n - 1 - k,
        }
    }
}

/// The schedule of warps and, if the lanes of a warp may run separately, of lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Schedule {
    /// Blocks and warps in order, each as far as it gets. Warps run in lockstep as far as that gets them.
    #[default]
    Lockstep,
    /// All warps in turn, one access each.
    Fair,
    /// At random, with changes at few places that follow from the seed. The seed's low byte has the number of changes,
    /// and the number of places among which they are.
    Adversarial(u64),
}

impl std::fmt::Display for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Schedule::Lockstep => f.write_str("lockstep"),
            Schedule::Fair => f.write_str("fair"),
            Schedule::Adversarial(seed) => write!(f, "adversarial:{seed}"),
        }
    }
}

impl std::str::FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Schedule, String> {
        let (kind, seed) = match text.split_once(':') {
            Some((kind, seed)) => (kind, Some(seed)),
            None => (text, None),
        };
        match (kind, seed) {
            ("lockstep", None) => Ok(Schedule::Lockstep),
            ("fair", None) => Ok(Schedule::Fair),
            // Three changes among a thousand accesses.
            ("adversarial", None) => Ok(Schedule::Adversarial(0x1ca)),
            ("adversarial", Some(seed)) => match seed.parse() {
                Ok(seed) => Ok(Schedule::Adversarial(seed)),
                Err(_) => Err(format!("`{seed}` is no seed: expected a number")),
            },
            _ => Err(format!(
                "`{text}` is no schedule: expected lockstep, fair, adversarial or adversarial:SEED"
            )),
        }
    }
}

/// The memory model: when a thread sees what others store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MemoryOrder {
    /// At once, and everything in one order.
    #[default]
    Strong,
    /// As late as the PTX memory model allows, and out of order, unless fences and barriers order it.
    Weak,
}

impl MemoryOrder {
    /// The default number of schedules with weak memory. Without any schedule no access would be late.
    const USUAL_SCHEDULES: u32 = 100;

    /// The memory model with that name.
    pub fn from_name(name: &str) -> Option<MemoryOrder> {
        match name {
            "strong" => Some(MemoryOrder::Strong),
            "weak" => Some(MemoryOrder::Weak),
            _ => None,
        }
    }

    /// The number of random schedules to try, given the requested number and the schedule of all launches.
    pub fn schedules(self, asked: u32, schedule: Option<Schedule>) -> u32 {
        match (self, asked, schedule) {
            (MemoryOrder::Weak, 0, None) => Self::USUAL_SCHEDULES,
            (MemoryOrder::Strong | MemoryOrder::Weak, asked, _) => asked,
        }
    }
}

/// Which launches run a second time with the last blocks and warps first, to find what appears in one order only. Only
/// launches with checks on and whose threads communicate are considered (flags, atomics whose result is used, unordered
/// accesses).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum BothOrders {
    /// No launch.
    #[default]
    Never,
    /// Short launches.
    WhenShort,
    /// All launches.
    Always,
}

/// `kernel<<<grid, block, shared_bytes>>>` and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory.
    pub shared_bytes: u64,
    /// Whether all blocks have to be resident at once: `cudaLaunchCooperativeKernel`.
    pub cooperative: bool,
    /// The nesting depth: 0 for a launch from the host.
    pub depth: u32,
    /// The launch statement; 0 for a launch from outside the program.
    pub loc: LocId,
}

/// A launch that a thread of a kernel made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildLaunch {
    /// The kernel.
    pub kernel: FuncId,
    /// Its configuration and place.
    pub config: LaunchConfig,
    /// The bits of one argument per parameter.
    pub args: Vec<u64>,
}

/// The launches that wait: one of the host's, and those of its threads.
///
/// A launch runs when the one that made it has ended, and everything that it launches runs before the next one: a grid
/// is complete when its children are.
#[derive(Clone, Debug, Default)]
pub struct LaunchQueue {
    /// In reverse order: the next one is the last.
    waiting: Vec<ChildLaunch>,
}

impl LaunchQueue {
    /// A queue of one launch.
    pub fn new(kernel: FuncId, config: LaunchConfig, args: Vec<u64>) -> LaunchQueue {
        let first = ChildLaunch {
            kernel,
            config,
            args,
        };
        LaunchQueue {
            waiting: vec![first],
        }
    }

    /// Adds the launches that the last launch made, in order.
    pub fn add(&mut self, children: Vec<ChildLaunch>) {
        self.waiting.extend(children.into_iter().rev());
    }
}

impl Iterator for LaunchQueue {
    type Item = ChildLaunch;

    fn next(&mut self) -> Option<ChildLaunch> {
        self.waiting.pop()
    }
}

impl LaunchConfig {
    /// The threads of a block.
    pub fn threads_per_block(&self) -> u64 {
        self.block.iter().map(|&n| u64::from(n)).product()
    }

    /// The blocks of the grid.
    pub fn blocks(&self) -> u128 {
        self.grid.iter().map(|&n| u128::from(n)).product()
    }
}
