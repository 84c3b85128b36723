//! `dslc ptx`: its options, and which requests it refuses. `dslc-ptx`, which contains LLVM, and the folder where it has to be.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::support::{Ran, dslc, has, ran};

fn ptx(args: &[&str]) -> String {
    let mut all = vec!["ptx"];
    all.extend(args);
    let output = dslc(&all);
    let error = output.stderr;
    assert_eq!(output.code, Some(0), "{args:?}\n{error}");
    output.stdout
}

#[test]
fn the_same_source_gives_the_same_text() {
    let args = ["--arch", "sm_90", "examples/transpose.k"];
    assert_eq!(ptx(&args), ptx(&args));
}

#[test]
fn options_of_the_command() {
    let file = "examples/saxpy.k";
    let default = ptx(&["--arch", "sm_75", file]);
    has(&default, ".target sm_75");
    // For this machine's GPU, if there is one.
    assert!(ptx(&[file]).contains(".target sm_"));
    has(&default, ".loc\t1 ");
    let llvm = ptx(&["--emit", "llvm", "-O0", file]);
    has(&llvm, "define ptx_kernel void @");
    has(&llvm, "alloca");
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("saxpy.ptx");
    let silent = ptx(&["--arch", "sm_75", "-o", path.to_str().expect("UTF-8"), file]);
    assert_eq!(silent, "");
    assert_eq!(fs::read_to_string(path).expect("written"), default);
}

#[test]
fn unknown_architectures_are_refused_with_the_list() {
    let output = dslc(&["ptx", "--arch", "sm_42", "examples/saxpy.k"]);
    assert_eq!(output.code, Some(2));
    let error = output.stderr;
    has(&error, "there is no PTX for the architecture `sm_42`");
    has(&error, "sm_50, sm_52");
    has(&error, "sm_121");
}

#[test]
fn a_program_with_errors_gives_none() {
    let output = dslc(&["ptx", "tests/wrong/missing_semicolon.k"]);
    assert_eq!(output.code, Some(1));
    assert_eq!(output.stdout, "");
    assert!(!output.stderr.is_empty());
}

/// Runs `dslc-ptx` with that standard input.
fn back_end(args: &[&str], input: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dslc-ptx"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("dslc-ptx starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // If it refuses the command line, it reads no input.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("it ends").into()
}

#[test]
fn the_back_end_takes_ir_and_says_what_is_wrong_with_it() {
    let ir = dslc(&["ir", "examples/saxpy.k"]).stdout;
    let made = back_end(&["--arch", "sm_75"], &ir);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    assert_eq!(made.stdout, ptx(&["--arch", "sm_75", "examples/saxpy.k"]));
    let version = back_end(&["--version"], "");
    has(&version.stdout, " with LLVM ");
    let cut = &ir[..ir.rfind("loc !1").expect("a place")];
    for (args, input, code, why) in [
        (
            &["--arch", "sm_75"][..],
            "kernel",
            1,
            "the IR is wrong: 1:1",
        ),
        (&["--arch", "sm_75"], cut, 1, "the IR is wrong: "),
        (
            &["--arch", "sm_75", "--of", "0.0.1"],
            &ir,
            1,
            "build or install both together",
        ),
        (
            &["--arch", "sm_42"],
            &ir,
            2,
            "there is no PTX for the architecture `sm_42`",
        ),
        (&[], &ir, 2, "--arch"),
    ] {
        let refused = back_end(args, input);
        assert_eq!(refused.code, Some(code), "{args:?}: {}", refused.stderr);
        assert_eq!(refused.stdout, "", "{args:?}");
        has(&refused.stderr, why);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_back_end_lies_beside_dslc() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("beside");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("elsewhere")).expect("a folder for the test");
    let beside = folder.join("dslc");
    let link = folder.join("elsewhere/linked");
    fs::hard_link(env!("CARGO_BIN_EXE_dslc"), &beside).expect("a name for the program");
    std::os::unix::fs::symlink(&beside, &link).expect("a link to it");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/saxpy.k");
    let run = |program: &Path| {
        ran(Command::new(program)
            .args(["ptx", "--arch", "sm_75"])
            .arg(&example))
    };
    let missing = run(&link);
    assert_eq!(missing.code, Some(2));
    assert_eq!(missing.stderr.lines().count(), 1, "{}", missing.stderr);
    has(
        &missing.stderr,
        "dslc: PTX needs the program `dslc-ptx`, and it is not in the folder of dslc, ",
    );
    has(
        &ran(Command::new(&link).arg("doctor")).stdout,
        "no   PTX back end",
    );
    fs::hard_link(env!("CARGO_BIN_EXE_dslc-ptx"), folder.join("dslc-ptx")).expect("a name for it");
    let found = run(&link);
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    has(&found.stdout, ".target sm_75");
}

/// LLVM's tables and constructors would make each start take as long as a small run.
#[test]
fn dslc_itself_has_no_llvm_inside() {
    let has_llvm = |path: &str| {
        let bytes = fs::read(path).expect("the program");
        let name = b"NVPTX";
        bytes.windows(name.len()).any(|part| part == name)
    };
    assert!(has_llvm(env!("CARGO_BIN_EXE_dslc-ptx")));
    assert!(!has_llvm(env!("CARGO_BIN_EXE_dslc")));
}
