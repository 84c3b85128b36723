//! Programs counted as compiled: the compiled kernel leaves memory as the written one does, in each launch, and its counts are those of an H200
//! where they were measured (`tests/h200/compiled.csv`: the first launch of each kernel; `tests/h200/lines.csv`: each line).
//!
//! A run takes a part of the programs; with `DSLC_EVERY_COMPILED=1` it takes all of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use libtest_mimic::Trial;
use serde_json::Value;

use crate::{
    each,
    support::{Ran, dslc, root},
};

/// Of so many programs, a run takes one.
const ONE_IN: usize = 3;

/// The reasons for which a launch may not be counted: how they begin or end.
const REASONS: &[&str] = &[
    "a launch from a kernel has no translation to PTX",
    "it launches kernels",
    "it makes invalid accesses",
];

/// Kernels whose counts on an H200 follow from what PTX does not say.
const OTHER_COUNTS: &[(&str, &str)] = &[
    // The order in which threads find a free place.
    ("hash_table.cu", "insert"),
    ("hash_table.cu", "hash_table"),
    // Where a string literal begins within a sector.
    ("struct_chars.cu", "write_records"),
    // The assembler drops one of two stores to a place, or makes one access of two.
    ("scan_blelloch.cu", "scan_blelloch"),
    ("structs_nested.k", "update"),
    ("cub_namespace.k", "k"),
    // How often threads look at a lock or a barrier.
    ("spin_lock.k", "critical"),
    ("spin_lock.k", "cas_loops"),
    ("cooperative_groups.k", "whole_grid"),
    // 64-bit atomics in shared memory are loops.
    ("kmeans_int.k", "assign"),
    // A generic load counts as a global one on the GPU only if it is in global memory for all lanes.
    ("pointers_generic.k", "run"),
    // The lanes of a warp do not meet again after a branch.
    ("warp_votes.k", "reductions"),
    // Two wavefronts more than requests, without a conflict: not understood.
    ("cooperative_groups.k", "generic"),
];

/// The compiled kernel prints nothing, and `printf` gives 0.
const USES_PRINTF: &[&str] = &["tests/features/host_both_sides.k"];

pub(crate) fn trials() -> Vec<Trial> {
    let every = std::env::var_os("DSLC_EVERY_COMPILED").is_some();
    let mut all = each("compiled::examples", "examples", 20, compiled);
    all.extend(each("compiled::features", "tests/features", 60, compiled));
    all.extend(each("compiled::programs", "tests/programs", 20, compiled));
    all.extend(each("compiled::kernels", "bench/gpu/kernels", 20, compiled));
    let taken = all.into_iter().enumerate();
    let taken = taken.filter(|(at, _)| every || at % ONE_IN == 0);
    taken.map(|(_, trial)| trial).collect()
}

fn compiled(file: &str, _: &str) -> Result<(), String> {
    let options = [
        "run",
        "--counts",
        "both",
        "--format",
        "json",
        "--cures",
        "never",
        "--no-checks",
    ];
    let ran = dslc(&[&options[..], &[file]].concat());
    let report: Value = match serde_json::from_str(&ran.stdout) {
        Ok(report) => report,
        Err(_) => return without_report(file, &ran),
    };
    let measured = fs::read_to_string(root().join("tests/h200/compiled.csv"));
    let measured = measured.map_err(|why| why.to_string())?;
    as_each_line_was_measured(file)?;
    let mut seen = BTreeSet::new();
    for launch in report["launches"].as_array().into_iter().flatten() {
        let place = format!("launch {} of {}", launch["index"], launch["kernel"]);
        if let Some(why) = launch["compiled_because"].as_str() {
            if !REASONS.iter().any(|known| why.ends_with(known)) {
                return Err(format!("{place}: {why}"));
            }
        } else if launch["compiled_same_memory"] != true && !USES_PRINTF.contains(&file) {
            return Err(format!("{place}: memory ends otherwise as compiled"));
        }
        let kernel = launch["kernel"].as_str().unwrap_or_default();
        if seen.insert(kernel.to_string()) {
            as_measured(&measured, (file, kernel), &launch["compiled_metrics"])
                .map_err(|why| format!("{place}: {why}"))?;
        }
    }
    Ok(())
}

/// Compares what a program's lines cost as compiled, over all launches of a kernel, with the rows of the program in `tests/h200/lines.csv`.
fn as_each_line_was_measured(file: &str) -> Result<(), String> {
    let rows = fs::read_to_string(root().join("tests/h200/lines.csv"));
    let rows = rows.map_err(|why| why.to_string())?;
    let rows: Vec<Vec<&str>> = rows
        .lines()
        .map(|line| line.split(',').collect())
        .filter(|row: &Vec<&str>| row[0] == file && row[6] == "same")
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let options = ["--counts", "compiled", "--format", "json", "--no-checks"];
    let report = dslc(&[&["run", file, "--cures", "never"], &options[..]].concat()).json();
    let mut costs: BTreeMap<(String, String, String), u64> = BTreeMap::new();
    // Lines of calls have the library's accesses in the table, and not in the report.
    let mut calls_library = false;
    for launch in report["launches"].as_array().into_iter().flatten() {
        for site in launch["sites"].as_array().into_iter().flatten() {
            if site["file"]
                .as_str()
                .is_some_and(|file| file.starts_with('<'))
            {
                calls_library = true;
                continue;
            }
            let space = site["space"].as_str().unwrap_or_default();
            let cost = match space {
                "global" => &site["sectors"],
                _ => &site["transactions"],
            };
            let access = format!("{space} {}", site["op"].as_str().unwrap_or_default());
            let kernel = launch["kernel"].as_str().unwrap_or_default().to_string();
            let key = (kernel, site["line"].to_string(), access);
            *costs.entry(key).or_default() += cost.as_u64().unwrap_or_default();
        }
    }
    for row in rows {
        let key = (row[1].to_string(), row[2].to_string(), row[3].to_string());
        let cost = costs.get(&key).copied().unwrap_or_default();
        if row[5].parse() != Ok(cost) && !(cost == 0 && calls_library) {
            return Err(format!("{key:?} costs {cost}, and {} on an H200", row[5]));
        }
    }
    Ok(())
}

/// A program that gives no report, as written alike, has nothing to count.
fn without_report(file: &str, ran: &Ran) -> Result<(), String> {
    let usual = ["run", "--format", "json", "--cures", "never", "--no-checks"];
    let written = dslc(&[&usual[..], &[file]].concat());
    match (written.code, &written.stdout) == (ran.code, &ran.stdout) {
        true => Ok(()),
        false => Err(format!("no report: {}", ran.stderr)),
    }
}

/// Compares a launch's counts with the row of its kernel, if there is one.
fn as_measured(measured: &str, (file, kernel): (&str, &str), counts: &Value) -> Result<(), String> {
    let mut lines = measured
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap_or_default();
    let Some(row) = lines.find(|row| row[..2] == [file, kernel]) else {
        return Ok(());
    };
    let is_known = |(program, known): &(&str, &str)| file.ends_with(program) && *known == kernel;
    if OTHER_COUNTS.iter().any(is_known) {
        return Ok(());
    }
    for (name, value) in names.iter().zip(&row).skip(2) {
        if counts[*name].as_u64() != value.parse().ok() {
            return Err(format!(
                "{name} is {}, and {value} on an H200",
                counts[*name]
            ));
        }
    }
    Ok(())
}
