//! `dslc-ptx`: reads IR from standard input and writes PTX to standard output. It is the part of `dslc` that contains LLVM.
//!
//! A program with LLVM in it starts 4 to 8 ms later, because the system relocates LLVM's tables and runs its constructors first. Most
//! commands need no PTX, so `dslc` does not contain LLVM. A command that needs PTX runs this program, which is in the same folder.
//!
//! 0: it worked; 1: one sentence on standard error says why there is no PTX; 2: the command line is wrong, or a bug.

use std::{
    io::{self, Read, Write},
    panic,
    process::ExitCode,
    sync::LazyLock,
    thread,
};

use clap::{Parser, ValueEnum};
use codegen_ptx::{Lines, Options, Target};

/// Deeply nested programs need deep recursion; `dslc` has the same stack size.
const STACK_BYTES: usize = 256 << 20;

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let llvm = codegen_ptx::llvm_version();
    format!("{} with LLVM {llvm}", env!("DSLC_VERSION"))
});

/// Makes PTX of dslc's IR; `dslc ptx` runs it
///
/// It reads IR, as `dslc ir` prints it, from standard input.
#[derive(Parser)]
#[command(name = "dslc-ptx", version = VERSION.as_str(), about, max_term_width = 100)]
struct Cli {
    /// The version of dslc that asks; another one than this program's is refused.
    #[arg(long, value_name = "VERSION")]
    of: Option<String>,
    /// The architecture, such as sm_90.
    #[arg(long)]
    arch: Target,
    /// Optimisation level.
    #[arg(short = 'O', value_name = "0-3", default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=3))]
    level: u8,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Emit::Ptx)]
    emit: Emit,
    /// Leave out the source lines (`.loc`).
    #[arg(long)]
    no_lines: bool,
    /// In `.loc`, the number of the instruction's place in the IR instead of the column.
    #[arg(long, conflicts_with = "no_lines")]
    places: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Emit {
    /// PTX text.
    Ptx,
    /// LLVM IR after optimisation.
    Llvm,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let work = thread::Builder::new().stack_size(STACK_BYTES);
    let made = work.spawn(move || panic::catch_unwind(|| make(&cli)));
    let code = match made.map(|handle| handle.join()) {
        Ok(Ok(Ok(Ok(text)))) => match io::stdout().write_all(text.as_bytes()) {
            Ok(()) => 0,
            Err(why) => say(&format!("cannot write to standard output: {why}"), 1),
        },
        Ok(Ok(Ok(Err(why)))) => say(&why, 1),
        // The panic's own message was printed already.
        Ok(Ok(Err(_)) | Err(_)) => say("this is a bug in dslc; please report it with the IR", 2),
        Err(why) => say(&format!("cannot start a thread: {why}"), 1),
    };
    ExitCode::from(code)
}

fn say(text: &str, code: u8) -> u8 {
    // There is no other stream for an error of this write.
    let _ = writeln!(io::stderr(), "{text}");
    code
}

/// The requested text, or one sentence.
fn make(cli: &Cli) -> Result<String, String> {
    if let Some(of) = cli.of.as_deref().filter(|of| *of != env!("DSLC_VERSION")) {
        return Err(format!(
            "dslc-ptx is of version {}, and dslc of {of}: build or install both together",
            env!("DSLC_VERSION")
        ));
    }
    let mut ir = String::new();
    io::stdin()
        .read_to_string(&mut ir)
        .map_err(|why| format!("cannot read IR from standard input: {why}"))?;
    let module = ir::parse(&ir).map_err(|why| format!("the IR is wrong: {why}"))?;
    ir::verify(&module).map_err(|violations| {
        let first = violations.first().map(ToString::to_string);
        format!("the IR is wrong: {}", first.unwrap_or_default())
    })?;
    let options = Options {
        arch: cli.arch,
        opt_level: cli.level,
        lines: match (cli.no_lines, cli.places) {
            (true, _) => Lines::None,
            (_, true) => Lines::Places,
            _ => Lines::Source,
        },
    };
    let made = match cli.emit {
        Emit::Ptx => codegen_ptx::ptx(&module, &options),
        Emit::Llvm => codegen_ptx::llvm_ir(&module, &options),
    };
    made.map_err(|why| why.to_string())
}
