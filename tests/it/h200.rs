//! Compares counts with those of an NVIDIA H200, recorded in `tests/h200`: with programs in the language, launch by launch.

use serde_json::Value;

use crate::support::{csv, dslc, number, report, root};

/// Columns of the recorded counters, and the report's metric with the same meaning.
const COLUMNS: &[(&str, &str)] = &[
    ("shared_ld_wavefronts", "shared_load_transactions"),
    ("shared_st_wavefronts", "shared_store_transactions"),
    ("shared_ld_bank_conflicts", "shared_load_bank_conflicts"),
    ("shared_st_bank_conflicts", "shared_store_bank_conflicts"),
    ("global_ld_requests", "global_load_requests"),
    ("global_st_requests", "global_store_requests"),
    ("global_ld_sectors", "global_load_sectors"),
    ("global_st_sectors", "global_store_sectors"),
    ("shared_atom_wavefronts", "shared_atomic_transactions"),
];

fn metric(launch: &Value, name: &str) -> u64 {
    launch["metrics"][name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name} is missing in launch {}", launch["index"]))
}

/// Differences between a launch and its recorded row.
fn differences(launch: &Value, row: &[(String, String)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (column, name) in COLUMNS {
        let Some(expected) = number(row, column) else {
            continue;
        };
        let found = metric(launch, name);
        if found != expected {
            wrong.push(format!(
                "launch {} {}: {column} is {expected} on the H200, {found} here",
                launch["index"], launch["kernel"]
            ));
        }
    }
    wrong
}

#[test]
fn tutorial_kernels_cost_what_the_hardware_counted() {
    let report = report(&["--no-checks", "tests/h200/seedkernels.k"]);
    let launches = report["launches"].as_array().expect("launches");
    let rows = csv(&root().join("tests/h200/seedkernels.csv"));
    assert_eq!(launches.len(), rows.len());
    let wrong: Vec<String> = launches
        .iter()
        .zip(&rows)
        .flat_map(|(launch, row)| differences(launch, row))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} differences:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let expected = std::fs::read_to_string(root().join("tests/h200/seedkernels.out"))
        .expect("recorded output");
    assert_eq!(
        report["stdout"].as_str().expect("stdout"),
        expected,
        "the H200 printed other checksums"
    );
}

/// Each row is one launch of one warp with one access, on the line marked PROBE.
#[test]
fn every_measured_access_costs_what_the_hardware_counted() {
    let source = std::fs::read_to_string(root().join("tests/h200/patterns.k")).expect("patterns.k");
    let probes: Vec<u64> = source
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains("// PROBE"))
        .map(|(i, _)| i as u64 + 1)
        .collect();
    assert!(probes.len() >= 20, "patterns.k marks its accesses");
    let report = report(&["--no-checks", "tests/h200/patterns.k"]);
    let launches = report["launches"].as_array().expect("launches");
    let mut rows = csv(&root().join("tests/h200/results.csv"));
    rows.extend(csv(&root().join("tests/h200/pairs-results.csv")));
    assert_eq!(launches.len(), rows.len());
    let mut wrong = Vec::new();
    for (launch, row) in launches.iter().zip(&rows) {
        let sites = launch["sites"].as_array().expect("sites");
        let mut probed = sites
            .iter()
            .filter(|site| probes.contains(&site["line"].as_u64().expect("a line")));
        let site = probed
            .next()
            .unwrap_or_else(|| panic!("launch {}: no access on a PROBE line", launch["index"]));
        assert!(
            probed.next().is_none(),
            "launch {}: two accesses on PROBE lines",
            launch["index"]
        );
        let pairs = [
            ("wavefronts", "transactions", "shared"),
            ("bank_conflicts", "bank_conflicts", "shared"),
            ("requests", "requests", "global"),
            ("sectors", "sectors", "global"),
        ];
        for (column, key, space) in pairs {
            let Some(expected) = number(row, column).filter(|_| site["space"] == space) else {
                continue;
            };
            // ncu has no conflict counter for atomics, and counts their requests in another counter.
            if site["op"] == "atomic" && matches!(key, "bank_conflicts" | "requests") {
                continue;
            }
            if site[key].as_u64() != Some(expected) {
                wrong.push(format!(
                    "row {} ({}): {column} is {expected} on the H200, {} here",
                    launch["index"], launch["kernel"], site[key]
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differences:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}

/// A recorded column, its metric, and the cost of the source's accesses.
type Otherwise = (&'static str, &'static str, u64);

/// Kernels for which nvcc made other accesses than the source's, with the cost of the source's accesses, calculated by hand: see the README
/// there.
const COMPILED_OTHERWISE: &[(&str, &[Otherwise])] = &[
    (
        "matmul_tiled",
        &[("shared_ld_wavefronts", "shared_load_transactions", 6912)],
    ),
    (
        "scan_tree",
        &[
            ("shared_ld_wavefronts", "shared_load_transactions", 972),
            ("shared_st_wavefronts", "shared_store_transactions", 600),
            (
                "shared_ld_bank_conflicts",
                "shared_load_bank_conflicts",
                700,
            ),
            (
                "shared_st_bank_conflicts",
                "shared_store_bank_conflicts",
                420,
            ),
        ],
    ),
    (
        "count_shared",
        &[("shared_atom_wavefronts", "shared_atomic_transactions", 1143)],
    ),
];

/// The launches of the examples, as compiled by nvcc.
#[test]
fn examples_cost_what_the_hardware_counted() {
    let rows = csv(&root().join("tests/h200/examples.csv"));
    let cell = |row: &[(String, String)], name: &str| {
        row.iter()
            .find(|(column, _)| column == name)
            .expect("a column")
            .1
            .clone()
    };
    let mut programs: Vec<String> = rows.iter().map(|row| cell(row, "program")).collect();
    programs.dedup();
    let mut wrong = Vec::new();
    let mut compared = 0;
    for program in programs {
        let report = report(&["--no-checks", &format!("examples/{program}.k")]);
        let launches = report["launches"].as_array().expect("launches");
        for row in rows.iter().filter(|row| cell(row, "program") == program) {
            let index: usize = cell(row, "launch").parse().expect("an index");
            let mut found = differences(&launches[index], row);
            if let Some((_, counts)) = COMPILED_OTHERWISE
                .iter()
                .find(|(kernel, _)| cell(row, "kernel") == *kernel)
            {
                for (column, name, of_the_source) in *counts {
                    assert_eq!(
                        metric(&launches[index], name),
                        *of_the_source,
                        "{program}: {name}"
                    );
                    found.retain(|difference| !difference.contains(column));
                }
            }
            wrong.extend(
                found
                    .into_iter()
                    .map(|difference| format!("{program}: {difference}")),
            );
            compared += 1;
        }
    }
    assert!(compared >= 60, "{compared} launches");
    assert!(
        wrong.is_empty(),
        "{} differences:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Output, counts and order are the same for any number of CPU threads.
#[test]
fn jobs_change_nothing() {
    for program in [
        "tests/h200/seedkernels.k",
        "examples/last_block.k",
        "examples/histogram.k",
        "examples/transpose.k",
    ] {
        let run = |jobs: &str| {
            let output = dslc(&[
                "run",
                "--no-checks",
                "--format",
                "json",
                "--jobs",
                jobs,
                program,
            ]);
            output.stdout
        };
        let one = run("1");
        assert!(one.contains("dslc-report/1"), "{program}: {one}");
        for jobs in ["2", "16"] {
            assert!(
                one == run(jobs),
                "{program}: --jobs {jobs} gives another report than --jobs 1"
            );
        }
    }
}

/// Bits of arithmetic on special values, as `dslc run --device gpu` printed them on an H200.
#[test]
fn arithmetic_on_special_values_gives_what_the_hardware_gave() {
    let folder = root().join("tests/h200");
    let program = folder.join("numbers.k");
    let output = dslc(&["run", "--quiet", &program.display().to_string()]);
    let measured = std::fs::read_to_string(folder.join("numbers.out")).expect("numbers.out");
    let simulated = output.stdout;
    for (measured, simulated) in measured.lines().zip(simulated.lines()) {
        assert_eq!(simulated, measured);
    }
    assert_eq!(simulated.lines().count(), measured.lines().count());
}
