//! One test per program, so that one failure hides no other: `cargo test --test each -- features::5_votes` runs one.
//!
//! `advice`: followed advice helps. `clang`: kernels that clang compiles. `chains`: errors inside template instances and macro expansions. `cures`: cures keep their promises.
//! `examples`: reports and IR. `explain`: the examples of `dslc explain`. `features`: one program for each feature of the language.
//! `findings`: labelled programs. `held`: cures hold with other arguments, too. `hot_spots`: reports on a program's waste. `language`: the
//! examples of `docs/language.md` and `docs/test.md`. `plain`: runs without shortcuts. `programs`: the output of whole programs, and the messages for wrong ones. `ptx`: PTX
//! of every example and program. `remarks`: notes about the host. `scheduling`: lanes that wait for each other. `screen`: the first screen
//! names the line and the cure. `split`: launches in parts.

mod advice;
mod chains;
#[cfg(feature = "ptx")]
mod clang;
mod compiled;
mod cures;
mod examples;
mod explain;
mod features;
mod findings;
mod held;
mod hot_spots;
mod language;
mod litmus;
mod plain;
mod programs;
#[cfg(feature = "ptx")]
mod ptx;
mod remarks;
mod scheduling;
mod screen;
mod split;
#[allow(dead_code, reason = "shared by the test programs, each uses a part")]
#[path = "../support/support.rs"]
mod support;

use std::{fs, process::ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use support::{programs_in, relative};

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let mut trials = vec![];
    trials.extend(advice::trials());
    trials.extend(chains::trials());
    trials.extend(cures::trials());
    trials.extend(examples::trials());
    trials.extend(explain::trials());
    trials.extend(features::trials());
    trials.extend(findings::trials());
    trials.extend(held::trials());
    trials.extend(hot_spots::trials());
    trials.extend(language::trials());
    trials.extend(litmus::trials());
    trials.extend(plain::trials());
    trials.extend(programs::trials());
    trials.extend(remarks::trials());
    trials.extend(scheduling::trials());
    trials.extend(scheduling::dependent());
    trials.extend(screen::trials());
    trials.extend(split::trials());
    #[cfg(feature = "ptx")]
    trials.extend(ptx::trials());
    #[cfg(feature = "ptx")]
    trials.extend(clang::trials());
    trials.extend(compiled::trials());
    let conclusion = libtest_mimic::run(&args, trials);
    // In a complete run, some tests check that not too many tests had nothing to do.
    if conclusion.num_filtered_out == 0 && conclusion.num_passed > 0 {
        split::assert_enough();
    }
    conclusion.exit_code()
}

/// A test for each program in a folder, which has to have at least `least`: `check` gets its path as a user types it, and its text.
fn each(
    what: &str,
    folder: &str,
    least: usize,
    check: impl Fn(&str, &str) -> Result<(), String> + Clone + Send + 'static,
) -> Vec<Trial> {
    let paths = programs_in(folder);
    assert!(paths.len() >= least, "only {} in {folder}", paths.len());
    let trial = |path: std::path::PathBuf| {
        let check = check.clone();
        let stem = path.file_stem().expect("a name").to_string_lossy();
        Trial::test(format!("{what}::{stem}"), move || {
            let source = fs::read_to_string(&path).expect("the program");
            check(&relative(&path), &source).map_err(Failed::from)
        })
    };
    paths.into_iter().map(trial).collect()
}

/// A single test.
fn one(what: &str, check: fn() -> Result<(), String>) -> Trial {
    Trial::test(what, move || check().map_err(Failed::from))
}

/// The file name in a program's path, without its ending.
fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_suffix(".k").unwrap_or(name)
}
