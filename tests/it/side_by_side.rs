//! Several architectures, and two programs, side by side. Also words and hints for users who do not know the command line yet.

use std::fs;

use serde_json::{Value, json};

use crate::support::{dslc, has, root};

fn output_of(arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = dslc(arguments);
    (output.stdout, output.stderr, output.code)
}

/// The tile's columns: 32-way conflicts on 4-byte banks, 16-way on Kepler's 8-byte banks; column by column, a line of 128 bytes for each of
/// Fermi's lanes.
#[test]
fn architectures_stand_beside_one_another() {
    let several = [
        "run",
        "--cures",
        "never",
        "--arch",
        "sm_90,sm_35,sm_20",
        "examples/transpose.k",
    ];
    let (report, _, code) = output_of(&several);
    assert_eq!(code, Some(0));
    let row = |line: &str, numbers: [&str; 3]| {
        let mut rows = report
            .lines()
            .filter(|row| row.trim_start().starts_with(line));
        let is_row = |row: &str| {
            row.split_whitespace()
                .rev()
                .take(3)
                .eq(numbers.into_iter().rev())
        };
        assert!(rows.any(is_row), "{line} {numbers:?} in\n{report}");
    };
    row("line  access", ["sm_20", "sm_35", "sm_90"]);
    row("29  global load", ["16384", "4096", "4096"]);
    row("48  shared load", ["4096", "2048", "4096"]);
    has(&report, "9 more accesses cost the same on all");
    // The program's output and the findings appear once.
    assert_eq!(report.matches("transpose_tile OK").count(), 1);
    let (json, _, _) = output_of(&[
        "run",
        "--format",
        "json",
        "--arch",
        "sm_90,sm_35",
        "examples/transpose.k",
    ]);
    let json: Value = serde_json::from_str(&json).expect("a report");
    assert_eq!(json["arch"], "sm_90");
    let other = &json["architectures"][0];
    assert_eq!(other["arch"], "sm_35");
    assert_eq!(other["launches"][3]["sites"][3]["transactions"], 2048);
    let (all, _, code) = output_of(&[
        "run",
        "--cures",
        "never",
        "--arch",
        "all",
        "examples/transpose.k",
    ]);
    assert!(code == Some(0) && all.contains("sm_50-121"), "{all}");
    let (_, error, code) = output_of(&["run", "--arch", "sm_90,sm_1", "examples/transpose.k"]);
    assert!(
        code == Some(2) && error.contains("unknown architecture `sm_1`"),
        "{error}"
    );
    let (_, error, code) = output_of(&[
        "run",
        "--arch",
        "all",
        "--metrics",
        "branch",
        "examples/transpose.k",
    ]);
    assert!(
        code == Some(2) && error.contains("remove --device gpu, --metrics"),
        "{error}"
    );
}

#[test]
fn programs_and_reports_are_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let source = fs::read_to_string(root().join("tests/cures/tile.k")).expect("the program");
    fs::write(
        path("new.k"),
        source.replace("tile[32][32]", "tile[32][33]"),
    )
    .expect("a program");
    let (old, new) = ("tests/cures/tile.k", &path("new.k")[..]);
    let (better, _, code) = output_of(&["compare", old, new, "--fail-on-regression"]);
    assert_eq!(code, Some(0), "{better}");
    let squeezed = better.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        squeezed.contains("shared transactions 1056 64 -992 (-94 %)"),
        "{better}"
    );
    assert!(
        squeezed.contains("12 shared load tile[x][y] 1024 32 -992 (-97 %)"),
        "{better}"
    );
    assert!(squeezed.contains("3 accesses cost the same"), "{better}");
    assert!(better.lines().all(|line| line.len() <= 80), "{better}");
    // An older report contains the same.
    let (json, _, _) = output_of(&["run", "--format", "json", old]);
    fs::write(path("old.json"), json).expect("a report");
    let (again, _, _) = output_of(&["compare", &path("old.json"), new]);
    assert_eq!(again, better);
    let (worse, _, code) = output_of(&[
        "compare",
        new,
        old,
        "--format",
        "markdown",
        "--fail-on-regression",
    ]);
    assert_eq!(code, Some(1));
    has(
        &worse,
        "| **shared transactions** | 64 | 1056 | +992 (+1550 %) |",
    );
    let (fault, _, code) = output_of(&[
        "compare",
        "tests/cures/no_barrier.k",
        old,
        "--format",
        "json",
        "--fail-on-regression",
    ]);
    let fault: Value = serde_json::from_str(&fault).expect("a comparison");
    assert_eq!(fault["findings_gone"][0], "error R0205 race of `s` in k");
    assert_eq!(code, Some(1), "the tile costs more");
    fs::write(path("wrong.json"), "{\"schema\": 1}").expect("a file");
    for wrong in [path("wrong.json"), path("none.json"), path("none.k")] {
        let (_, error, code) = output_of(&["compare", old, &wrong]);
        assert!(code == Some(2) && error.contains(&wrong), "{error}");
    }
}

#[test]
fn words_and_hints() {
    let (_, error, code) = output_of(&["examples/transpose.k"]);
    assert_eq!(code, Some(2));
    has(&error, "`dslc run examples/transpose.k` runs it");
    let (list, _, code) = output_of(&["run", "--metrics", "list"]);
    assert!(
        code == Some(0) && list.contains("shared_load_transactions_per_request"),
        "{list}"
    );
    let (_, error, code) =
        output_of(&["run", "--metrics", "gld_throughput", "examples/transpose.k"]);
    assert!(
        code == Some(2) && error.contains("needs a clock"),
        "{error}"
    );
    for (name, why) in [
        ("lts__t_sectors_op_read_lookup_hit.sum", "is about caches"),
        ("dram__bytes.sum", "is about caches"),
        ("launch__registers_per_thread", "is what ptxas decides"),
        (
            "sm__inst_executed_pipe_fma.sum",
            "counts compiled instructions",
        ),
        ("inst_executd", "near it: inst_executed"),
    ] {
        let (_, error, code) = output_of(&["run", "--metrics", name, "examples/transpose.k"]);
        assert_eq!(code, Some(2));
        has(&error, why);
    }
    for word in [
        "race",
        "barrier",
        "bank_conflict",
        "Coalescing",
        "divergence",
        "__syncwarp",
        "occupancy",
    ] {
        let (topic, error, code) = output_of(&["explain", word]);
        assert!(code == Some(0) && topic.len() > 200, "{word}: {error}");
    }
    assert!(
        output_of(&["explain", "race"])
            .0
            .contains("R0205  data-race")
    );
    let (_, error, code) = output_of(&["explain", "baknk-conflict"]);
    assert!(
        code == Some(2) && error.contains("did you mean `bank-conflict`"),
        "{error}"
    );
}

/// The profilers' metrics in the JSON report: a kernel's launches are counted together, and so are all kernels.
#[test]
fn profilers_metrics_in_json() {
    let names = "gst_efficiency,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
    let (json, _, code) = output_of(&[
        "run",
        "--metrics",
        names,
        "--format",
        "json",
        "examples/transpose.k",
    ]);
    assert_eq!(code, Some(0));
    let mut report: Value = serde_json::from_str(&json).expect("a report");
    let rows = report["profiler_metrics"].take();
    let rows = rows.as_array().expect("rows");
    let row = |kernel: &Value| rows.iter().find(|row| row["kernel"] == *kernel);
    let conflicts = |row: &Value| {
        row["values"]["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"].clone()
    };
    let tile = row(&json!("transpose_tile")).expect("the kernel");
    assert_eq!(
        (&tile["launches"], conflicts(tile)),
        (&json!(1), json!(3968))
    );
    assert_eq!(tile["values"]["gst_efficiency"], 1.0);
    let direct = row(&json!("transpose_direct")).expect("the kernel");
    // Two launches: 512 sectors of 4,096 and 512 of 2,048.
    assert_eq!(direct["launches"], 2);
    let efficiency = direct["values"]["gst_efficiency"].as_f64();
    assert!(efficiency.is_some_and(|part| (part - 1024.0 / 6144.0).abs() < 1e-9));
    // It has no loads from shared memory, so it has no conflicts of them.
    assert_eq!(conflicts(direct), 0);
    let all = row(&Value::Null).expect("all kernels");
    let launches = report["launches"].as_array().expect("launches");
    assert_eq!(
        (&all["launches"], conflicts(all)),
        (&json!(launches.len()), json!(3968))
    );
    // Everything else is as without the option, including cures.
    let (plain, _, _) = output_of(&["run", "--format", "json", "examples/transpose.k"]);
    let mut plain: Value = serde_json::from_str(&plain).expect("a report");
    assert!(plain.get("profiler_metrics").is_none() && plain["suggestions"][0]["verified"] == true);
    plain["profiler_metrics"] = Value::Null;
    assert!(report == plain, "the reports differ");
}

/// A program sees the architecture that it is counted for; with several, in separate runs.
#[test]
fn cuda_arch_is_the_architecture_s() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("arch.k").display().to_string();
    let source = "#include <stdio.h>\n__global__ void k() { printf(\"%d\\n\", __CUDA_ARCH__); }\n\
                  int main() { k<<<1, 1>>>(); cudaDeviceSynchronize(); return 0; }\n";
    fs::write(&path, source).expect("a program");
    for (arch, number) in [
        ("sm_35", "350\n"),
        ("sm_90", "900\n"),
        ("sm_121,sm_20", "1210\n"),
    ] {
        let (printed, _, _) = output_of(&["run", "-q", "--arch", arch, &path]);
        assert_eq!(printed, number, "{arch}");
    }
}
