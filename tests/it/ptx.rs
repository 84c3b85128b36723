//! `dslc ptx`: its options and what it refuses.

use std::{fs, path::PathBuf};

use crate::support::{dslc, text};

fn ptx(args: &[&str]) -> String {
    let mut all = vec!["ptx"];
    all.extend(args);
    let output = dslc(&all);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}\n{error}");
    text(&output.stdout)
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
    assert!(default.contains(".target sm_75"), "{default}");
    // For the GPU here, if there is one.
    assert!(ptx(&[file]).contains(".target sm_"));
    assert!(default.contains(".loc\t1 "), "{default}");
    let llvm = ptx(&["--emit", "llvm", "-O0", file]);
    assert!(
        llvm.contains("define ptx_kernel void @") && llvm.contains("alloca"),
        "{llvm}"
    );
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("saxpy.ptx");
    let silent = ptx(&["--arch", "sm_75", "-o", path.to_str().expect("UTF-8"), file]);
    assert_eq!(silent, "");
    assert_eq!(fs::read_to_string(path).expect("written"), default);
}

#[test]
fn unknown_architectures_are_refused_with_the_list() {
    let output = dslc(&["ptx", "--arch", "sm_42", "examples/saxpy.k"]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(
        error.contains("unknown GPU architecture `sm_42`"),
        "{error}"
    );
    assert!(
        error.contains("sm_50, sm_52") && error.contains("sm_121"),
        "{error}"
    );
}

#[test]
fn a_program_with_errors_gives_none() {
    let output = dslc(&["ptx", "tests/wrong/missing_semicolon.k"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "");
    assert!(!output.stderr.is_empty());
}
