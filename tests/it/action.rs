//! `action/gate.sh`, which does all the work of the GitHub action, in a repository with two commits.
#![cfg(target_os = "linux")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{Ran, has, ran, root};

const PROGRAM: &str = "//~ clean\n//~ options -DN=32\n__global__ void k(float *x)\n{\n    __shared__ float s[32][PAD];\n    s[threadIdx.x][0] = x[threadIdx.x];\n    \
    x[threadIdx.x] = s[threadIdx.x][0];\n}\nint main(int argc, char **argv)\n{\n    float *x;\n    cudaMalloc(&x, N * 4);\n    cudaMemset(x, 0, N * 4);\n    \
    k<<<1, N>>>(x);\n    cudaDeviceSynchronize();\n    cudaFree(x);\n    return argc - 1;\n}\n";

fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]);
    let ran = ran(command.args(args).current_dir(folder));
    assert_eq!(ran.code, Some(0), "git {args:?}: {}", ran.stderr);
}

/// A repository whose second commit changes rows of 32 to rows of 33.
fn repository(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("made");
    git(&folder, &["init", "--quiet"]);
    for pad in ["32", "33"] {
        fs::write(folder.join("k.cu"), PROGRAM.replace("PAD", pad)).expect("written");
        git(&folder, &["add", "k.cu"]);
        git(&folder, &["commit", "--quiet", "-m", pad]);
    }
    folder
}

fn gate(folder: &Path, variables: &[(&str, &str)]) -> Ran {
    let mut command = Command::new("bash");
    command
        .arg(root().join("action/gate.sh"))
        .current_dir(folder)
        .env("DSLC", env!("CARGO_BIN_EXE_dslc"))
        .envs(variables.iter().copied());
    ran(&mut command)
}

#[test]
fn the_steps_of_the_action_leave_reports() {
    let folder = repository("action");
    let variables = [
        ("GATE_TESTS", "."),
        ("GATE_PROGRAMS", "k.cu '-DN=32'\n"),
        ("GATE_REQUIRE", "k: shared_load_bank_conflicts == 0\n"),
        ("GATE_BASE", "HEAD~1"),
        ("GATE_OUT", "out"),
    ];
    let output = gate(&folder, &variables);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    has(
        &output.stdout,
        "test k.cu ... ok (1 expectation, 1 launch, 4 accesses)",
    );
    has(
        &output.stderr,
        "requirement met: k: shared_load_bank_conflicts == 0",
    );
    let read = |file: &str| fs::read_to_string(folder.join("out").join(file)).expect(file);
    has(
        &read("compare.md"),
        "| **shared transactions** | 64 | 2 | -62 (-97 %) |",
    );
    has(&read("junit.xml"), "failures=\"0\"");
    has(&read("1-k.cu.sarif"), "\"version\": \"2.1.0\"");
    has(&read("1-k.cu.html"), "<!doctype html>");
}

#[test]
fn a_gate_that_is_not_passed_or_looked_at_nothing_fails() {
    let folder = repository("action_fails");
    let program = ("GATE_PROGRAMS", "k.cu -DN=32");
    let unmet = gate(&folder, &[program, ("GATE_REQUIRE", "k: branches > 1000")]);
    assert_eq!(unmet.code, Some(1), "{}", unmet.stderr);
    let broken = gate(&folder, &[("GATE_PROGRAMS", "k.cu -DN=32 -- 1")]);
    assert_eq!(broken.code, Some(1), "{}", broken.stderr);
    let nothing = gate(&folder, &[]);
    assert_eq!(nothing.code, Some(1));
    has(&nothing.stderr, "there was nothing to look at");
}

#[test]
fn a_requirement_is_for_the_programs_that_it_is_about() {
    let folder = repository("action_shared");
    let other = PROGRAM.replace("k(", "other(").replace("k<<<", "other<<<");
    fs::write(folder.join("other.cu"), other.replace("PAD", "33")).expect("written");
    let with = |require: &str| {
        let programs = ("GATE_PROGRAMS", "k.cu -DN=32\nother.cu -DN=32\n");
        gate(
            &folder,
            &[programs, ("GATE_REQUIRE", require), ("GATE_OUT", "out")],
        )
    };
    let output =
        with("k: shared_load_bank_conflicts == 0\nother: shared_load_bank_conflicts == 0\n");
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    has(
        &output.stderr,
        "requirement not of this program: k: shared_load_bank_conflicts == 0",
    );
    let output = with("nothing: shared_load_bank_conflicts == 0\n");
    assert_eq!(output.code, Some(1));
    has(
        &output.stderr,
        "requirement not met: nothing: shared_load_bank_conflicts == 0: no program has anything that it is about",
    );
    // A requirement that is not met is a result for code scanning, at the launch.
    let output = with("k: shared_load_bank_conflicts > 5\n");
    assert_eq!(output.code, Some(1));
    let log = fs::read_to_string(folder.join("out/1-k.cu.sarif")).expect("the log");
    let log: serde_json::Value = serde_json::from_str(&log).expect("JSON");
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "requirement");
    assert_eq!(
        result["locations"][0]["physicalLocation"]["region"]["startLine"],
        14
    );
    let text = result["message"]["text"].as_str().expect("a text");
    has(
        text,
        "requirement not met: k: shared_load_bank_conflicts > 5. ",
    );
}
