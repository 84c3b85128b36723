//! The options of `dslc test`.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use runtime::words;

use super::seconds_of;

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Programs, and folders of them: all of their .cu and .k files, also in folders below.
    #[arg(required = true, value_name = "FOLDER|FILE")]
    pub(crate) paths: Vec<PathBuf>,
    /// What is expected of each program besides what its comments say: a file with an expectation in each line, as behind `//~`.
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<PathBuf>,
    /// Define a macro in each program, as in C compilers. Repeatable.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) defines: Vec<String>,
    /// More options of `dslc run` for each test, as `//~ options` has them: `--options '--schedules 20'`.
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub(crate) options: Vec<String>,
    /// Run only tests whose name has this in it. Repeatable.
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Vec<String>,
    /// Also write the results to this file, as JUnit's XML.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write numbers, kinds and exit codes that were seen into the comments that expected others, print the changes as a diff, and test again.
    #[arg(long)]
    pub(crate) bless: bool,
    /// Tests that run at one time. 0: one per core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) jobs: usize,
    /// The most time of each test. Its comments may ask for less.
    #[arg(long, value_name = "SECONDS", value_parser = seconds_of, default_value = "60")]
    pub(crate) timeout: Duration,
    /// The most memory of each test, as in `run`. Its comments may ask for less.
    #[arg(long, value_name = "BYTES", value_parser = words::bytes_of, default_value = "1G")]
    pub(crate) memory: u64,
    /// The most instructions of each test, as in `run`. Its comments may ask for less.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
}
