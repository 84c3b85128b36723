//! What the caller chooses: the machine, and one launch on it.

use ir::{FuncId, LocId};

use crate::rules::RuleSet;
use crate::{fault::stop::StopFlag, progress::Progress};

/// A family of findings that can be looked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Check {
    /// Races in shared and global memory.
    Race,
    /// Lanes of one warp that are ordered by lockstep alone.
    WarpSynchronous,
    /// Reads of unwritten memory and variables.
    Uninit,
    /// Barriers that threads of the block miss, or reach at different statements.
    Barrier,
    /// Masks of `__syncwarp`, shuffles and votes.
    Mask,
    /// Divisions by zero, shifts out of range.
    Arithmetic,
    /// Device, managed and pinned memory that a program ends without giving back. `runtime` looks for it, not the machine.
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

    /// As on the command line: `race`, `warp_synchronous` …
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

    /// The one with that name.
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
    /// Everything.
    pub const ALL: Checks = Checks((1 << Check::ALL.len()) - 1);
    /// Nothing.
    pub const NONE: Checks = Checks(0);

    /// This and another one.
    #[must_use]
    pub fn with(self, check: Check) -> Checks {
        Checks(self.0 | 1 << check as u8)
    }

    /// All but one.
    #[must_use]
    pub fn without(self, check: Check) -> Checks {
        Checks(self.0 & !(1 << check as u8))
    }

    /// Whether it is among them.
    pub fn has(self, check: Check) -> bool {
        self.0 & 1 << check as u8 != 0
    }

    /// Whether there is none.
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
    /// CPU threads that run blocks. Results do not depend on it.
    pub jobs: usize,
    /// Most warp instructions of one launch, the end of each warp being one; more end in [`TrapKind::Limit`](crate::TrapKind::Limit).
    pub limit: Option<u64>,
    /// What findings are looked for. Traps do not depend on it.
    pub checks: Checks,
    /// Which blocks of a grid and warps of a block come first.
    pub order: Order,
    /// Which launches run a second time, in descending order.
    pub both_orders: BothOrders,
    /// Who runs when, in every launch.
    pub schedule: Schedule,
    /// Under how many random schedules each launch runs besides, to find what depends on them; the seed they follow from.
    pub schedules: (u32, u64),
    /// When a thread sees what others store, under a schedule. In the usual order it is at once.
    pub memory: MemoryOrder,
    /// Go on after an access that is out of bounds, misaligned, freed or null: it is skipped (a load gives 0, a store or an atomic
    /// changes nothing) and told in [`LaunchReport::skipped`](crate::LaunchReport::skipped). Else it is the launch's end.
    pub keep_going: bool,
    /// Keep all that launches do, instead of looking for findings. It takes much memory.
    pub trace: bool,
    /// Launches are counted from some of their blocks where that gives the same counts; then their results are not computed, and
    /// nothing is checked: see [`Counting`](crate::Counting). Whoever keeps the memory sees to it.
    pub count_only: bool,
    /// Whether it is noted of some blocks how often they ask for the same bytes: [`LaunchReport::reuse`](crate::LaunchReport::reuse).
    pub reuse: bool,
    /// Whether it is asked to stop; then launches end in [`TrapKind::Stopped`](crate::TrapKind::Stopped).
    pub stop: StopFlag,
    /// Where it says how far it is.
    pub progress: Progress,
}

/// The order of blocks, and of the warps of a block between two barriers. A program without races computes the same in any.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Order {
    /// By their numbers.
    #[default]
    Ascending,
    /// The last one first; on one CPU thread.
    Descending,
}

impl Order {
    /// The number of what comes as the `k`th of `n`.
    pub(crate) fn number(self, k: u64, n: u64) -> u64 {
        match self {
            Order::Ascending => k,
            Order::Descending => n - 1 - k,
        }
    }
}

/// Who runs when: which warp, and, where the lanes of a warp may run apart, which lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Schedule {
    /// Blocks and warps in order, each as far as it gets; warps in lockstep as far as that gets them.
    #[default]
    Lockstep,
    /// All warps in turn, an access each.
    Fair,
    /// At random, with changes at few places: what a seed gives. Its low byte says how many places, and among how many.
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

/// When a thread sees what others store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MemoryOrder {
    /// At once, and all in one order.
    #[default]
    Strong,
    /// As late as the PTX memory model allows, and out of order, unless fences and barriers order it.
    Weak,
}

impl MemoryOrder {
    /// Schedules that are tried of a memory that is weak, if nothing is said of schedules: without any, nothing is late.
    const USUAL_SCHEDULES: u32 = 100;

    /// The one with that name.
    pub fn from_name(name: &str) -> Option<MemoryOrder> {
        match name {
            "strong" => Some(MemoryOrder::Strong),
            "weak" => Some(MemoryOrder::Weak),
            _ => None,
        }
    }

    /// How many random schedules are tried where so many are asked for, and that one for all launches.
    pub fn schedules(self, asked: u32, schedule: Option<Schedule>) -> u32 {
        match (self, asked, schedule) {
            (MemoryOrder::Weak, 0, None) => Self::USUAL_SCHEDULES,
            (MemoryOrder::Strong | MemoryOrder::Weak, asked, _) => asked,
        }
    }
}

/// Which launches run a second time with the last blocks and warps first, to find what shows in one order only: of those whose
/// threads communicate (flags, atomics whose result is used, accesses that nothing orders), with checks on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum BothOrders {
    /// None.
    #[default]
    Never,
    /// Short ones.
    WhenShort,
    /// All.
    Always,
}

/// `kernel<<<grid, block, shared_bytes>>>` and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory.
    pub shared_bytes: u64,
    /// All blocks have to be resident at once: `cudaLaunchCooperativeKernel`.
    pub cooperative: bool,
    /// How many launches it is inside of: 0 of the host's.
    pub depth: u32,
    /// The launch statement; 0 for a launch from outside the program.
    pub loc: LocId,
}

/// A launch that a thread of a kernel made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildLaunch {
    /// The kernel.
    pub kernel: FuncId,
    /// Its sizes and its place.
    pub config: LaunchConfig,
    /// The bits of one argument per parameter.
    pub args: Vec<u64>,
}

/// Launches that wait: one of the host's, and what its threads launch.
///
/// A launch runs when the one that made it has ended, and all that it launches runs before the next: a grid is complete when its
/// children are.
#[derive(Clone, Debug, Default)]
pub struct LaunchQueue {
    /// The next one is the last.
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

    /// What the launch that just ended had launched, in order.
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
    /// Threads of a block.
    pub fn threads_per_block(&self) -> u64 {
        self.block.iter().map(|&n| u64::from(n)).product()
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u128 {
        self.grid.iter().map(|&n| u128::from(n)).product()
    }
}
