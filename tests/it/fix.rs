//! `dslc fix`: cures as edits of the program.

use std::{fs, process::Command};

use crate::support::{has, ran, root};

#[test]
fn fix_prints_a_diff_and_writes_it_when_it_is_told_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("column.k");
    fs::copy(root().join("tests/cures/tile.k"), &path).expect("a copy");
    let fix = |arguments: &[&str]| {
        let output = ran(Command::new(env!("CARGO_BIN_EXE_dslc"))
            .arg("fix")
            .args(arguments)
            .arg("column.k")
            .current_dir(folder.path()));
        (output.stdout, output.stderr, output.code)
    };
    let old = fs::read_to_string(&path).expect("the program");
    let (diff, messages, code) = fix(&[]);
    has(
        &diff,
        "-    __shared__ float tile[32][32];\n+    __shared__ float tile[32][33];",
    );
    has(&messages, "(1024 transactions become 32)");
    assert_eq!(code, Some(0));
    assert_eq!(fs::read_to_string(&path).expect("the program"), old);
    let (_, messages, code) = fix(&["--apply"]);
    has(&messages, "changed column.k");
    assert_eq!(code, Some(0));
    let new = fs::read_to_string(&path).expect("the program");
    assert_eq!(new, old.replace("tile[32][32]", "tile[32][33]"));
    let (diff, messages, code) = fix(&[]);
    assert_eq!((diff.as_str(), code), ("", Some(0)));
    assert!(messages.starts_with("no cure is proved"), "{messages}");
    let output = ran(Command::new("sh")
        .args([
            "-c",
            "\"$0\" fix --apply /dev/stdin < column.k",
            env!("CARGO_BIN_EXE_dslc"),
        ])
        .current_dir(folder.path()));
    let error = output.stderr;
    assert!(
        output.code == Some(2) && error.contains("is not a file"),
        "{error}"
    );
}

/// An effect of `--arch` is not an edit of the program.
#[test]
fn fix_edits_the_programs_files_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy(
        root().join("tests/cures/tile.k"),
        folder.path().join("tile.k"),
    )
    .expect("a copy");
    let output = ran(Command::new(env!("CARGO_BIN_EXE_dslc"))
        .args(["fix", "--arch", "sm_70", "--apply", "tile.k"])
        .current_dir(folder.path()));
    assert_eq!(
        output.stderr.matches("changed ").count(),
        1,
        "{}",
        output.stderr
    );
    let files = fs::read_dir(folder.path()).expect("the folder").count();
    assert_eq!(files, 1);
}
