//! `--require`: requirements for a run, what they looked at, and the messages for an invalid one.

use serde_json::Value;

use crate::support::{dslc, file, has};

const TILE: &str = "examples/transpose.k";

/// Runs the transpositions with a requirement; returns the exit code and the output about the requirement.
fn required(text: &str, options: &[&str]) -> (Option<i32>, String) {
    let args = [&["run", "--quiet", TILE, "--require", text], options].concat();
    let output = dslc(&args);
    let said = output
        .stderr
        .lines()
        .skip_while(|line| !line.starts_with("requirement"));
    (output.code, said.collect::<Vec<_>>().join("\n"))
}

#[test]
fn a_requirement_says_what_it_looked_at() {
    let text = "transpose_tile_padded: shared_load_bank_conflicts == 0 && gst_efficiency > 0.9";
    let (code, said) = required(text, &[]);
    assert_eq!(code, Some(0));
    assert_eq!(
        said,
        format!(
            "requirement met: {text}\n  looked at 1 launch; for shared_load_bank_conflicts: 1 access, executed 128 times; \
             for gst_efficiency: 1 access, executed 128 times"
        )
    );
}

#[test]
fn a_launch_that_does_not_meet_it_fails_the_run() {
    let (code, said) = required("transpose_tile*: shared_load_bank_conflicts == 0", &[]);
    assert_eq!(code, Some(1));
    has(
        &said,
        "requirement not met: transpose_tile*: shared_load_bank_conflicts == 0",
    );
    has(
        &said,
        "  launch 3 `transpose_tile`, line 104:\n    shared_load_bank_conflicts is 3968",
    );
    assert!(!said.contains("transpose_tile_padded`"), "{said}");
}

#[test]
fn each_architecture_is_looked_at() {
    let text = "transpose_tile: transactions(tile[threadIdx.x][threadIdx.y]) <= 2048";
    let (code, said) = required(text, &["--arch", "sm_35,sm_90"]);
    assert_eq!(code, Some(1));
    has(&said, "requirement met on sm_35:");
    has(&said, "requirement not met on sm_90:");
    has(
        &said,
        "transactions(tile[threadIdx.x][threadIdx.y]) is 4096",
    );
}

#[test]
fn what_looked_at_nothing_is_not_met() {
    let cases = [
        (
            "transpose_tiel: branches >= 0",
            "no kernel `transpose_tiel` was launched; did you mean `transpose_tile`?",
        ),
        (
            "transpose_direct: shared_load_bank_conflicts == 0",
            "no launch executed an access that `shared_load_bank_conflicts` counts",
        ),
        (
            "sectors(nowhere[i]) < 5",
            "no launch executed the access of `sectors(nowhere[i])`",
        ),
        ("1 < 2", "it names no metric"),
    ];
    for (text, why) in cases {
        let (code, said) = required(text, &[]);
        assert_eq!(code, Some(1), "{text}");
        has(&said, &format!("it looked at nothing: {why}"));
    }
    let host = file("host.k", "int main()\n{\n    return 0;\n}\n");
    let output = dslc(&["run", &host, "--require", "branches >= 0"]);
    assert_eq!(output.code, Some(1));
    has(
        &output.stderr,
        "it looked at nothing: the program launched no kernel",
    );
}

#[test]
fn an_access_of_another_space_has_no_such_count() {
    let (code, said) = required(
        "transpose_direct: transactions(in[row * cols + col]) < 5",
        &[],
    );
    assert_eq!(code, Some(1), "{said}");
    has(&said, "means nothing: global memory has sectors");
}

#[test]
fn a_wrong_requirement_is_shown_with_its_place() {
    let output = dslc(&[
        "run",
        TILE,
        "--require",
        "*: shared_load_bank_conflict == 0",
    ]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""));
    has(
        &output.stderr,
        "there is no metric `shared_load_bank_conflict`",
    );
    has(&output.stderr, "--require:1:4");
    has(&output.stderr, "did you mean `shared_load_bank_conflicts`?");
}

#[test]
fn the_report_has_it_too() {
    let text = "transpose_tile: gst_efficiency > 2";
    let output = dslc(&[
        "run",
        "--format",
        "json",
        "--cures",
        "never",
        TILE,
        "--require",
        text,
    ]);
    let report = output.json();
    let judged = &report["requirements"][0];
    assert_eq!(
        (&judged["requirement"], &judged["met"]),
        (&Value::from(text), &Value::from(false))
    );
    assert_eq!(judged["looked"][0]["executed"], 128);
    assert_eq!(judged["failed"][0]["values"]["gst_efficiency"], 1.0);
}
