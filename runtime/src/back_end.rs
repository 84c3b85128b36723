//! The PTX back end as a program: it runs `dslc-ptx`, which contains LLVM, so that nothing else has to.
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

/// How long the back end may take for compiled counts: the largest real programs take a few seconds.
const MAX_TIME: Duration = Duration::from_secs(20);

/// The program's name.
const NAME: &str = "dslc-ptx";

/// The variable that names it.
const VARIABLE: &str = "DSLC_PTX";

/// What the user can choose.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The architecture.
    pub arch: Target,
    /// LLVM's optimisation level, 0 to 3.
    pub opt_level: u8,
    /// What `.loc` says.
    pub lines: Lines,
    /// LLVM's IR instead of PTX.
    pub llvm: bool,
}

/// What the `.loc` of each instruction says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lines {
    /// Nothing: there is no `.loc`.
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

/// What the back end made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    /// PTX, or LLVM's IR.
    pub text: String,
    /// LLVM's warnings: a loop that should have been unrolled and was not.
    pub warnings: String,
}

/// The program `dslc-ptx`.
#[derive(Clone, Debug)]
pub struct BackEnd {
    program: PathBuf,
    /// The version that it has to be of.
    of: Option<&'static str>,
}

impl BackEnd {
    /// A program with this path. It refuses IR of another version than `of`, its own.
    pub fn at(program: impl Into<PathBuf>, of: Option<&'static str>) -> BackEnd {
        BackEnd {
            program: program.into(),
            of,
        }
    }

    /// The program that the variable `DSLC_PTX` names, or that is in `PATH`. The error is one sentence.
    pub fn find() -> Result<BackEnd, String> {
        if let Some(named) = env::var_os(VARIABLE) {
            return Ok(BackEnd::at(named, None));
        }
        let file = format!("{NAME}{EXE_SUFFIX}");
        let paths = env::var_os("PATH").unwrap_or_default();
        let found = env::split_paths(&paths)
            .map(|folder| folder.join(&file))
            .find(|path| path.is_file());
        found.map(|path| BackEnd::at(path, None)).ok_or_else(|| {
            format!("kernels are compiled by `{NAME}`, which is not in PATH; the variable {VARIABLE} may name it")
        })
    }

    /// Makes PTX of IR, within a limit of time.
    pub fn make(
        &self,
        ir: &str,
        options: &Options,
        limit: Option<Duration>,
    ) -> Result<Made, String> {
        let mut command = Command::new(&self.program);
        if let Some(of) = self.of {
            command.args(["--of", of]);
        }
        command
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
        if options.llvm {
            command.args(["--emit", "llvm"]);
        }
        let began = Instant::now();
        let output = answer(command, ir.as_bytes(), limit)
            .map_err(|why| format!("cannot run `{}`: {why}", self.program.display()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let over = limit.filter(|&limit| began.elapsed() >= limit);
        match (output.status.code(), over) {
            (Some(0), _) => Ok(Made {
                text: String::from_utf8(output.stdout).map_err(|why| why.to_string())?,
                warnings: said.into_owned(),
            }),
            (Some(1), _) => Err(said.trim_end().to_string()),
            (None, Some(limit)) => Err(format!("`{NAME}` took more than {} s", limit.as_secs())),
            _ => Err(format!(
                "`{NAME}` failed ({}): {}",
                output.status,
                said.trim_end()
            )),
        }
    }

    /// A module's kernels as compiled for an architecture at -O3, or one sentence. Their PTX is kept in the user's cache.
    pub fn compiled(
        &self,
        module: &Module,
        arch: Arch,
        shortcuts: Shortcuts,
    ) -> Result<Compiled, String> {
        if is_ptx(&module.name) {
            return Err("its source is PTX, which is counted as it is".to_string());
        }
        let options = Options {
            arch: target(arch).ok_or_else(|| format!("dslc makes no PTX for {arch}"))?,
            opt_level: 3,
            lines: Lines::Places,
            llvm: false,
        };
        // A kernel that was made of PTX is counted as it is.
        let is_made = |kernel: &ir::Function| kernel.compiled_by.is_some();
        if module.kernels().all(|(_, kernel)| is_made(kernel)) {
            return Err("its kernels are PTX, which is counted as it is".to_string());
        }
        let mut others = None;
        if module.functions.iter().any(is_made) {
            let mut copy = module.clone();
            for kernel in copy.functions.iter_mut().filter(|kernel| is_made(kernel)) {
                kernel.clear();
            }
            others = Some(copy);
        }
        let module = others.as_ref().unwrap_or(module);
        let text = self.cached(module, &options)?;
        let (kernels, refused) = ptx::compiled(&text, module)
            .map_err(|why| format!("dslc cannot read its PTX: {why}"))?;
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
    fn cached(&self, module: &Module, options: &Options) -> Result<String, String> {
        let ir = ir::print(module);
        let place = cache::Place::of(&self.program, &format!("{options:?}"), &ir);
        if let Some(text) = place.read() {
            return Ok(text);
        }
        let made = self.make(&ir, options, Some(MAX_TIME))?;
        place.write(&made.text);
        Ok(made.text)
    }

    /// Its version, as in `dslc-ptx 0.1.0 with LLVM 22.1.8`; `None` if it does not start.
    pub fn version(&self) -> Option<String> {
        let output = Command::new(&self.program).arg("--version").output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim_end().to_string())
    }
}

/// The target of an architecture; `None` if dslc makes no PTX for it.
pub fn target(arch: Arch) -> Option<Target> {
    let (major, minor) = arch.compute_capability();
    Target::for_device(major, minor)
}

/// Whether a source with this name is PTX.
pub fn is_ptx(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "ptx")
}

/// The folder in which dslc keeps what it made and may make again: in the user's cache.
pub fn cache_folder() -> PathBuf {
    let named = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    named
        .or_else(home)
        .unwrap_or_else(env::temp_dir)
        .join("dslc")
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
