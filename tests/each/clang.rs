//! Programs whose kernels clang compiles: they print what they print with dslc's own front end, of which an H200 has the results.
//!
//! A run takes a part of the programs; with `DSLC_EVERY_CLANG=1` it takes all of them.

use std::process::Command;

use libtest_mimic::Trial;

use crate::{
    each,
    support::{command, root},
};

/// Of so many programs, a run takes one.
const ONE_IN: usize = 6;

/// Programs that do not run so, and what is missing.
const MISSING: &[(&str, &str)] = &[
    (
        "3_variable_templates.k",
        "a variable template that only the host names",
    ),
    ("7_function_pointers.k", "calls through pointers"),
    ("8_virtual_conversions.k", "calls through pointers"),
    ("8_virtual_functors.k", "calls through pointers"),
    ("8_virtual_shapes.k", "calls through pointers"),
    ("8_virtual_visitor.k", "calls through pointers"),
    ("host_function_pointers.k", "calls through pointers"),
    (
        "9_half_exchange.k",
        "the address of a word in shared memory by masking",
    ),
];

#[allow(
    clippy::print_stderr,
    reason = "tests that need a tool say that they were skipped"
)]
pub(crate) fn trials() -> Vec<Trial> {
    let has_clang = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    if !["clang++-22", "clang++-21", "clang++-20", "clang++"]
        .iter()
        .any(has_clang)
    {
        eprintln!("kernels through clang: skipped, there is no clang");
        return Vec::new();
    }
    let every = std::env::var_os("DSLC_EVERY_CLANG").is_some();
    let mut all = each("clang::examples", "examples", 20, through_clang);
    all.extend(each("clang::features", "tests/features", 60, through_clang));
    all.extend(each("clang::programs", "tests/programs", 20, through_clang));
    let taken = all.into_iter().enumerate();
    let taken = taken.filter(|(at, _)| every || at % ONE_IN == 0);
    taken.map(|(_, trial)| trial).collect()
}

fn through_clang(file: &str, _: &str) -> Result<(), String> {
    let ran = |by: &str| {
        let options = ["run", file, "--no-checks", "--quiet", "--kernels-by", by];
        let output = command(&options).current_dir(root()).output();
        output.map_err(|why| why.to_string())
    };
    let (own, other) = (ran("dslc")?, ran("clang")?);
    let same = own.stdout == other.stdout && own.status.code() == other.status.code();
    let missing = MISSING.iter().find(|(name, _)| file.ends_with(name));
    match (same, missing) {
        (true, None) | (false, Some(_)) => Ok(()),
        (true, Some((_, what))) => Err(format!("it runs now, though dslc lacks {what}")),
        (false, None) => Err(format!(
            "{}\nnot\n{}\n{}",
            String::from_utf8_lossy(&other.stdout),
            String::from_utf8_lossy(&own.stdout),
            String::from_utf8_lossy(&other.stderr)
        )),
    }
}
