//! Tests the clocks of a host program: they advance on a device that has a clock, and stand still on the simulator.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use interp::{
    BothOrders, Checks, LaunchConfig, LaunchReport, MachineConfig, Memory, Order, Program,
    StopFlag,
    rules::{Arch, BankWidth, RuleSet},
};
use ir::{
    FuncId,
    source::{Included, Loader, SourceFile, SourceMap},
};
use runtime::{
    device::{Device, DeviceError, DeviceInfo, LaunchError, simulator::Simulator},
    host::{HostOptions, Io, Note, find_main, run_main},
};

const PROGRAM: &str = r#"
#include <chrono>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

int main()
{
    struct timeval day;
    struct timespec wall, steady;
    gettimeofday(&day, NULL);
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_MONOTONIC, &steady);
    auto begin = std::chrono::steady_clock::now();
    long sum = 0;
    for (long i = 0; i < 100000; i++) sum += i * sum;
    auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin);
    printf("%ld %ld %ld %ld %ld %ld", (long)time(NULL), (long)day.tv_sec, (long)wall.tv_sec,
           (long)(steady.tv_sec * 1000000000 + steady.tv_nsec), (long)passed.count(), (long)clock());
    return sum == 1;
}
"#;

struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _: &str, _: &str) -> Option<Result<Included, String>> {
        None
    }
}

/// A program's output, and the notes about it.
#[derive(Default)]
struct Kept {
    printed: Vec<u8>,
    notes: usize,
}

impl Io for Kept {
    fn stdout(&mut self, bytes: &[u8]) {
        self.printed.extend_from_slice(bytes);
    }
    fn stderr(&mut self, _: &[u8]) {}
    fn note(&mut self, _: &Note) {
        self.notes += 1;
    }
}

/// A simulator that claims to have a clock, as a GPU does.
struct WithClock(Simulator);

impl Device for WithClock {
    fn has_clock(&self) -> bool {
        true
    }

    fn info(&self) -> &DeviceInfo {
        self.0.info()
    }

    fn malloc(&mut self, memory: &mut Memory, n: u64, managed: bool) -> Result<u64, DeviceError> {
        self.0.malloc(memory, n, managed)
    }

    fn free(&mut self, memory: &mut Memory, address: u64) -> Result<(), DeviceError> {
        self.0.free(memory, address)
    }

    fn copy(&mut self, memory: &mut Memory, to: u64, from: u64, n: u64) -> Result<(), DeviceError> {
        self.0.copy(memory, to, from, n)
    }

    fn fill(&mut self, memory: &mut Memory, at: u64, byte: u8, n: u64) -> Result<(), DeviceError> {
        self.0.fill(memory, at, byte, n)
    }

    fn read(&mut self, memory: &Memory, at: u64, n: u64) -> Result<Vec<u8>, DeviceError> {
        self.0.read(memory, at, n)
    }

    fn write(&mut self, memory: &mut Memory, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.0.write(memory, at, bytes)
    }

    fn launch(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        kernel: FuncId,
        config: &LaunchConfig,
        args: &[u64],
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<LaunchReport, LaunchError> {
        self.0.launch(program, memory, kernel, config, args, out)
    }

    fn set_bank_width(&mut self, width: BankWidth) -> bool {
        self.0.set_bank_width(width)
    }

    fn bank_width(&self) -> BankWidth {
        self.0.bank_width()
    }

    fn bytes_in_use(&self, memory: &Memory) -> u64 {
        self.0.bytes_in_use(memory)
    }
}

fn simulator() -> Simulator {
    Simulator::new(MachineConfig {
        rules: RuleSet::for_arch(Arch::SM_90),
        jobs: 1,
        limit: None,
        checks: Checks::NONE,
        order: Order::Ascending,
        both_orders: BothOrders::Never,
        schedule: interp::Schedule::default(),
        schedules: (0, 1),
        memory: interp::config::MemoryOrder::Strong,
        keep_going: false,
        trace: false,
        count_only: false,
        reuse: true,
        stop: StopFlag::default(),
        progress: interp::Progress::default(),
    })
}

/// The numbers that the program prints, and the number of notes.
fn run(device: &mut dyn Device) -> (Vec<u64>, usize) {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("clocks.cu", PROGRAM));
    let compiled = dsl::compile(&mut map, file, &dsl::Options::default(), &NoFiles);
    let module = compiled.module.expect("the program is right");
    let program = Program::new(Arc::new(module));
    let main = find_main(&program).expect("a main");
    let mut kept = Kept::default();
    run_main(&program, main, &HostOptions::default(), device, &mut kept).expect("it runs");
    let text = String::from_utf8(kept.printed).expect("text");
    let numbers = text.split(' ').map(|word| word.parse().expect("a number"));
    (numbers.collect(), kept.notes)
}

#[test]
fn clocks_stand_still_beside_the_simulator_and_that_is_said() {
    let (numbers, notes) = run(&mut simulator());
    let now = 1_700_000_000;
    assert_eq!(numbers, [now, now, now, 0, 0, 0]);
    assert!(notes > 0);
}

#[test]
fn clocks_run_beside_a_device_with_a_clock() {
    let now = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.expect("after 1970").as_secs()
    };
    let before = now();
    let (numbers, notes) = run(&mut WithClock(simulator()));
    let after = now();
    for &seconds in &numbers[..3] {
        assert!((before..=after).contains(&seconds), "{seconds}");
    }
    let (steady_ns, passed_ns, clock_us) = (numbers[3], numbers[4], numbers[5]);
    assert!(passed_ns > 0);
    // Both count from the program's start, and `clock` is read last.
    assert!(clock_us >= (steady_ns + passed_ns) / 1000);
    assert_eq!(notes, 0);
}
