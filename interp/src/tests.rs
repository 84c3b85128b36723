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

use ir::{FuncId, LocId, parse::parse, verify::assert_verified};

use crate::rules::{Arch, RuleSet};
use crate::{
    LaunchConfig, LaunchFailure, LaunchReport, MachineConfig, Memory, Program, Trap, launch,
};

thread_local! {
    /// Checks of launches from this thread use no fast paths.
    pub(crate) static SLOWLY: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// Accesses of blocks that followed an earlier block's list until they departed from it.
    pub(crate) static DEPARTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Accesses of lanes close to each other that were recorded at once.
    pub(crate) static SPREAD: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Accesses of two runs of 16 lanes that were recorded at once.
    pub(crate) static HALVES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Kernels compiled by this thread keep arrays in memory and loops unchanged.
    pub(crate) static IN_MEMORY: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// Kernels compiled by this thread run every round of a loop separately.
    pub(crate) static ONE_BY_ONE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// In kernels compiled by this thread, warps run idle rounds instead of skipping them.
    pub(crate) static BUSY: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// Rounds between barriers that warps skipped.
    pub(crate) static PASSED_BY: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Launches with at least this many blocks may be replayed.
    pub(crate) static REPLAYS_FROM: std::cell::Cell<u128> = const { std::cell::Cell::new(6) };
    /// Blocks that ran from a list.
    pub(crate) static REPLAYED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Blocks whose recording was started.
    pub(crate) static WRITTEN_DOWN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Rounds that ran together.
    pub(crate) static AT_ONCE: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
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
        let program = Program::new(Arc::new(module));
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
