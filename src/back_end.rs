//! The PTX back end: it runs the program `dslc-ptx`, which is next to this one and contains LLVM. `src/bin/dslc-ptx.rs` says why it is a
//! separate program.
//!
//! `dslc-ptx` reads IR as text and answers with PTX or with one sentence.

mod cache;

use std::{
    env::{self, consts::EXE_SUFFIX},
    io::{self, Read, Write},
    panic,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use interp::{Compiled, Program, Shortcuts, rules::Arch};
use ir::{Module, target::Target};

use crate::{
    args::Emit,
    failure::{Failure, reason},
    output,
};

/// How long the back end may take for compiled counts: the largest real programs take a few seconds.
const MAX_TIME: Duration = Duration::from_secs(20);

/// What the user can choose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) arch: Target,
    /// LLVM's optimisation level, 0 to 3.
    pub(crate) opt_level: u8,
    pub(crate) lines: Lines,
    pub(crate) emit: Emit,
}

/// What the `.loc` of each instruction says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lines {
    /// There are none.
    None,
    /// Line and column.
    Source,
    /// The line, and the number of the place in the module.
    Places,
}

impl From<bool> for Lines {
    /// Those of the source, or none.
    fn from(source: bool) -> Lines {
        match source {
            true => Lines::Source,
            false => Lines::None,
        }
    }
}

/// The module as PTX, or as LLVM IR.
pub(crate) fn compile(module: &Module, options: Options) -> Result<String, Failure> {
    let (text, warnings) = make(&program()?, &ir::print(module), options, None)?;
    // LLVM's warnings: a loop that should have been unrolled and was not.
    output::err(&warnings);
    Ok(text)
}

/// Runs the back end. Also returns LLVM's warnings.
fn make(
    program: &Path,
    ir: &str,
    options: Options,
    limit: Option<Duration>,
) -> Result<(String, String), Failure> {
    let mut command = Command::new(program);
    command
        .args(["--of", env!("DSLC_VERSION")])
        .args(["--arch", &options.arch.to_string()])
        .arg(format!("-O{}", options.opt_level));
    match options.lines {
        Lines::None => {
            command.arg("--no-lines");
        }
        Lines::Source => {}
        Lines::Places => {
            command.arg("--places");
        }
    }
    if options.emit == Emit::Llvm {
        command.args(["--emit", "llvm"]);
    }
    let began = Instant::now();
    let output = answer(command, ir.as_bytes(), limit)
        .map_err(|why| Failure::new(format!("cannot run `dslc-ptx`: {}", reason(&why))))?;
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => {
            let text = String::from_utf8(output.stdout)?;
            Ok((text, said.into_owned()))
        }
        Some(1) => Err(Failure::new(said.trim_end())),
        None if limit.is_some_and(|limit| began.elapsed() >= limit) => Err(Failure::new(format!(
            "`dslc-ptx` took more than {} s",
            MAX_TIME.as_secs()
        ))),
        _ => Err(Failure::new(format!(
            "`dslc-ptx` failed ({}): {}",
            output.status,
            said.trim_end()
        ))),
    }
}

/// Whether there is a back end that makes PTX for an architecture.
pub(crate) fn compiles_for(arch: Arch) -> bool {
    let (major, minor) = arch.compute_capability();
    Target::for_device(major, minor).is_some() && program().is_ok()
}

/// The module's kernels as compiled for an architecture at -O3, or one sentence.
pub(crate) fn compiled(
    module: &Module,
    arch: Arch,
    shortcuts: Shortcuts,
) -> Result<Compiled, String> {
    let (major, minor) = arch.compute_capability();
    let target =
        Target::for_device(major, minor).ok_or_else(|| format!("dslc makes no PTX for {arch}"))?;
    let options = Options {
        arch: target,
        opt_level: 3,
        lines: Lines::Places,
        emit: Emit::Ptx,
    };
    let text = cached(module, options).map_err(|why| why.to_string())?;
    let (kernels, refused) =
        ptx::compiled(&text, module).map_err(|why| format!("dslc cannot read its PTX: {why}"))?;
    if let Err(violations) = ir::verify(&kernels) {
        let first = violations.first().map(ToString::to_string);
        return Err(format!(
            "the IR of its PTX is wrong: {}",
            first.unwrap_or_default()
        ));
    }
    let refused = refused.into_iter();
    let refused = refused.map(|(kernel, why)| (kernel, format!("in its PTX, {why}")));
    let program = Program::with(Arc::new(kernels), shortcuts);
    Ok(Compiled::new(program, refused.collect(), "dslc"))
}

/// The module as PTX, from the cache if it is there.
fn cached(module: &Module, options: Options) -> Result<String, Failure> {
    let (program, ir) = (program()?, ir::print(module));
    let place = cache::Place::of(&program, &format!("{options:?}"), &ir);
    if let Some(text) = place.read() {
        return Ok(text);
    }
    let (text, _) = make(&program, &ir, options, Some(MAX_TIME))?;
    place.write(&text);
    Ok(text)
}

/// Its version, as in `dslc-ptx 0.1.0 with LLVM 22.1.8`; `None` if it is missing or does not start.
pub(crate) fn version() -> Option<String> {
    let output = Command::new(program().ok()?)
        .arg("--version")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim_end().to_string())
}

/// Where `dslc-ptx` is. A link to `dslc` may be anywhere; the file that the link leads to has `dslc-ptx` next to it.
fn program() -> Result<PathBuf, Failure> {
    let dslc = env::current_exe()?;
    let dslc = dslc.canonicalize().unwrap_or(dslc);
    let path = dslc.with_file_name(format!("dslc-ptx{EXE_SUFFIX}"));
    if path.is_file() {
        return Ok(path);
    }
    Err(Failure::new(format!(
        "PTX needs the program `dslc-ptx`, and it is not in the folder of dslc, {}: `cargo build --release` makes both, unless it was told \
         --no-default-features",
        dslc.parent().unwrap_or(&dslc).display()
    )))
}

/// Runs the command with that input. Its messages are shown even if it does not read all of the input. After the limit it is ended, and that
/// is an error.
fn answer(mut command: Command, input: &[u8], limit: Option<Duration>) -> io::Result<Output> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // The child writes nothing before it has read everything, so neither process waits for the other.
    let stdin = child.stdin.take();
    let (ended, is_ended) = mpsc::channel();
    let mut stdout = child.stdout.take();
    let mut stderr = child.stderr.take();
    let (sent, stdout, stderr) = thread::scope(|scope| {
        let out = scope.spawn(move || {
            let read = read(stdout.as_mut());
            // The other side is gone only if the limit was reached.
            let _ = ended.send(());
            read
        });
        let err = scope.spawn(move || read(stderr.as_mut()));
        let send = scope.spawn(move || stdin.map_or(Ok(()), |mut stdin| stdin.write_all(input)));
        if let Some(limit) = limit
            && is_ended.recv_timeout(limit).is_err()
        {
            child.kill()?;
        }
        let joined = |thread: thread::ScopedJoinHandle<'_, io::Result<Vec<u8>>>| {
            thread
                .join()
                .unwrap_or_else(|why| panic::resume_unwind(why))
        };
        let sent = send.join().unwrap_or_else(|why| panic::resume_unwind(why));
        Ok::<_, io::Error>((sent, joined(out)?, joined(err)?))
    })?;
    let status = child.wait()?;
    if status.success() {
        sent?;
    }
    Ok(Output {
        status,
        stdout,
        stderr,
    })
}

/// Everything that a stream has.
fn read(stream: Option<&mut impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_back_end_that_does_not_end_is_ended() {
        let mut command = Command::new("sleep");
        command.arg("60");
        let began = Instant::now();
        let output = answer(command, b"", Some(Duration::from_millis(50))).expect("it started");
        assert_eq!(output.status.code(), None);
        assert!(began.elapsed() < Duration::from_secs(30));
    }
}
