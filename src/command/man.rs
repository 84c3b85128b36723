//! `dslc man`: manual pages, one for dslc and one for each command, generated from the options' definitions.

use std::{collections::BTreeMap, io};

use clap::CommandFactory;
use clap_mangen::Man;

use crate::{
    args::{Cli, ManArgs},
    failure::{Failure, reason},
    files, output,
};

/// The end of dslc's own page.
const EXIT_STATUS: &str = ".SH \"EXIT STATUS\"
.TP
0
dslc did its work and found nothing wrong.
.TP
1
The program is wrong, a finding is an error, or a requirement is not met.
.TP
2
dslc could not do its work, or could not write all of its output.
.TP
130, 143
Ctrl\\-C or SIGTERM ended the run.
";

pub(crate) fn run(args: &ManArgs) -> Result<u8, Failure> {
    let pages = pages()?;
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(|why| {
            let shown = folder.display();
            Failure::new(format!("cannot make `{shown}`: {}", reason(&why)))
        })?;
        for (name, page) in &pages {
            files::write(&folder.join(format!("{name}.1")), page).map_err(Failure::new)?;
        }
        return Ok(0);
    }
    let wanted = match &args.command {
        Some(command) => format!("dslc-{command}"),
        None => "dslc".to_string(),
    };
    let Some(page) = pages.get(&wanted) else {
        let name = wanted.trim_start_matches("dslc-");
        return Err(Failure::new(format!(
            "there is no command `{name}`: `dslc --help` lists them"
        )));
    };
    output::out(page);
    Ok(0)
}

/// The pages by their names: `dslc`, `dslc-run`.
fn pages() -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut command = Cli::command();
    // Gives the commands their full names and the global options.
    command.build();
    let mut pages = BTreeMap::new();
    for command in command.get_subcommands() {
        pages.insert(format!("dslc-{}", command.get_name()), page(command)?);
    }
    let mut own = page(&command)?;
    own.extend_from_slice(EXIT_STATUS.as_bytes());
    pages.insert("dslc".to_string(), own);
    Ok(pages)
}

fn page(command: &clap::Command) -> io::Result<Vec<u8>> {
    let source = format!("dslc {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(source).manual("dslc");
    let mut page = vec![];
    man.render(&mut page)?;
    Ok(page)
}
