//! `dslc ptx`: its options and what it refuses.

use std::{fs, path::PathBuf};

use crate::support::{dslc, has};

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
    // For the GPU here, if there is one.
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
