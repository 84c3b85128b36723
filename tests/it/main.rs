//! Tests of the whole program through its command line: every test runs the built `dslc`. Tests of whole folders of programs are in
//! `tests/each`, one per program; `tests/mutants` breaks programs.
//!
//! `h200`: counts against the hardware's. `tables`: the transactions per request of the tutorials' patterns on four rule sets.
//! `count_only`: uses of results that were not computed. `cli`: commands, streams and exit codes. `streams`: closed pipes and full disks.
//! `files`: which files are read and written. `stopping`: signals and `--timeout`. `sandbox`: what a program can access. `gate`: SARIF and
//! baselines. `require`: requirements for a run. `action`: the GitHub action's steps. `fix`: cures as edits. `manual`: manual pages and
//! completions. `expectations`: `dslc test`. `doors`: one program in each way to run it. `sweep`: many configurations, and their results.
//! `split`: one launch in parts. `schedules`: reports on a schedule. `robustness`: invalid input of any kind. `bounds`: endless or huge
//! programs. `page`: the page of a run, also in a browser. `banks`: the bank picture of an expression. `screen`: the first screen names the
//! line and the cure. `ptx`: options of `dslc ptx`. `bind`: kernels as a Rust module. `kernels`: files of which only the kernels are
//! understood. `clang`: kernels that clang compiles.

mod action;
mod banks;
mod bind;
mod bounds;
mod clang;
mod cli;
mod count_only;
mod counts;
mod doors;
mod expectations;
mod files;
mod fix;
mod from_ptx;
mod gate;
mod h200;
mod kernels;
mod manual;
mod page;
#[cfg(feature = "ptx")]
mod ptx;
mod require;
mod robustness;
mod sandbox;
mod schedules;
mod screen;
mod side_by_side;
mod split;
mod stopping;
mod streams;
#[allow(dead_code, reason = "shared by the test programs, each uses a part")]
#[path = "../support/support.rs"]
mod support;
mod sweep;
mod tables;
