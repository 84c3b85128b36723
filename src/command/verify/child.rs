//! The run on the GPU, in another dslc process: its standard output has only the program's output, and a profiler can watch it.

use std::{
    env,
    ffi::OsString,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    args::{SourceArgs, VerifyArgs},
    failure::Failure,
    record::{self, Record},
};

/// A temporary folder, which exists as long as the command runs.
pub(super) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    pub(super) fn new() -> Result<Scratch, Failure> {
        let path = env::temp_dir().join(format!("dslc-verify-{}", std::process::id()));
        fs::create_dir_all(&path)
            .map_err(|error| Failure::new(format!("cannot make `{}`: {error}", path.display())))?;
        Ok(Scratch { path })
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Files that cannot be removed stay among the system's temporary files.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The results of the run.
pub(super) struct Ran {
    pub(super) record: Record,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
}

/// The command line of the run on the GPU: program name and arguments.
pub(super) fn command(
    source: &SourceArgs,
    args: &VerifyArgs,
    record: &Path,
) -> Result<(PathBuf, Vec<OsString>), Failure> {
    let mut line: Vec<OsString> = ["run", "--device", "gpu", "--quiet", "--record"]
        .map(OsString::from)
        .into();
    line.push(record.into());
    for define in &source.defines {
        line.push(format!("-D{define}").into());
    }
    for folder in &source.include {
        line.extend(["-I".into(), folder.into()]);
    }
    line.push(format!("--fmad={}", source.fmad).into());
    line.push(format!("-O{}", args.opt_level).into());
    if let Some(arch) = &source.arch {
        line.extend(["--arch".into(), arch.into()]);
    }
    for launch in &args.launch {
        line.extend(["--launch".into(), launch.into()]);
    }
    for buffer in &args.buffer {
        line.extend(["--buffer".into(), buffer.into()]);
    }
    line.push((&source.file).into());
    line.push("--".into());
    line.extend(args.args.iter().map(OsString::from));
    Ok((env::current_exe()?, line))
}

/// Runs the command and reads its results.
pub(super) fn run(
    source: &SourceArgs,
    args: &VerifyArgs,
    scratch: &Scratch,
) -> Result<Ran, Failure> {
    let path = scratch.file("record");
    let (program, line) = command(source, args, &path)?;
    let (out, err) = (scratch.file("stdout"), scratch.file("stderr"));
    let code = wait(
        Command::new(program).args(line),
        &out,
        &err,
        Duration::from_secs(args.timeout),
    )?;
    let stderr = String::from_utf8_lossy(&fs::read(&err)?).into_owned();
    if code == Some(2) || !path.exists() {
        let why = stderr.lines().last().unwrap_or("it printed no message");
        return Err(Failure::new(format!(
            "the run on the GPU failed: {}",
            why.trim_start_matches("dslc: ")
        )));
    }
    Ok(Ran {
        record: record::read(&path)?,
        stdout: fs::read(&out)?,
        stderr,
    })
}

/// Runs a command to its end, or up to a time limit. `None`: a signal ended it.
pub(super) fn wait(
    command: &mut Command,
    out: &Path,
    err: &Path,
    timeout: Duration,
) -> Result<Option<i32>, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(File::create(out)?)
        .stderr(File::create(err)?)
        .spawn()
        .map_err(|error| Failure::new(format!("cannot start `{name}`: {error}")))?;
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if start.elapsed() > timeout {
            child.kill()?;
            child.wait()?;
            return Err(Failure::new(format!(
                "the program did not end within {} s on the GPU; raise --timeout",
                timeout.as_secs()
            )));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}
