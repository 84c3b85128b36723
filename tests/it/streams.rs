//! The exit code if the output has no reader, or a disk is full: text goes elsewhere, and findings still count.
#![cfg(target_os = "linux")]

use std::{
    fs::{self, File},
    process::{Command, Stdio},
};

use crate::support::{Ran, file, has, root};

/// A launch that CUDA refuses: found after the program has printed.
const REFUSED: &str = "#include <stdio.h>\n__global__ void k() {}\nint main() {\n    for (int i = 0; i < 10000; i++) printf(\"line %d\\n\", i);\n    k<<<1, 2048>>>();\n    return 0;\n}\n";
const RACE: &str = "__global__ void race(int *p) { p[0] = threadIdx.x; }\n";

fn run(args: &[&str], stdout: Stdio, stderr: Stdio) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dslc"));
    command.args(args).current_dir(root());
    let child = command.stdout(stdout).stderr(stderr).spawn();
    let child = child.expect("dslc starts");
    child.wait_with_output().expect("dslc ends").into()
}

fn full() -> Stdio {
    File::options()
        .write(true)
        .open("/dev/full")
        .expect("/dev/full")
        .into()
}

/// A pipe without a reader.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

#[test]
fn a_closed_pipe_changes_no_exit_code() {
    let bad = file("bad.k", "int main() { return undeclared; }\n");
    let refused = file("refused.k", REFUSED);
    let cases: &[(&[&str], i32)] = &[
        (&["run", "examples/reverse.k"], 0),
        (&["run", &refused], 1),
        (&["run", "--format", "json", &refused], 1),
        (&["run", "--format", "sarif", &bad], 1),
        (&["check", "--format", "json", &bad], 1),
        (&["ir", "examples/reverse.k"], 0),
        (&["explain", "E0301"], 0),
        (&["--help"], 0),
    ];
    for (args, expected) in cases {
        let output = run(args, closed(), Stdio::piped());
        let error = output.stderr;
        assert_eq!(output.code, Some(*expected), "{args:?}: {error}");
        let output = run(args, Stdio::piped(), closed());
        assert_eq!(output.code, Some(*expected), "{args:?} 2>&-");
    }
    let output = run(&["run", &refused], closed(), Stdio::piped());
    assert!(output.stderr.contains("R0301"), "it is still said");
}

#[test]
fn a_run_goes_on_when_nobody_reads_and_its_files_are_written() {
    let race = file("race.k", RACE);
    let baseline = file("race.json", "");
    let saved = file("race.npy", "");
    let args = [
        "run",
        &race,
        "--launch",
        "race<<<1, 32>>>(p)",
        "--buffer",
        "p=int[1]",
        "--save",
        &format!("p={saved}"),
        "--write-baseline",
        &baseline,
        "--print",
        "p",
    ];
    let output = run(&args, closed(), Stdio::piped());
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    let written = fs::read_to_string(baseline).expect("the baseline");
    has(&written, "dslc-baseline/1");
    assert!(fs::metadata(saved).expect("the buffer").len() > 0);
}

#[test]
fn a_full_disk_is_told_of_once() {
    let refused = file("refused.k", REFUSED);
    let mut cases: Vec<Vec<&str>> = vec![
        vec!["run", "examples/reverse.k"],
        vec!["run", "--format", "json", "examples/reverse.k"],
        vec!["run", "--format", "sarif", "examples/reverse.k"],
        vec![
            "run",
            "--metrics",
            "shared_load_transactions",
            "examples/reverse.k",
        ],
        vec!["run", "--metrics", "list", "examples/reverse.k"],
        vec!["run", &refused],
        vec!["check", "--format", "json", "examples/reverse.k"],
        vec!["check", "--format", "sarif", "examples/reverse.k"],
        vec!["check", "--kernels", "examples/reverse.k"],
        vec!["ir", "examples/reverse.k"],
        vec!["bind", "examples/reverse.k"],
        vec!["banks", "x[threadIdx.x]"],
        vec!["explain", "E0301"],
        vec!["explain"],
        vec!["doctor"],
        vec!["completions", "bash"],
        vec!["man"],
        vec!["--help"],
        vec!["run", "--help"],
        vec!["--version"],
    ];
    if cfg!(feature = "ptx") {
        cases.push(vec!["ptx", "examples/reverse.k"]);
    }
    for args in &cases {
        let output = run(args, full(), Stdio::piped());
        let error = output.stderr;
        assert_eq!(output.code, Some(2), "{args:?}: {error}");
        let told = "dslc: cannot write to standard output: no space left on device\n";
        assert_eq!(error.matches(told).count(), 1, "{args:?}: {error}");
    }
}

#[test]
fn messages_that_cannot_be_said_are_a_failure() {
    let bad = file("unsaid.k", "int main() { return undeclared; }\n");
    for args in [
        vec!["check", &bad],
        vec!["check", "examples/reverse.k"],
        vec!["run", "--no-such-option"],
    ] {
        assert_eq!(run(&args, Stdio::piped(), full()).code, Some(2));
    }
    assert_eq!(run(&["check", &bad], full(), full()).code, Some(2));
    // There was nothing to print.
    let output = run(&["ir", "examples/reverse.k"], Stdio::piped(), full());
    assert_eq!(output.code, Some(0));
}
