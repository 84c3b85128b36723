//! The command line as plain data. The code that uses an option decides what it means.

mod banks;
pub(crate) mod before;
mod blocks;
mod source;
mod sweep;
mod test;

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum};
use runtime::words;

pub(crate) use banks::BanksArgs;
pub(crate) use blocks::BlockRange;
pub(crate) use source::{KernelsBy, SourceArgs};
pub(crate) use sweep::{MergeArgs, SweepArgs};
pub(crate) use test::TestArgs;

/// Shows where CUDA kernels have bank conflicts and scattered accesses, without a GPU.
#[derive(Debug, Parser)]
#[command(
    name = "dslc",
    version = env!("DSLC_VERSION"),
    about,
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Colour in messages.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a program in the simulator and report what each access costs.
    Run(Box<RunArgs>),
    /// Print proved cures for what a run finds or wastes, as a diff, or write them.
    Fix(FixArgs),
    /// Compare two programs, or two JSON reports: what got better, what got worse.
    Compare(CompareArgs),
    /// Run programs whose comments say what is expected of them: `//~ clean`, `//~ race`, `//~ sectors x[i] <= 4`.
    Test(TestArgs),
    /// Run many configurations of programs, each once, and show the best.
    Sweep(SweepArgs),
    /// Put parts together: the results of a sweep, or the JSON reports of a launch's blocks (`run --blocks`).
    Merge(Box<MergeArgs>),
    /// Report every error of a program, without running it.
    Check(CheckArgs),
    /// Print the verified IR.
    Ir(IrArgs),
    /// Print PTX for NVIDIA GPUs.
    Ptx(PtxArgs),
    /// Run a program in the simulator and on a GPU, and compare every byte, and the counts with ncu's.
    Verify(VerifyArgs),
    /// Draw the banks that an address expression touches.
    Banks(BanksArgs),
    /// Write the kernels as a Rust module with typed launches, for programs that use the crate `dslc`.
    Bind(BindArgs),
    /// Compile a CUDA program as nvcc does: host code by clang, kernels for the simulator.
    #[command(disable_help_flag = true)]
    Nvcc(NvccArgs),
    /// Explain a message's code, or a word such as `race`.
    Explain(ExplainArgs),
    /// Show which of GPU driver, ptxas, ncu and clang are installed, and what they allow.
    Doctor,
    /// Print the script with which a shell completes this command line.
    Completions(CompletionsArgs),
    /// Print the manual page of dslc or of a command, or write all of them.
    Man(ManArgs),
}

/// nvcc's arguments.
#[derive(Debug, Args)]
pub(crate) struct NvccArgs {
    /// nvcc's options and files.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    pub(crate) args: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs: schema dslc-report/1.
    Json,
    /// For code-scanning services: SARIF 2.1.0, the findings alone.
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Launches {
    /// Show identical launches of a kernel once.
    Folded,
    /// Show each launch.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderChoice {
    Ascending,
    /// The last block and warp first; on one CPU thread.
    Descending,
    /// Ascending, and then descending to find more, for launches whose threads communicate.
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Errors.
    Error,
    /// Also code that relies on behaviour CUDA does not guarantee: lockstep with `volatile`, a division by zero on the device.
    Warning,
    /// Every finding, also several threads that write the same value.
    Note,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeviceChoice {
    Simulator,
    Gpu,
}

/// When to look for cures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cures {
    /// After short runs.
    Auto,
    Always,
    Never,
}

/// The path of a program, as people type it.
fn program(name: OsString) -> PathBuf {
    match name == "-" {
        true => "/dev/stdin".into(),
        false => name.into(),
    }
}

/// What to run of a program, and how much it may use.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProgramArgs {
    /// CPU threads; results do not depend on the number. 0: one per core. At most four per core are used.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) jobs: usize,
    /// The most instructions of the run: those of the host program and of the warps of all launches. Default: 20 billion for the host
    /// program and for each launch, and 1000 billion in total.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// End the run after this many seconds (0.5 is half a second) and report what ran until then.
    #[arg(long, value_name = "SECONDS", value_parser = seconds_of)]
    pub(crate) timeout: Option<Duration>,
    /// The most memory of the program, device and host together, in bytes or as 512M, 4GiB. Allocations beyond it fail as on a device.
    /// Default: the device's memory, and half of this machine's for the host.
    /// Or `weak`: under a schedule, threads see what others store as late as the PTX memory model allows, unless fences and barriers order
    /// it; without --schedule and --schedules, each launch runs under 100 schedules so. Default: strong. Repeatable.
    #[arg(long, value_name = "BYTES|weak", value_parser = MemoryChoice::parse)]
    pub(crate) memory: Vec<MemoryChoice>,
    /// Launch a kernel of a program without `main`: 'reduce<<<4, 128>>>(in, out, 512)'. Repeatable.
    #[arg(long, value_name = "LAUNCH")]
    pub(crate) launch: Vec<String>,
    /// A buffer for --launch: in=int[512]:iota, x=float[64][64]:rand, y=@file.npy.
    #[arg(long, value_name = "SPEC", requires = "launch")]
    pub(crate) buffer: Vec<String>,
    /// Print a buffer after the launches: NAME or NAME:COUNT.
    #[arg(long, value_name = "NAME[:N]", requires = "launch")]
    pub(crate) print: Vec<String>,
    /// Arguments for the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

/// What to look for, and what to do when it is found.
#[derive(Clone, Debug, Args)]
pub(crate) struct CheckingArgs {
    /// Which blocks, and warps of a block, run first. A result that changes with it depends on an order that nothing promises.
    /// Default: ascending; short launches whose threads communicate run in both orders.
    #[arg(long, value_enum, value_name = "ORDER")]
    pub(crate) order: Option<OrderChoice>,
    /// Run each launch under N random schedules, too, and compare what it leaves in memory, whether it ends, and what there is to
    /// find. What depends on the schedule is a finding, with a short schedule that shows it.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) schedules: u32,
    /// The seed from which those schedules follow.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The schedule of all launches: lockstep (blocks and warps in order), fair (all warps in turn, an access each), or
    /// adversarial:SEED (at random). Default: lockstep.
    #[arg(long, value_name = "KIND[:SEED]", conflicts_with = "order")]
    pub(crate) schedule: Option<interp::Schedule>,
    /// Count launches from a few of their blocks where that gives the same counts; dslc says of each launch from how many, or why it ran in
    /// full. Results are not computed and nothing is checked: for large grids, whose counts take milliseconds then.
    #[arg(long, conflicts_with_all = ["order", "schedule", "schedules", "checks", "stop_at_first", "print", "save", "trace", "record"])]
    pub(crate) count_only: bool,
    /// Count accesses as the source has them, as dslc's back end compiles them (-O3), or both: the compiler may make one access of several,
    /// or keep a value in a register. Default: what the variable `DSLC_COUNTS` says, or both where that is possible.
    #[arg(long, value_enum, value_name = "KIND", conflicts_with = "count_only")]
    pub(crate) counts: Option<Counts>,
    /// Skip and report an access that is out of bounds, misaligned, freed or null (a load gives 0, a store changes nothing), and
    /// continue with the launch and later ones. This is the default.
    #[arg(long, overrides_with = "stop_at_first")]
    pub(crate) keep_going: bool,
    /// End the launch at the first such access, as a device does; later CUDA calls return its error.
    #[arg(long)]
    pub(crate) stop_at_first: bool,
    /// Look for these findings only: race, warp_synchronous, uninit, barrier, mask, arithmetic, leak. Default: all.
    /// dslc always checks bounds, alignment, pointers and deadlocks.
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = words::checks_of)]
    pub(crate) checks: Option<Vec<interp::Checks>>,
    /// Look for none of these findings.
    #[arg(long, conflicts_with = "checks")]
    pub(crate) no_checks: bool,
    /// Run without dslc's shortcuts, or without these: arrays, rounds, idle, patterns, replay, races, ranges, host, vectors. Results,
    /// counts and findings stay the same; if not, that is a bug of dslc, and this finds the shortcut. It takes longer.
    #[arg(long, value_name = "A,B", num_args = 0..=1, require_equals = true, default_missing_value = "all", value_parser = words::without)]
    pub(crate) plain: Option<interp::Shortcuts>,
}

/// Which accesses are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Counts {
    /// Those of the source.
    Written,
    /// Those of the compiled kernel.
    Compiled,
    /// Those of the source, and next to them those of the compiled kernel, by which hot spots are ranked.
    Both,
}

impl CheckingArgs {
    /// Whether compiled counts are asked for.
    pub(crate) fn asks_for_compiled(&self) -> bool {
        matches!(self.counts, Some(Counts::Compiled | Counts::Both))
    }
}

/// Findings of an earlier run.
#[derive(Clone, Debug, Args)]
pub(crate) struct BaselineArgs {
    /// Findings in this file are known: dslc does not show them, and they do not fail the command.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write the findings to this file, for --baseline. It may be the same file: dslc reads it first.
    #[arg(long, value_name = "FILE")]
    pub(crate) write_baseline: Option<PathBuf>,
}

/// The report.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReportArgs {
    /// Print these metrics as nvprof did, instead of the report (`--metrics list` lists them, `all` means all). With `--format json` they are
    /// in the report.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,
    /// Format of the report.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Report launches of this kernel only. 'k<float, 32>' makes an instance of a template that the program does not make.
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Show each access of the launches with its counts: identical launches once, or every launch.
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "folded")]
    pub(crate) launches: Option<Launches>,
    /// Also write the report as a page: one file with the program's text, its counts and pictures of the worst requests. It needs no
    /// network and no JavaScript.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print only the program's own output, no report.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// How other programs of ours watch a run.
#[derive(Clone, Debug, Args)]
pub(crate) struct ObserverArgs {
    /// Write what reaches the host to this file: how `verify` watches the GPU.
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) record: Option<PathBuf>,
    /// Look for nothing, and write all that launches do to this file: see `trace.rs`. How the tests' own checker sees a run.
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) trace: Option<PathBuf>,
}

/// Who runs host code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HostChoice {
    /// dslc interprets it: needs no compiler, touches only the program's own memory, and finds its memory errors.
    Interpreted,
    /// clang compiles it, as `dslc nvcc` does: all of C++ and its libraries, at full speed. The program may do whatever its user may.
    Native,
    /// dslc itself; clang for a program whose kernels dslc understands and whose host code it does not.
    Auto,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// More files of the program; clang then compiles its host code.
    #[arg(value_name = "FILES")]
    pub(crate) more: Vec<PathBuf>,
    /// Who runs host code. Default: dslc itself; clang for programs of several files.
    #[arg(long, value_enum, value_name = "HOST")]
    pub(crate) host: Option<HostChoice>,
    /// Link the compiled program with this library; cuBLAS, cuFFT, cuRAND and the like need not be named.
    #[arg(short = 'l', value_name = "LIBRARY")]
    pub(crate) libraries: Vec<String>,
    /// Where kernels run.
    #[arg(long, value_enum, default_value_t = DeviceChoice::Simulator)]
    pub(crate) device: DeviceChoice,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) checking: CheckingArgs,
    /// Run only these blocks of a launch, by their numbers in the grid (x fastest, the last one is not part of it), and end the program
    /// with it: of launch 0, or of the one that is named. `dslc merge` puts the JSON reports of all parts together (docs/split.md).
    #[arg(long, value_name = "[LAUNCH:]A..B", value_parser = BlockRange::parse,
        conflicts_with_all = ["count_only", "print", "save", "trace", "record"])]
    pub(crate) blocks: Option<BlockRange>,
    /// The parts that are put together.
    #[arg(skip)]
    pub(crate) parts: Vec<report::blocks::Blocks>,
    /// The words of the command line.
    #[arg(skip)]
    pub(crate) command: Vec<String>,
    /// The lowest severity of a finding that fails the run (exit code 1).
    #[arg(long, value_enum, default_value_t = FailOn::Error, value_name = "SEVERITY")]
    pub(crate) fail_on: FailOn,
    /// Fail the run (exit code 1) unless each launch meets this: 'tile*: shared_load_bank_conflicts == 0 && gst_efficiency > 0.9'. Before
    /// the colon stands a kernel, or a pattern with * and ?; without it, all kernels are meant. Metrics are those of the report; a count of
    /// an access is transactions(tile[threadIdx.x]). Repeatable.
    #[arg(long, value_name = "[KERNEL:] EXPR")]
    pub(crate) require: Vec<String>,
    /// The same for a condition that several programs share: met also if this program has nothing that it is about.
    #[arg(long, value_name = "EXPR")]
    pub(crate) require_if_any: Vec<String>,
    #[command(flatten)]
    pub(crate) known: BaselineArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    /// Look for cures, and offer those that a run proves. `auto`: after runs of up to a million warp instructions.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Cures::Auto)]
    pub(crate) cures: Cures,
    /// Save a buffer after the launches: NAME=FILE.npy.
    #[arg(long, value_name = "NAME=FILE", requires = "launch")]
    pub(crate) save: Vec<String>,
    #[command(flatten)]
    pub(crate) observer: ObserverArgs,
    /// LLVM's optimisation level for the GPU.
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=3))]
    pub(crate) opt_level: u8,
}

/// How a comparison is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// For people.
    Text,
    /// For a pull request.
    Markdown,
    /// For programs: schema dslc-compare/1.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// A program, or a report that `run --format json` printed (NAME.json).
    pub(crate) before: PathBuf,
    /// The program or report to compare it with.
    pub(crate) after: PathBuf,
    /// Format of the comparison.
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub(crate) format: CompareFormat,
    /// Exit with 1 if the second costs more, or has a new finding that is not a note.
    #[arg(long)]
    pub(crate) fail_on_regression: bool,
    /// Count accesses as the source has them, as dslc's back end compiles them, or both: as `dslc run --counts`.
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) counts: Option<Counts>,
    /// The architecture to count for.
    #[arg(long, value_name = "SM")]
    pub(crate) arch: Option<String>,
    /// Define a macro in programs.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) defines: Vec<String>,
}

/// The rules to count by.
#[derive(Clone, Debug, Args)]
pub(crate) struct RulesArgs {
    /// Bytes per shared-memory bank: 4, or 8 on sm_30 to sm_37.
    #[arg(long, value_name = "BYTES", default_value_t = 4)]
    pub(crate) bank_width: u32,
    /// Count by the rules in this file: banks, lanes that are served together, transactions (see examples/rules).
    #[arg(long, value_name = "FILE", conflicts_with = "bank_width")]
    pub(crate) rules: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct FixArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Write the edits into the files instead of printing them.
    #[arg(long)]
    pub(crate) apply: bool,
    /// Take cures that are checked, too: right in this run and in further ones, but not proved for all.
    #[arg(long)]
    pub(crate) checked: bool,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Do not compare counts with ncu's, even if it is installed.
    #[arg(long)]
    pub(crate) no_ncu: bool,
    /// Format of the report.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// CPU threads of the simulator. 0: one per core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) jobs: usize,
    /// Stop the program on the GPU after this many seconds.
    #[arg(long, value_name = "N", default_value_t = 600)]
    pub(crate) timeout: u64,
    /// LLVM's optimisation level for the GPU.
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=3))]
    pub(crate) opt_level: u8,
    /// Compare ncu's counts with those of the compiled kernel or those of the source. Default: compiled, at -O3.
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) counts: Option<OneCount>,
    /// Launch a kernel of a program without `main`, as in `run`.
    #[arg(long, value_name = "LAUNCH")]
    pub(crate) launch: Vec<String>,
    /// A buffer for --launch, as in `run`.
    #[arg(long, value_name = "SPEC")]
    pub(crate) buffer: Vec<String>,
    /// Arguments for the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

/// One of the two ways to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OneCount {
    /// The accesses of the source.
    Written,
    /// Those of the compiled kernel.
    Compiled,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Format of the messages.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Also make this instance of a kernel template: 'k<float, 32>'. With --kernels, list this kernel only.
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,

    #[command(flatten)]
    pub(crate) known: BaselineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct IrArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emit {
    /// PTX text.
    Ptx,
    /// LLVM IR after optimisation.
    Llvm,
}

#[derive(Debug, Args)]
pub(crate) struct PtxArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Optimisation level.
    #[arg(short = 'O', value_name = "0-3", default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=3))]
    pub(crate) level: u8,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Emit::Ptx)]
    pub(crate) emit: Emit,
    /// Leave out the source lines (`.loc`).
    #[arg(long)]
    pub(crate) no_lines: bool,
    /// Write to a file instead of stdout.
    #[arg(short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also make this instance of a kernel template: 'k<float, 32>'. Repeatable.
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BindArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Write to a file instead of stdout. The module gets the file's name.
    #[arg(short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Make this instance of a kernel template: 'fill<float, 2>', or 'fill<float, 2> as fill2' to name its method.
    /// Repeatable.
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Vec<String>,
    /// Embed PTX for these architectures, so that the program runs on GPUs without LLVM.
    #[arg(long, value_name = "SM,SM", value_delimiter = ',')]
    pub(crate) ptx: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A code or its name (E0301, missing-semicolon), or a word such as race. Without one, list all codes.
    pub(crate) code: Option<String>,
}

/// The shell.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    pub(crate) shell: clap_complete::Shell,
}

/// Which manual page.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command, as in `dslc man run`. Without one, the page of dslc.
    pub(crate) command: Option<String>,
    /// Write the pages of dslc and of all commands into this folder.
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    pub(crate) out: Option<PathBuf>,
}

/// A time: `5`, `0.5`.
fn seconds_of(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.trim().parse().ok();
    seconds
        .filter(|&seconds| seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "expected a number of seconds above 0: 5, 0.5".to_string())
}

/// What is said of memory: how much, or in which order threads see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemoryChoice {
    Bytes(u64),
    Order(interp::MemoryOrder),
}

impl MemoryChoice {
    fn parse(text: &str) -> Result<MemoryChoice, String> {
        match interp::MemoryOrder::from_name(text) {
            Some(order) => Ok(MemoryChoice::Order(order)),
            None => words::bytes_of(text).map(MemoryChoice::Bytes),
        }
    }
}

impl ProgramArgs {
    /// The most memory of the program.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        let bytes = self.memory.iter().map(|choice| match choice {
            MemoryChoice::Bytes(bytes) => Some(*bytes),
            MemoryChoice::Order(_) => None,
        });
        bytes.flatten().last()
    }

    /// When threads see what others store.
    pub(crate) fn memory_order(&self) -> interp::MemoryOrder {
        let orders = self.memory.iter().map(|choice| match choice {
            MemoryChoice::Bytes(_) => None,
            MemoryChoice::Order(order) => Some(*order),
        });
        orders.flatten().last().unwrap_or_default()
    }
}

impl RunArgs {
    /// Under how many random schedules each launch runs, too.
    pub(crate) fn wanted_schedules(&self) -> u32 {
        let (asked, schedule) = (self.checking.schedules, self.checking.schedule);
        self.program.memory_order().schedules(asked, schedule)
    }

    /// Whether kernels run on a GPU.
    pub(crate) fn is_on_gpu(&self) -> bool {
        self.device == DeviceChoice::Gpu
    }

    /// The order of blocks and warps.
    pub(crate) fn wanted_order(&self) -> interp::Order {
        match self.checking.order {
            Some(OrderChoice::Descending) => interp::Order::Descending,
            Some(OrderChoice::Ascending | OrderChoice::Both) | None => interp::Order::Ascending,
        }
    }

    /// Which launches run in the other order, too.
    pub(crate) fn wanted_orders(&self) -> interp::BothOrders {
        match self.checking.order {
            // The other order is among the random schedules.
            None if self.wanted_schedules() > 0 || self.checking.count_only => {
                interp::BothOrders::Never
            }
            None => interp::BothOrders::WhenShort,
            Some(OrderChoice::Both) => interp::BothOrders::Always,
            Some(OrderChoice::Ascending | OrderChoice::Descending) => interp::BothOrders::Never,
        }
    }

    /// What to look for.
    pub(crate) fn wanted_checks(&self) -> interp::Checks {
        match &self.checking.checks {
            _ if self.checking.no_checks || self.checking.count_only => interp::Checks::NONE,
            None => interp::Checks::ALL,
            Some(words) => words::any_of(words),
        }
    }
}
