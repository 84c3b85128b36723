//! `dslc completions SHELL`: the script with which a shell completes dslc's command line.

use clap::CommandFactory;

use crate::{
    args::{Cli, CompletionsArgs},
    failure::Failure,
    output,
};

pub(crate) fn run(args: &CompletionsArgs) -> Result<u8, Failure> {
    // Into memory first: writing to a closed pipe is no panic of the generator's.
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "dslc", &mut script);
    output::out(&script);
    Ok(0)
}
