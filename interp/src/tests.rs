//! Tests the machine on IR text: results, counts and traps. One helper launches kernels; the files are named after
//! behaviours.

mod arrays;
mod control;
mod host;
mod idle;
mod memory;
mod operations;
mod overflow;
mod parallel;
mod races;
mod random;
mod replay;
mod rounds;
mod stop;
mod text;

use std::sync::Arc;

use ir::{FuncId, LocId, Module, parse::parse, verify::assert_verified};

use crate::rules::{Arch, RuleSet};
use crate::{
    LaunchConfig, LaunchFailure, LaunchReport, MachineConfig, Memory, Program, Shortcut, Shortcuts,
    Trap, launch,
};

thread_local! {
    /// The shortcuts of programs that this thread makes.
    static SHORTCUTS: std::cell::Cell<Shortcuts> = const { std::cell::Cell::new(Shortcuts::ALL) };
    /// Accesses of blocks that were like an earlier one's, until they departed.
    pub(crate) static DEPARTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Accesses of lanes close to each other that were recorded at once.
    pub(crate) static SPREAD: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Accesses of two runs of 16 lanes that were recorded at once.
    pub(crate) static HALVES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Rounds between barriers that warps passed by.
    pub(crate) static PASSED_BY: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Blocks that ran as the list says.
    pub(crate) static REPLAYED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Blocks whose recording was started.
    pub(crate) static WRITTEN_DOWN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Rounds that ran together.
    pub(crate) static AT_ONCE: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// From now on programs of this thread go without a shortcut, or have all.
pub(crate) fn plainly(shortcut: Shortcut, is_plain: bool) {
    SHORTCUTS.set(match is_plain {
        true => Shortcuts::ALL.without(shortcut),
        false => Shortcuts::ALL,
    });
}

/// A program with the shortcuts of this thread.
fn program(module: Arc<Module>) -> Program {
    Program::with(module, SHORTCUTS.get())
}

/// sm_90, one job, no limit.
fn machine() -> MachineConfig {
    MachineConfig {
        rules: RuleSet::for_arch(Arch::SM_90),
        jobs: 1,
        limit: None,
        checks: crate::Checks::NONE,
        order: crate::Order::Ascending,
        both_orders: crate::BothOrders::Never,
        schedule: crate::Schedule::default(),
        schedules: (0, 1),
        memory: crate::MemoryOrder::Strong,
        keep_going: false,
        trace: false,
        count_only: false,
        reuse: true,
        stop: crate::StopFlag::default(),
        progress: crate::Progress::default(),
    }
}

/// A program with its memory.
struct Bench {
    program: Program,
    memory: Memory,
    machine: MachineConfig,
    printed: String,
}

impl Bench {
    #[track_caller]
    fn new(text: &str) -> Bench {
        let module =
            parse(&format!("module \"t\"\n{text}")).unwrap_or_else(|error| panic!("{error}"));
        assert_verified(&module, "the test's text");
        let program = program(Arc::new(module));
        let memory = Memory::new(program.module());
        Bench {
            program,
            memory,
            machine: machine(),
            printed: String::new(),
        }
    }

    /// A kernel with these parameters and this body.
    #[track_caller]
    fn kernel(params: &str, body: &str) -> Bench {
        Bench::new(&format!("kernel fn0 @k({params}) {{\n{body}\n}}\n"))
    }

    fn ints(&mut self, values: &[i32]) -> u64 {
        let address = self.memory.malloc_device(values.len() as u64 * 4).unwrap();
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.memory.write_bytes(address, &bytes).unwrap();
        address
    }

    fn read(&self, address: u64, n: usize) -> Vec<i32> {
        let bytes = self.memory.read_bytes(address, n as u64 * 4).unwrap();
        bytes
            .chunks(4)
            .map(|word| i32::from_le_bytes(word.try_into().unwrap()))
            .collect()
    }

    fn try_launch(
        &mut self,
        grid: u32,
        block: u32,
        args: &[u64],
    ) -> Result<LaunchReport, LaunchFailure> {
        self.launch_shared(grid, block, 0, args)
    }

    fn launch_shared(
        &mut self,
        grid: u32,
        block: u32,
        shared_bytes: u64,
        args: &[u64],
    ) -> Result<LaunchReport, LaunchFailure> {
        let config = LaunchConfig {
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            shared_bytes,
            cooperative: false,
            depth: 0,
            loc: LocId(0),
        };
        let Bench {
            program,
            memory,
            machine,
            printed,
        } = self;
        let mut out = |bytes: &[u8]| printed.push_str(&String::from_utf8_lossy(bytes));
        launch(program, FuncId(0), &config, args, memory, machine, &mut out)
    }

    #[track_caller]
    fn launch(&mut self, grid: u32, block: u32, args: &[u64]) -> LaunchReport {
        self.try_launch(grid, block, args)
            .unwrap_or_else(|failure| panic!("{failure}"))
    }

    #[track_caller]
    fn trap(&mut self, grid: u32, block: u32, args: &[u64]) -> Trap {
        match self.try_launch(grid, block, args) {
            Err(LaunchFailure::Trap { trap, .. }) => *trap,
            Err(failure) => panic!("{failure}"),
            Ok(_) => panic!("no trap"),
        }
    }
}

/// Parameters `out` and `n`.
const OUT_N: &str = "$0: ptr.global \"out\" \"int *\" pointee i32, $1: i32 \"n\" \"int\"";
