//! What the program as a whole does, through its command line: every test runs the built `dslc`. Tests that go over folders of programs
//! are in `tests/each`, one per program; `tests/mutants` breaks programs.
//!
//! `h200`: counts against the hardware's. `tables`: the transactions per request that the tutorials' patterns must give on four rule sets.
//! `count_only`: what a program may do with results that were not computed. `cli`: commands, streams and exit codes. `streams`: closed pipes and full disks. `files`: what is read and written. `stopping`: signals and
//! `--timeout`. `sandbox`: what a program can reach. `gate`: SARIF and baselines. `require`: what a run has to meet. `action`: the GitHub action's steps. `fix`: cures as edits.
//! `manual`: manual pages and completions. `expectations`: `dslc test`. `doors`: one program in each way to run it. `sweep`: many configurations, and their results. `split`: one launch in parts.
//! `schedules`: what is told of a schedule. `robustness`: bad input of any kind. `bounds`: programs without end or measure. `page`: the page of a run, also in a browser. `banks`: the
//! bank picture of an expression. `screen`: the first screen names the line and the cure. `ptx`: options of `dslc ptx`. `bind`: kernels as a Rust
//! module. `kernels`: files of which only the kernels are understood.

mod action;
mod banks;
mod bind;
mod bounds;
mod cli;
mod count_only;
mod doors;
mod expectations;
mod files;
mod fix;
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
