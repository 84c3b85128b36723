//! The first screen: groups, colours, launches, hot spots. Its content for each program of `tests/screen` is tested in
//! `tests/each/screen.rs`.

use std::{fs, process::Command};

use crate::support::{dslc, has, ran, report};

#[test]
fn findings_of_one_cause_are_one_group() {
    for name in [
        "missing_barriers",
        "conditional_barrier",
        "second_barrier",
        "out_of_bounds",
    ] {
        let path = format!("tests/screen/{name}.k");
        let report = dslc(&["run", &path]).stdout;
        assert!(
            report.contains("── findings: 1 error ─"),
            "{name}: {report}"
        );
    }
}

#[test]
fn colour_is_asked_for() {
    let path = "tests/screen/missing_barriers.k";
    let plain = dslc(&["run", path]);
    assert!(!plain.stdout.contains('\x1b'));
    let colored = dslc(&["--color", "always", "run", path]).stdout;
    has(&colored, "\x1b[1;31m error   \x1b[0m");
    let without: String = strip(&colored);
    assert_eq!(without, plain.stdout);
}

/// The text without escapes.
fn strip(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |all, part| {
        all + part.split_once('m').map_or("", |(_, rest)| rest)
    })
}

#[test]
fn launches_come_with_or_without_a_word() {
    let path = "tests/screen/column_major.k";
    for args in [
        &["run", path, "--launches"][..],
        &["run", "--launches", path],
        &["run", "--launches", "all", path],
        &["run", "--launches=folded", path],
        &["run", path, "--kernel", "copy"],
    ] {
        let report = dslc(args).stdout;
        assert!(report.contains("global load  in["), "{args:?}: {report}");
    }
    assert!(!dslc(&["run", path]).stdout.contains("global load"));
}

#[test]
fn constant_memory_counts_words() {
    let counts = |name: &str| {
        let report = report(&[&format!("tests/screen/{name}.k")]);
        let sites = report["launches"][0]["sites"].as_array().expect("sites");
        let site = sites.iter().find(|site| site["space"] == "constant");
        let site = site.expect("a site").clone();
        ["requests", "transactions", "ideal", "max_degree"].map(|key| site[key].as_u64())
    };
    // 32 words in each of 128 requests.
    assert_eq!(counts("constant_table"), [128, 4096, 128, 32].map(Some));
    // Two warps; of 8 rounds two start at the beginning of a word: 2 * 8 + 6 * 9.
    assert_eq!(counts("constant_bytes"), [16, 140, 16, 9].map(Some));
}

#[test]
fn json_has_the_hot_spots_and_no_unproved_suggestion() {
    let report = report(&["tests/screen/two_wastes.k"]);
    let spots = report["hot_spots"].as_array().expect("hot spots");
    let lines: Vec<_> = spots
        .iter()
        .map(|spot| (&spot["line"], &spot["excess"]))
        .collect();
    assert_eq!(
        lines,
        [(&10.into(), &3584.into()), (&6.into(), &192.into())]
    );
    assert_eq!(spots[1]["launches"], 3);
    assert!(report["suggestions"].is_array());
}

#[test]
fn a_launch_in_an_included_file_names_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let header = "__global__ void add(int *x) { x[threadIdx.x] += 1; }\ninline void step(int *x)\n{\n    add<<<1, 64>>>(x);\n}\n";
    let program = "#include \"steps.h\"\nint main()\n{\n    int *x;\n    cudaMalloc(&x, 256);\n    cudaMemset(x, 0, 256);\n    step(x);\n    add<<<1, 32>>>(x);\n    cudaFree(x);\n}\n";
    fs::write(folder.path().join("steps.h"), header).expect("a header");
    fs::write(folder.path().join("main.k"), program).expect("a program");
    let run = |format: &str| {
        let output = ran(Command::new(env!("CARGO_BIN_EXE_dslc"))
            .args(["run", "--format", format, "main.k"])
            .current_dir(folder.path()));
        output.stdout
    };
    let screen = run("text");
    has(&screen, "add<<<1, 64>>>  steps.h:4");
    has(&screen, "add<<<1, 32>>>  line 8");
    let report: serde_json::Value = serde_json::from_str(&run("json")).expect("a report");
    let files: Vec<_> = (0..2)
        .map(|at| report["launches"][at]["file"].clone())
        .collect();
    assert_eq!(files, ["steps.h".into(), serde_json::Value::Null]);
}
