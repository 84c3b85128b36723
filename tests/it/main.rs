//! What the program as a whole does, through its command line: every test runs the built `dslc`.
//!
//! `features`: one program a feature of the language. `h200`: counts against the hardware's. `examples`: reports and IR of every example. `tables`: the transactions per request that
//! the tutorials' patterns must give on four rule sets. `programs`: whole programs' output, and what wrong ones are told. `cli`: commands, streams and exit codes.
//! `streams`: closed pipes and full disks. `files`: what is read and written. `stopping`: signals and `--timeout`. `sandbox`: what a program can reach. `gate`: SARIF and baselines. `findings`: labelled programs, `mutants`: broken ones, `explain`: the examples of `dslc explain`. `robustness`: bad input of any kind. `bounds`: programs without end or measure.
//! `page`: the page of a run, also in a browser. `banks`: the bank picture of an expression.
//! `screen`: the first screen names the line and the cure.
//! `ptx`: PTX of every example and program. `bind`: kernels as a Rust module. `kernels`: files of which only the kernels are understood. `chains`: errors inside instances and expansions.

mod banks;
mod bind;
mod bounds;
mod chains;
mod cli;
mod cures;
mod examples;
mod explain;
mod features;
mod files;
mod findings;
mod gate;
mod h200;
mod kernels;
mod mutants;
mod page;
mod programs;
#[cfg(feature = "ptx")]
mod ptx;
mod robustness;
mod sandbox;
mod screen;
mod side_by_side;
mod stopping;
mod streams;
mod support;
mod tables;
