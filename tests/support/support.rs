//! Runs `dslc` and parses its output.

pub(crate) mod labels;

use std::{
    fs,
    io::Read,
    panic::Location,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

/// Examples with snapshots of IR and PTX, one for each feature of the lowering: a plain loop, a tile of two dimensions, barriers in a loop,
/// branches, records, atomics with fences. The other examples are tested by their results and counts.
pub(crate) const SHOWN: &[&str] = &[
    "saxpy",
    "transpose",
    "reduce_shared",
    "divergence",
    "struct_layout",
    "last_block",
];

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// What a command wrote, and its exit code: `None` if a signal ended it.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }
}

impl Ran {
    /// Standard output, which has to be JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON ({error})\n{}\n{}", self.stdout, self.stderr))
    }
}

/// Runs a command to its end.
pub(crate) fn ran(command: &mut Command) -> Ran {
    command.output().expect("the command starts").into()
}

/// `dslc` in the repository's root.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dslc"));
    command.args(args).current_dir(root()).env_remove("COLUMNS");
    // Most tests are about what is written. Those of compiled counts ask for them.
    command.env("DSLC_COUNTS", "written");
    command.env("DSLC_KERNELS_BY", "dslc");
    command
}

/// Runs `dslc` in the repository's root.
pub(crate) fn dslc(args: &[&str]) -> Ran {
    ran(&mut command(args))
}

/// Runs `dslc` in the repository's root and ends it after `limit`: `None`.
pub(crate) fn dslc_within(args: &[&str], limit: Duration) -> Option<Ran> {
    let mut command = command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("dslc starts");
    let out = child.stdout.take().expect("it is piped");
    let err = child.stderr.take().expect("it is piped");
    let drain = |mut stream: Box<dyn Read + Send>| {
        thread::spawn(move || {
            let mut bytes = vec![];
            stream.read_to_end(&mut bytes).map(|_| bytes)
        })
    };
    let (out, err) = (drain(Box::new(out)), drain(Box::new(err)));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("dslc can be waited for") {
            break Some(status);
        }
        if start.elapsed() > limit {
            child.kill().expect("dslc can be ended");
            child.wait().expect("dslc ends");
            break None;
        }
        thread::sleep(Duration::from_millis(2));
    };
    let read = |thread: thread::JoinHandle<std::io::Result<Vec<u8>>>| {
        thread.join().expect("a reader").expect("the stream")
    };
    let (stdout, stderr) = (read(out), read(err));
    Some(Ran {
        code: status?.code(),
        stdout: text(&stdout),
        stderr: text(&stderr),
    })
}

/// Runs `dslc` in a terminal of that width.
pub(crate) fn dslc_wide(args: &[&str], columns: u32) -> Ran {
    ran(command(args).env("COLUMNS", columns.to_string()))
}

/// Runs `dslc` on a text, and fails if it panics, is killed, takes longer than `limit` or ends with a code other than 0, 1 and 2.
pub(crate) fn survives(what: &str, args: &[&str], limit: Duration) -> Ran {
    let start = Instant::now();
    let output = dslc(args);
    let (code, error, took) = (output.code, &output.stderr, start.elapsed());
    assert!(
        matches!(code, Some(0..=2)),
        "{what}: ended with {code:?}\n{error}"
    );
    assert!(!error.contains("internal error"), "{what}: {error}");
    assert!(took < limit, "{what}: took {took:?}");
    output
}

/// A file that a test writes, in a folder below `target/tmp` which is named after the test's module; returns its path.
#[track_caller]
pub(crate) fn file(name: &str, contents: impl AsRef<[u8]>) -> String {
    let module = Path::new(Location::caller().file()).file_stem();
    let folder = root().join("target/tmp").join(module.expect("a name"));
    fs::create_dir_all(&folder).expect("a folder for the test");
    let path = folder.join(name);
    fs::write(&path, contents).expect("the test's file");
    path.to_string_lossy().into_owned()
}

/// A text on one line, for sentences that a message breaks at the terminal's width.
pub(crate) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Fails, and shows the text, if the text does not contain a part.
#[track_caller]
pub(crate) fn has(text: &str, part: &str) {
    assert!(text.contains(part), "no `{part}` in\n{text}");
}

/// Bytes as text.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs `dslc run --format json` on a program; it has to succeed.
pub(crate) fn report(args: &[&str]) -> Value {
    let mut all = vec!["run", "--format", "json"];
    all.extend(args);
    let output = dslc(&all);
    assert_eq!(output.code, Some(0), "{args:?}\n{}", output.stderr);
    output.json()
}

/// The rows of a CSV file without quotes: one map-like vector of (column, cell) per row.
pub(crate) fn csv(path: &Path) -> Vec<Vec<(String, String)>> {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let row = |line: &str| {
        header
            .iter()
            .map(ToString::to_string)
            .zip(line.split(',').map(str::to_string))
            .collect()
    };
    lines.map(row).collect()
}

/// A cell as a number; `None` if it is empty or missing.
pub(crate) fn number(row: &[(String, String)], column: &str) -> Option<u64> {
    let cell = row.iter().find(|(name, _)| name == column)?.1.trim();
    if cell.is_empty() {
        None
    } else {
        Some(cell.parse().expect("a number"))
    }
}

/// Every example, by name.
pub(crate) fn examples() -> Vec<PathBuf> {
    programs_in("examples")
}

/// The `.k` and `.cu` files of a folder, by name.
pub(crate) fn programs_in(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).expect("the folder");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.retain(|path| {
        let extension = path.extension();
        extension.is_some_and(|extension| extension == "k" || extension == "cu")
    });
    paths.sort();
    paths
}

/// A path relative to the root, as the user would type it.
pub(crate) fn relative(path: &Path) -> String {
    path.strip_prefix(root())
        .expect("inside the repository")
        .to_string_lossy()
        .into_owned()
}

/// The values of `key` in a program's header, its first lines.
pub(crate) fn header<'s>(source: &'s str, key: &str) -> Vec<&'s str> {
    let lines = source.lines().take_while(|line| line.starts_with("//~"));
    lines
        .filter_map(|line| {
            line.strip_prefix("//~ ")?
                .strip_prefix(key)?
                .strip_prefix(": ")
        })
        .collect()
}
