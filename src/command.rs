//! The subcommands, one file each. A command returns its exit code, or the reason why dslc could not work.

mod banks;
mod bind;
mod check;
mod compare;
mod completions;
mod doctor;
mod explain;
mod fix;
mod ir;
mod man;
mod merge;
mod native;
pub(crate) mod nvcc;
mod ptx;
mod run;
mod sweep;
mod test;
mod verify;

pub(crate) use run::machine;

use crate::{
    args::{Cli, Command, KernelsBy},
    failure::Failure,
};

/// Runs the command.
pub(crate) fn run(cli: Cli) -> Result<u8, Failure> {
    KernelsBy::check()?;
    let color = cli.color;
    match cli.command {
        Command::Run(mut args) => {
            let words = std::env::args_os().skip(1);
            args.command = words
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            run::run(&args, color)
        }
        Command::Fix(args) => fix::run(&args, color),
        Command::Compare(args) => compare::run(&args, color),
        Command::Test(args) => test::run(&args, color),
        Command::Sweep(args) => sweep::run(&args, color),
        Command::Merge(args) => merge::run(&args, color),
        Command::Check(args) => check::run(&args, color),
        Command::Ir(args) => ir::run(&args, color),
        Command::Ptx(args) => ptx::run(&args, color),
        Command::Verify(args) => verify::run(&args, color),
        Command::Banks(args) => banks::run(&args, color),
        Command::Bind(args) => bind::run(&args, color),
        Command::Nvcc(args) => nvcc::run(&args, color),
        Command::Explain(args) => explain::run(&args),
        Command::Doctor => doctor::run(),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
