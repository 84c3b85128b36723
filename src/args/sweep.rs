//! The options of `dslc sweep` and `dslc merge`.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use super::{BaselineArgs, FailOn, ReportArgs, seconds_of};

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// What to run and what to measure: a TOML file (docs/sweep.md).
    #[arg(value_name = "SPEC.toml")]
    pub(crate) spec: PathBuf,
    /// The results, one JSON object a line. What is in the file already is not run again. Default: beside SPEC, as SPEC.results.jsonl.
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,
    /// Run the i-th of n parts only, for other machines to run the others; `dslc merge` puts their results together.
    #[arg(long, value_name = "i/n", value_parser = Shard::parse)]
    pub(crate) shard: Option<Shard>,
    /// Run on many machines: `ray` (the Ray cluster of this machine) or `ray://HOST:PORT`. It needs the Python module `dslc`
    /// (python/README.md); the variable DSLC_PYTHON may name the Python that has it.
    #[arg(long, value_name = "ENGINE", conflicts_with_all = ["shard", "retry", "dry_run"])]
    pub(crate) engine: Option<String>,
    /// Run again what ended with an error before.
    #[arg(long)]
    pub(crate) retry: bool,
    /// List the configurations and run nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How many of the best to print.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Also write the table as a page with plots.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Runs at one time. 0: one per core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) jobs: usize,
    /// The time of each run, if SPEC says nothing.
    #[arg(long, value_name = "SECONDS", value_parser = seconds_of, default_value = "60")]
    pub(crate) timeout: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Files of results, or JSON reports of `dslc run --blocks`. Of these the program runs again up to the launch that was split, so it has to
    /// be there as it was; then the report of one run is shown.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Write the results to a file instead of stdout. It may be one of the others. A report goes to stdout.
    #[arg(short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    /// Exit with 1 unless each launch meets this, as in `run`. Repeatable.
    #[arg(long, value_name = "[KERNEL:] EXPR")]
    pub(crate) require: Vec<String>,
    /// The lowest severity of a finding that makes the exit code 1.
    #[arg(long, value_enum, default_value_t = FailOn::Error, value_name = "SEVERITY")]
    pub(crate) fail_on: FailOn,
    #[command(flatten)]
    pub(crate) known: BaselineArgs,
    /// CPU threads for the launches before the one that was split. 0: one per core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) jobs: usize,
}

/// A part of a sweep: the i-th of n, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    pub(crate) number: usize,
    pub(crate) of: usize,
}

impl Shard {
    fn parse(text: &str) -> Result<Shard, String> {
        let (number, of) = text.split_once('/').unwrap_or_default();
        match (number.trim().parse(), of.trim().parse()) {
            (Ok(number), Ok(of)) if (1..=of).contains(&number) => Ok(Shard { number, of }),
            _ => Err("expected a part from 1 on, of so many: 1/4 to 4/4".to_string()),
        }
    }

    /// Whether the configurations of a unit belong to it.
    pub(crate) fn has(self, index: usize) -> bool {
        index % self.of == self.number - 1
    }
}
