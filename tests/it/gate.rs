//! Machine-readable findings: selecting checks, SARIF for code-scanning services, and baselines for CI that fails on new findings.

use serde_json::Value;

use crate::support::{dslc, file, has, root};

/// Two stores beyond their arrays with the same text in two kernels, and lines that may move.
const TWO: &str = "__global__ void first(int *x)\n{\n    __shared__ int s[32];\n    s[threadIdx.x] = x[0];\n}\n__global__ void second(int *x)\n{\n    __shared__ int s[32];\n    s[threadIdx.x] = x[0];\n}\nint main()\n{\n    int *x;\n    cudaMalloc(&x, 128);\n    cudaMemset(x, 0, 128);\n    KERNEL<<<1, 64>>>(x);\n    cudaFree(x);\n    return 0;\n}\n";

/// Checks every key that SARIF 2.1.0's schema requires for the written objects, and the types and values that it prescribes.
fn assert_sarif(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    assert!(
        log["$schema"]
            .as_str()
            .expect("$schema")
            .ends_with("sarif-2.1.0.json")
    );
    let runs = log["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 1);
    let driver = &runs[0]["tool"]["driver"];
    assert_eq!(driver["name"], "dslc");
    let rules = driver["rules"].as_array().expect("rules");
    for rule in rules {
        assert!(rule["id"].is_string(), "{rule}");
        for key in ["shortDescription", "fullDescription", "help"] {
            assert!(
                rule[key]["text"]
                    .as_str()
                    .is_some_and(|text| !text.is_empty()),
                "{rule}"
            );
        }
    }
    assert_eq!(runs[0]["columnKind"], "unicodeCodePoints");
    assert!(runs[0]["invocations"][0]["executionSuccessful"].is_boolean());
    for result in runs[0]["results"].as_array().expect("results") {
        assert!(result["message"]["text"].is_string(), "{result}");
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let level = result["level"].as_str().expect("a level");
        assert!(["none", "note", "warning", "error"].contains(&level));
        let locations = result["locations"].as_array().expect("locations");
        let related = result["relatedLocations"].as_array();
        for place in locations.iter().chain(related.into_iter().flatten()) {
            let physical = &place["physicalLocation"];
            assert!(physical["artifactLocation"]["uri"].is_string(), "{place}");
            let region = &physical["region"];
            let number = |key: &str| region[key].as_u64().unwrap_or(0);
            assert!(
                number("startLine") >= 1 && number("startColumn") >= 1,
                "{place}"
            );
            let (start, end) = (
                (number("startLine"), number("startColumn")),
                (number("endLine"), number("endColumn")),
            );
            assert!(start <= end, "{place}");
        }
        for suppression in result["suppressions"].as_array().into_iter().flatten() {
            assert!(
                ["inSource", "external"].contains(&suppression["kind"].as_str().expect("a kind"))
            );
        }
    }
}

/// `dslc … --format sarif`: the exit code and the log.
fn sarif(args: &[&str]) -> (Option<i32>, Value) {
    let output = dslc(args);
    let log = output.json();
    assert_sarif(&log);
    (output.code, log)
}

/// Rule, level and line of each result.
fn results(log: &Value) -> Vec<(String, String, u64)> {
    let rows = log["runs"][0]["results"].as_array().expect("results");
    let word = |value: &Value| value.as_str().unwrap_or("").to_string();
    rows.iter()
        .map(|row| {
            let line = &row["locations"][0]["physicalLocation"]["region"]["startLine"];
            (
                word(&row["ruleId"]),
                word(&row["level"]),
                line.as_u64().unwrap_or(0),
            )
        })
        .collect()
}

#[test]
fn sarif_has_what_the_standard_requires() {
    let path = file("sarif.k", TWO);
    let (code, log) = sarif(&["run", "--format", "sarif", "-D", "KERNEL=first", &path]);
    assert_eq!(code, Some(1));
    assert_eq!(results(&log), [("R0101".into(), "error".into(), 4)]);
    let place = &log["runs"][0]["results"][0]["locations"][0];
    assert_eq!(place["logicalLocations"][0]["name"], "first");
    assert_eq!(
        place["physicalLocation"]["region"]["snippet"]["text"],
        "    s[threadIdx.x] = x[0];"
    );

    let (code, log) = sarif(&["check", "--format", "sarif", "tests/wrong/two_errors.k"]);
    assert_eq!((code, results(&log).len()), (Some(1), 2));
    let (code, log) = sarif(&["run", "--format", "sarif", "tests/wrong/two_errors.k"]);
    assert_eq!((code, results(&log).len()), (Some(1), 2));
    let (code, log) = sarif(&["run", "--format", "sarif", "examples/reverse.k"]);
    assert_eq!((code, results(&log)), (Some(0), vec![]));
}

#[test]
fn a_baseline_mutes_what_it_knows_and_nothing_else() {
    let path = file("baseline.k", TWO);
    let known = root()
        .join("target/tmp/gate/known.json")
        .to_string_lossy()
        .into_owned();
    let run = |path: &str, kernel: &str, more: &[&str]| {
        let kernel = format!("KERNEL={kernel}");
        dslc(&[&["run", "-D", &kernel, path][..], more].concat())
    };
    assert_eq!(
        run(&path, "first", &["--write-baseline", &known]).code,
        Some(1)
    );
    let muted = run(&path, "first", &["--baseline", &known]);
    assert_eq!(muted.code, Some(0), "{}", muted.stderr);
    assert!(!muted.stderr.contains("R0101"));
    assert!(muted.stdout.contains("1 known from the baseline"));
    // The same text in another kernel is another finding.
    assert_eq!(run(&path, "second", &["--baseline", &known]).code, Some(1));
    // Lines may move, and white space change.
    let moved = file(
        "moved.k",
        format!(
            "// new\n\n{}",
            TWO.replace("s[threadIdx.x] =", "s[ threadIdx.x ]  =")
        ),
    );
    let still = run(&moved, "first", &["--baseline", &known]);
    assert_eq!(still.code, Some(1), "the access's text changed");
    let moved = file(
        "moved.k",
        format!("// new\n\n{}", TWO.replace("    s[", "        s[")),
    );
    assert_eq!(run(&moved, "first", &["--baseline", &known]).code, Some(0));

    let json = run(&path, "first", &["--baseline", &known, "--format", "json"]);
    let report = json.json();
    assert_eq!(
        (&report["findings"], &report["muted_findings"]),
        (&Value::Array(vec![]), &1.into())
    );
    let defines = ["-D", "KERNEL=first"];
    let args = [
        &["run", "--format", "sarif", "--baseline", &known, &path][..],
        &defines,
    ]
    .concat();
    let (code, log) = sarif(&args);
    let suppression = &log["runs"][0]["results"][0]["suppressions"][0]["kind"];
    assert_eq!((code, suppression.as_str()), (Some(0), Some("external")));
}

#[test]
fn what_is_asked_for_wrongly_is_said_in_a_sentence() {
    let broken = file("broken.json", "{}");
    let cases: &[(&[&str], &str)] = &[
        (&["--checks", "rase"], "did you mean `race`?"),
        (&["--checks", "race", "--no-checks"], "cannot be used with"),
        (
            &["--baseline", "no-such-file.json"],
            "--baseline no-such-file.json:",
        ),
        (&["--baseline", &broken], "missing field"),
    ];
    for (args, expected) in cases {
        let output = dslc(&[&["run", "examples/reverse.k"], *args].concat());
        let error = output.stderr;
        assert_eq!(output.code, Some(2), "{args:?}: {error}");
        assert!(error.contains(expected), "{args:?}: {error}");
    }
    for checks in [
        "race",
        "race,uninit",
        "warp-synchronous",
        "all",
        "none",
        "barrier,mask,arithmetic",
    ] {
        let output = dslc(&["run", "--quiet", "--checks", checks, "examples/reverse.k"]);
        assert_eq!(output.code, Some(0), "{checks}: {}", output.stderr);
    }
}

#[test]
fn warnings_fail_a_run_that_asks_for_it() {
    let path = "tests/findings/faults/warp_reduce_volatile.k";
    for (least, code) in [("error", 0), ("warning", 1), ("note", 1)] {
        let output = dslc(&["run", "--quiet", "--fail-on", least, path]);
        assert_eq!(output.code, Some(code), "{least}");
    }
}

#[test]
fn a_program_that_does_not_compile_has_a_report_too() {
    let path = file("broken.k", "int main()\n{\n    return x;\n}\n");
    let output = dslc(&["run", "--format", "json", &path]);
    assert_eq!(output.code, Some(1));
    let report = output.json();
    assert_eq!(report["schema"], "dslc-report/1");
    assert_eq!(report["exit_code"], 1);
    assert_eq!(report["launches"], Value::Array(vec![]));
    assert_eq!(report["diagnostics"][0]["line"], 3);
}

#[test]
fn a_baseline_of_messages_mutes_what_it_knows() {
    let known = "__global__ void k(int *x)\n{\n    __shared__ int s[4][8];\n    s[0][9] = 1;\n    x[0] = s[0][0];\n}\n";
    let path = file("messages.k", known);
    let baseline = root().join("target/tmp/gate/messages.json");
    let baseline = baseline.to_string_lossy().into_owned();
    let count = |args: &[&str]| {
        let output = dslc(&[&["check", "--format", "json"], args].concat());
        let report = output.json();
        report["diagnostics"].as_array().expect("messages").len()
    };
    assert_eq!(count(&["--write-baseline", &baseline, &path]), 1);
    assert_eq!(count(&["--baseline", &baseline, &path]), 0);
    let moved = file(
        "messages.k",
        format!("\n{}", known.replace("x[0] =", "s[1][8] = 2;\n    x[0] =")),
    );
    assert_eq!(count(&["--baseline", &baseline, &moved]), 1);
}

#[test]
fn memory_that_is_not_freed_is_a_note() {
    let path = file(
        "leak.k",
        "int main()\n{\n    int *a, *b;\n    cudaMalloc(&a, 100);\n    cudaMalloc(&b, 28);\n    return 0;\n}\n",
    );
    let output = dslc(&["run", "--quiet", &path]);
    assert_eq!((output.code, output.stderr), (Some(0), String::new()));
    let output = dslc(&["run", &path]);
    assert_eq!(output.code, Some(0));
    let printed = output.stderr;
    has(
        &printed,
        "leak.k:4: note[R0109]: leak: `a`, 100 bytes of cudaMalloc at line 4, is never freed",
    );
    assert_eq!(printed.lines().count(), 2, "{printed}");
    let output = dslc(&["run", "--fail-on", "note", &path]);
    assert_eq!(output.code, Some(1));
    let output = dslc(&["run", "--checks", "race", "--fail-on", "note", &path]);
    assert_eq!((output.code, output.stderr), (Some(0), String::new()));
}
