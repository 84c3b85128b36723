//! `dslc completions SHELL`: the script with which a shell completes dslc's command line.

use clap::CommandFactory;

use crate::{
    args::{Cli, CompletionsArgs},
    failure::Failure,
    output,
};

pub(crate) fn run(args: &CompletionsArgs) -> Result<u8, Failure> {
    // The script is written to memory first, because the generator panics if it writes to a closed pipe.
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "dslc", &mut script);
    output::out(&script);
    Ok(0)
}
