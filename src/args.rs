//! The command line as plain data. What an option means is decided where it is used.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum};
use runtime::words;

/// Sees where CUDA kernels' shared memory conflicts and their loads scatter, without a GPU.
#[derive(Debug, Parser)]
#[command(
    name = "dslc",
    version,
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
    /// Cure what a run finds or wastes, as far as runs prove it: print the edits as a diff, or write them.
    Fix(FixArgs),
    /// Compare two programs, or two JSON reports: what got better, what got worse.
    Compare(CompareArgs),
    /// Check a program: every error in one go.
    Check(CheckArgs),
    /// Print the verified IR.
    Ir(IrArgs),
    /// Print PTX for NVIDIA GPUs.
    Ptx(PtxArgs),
    /// Run a program in the simulator and on a GPU, and compare: every byte, and the counts with ncu's.
    Verify(VerifyArgs),
    /// Draw the banks that an address expression touches.
    Banks(BanksArgs),
    /// Write the kernels as a Rust module with typed launches, for programs that use the crate `dslc`.
    Bind(BindArgs),
    /// Compile a CUDA program as nvcc does: host code by clang, kernels for the simulator.
    #[command(disable_help_flag = true)]
    Nvcc(NvccArgs),
    /// Tell more about a message.
    Explain(ExplainArgs),
    /// Say what of GPU driver, ptxas and ncu is here and what that allows.
    Doctor,
}

/// nvcc's own words.
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
    /// Like launches of one kernel are shown once.
    Folded,
    /// Each launch is shown.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderChoice {
    Ascending,
    /// The last one first; on one CPU thread.
    Descending,
    /// By their numbers, and then, to find more, the last one first: launches whose threads communicate.
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// What is wrong.
    Error,
    /// Also what works by luck or by an old promise: lockstep with `volatile`, a division by zero on the device.
    Warning,
    /// Everything that is found, also several threads that write the same value.
    Note,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeviceChoice {
    Simulator,
    Gpu,
}

/// When cures are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cures {
    /// If the run was short.
    Auto,
    Always,
    Never,
}

/// How a source file is read.
#[derive(Clone, Debug, Args)]
pub(crate) struct SourceArgs {
    /// The program, a CUDA source file.
    pub(crate) file: PathBuf,
    /// Define a macro, as in C compilers.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) defines: Vec<String>,
    /// Look for included files here too.
    #[arg(short = 'I', value_name = "FOLDER")]
    pub(crate) include: Vec<PathBuf>,
    /// Only the kernels: host code is not compiled, and a kernel that is not understood does not stop the others.
    #[arg(long)]
    pub(crate) kernels: bool,
    /// Fuse a * b + c in kernels into one rounding, as nvcc does.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    pub(crate) fmad: bool,
    /// The architecture whose rules count, or to compile for: sm_90, for `ptx` the GPU here, else sm_75.
    #[arg(long, value_name = "SM")]
    pub(crate) arch: Option<String>,
    /// Instances of kernel templates that other arguments name: `k<float, 32>`.
    #[arg(skip)]
    pub(crate) instances: Vec<String>,
}

impl SourceArgs {
    /// Has the instance made that a kernel's name or a launch begins with, if it has template arguments.
    pub(crate) fn instantiate(&mut self, text: &str) {
        let name = text.split("<<<").next().unwrap_or(text).trim();
        if name.contains('<') && name.ends_with('>') {
            self.instances.push(name.to_string());
        }
    }
}

/// What of a program runs, and how much it may use.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProgramArgs {
    /// CPU threads; results do not depend on it. 0: one per core; more than four per core are not used.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) jobs: usize,
    /// Most instructions of the run: the host program's, and the warps' of all launches together. Without it 20 billion of the host
    /// program and of each launch, and 1000 billion together.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// End the run after so many seconds (0.5 is half a second) and report what ran until then.
    #[arg(long, value_name = "SECONDS", value_parser = seconds_of)]
    pub(crate) timeout: Option<Duration>,
    /// Most memory of the program, device and host together, in bytes or as 512M, 4GiB: allocations beyond it fail as on a device.
    /// Without it, the device's memory and half of this machine's for the host.
    #[arg(long, value_name = "BYTES", value_parser = words::bytes_of)]
    pub(crate) memory: Option<u64>,
    /// Launch a kernel of a program without `main`: 'reduce<<<4, 128>>>(in, out, 512)'. May be given several times.
    #[arg(long, value_name = "LAUNCH")]
    pub(crate) launch: Vec<String>,
    /// A buffer for --launch: in=int[512]:iota, x=float[64][64]:rand, y=@file.npy.
    #[arg(long, value_name = "SPEC", requires = "launch")]
    pub(crate) buffer: Vec<String>,
    /// Print a buffer after the launches: NAME or NAME:COUNT.
    #[arg(long, value_name = "NAME[:N]", requires = "launch")]
    pub(crate) print: Vec<String>,
    /// Arguments of the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

/// What is looked for, and what happens when it is found.
#[derive(Clone, Debug, Args)]
pub(crate) struct CheckingArgs {
    /// Which blocks, and warps of a block, run first. What changes with it depends on an order that nothing promises. Without it,
    /// ascending, and short launches whose threads communicate in both.
    #[arg(long, value_enum, value_name = "ORDER")]
    pub(crate) order: Option<OrderChoice>,
    /// Go on after an access that is out of bounds, misaligned, freed or null: it is skipped (a load gives 0, a store changes
    /// nothing) and reported, the launch and later launches run. This is the default.
    #[arg(long, overrides_with = "stop_at_first")]
    pub(crate) keep_going: bool,
    /// End the launch at the first such access, as a device does; later CUDA calls return its error.
    #[arg(long)]
    pub(crate) stop_at_first: bool,
    /// Look for these findings only: race, warp_synchronous, uninit, barrier, mask, arithmetic, leak. Without it, for all.
    /// Bounds, alignment, pointers and deadlocks are always checked.
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = words::checks_of)]
    pub(crate) checks: Option<Vec<interp::Checks>>,
    /// Look for none of them.
    #[arg(long, conflicts_with = "checks")]
    pub(crate) no_checks: bool,
}

/// What was found before.
#[derive(Clone, Debug, Args)]
pub(crate) struct BaselineArgs {
    /// What is found in this file is known: it is not shown and does not fail the command.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write what is found to this file, to be given to --baseline. It may be that file: it is read first.
    #[arg(long, value_name = "FILE")]
    pub(crate) write_baseline: Option<PathBuf>,
}

/// The report.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReportArgs {
    /// Print these metrics as nvprof did, instead of the report (`--metrics list` lists them).
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,
    /// The report's form.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Report launches of this kernel only. An instance of a template that the program does not make, 'k<float, 32>', is made.
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Show each access of the launches with its counts: of like launches once, or of each.
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "folded")]
    pub(crate) launches: Option<Launches>,
    /// Write the report as a page, too: one file with the program's text, its counts and pictures of the worst requests. It needs no
    /// network and no JavaScript.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// No report: the program's own output only.
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
    /// dslc itself: no compiler is needed, nothing but the program's own memory is touched, and its memory errors are found.
    Interpreted,
    /// clang compiles it, as `dslc nvcc` does: all of C++ and its libraries, at full speed, with all that a program may do.
    Native,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// More files of the program: its host code is compiled then.
    #[arg(value_name = "FILES")]
    pub(crate) more: Vec<PathBuf>,
    /// Who runs host code. Without it, dslc itself, and clang for programs of several files.
    #[arg(long, value_enum, value_name = "HOST")]
    pub(crate) host: Option<HostChoice>,
    /// Where kernels run.
    #[arg(long, value_enum, default_value_t = DeviceChoice::Simulator)]
    pub(crate) device: DeviceChoice,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) checking: CheckingArgs,
    /// From what severity on a finding fails the run (exit code 1).
    #[arg(long, value_enum, default_value_t = FailOn::Error, value_name = "SEVERITY")]
    pub(crate) fail_on: FailOn,
    #[command(flatten)]
    pub(crate) known: BaselineArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    /// Look for cures, and offer those that a run proves. `auto`: after short runs (a million warp instructions).
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Cures::Auto)]
    pub(crate) cures: Cures,
    /// Save a buffer after the launches: NAME=FILE.npy.
    #[arg(long, value_name = "NAME=FILE", requires = "launch")]
    pub(crate) save: Vec<String>,
    #[command(flatten)]
    pub(crate) observer: ObserverArgs,
    /// LLVM's optimisation level for a GPU.
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
    /// The other one.
    pub(crate) after: PathBuf,
    /// The comparison's form.
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub(crate) format: CompareFormat,
    /// Exit code 1 if the second costs more, or a finding that is no note is new.
    #[arg(long)]
    pub(crate) fail_on_regression: bool,
    /// The architecture whose rules count for programs.
    #[arg(long, value_name = "SM")]
    pub(crate) arch: Option<String>,
    /// Define a macro in programs.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) defines: Vec<String>,
}

/// Whose rules count.
#[derive(Clone, Debug, Args)]
pub(crate) struct RulesArgs {
    /// Bytes per shared-memory bank: 4, or 8 on sm_30 to sm_37.
    #[arg(long, value_name = "BYTES", default_value_t = 4)]
    pub(crate) bank_width: u32,
    /// Count by the rules of this file: banks, lanes that are served together, transactions (see examples/rules).
    #[arg(long, value_name = "FILE", conflicts_with = "bank_width")]
    pub(crate) rules: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct FixArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Write the edits to the files instead of printing them.
    #[arg(long)]
    pub(crate) apply: bool,
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
    /// The report's form.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// CPU threads of the simulator. 0: one per core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) jobs: usize,
    /// Seconds after which the program on the GPU is ended.
    #[arg(long, value_name = "N", default_value_t = 600)]
    pub(crate) timeout: u64,
    /// LLVM's optimisation level for the GPU.
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=3))]
    pub(crate) opt_level: u8,
    /// Launch a kernel of a program without `main`, as in `run`.
    #[arg(long, value_name = "LAUNCH")]
    pub(crate) launch: Vec<String>,
    /// A buffer for --launch, as in `run`.
    #[arg(long, value_name = "SPEC")]
    pub(crate) buffer: Vec<String>,
    /// Arguments of the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// The messages' form.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Make this instance of a kernel template too: 'k<float, 32>'. With --kernels, list this kernel only.
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
    /// Make this instance of a kernel template too: 'k<float, 32>'. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BindArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Write to a file instead of stdout; the module's name is the file's.
    #[arg(short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Make this instance of a kernel template: 'fill<float, 2>', or 'fill<float, 2> as fill2' with a name for its method.
    /// May be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Vec<String>,
    /// Embed PTX for these architectures, so that the program runs on GPUs without LLVM.
    #[arg(long, value_name = "SM,SM", value_delimiter = ',')]
    pub(crate) ptx: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BanksArgs {
    /// An element of an array, or a member of one, in threadIdx and lane: 'tile[threadIdx.x][threadIdx.y]', 's[lane].x'. Or a number of
    /// bytes: 'lane * 12'. A second one is shown beside it.
    #[arg(num_args = 1..=2, required = true)]
    pub(crate) expr: Vec<String>,
    /// The array: its type and dimensions, 'float[32][33]', 'float4[64]', 'struct { float x, y; }[32]'. Given twice, the second is the
    /// second expression's.
    #[arg(long, value_name = "TYPE[N][M]", default_value = "int[1024]")]
    pub(crate) array: Vec<String>,
    /// How many bytes a lane accesses where the expression is a number of bytes: 1, 2, 4, 8 or 16.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) bytes: u32,
    /// Threads of the block: 32, 32x8 or 32,8.
    #[arg(long, value_name = "X[xY[xZ]]", default_value = "32", value_parser = block_of)]
    pub(crate) block: [u32; 3],
    /// Which warp of the block. Without it, the one that costs most.
    #[arg(long, value_name = "N")]
    pub(crate) warp: Option<u32>,
    /// Define a macro, as in C compilers.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) defines: Vec<String>,
    /// The architecture: sm_90 if none is named.
    #[arg(long, value_name = "SM")]
    pub(crate) arch: Option<String>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// A store instead of a load.
    #[arg(long)]
    pub(crate) store: bool,
    /// Draw each pass over the banks by itself.
    #[arg(long)]
    pub(crate) passes: bool,
    /// Write the picture as a page, too.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the picture as SVG, too.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A code or its name: E0301, missing-semicolon. Without one, all are listed.
    pub(crate) code: Option<String>,
}

/// The command line with `--launches` given its value where what follows is none: in `--launches a.k` that is the program.
pub(crate) fn with_values(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = vec![];
    for arg in args {
        let is_value = arg
            .to_str()
            .is_some_and(|arg| Launches::from_str(arg, true).is_ok());
        let is_open = all.last().is_some_and(|last| last == "--launches");
        if is_open && !is_value && !all.iter().any(|arg| arg == "--") {
            all.pop();
            all.push("--launches=folded".into());
        }
        all.push(arg);
    }
    all
}

/// A command line under the name `nvcc`, which a link may give the program, is one of `dslc nvcc`.
pub(crate) fn as_dslc(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    let name = args.first().map(PathBuf::from);
    let is_nvcc = name.is_some_and(|name| name.file_name().is_some_and(|name| name == "nvcc"));
    if is_nvcc {
        args.insert(1, "nvcc".into());
    }
    args
}

/// Whether the command line is `run --metrics list`, with whatever else.
pub(crate) fn lists_metrics(args: impl Iterator<Item = OsString>) -> bool {
    let args: Vec<OsString> = args.skip(1).take_while(|arg| arg != "--").collect();
    let is_run = args.iter().any(|arg| arg == "run");
    let mut pairs = args.windows(2);
    is_run
        && (args.iter().any(|arg| arg == "--metrics=list")
            || pairs.any(|pair| pair[0] == "--metrics" && pair[1] == "list"))
}

/// The threads of a block: `32`, `32x8`, `32,8`.
fn block_of(text: &str) -> Result<[u32; 3], String> {
    let mut block = [1; 3];
    let parts: Vec<&str> = text.split(['x', ',']).map(str::trim).collect();
    let told = || Err("expected the threads of a block: 32, 32x8 or 8x8x4".to_string());
    if parts.len() > block.len() {
        return told();
    }
    for (dim, part) in block.iter_mut().zip(&parts) {
        match part.parse() {
            Ok(threads) => *dim = threads,
            Err(_) => return told(),
        }
    }
    Ok(block)
}

/// A time: `5`, `0.5`.
fn seconds_of(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.trim().parse().ok();
    seconds
        .filter(|&seconds| seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "expected a number of seconds above 0: 5, 0.5".to_string())
}

impl RunArgs {
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
            None => interp::BothOrders::WhenShort,
            Some(OrderChoice::Both) => interp::BothOrders::Always,
            Some(OrderChoice::Ascending | OrderChoice::Descending) => interp::BothOrders::Never,
        }
    }

    /// What to look for.
    pub(crate) fn wanted_checks(&self) -> interp::Checks {
        match &self.checking.checks {
            _ if self.checking.no_checks => interp::Checks::NONE,
            None => interp::Checks::ALL,
            Some(words) => words::any_of(words),
        }
    }
}
