//! Compares `--count-only` with full runs: each launch is counted from some of its blocks and then runs in full. All counts have to be
//! equal: totals, every site with its worst request, divergent branches, barriers.

mod cases;
mod random;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use interp::{
    BothOrders, Checks, Counted, InFull, LaunchConfig, LaunchReport, MachineConfig, Memory, Order,
    Program, Repeats, StopFlag,
    report::Counting,
    rules::{Arch, BankWidth, RuleSet},
};
use ir::{
    FuncId,
    diagnostic::{Severity, render::render},
    source::{Included, Loader, SourceFile, SourceMap},
};
use runtime::{
    Budget,
    device::{Device, DeviceError, DeviceInfo, LaunchError, simulator::Simulator},
    host::{HostOptions, Io, Note, find_main, run_main},
};

/// Reads includes next to a file.
struct Beside(PathBuf);

impl Loader for Beside {
    fn load(&self, name: &str, _from: &str) -> Option<Result<Included, String>> {
        let text = fs::read_to_string(self.0.join(name)).ok()?;
        Some(Ok(Included {
            full_name: name.to_owned(),
            text,
        }))
    }
}

struct Silent;

impl Io for Silent {
    fn stdout(&mut self, _: &[u8]) {}
    fn stderr(&mut self, _: &[u8]) {}
    fn note(&mut self, _: &Note) {}
}

/// A simulator that counts each launch before it runs it.
struct Both {
    simulator: Simulator,
    machine: MachineConfig,
    /// Which launches are checked for repeated requests, as the simulator decides it.
    repeats: Repeats,
    name: String,
    /// The number of counted launches, how many of them from fewer blocks than there are, and why others were not counted.
    counted: usize,
    shared: usize,
    in_full: Vec<String>,
}

impl Both {
    fn new(name: &str, arch: Arch) -> Both {
        let rules = RuleSet::for_arch(arch);
        let machine = MachineConfig {
            rules,
            jobs: 1,
            limit: Some(2_000_000_000),
            checks: Checks::NONE,
            order: Order::Ascending,
            both_orders: BothOrders::Never,
            schedule: interp::Schedule::default(),
            schedules: (0, 1),
            memory: interp::config::MemoryOrder::Strong,
            keep_going: true,
            trace: false,
            count_only: false,
            reuse: true,
            stop: StopFlag::default(),
            progress: interp::Progress::default(),
        };
        Both {
            simulator: Simulator::new(machine.clone()),
            machine,
            repeats: Repeats::default(),
            name: format!("{name} on {arch}"),
            counted: 0,
            shared: 0,
            in_full: Vec::new(),
        }
    }

    fn compare(&self, counted: &LaunchReport, full: &LaunchReport) {
        let of = &full.kernel_name;
        let name = &self.name;
        assert_eq!(counted.counts, full.counts, "{name}: {of}: totals");
        assert_eq!(counted.sites.len(), full.sites.len(), "{name}: {of}");
        for (counted, full) in counted.sites.iter().zip(&full.sites) {
            assert_eq!(counted, full, "{name}: {of}: line {}", full.line);
        }
        assert_eq!(counted.branches, full.branches, "{name}: {of}: branches");
        assert_eq!(counted.barriers, full.barriers, "{name}: {of}: barriers");
        assert!(full.skipped.is_empty(), "{name}: {of}: faults were missed");
    }
}

impl Device for Both {
    fn info(&self) -> &DeviceInfo {
        self.simulator.info()
    }

    fn malloc(&mut self, memory: &mut Memory, n: u64, managed: bool) -> Result<u64, DeviceError> {
        self.simulator.malloc(memory, n, managed)
    }

    fn free(&mut self, memory: &mut Memory, address: u64) -> Result<(), DeviceError> {
        self.simulator.free(memory, address)
    }

    fn copy(&mut self, memory: &mut Memory, to: u64, from: u64, n: u64) -> Result<(), DeviceError> {
        self.simulator.copy(memory, to, from, n)
    }

    fn fill(&mut self, memory: &mut Memory, at: u64, byte: u8, n: u64) -> Result<(), DeviceError> {
        self.simulator.fill(memory, at, byte, n)
    }

    fn read(&mut self, memory: &Memory, at: u64, n: u64) -> Result<Vec<u8>, DeviceError> {
        self.simulator.read(memory, at, n)
    }

    fn write(&mut self, memory: &mut Memory, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.simulator.write(memory, at, bytes)
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
        self.machine.rules.bank_width = self.simulator.bank_width();
        self.machine.reuse = self.repeats.looks(kernel, config);
        let mut counted = Counting::count(program, (kernel, config, args), memory, &self.machine);
        let full = self
            .simulator
            .launch(program, memory, kernel, config, args, out);
        // A launch that was not counted is remembered as it ran.
        let mut ran = full.as_ref().ok().cloned();
        let seen = match &mut counted {
            Ok(Ok(counted)) => Some(counted),
            _ => ran.as_mut(),
        };
        if let Some(seen) = seen {
            self.repeats.complete(kernel, config, seen);
        }
        match (counted, &full) {
            (Ok(Ok(counted)), Ok(full)) => {
                self.counted += 1;
                if let Counted::From { blocks, .. } = counted.order.counted {
                    self.shared += usize::from(u128::from(blocks) < config.blocks());
                }
                self.compare(&counted, full);
            }
            (Ok(Ok(_)), Err(why)) => panic!("{}: counted, but {why}", self.name),
            (Ok(Err(why)), _) => {
                let line = |loc| format!("line {}", program.module().loc(loc).line);
                let kernel = &program.module().function(kernel).name;
                self.in_full
                    .push(format!("{kernel}: {}", InFull::text(&why, line)));
            }
            (Err(_), _) => {}
        }
        full
    }

    fn set_bank_width(&mut self, width: BankWidth) -> bool {
        let is_set = self.simulator.set_bank_width(width);
        self.machine.rules = self.simulator.machine().rules;
        is_set
    }

    fn bank_width(&self) -> BankWidth {
        self.simulator.bank_width()
    }

    fn bytes_in_use(&self, memory: &Memory) -> u64 {
        self.simulator.bytes_in_use(memory)
    }
}

/// Runs a program's `main`; `None` if it has none, or does not compile.
fn run(name: &str, text: &str, folder: &Path, arch: Arch) -> Option<Both> {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new(name.to_owned(), text.to_owned()));
    let options = dsl::Options {
        cuda_arch: arch.number() * 10,
        ..dsl::Options::default()
    };
    let compiled = dsl::compile(&mut map, file, &options, &Beside(folder.to_owned()));
    let mut messages = compiled.diagnostics.iter();
    if messages.any(|message| message.severity == Severity::Error) {
        // Programs of the repository may demonstrate errors; those of this test do not.
        assert!(
            !folder.as_os_str().is_empty(),
            "{}",
            render(&compiled.diagnostics, &map, false, Some(120))
        );
        return None;
    }
    let program = Program::new(Arc::new(compiled.module?));
    let main = find_main(&program)?;
    let mut device = Both::new(name, arch);
    let options = HostOptions {
        keep_going: true,
        limit: Some(2_000_000_000),
        budget: Budget::default(),
        ..HostOptions::default()
    };
    run_main(&program, main, &options, &mut device, &mut Silent).expect("it runs");
    Some(device)
}

/// A program around a kernel's body. Buffers have 4 MB; `i` contains small numbers.
fn program(body: &str, grid: [u32; 3], block: [u32; 3], n: i32, m: i32) -> String {
    let dims = |of: [u32; 3]| format!("dim3({}, {}, {})", of[0], of[1], of[2]);
    format!(
        "__global__ void kernel(float *a, float *b, int *i, int n, int m)
{{
    {body}
}}

int main()
{{
    float *a, *b;
    int *i, h[1024];
    for (int k = 0; k < 1024; k++) h[k] = k * 7 % 100;
    cudaMalloc(&a, 4 << 20);
    cudaMalloc(&b, 4 << 20);
    cudaMalloc(&i, 4 << 20);
    cudaMemset(a, 0, 4 << 20);
    cudaMemset(i, 0, 4 << 20);
    cudaMemcpy(i, h, sizeof h, cudaMemcpyHostToDevice);
    kernel<<<{}, {}>>>(a, b, i, {n}, {m});
    cudaDeviceSynchronize();
    return 0;
}}
",
        dims(grid),
        dims(block)
    )
}

const ARCHS: [Arch; 3] = [Arch::SM_35, Arch::SM_60, Arch::SM_90];

fn run_cases(cases: &[cases::Case]) {
    let mut wrong = Vec::new();
    for case in cases {
        let text = program(case.body, case.grid, case.block, case.n, case.m);
        for arch in ARCHS {
            let both = run(case.name, &text, Path::new(""), arch).expect("a program");
            if (both.shared == 1) != case.counts {
                let how = (both.counted, both.shared);
                wrong.push(format!(
                    "{} on {arch}: {how:?} {:?}",
                    case.name, both.in_full
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn cases_are_counted_as_they_run() {
    run_cases(cases::OPEN);
}

#[test]
fn cases_held_out_are_counted_as_they_run() {
    run_cases(cases::HELD);
}

fn run_random(seeds: std::ops::Range<u64>) -> (usize, usize) {
    let (mut counted, mut shared) = (0, 0);
    for seed in seeds {
        let kernel = random::kernel(&mut random::Random::new(seed));
        let text = program(&kernel.body, kernel.grid, kernel.block, kernel.n, kernel.m);
        let arch = ARCHS[seed as usize % 3];
        let name = format!("random kernel {seed}:\n{text}\n");
        let both = run(&name, &text, Path::new(""), arch).expect("a program");
        counted += both.counted;
        shared += both.shared;
    }
    (counted, shared)
}

#[test]
fn random_kernels_are_counted_as_they_run() {
    let (counted, shared) = run_random(0..400);
    assert!(counted > 200 && shared > 150, "{counted}, {shared}");
}

#[test]
fn random_kernels_held_out_are_counted_as_they_run() {
    let (counted, shared) = run_random(400..600);
    assert!(counted > 100 && shared > 75, "{counted}, {shared}");
}

/// For all programs of a folder: the number of launches, of counted ones, and of those counted from fewer blocks.
fn folder(path: &str) -> (usize, usize, usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let mut files: Vec<PathBuf> = fs::read_dir(&root)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|kind| kind == "k" || kind == "cu")
        })
        .collect();
    files.sort();
    let (mut all, mut counted, mut shared) = (0, 0, 0);
    for file in files {
        let text = fs::read_to_string(&file).expect("a text");
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let Some(both) = run(&name, &text, &root, Arch::SM_90) else {
            continue;
        };
        all += both.counted + both.in_full.len();
        counted += both.counted;
        shared += both.shared;
        for why in &both.in_full {
            println!("{path}/{name}: {why}");
        }
    }
    println!(
        "{path}: {all} launches, {counted} counted, {shared} from fewer blocks than they have"
    );
    (all, counted, shared)
}

#[test]
fn examples_are_counted_as_they_run() {
    let (all, counted, shared) = folder("examples");
    assert!(
        counted * 2 > all && shared > 30,
        "{counted}, {shared} of {all}"
    );
}

#[test]
fn programs_are_counted_as_they_run() {
    let (all, counted, shared) = folder("tests/programs");
    assert!(
        counted * 3 > all && shared > 40,
        "{counted}, {shared} of {all}"
    );
}

#[test]
fn features_are_counted_as_they_run() {
    let (all, counted, shared) = folder("tests/features");
    assert!(
        counted * 3 > all && shared > 5,
        "{counted}, {shared} of {all}"
    );
}
