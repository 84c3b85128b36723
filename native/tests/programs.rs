//! Whole programs, built by `dslc nvcc` and run: one test each, with a snapshot of its output, its messages and its exit code.
//!
//! A program is a file in `programs`, or a folder with a `build.sh` that makes `prog`. The tests need the command `dslc` in the same build
//! folder, and clang.

#![allow(clippy::print_stdout, reason = "what is skipped is said")]

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Output},
};

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let entries = fs::read_dir(&folder).expect("the programs");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a program").path())
        .collect();
    paths.sort();
    let why = missing();
    if let Some(why) = &why {
        println!("skipped: {why}");
    }
    let trial = |path: PathBuf| {
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        Trial::test(name.clone(), move || check(&name, &path)).with_ignored_flag(why.is_some())
    };
    let trials = paths.into_iter().map(trial).collect();
    libtest_mimic::run(&args, trials).exit_code()
}

/// The folder of cargo's build, which contains `dslc` and `libdslcrt.so`.
fn built() -> PathBuf {
    let test = env::current_exe().expect("this program");
    let deps = test.parent().and_then(Path::parent);
    deps.expect("a folder of cargo's").to_path_buf()
}

/// The folder of the tests' own `libdslcrt.so`: next to `dslc` there may be one from an earlier `cargo build`.
fn library() -> PathBuf {
    built().join("deps")
}

/// Why no program can be built on this machine.
fn missing() -> Option<String> {
    if !built().join("dslc").exists() {
        return Some(
            "the command `dslc` is not built: test the workspace, not this package alone"
                .to_string(),
        );
    }
    let named = env::var_os("DSLC_CLANG").is_some();
    let names = ["clang++-22", "clang++-21", "clang++-20", "clang++"];
    let runs = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let found = names.into_iter().any(runs);
    (!named && !found)
        .then(|| "there is no clang to compile host code (setup.sh installs it)".to_string())
}

fn check(name: &str, path: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let dslc = built().join("dslc");
    let output = if path.is_dir() {
        copy(path, folder.path())?;
        let mut shell = Command::new("sh");
        shell.args(["-e", "build.sh"]);
        shell.env("NVCC", format!("{} nvcc", dslc.display()));
        shell.env("DSLC_LIB", library());
        shell.env("DSLC_KERNELS_BY", "dslc");
        shell.current_dir(folder.path()).output()?
    } else {
        let file = path.file_name().expect("a name");
        fs::copy(path, folder.path().join(file))?;
        let mut command = Command::new(&dslc);
        command
            .env("DSLC_LIB", library())
            // What the front end does not understand is a matter of these tests.
            .env("DSLC_KERNELS_BY", "dslc")
            .args(["nvcc", "-std=c++17", "-O1", "-o", "prog"])
            .arg(file);
        command.current_dir(folder.path()).output()?
    };
    if output.status.code() == Some(77) {
        println!("skipped: {name} needs a tool that is not here");
        return keep_snapshot(name);
    }
    if !output.status.success() {
        return Err(format!("it does not build:\n{}", printed(&output)).into());
    }
    let run = Command::new("./prog")
        .current_dir(folder.path())
        .env("DSLC", "--quiet --jobs 2")
        .env("DSLC_LIB", library())
        .env("COLUMNS", "120")
        .output()?;
    // A signal has an exit code only in a shell.
    let code = run
        .status
        .code()
        .map_or("a signal".to_string(), |code| code.to_string());
    let warnings = match output.stderr.is_empty() {
        true => String::new(),
        false => format!(
            "-- said while building\n{}",
            String::from_utf8_lossy(&output.stderr)
        ),
    };
    let text = format!("{warnings}{}-- ended with {code}\n", printed(&run));
    let place = folder.path().display().to_string();
    let text = text.replace(&format!("{place}/"), "").replace(&place, "");
    let text: String = text
        .lines()
        .filter(|line| !line.ends_with(" ms"))
        .map(|line| format!("{}\n", line.trim_end()))
        .collect();
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
    Ok(())
}

/// Keeps the snapshot of a test that cannot run here: adds it to insta's list of used snapshots.
fn keep_snapshot(name: &str) -> Result<(), Failed> {
    let Some(list) = env::var_os("INSTA_SNAPSHOT_REFERENCES_FILE") else {
        return Ok(());
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let mut list = fs::File::options().append(true).create(true).open(list)?;
    writeln!(list, "{}", folder.join(format!("{name}.snap")).display())?;
    Ok(())
}

fn printed(output: &Output) -> String {
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    match stderr.is_empty() {
        true => stdout.into_owned(),
        false => format!("{stdout}-- stderr\n{stderr}"),
    }
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), target)?),
        }
    }
    Ok(())
}
