//! `dslc compare A B`: two programs, or reports of them, side by side.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use clap::ValueEnum as _;
use report::{
    compare::{Side, compare},
    text::Style,
};

use crate::{
    args::{Color, CompareArgs, CompareFormat},
    failure::Failure,
    files, output, progress,
};

pub(crate) fn run(args: &CompareArgs, color: Color) -> Result<u8, Failure> {
    let (before, after) = (side(&args.before, args)?, side(&args.after, args)?);
    let (Some(before), Some(after)) = (before, after) else {
        return Ok(1);
    };
    let comparison = compare(&before, &after);
    let text = match args.format {
        CompareFormat::Text => comparison.text(Style {
            columns: output::columns(),
            color: output::use_color_out(color),
        }),
        CompareFormat::Markdown => comparison.markdown(),
        CompareFormat::Json => serde_json::to_string_pretty(&comparison)? + "\n",
    };
    output::out_text(&text);
    Ok(u8::from(args.fail_on_regression && comparison.is_worse()))
}

/// A report that is read from a file, or made by running the program with this very executable; `None` if the program has errors, which
/// were shown then.
fn side(path: &Path, args: &CompareArgs) -> Result<Option<Side>, Failure> {
    let name = path.display();
    let parse =
        |text: &str| Side::parse(text).map_err(|error| Failure::new(format!("{name}: {error}")));
    if path.extension().is_some_and(|end| end == "json") {
        let failed = |why: String| Failure::new(format!("cannot read `{name}`: {why}"));
        let bytes = files::read(path, true, files::TEXT_BYTES).map_err(failed)?;
        return parse(&String::from_utf8_lossy(&bytes)).map(Some);
    }
    let counts = args.counts.and_then(|counts| counts.to_possible_value());
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["run", "--format", "json", "--cures", "never", "--arch"])
        .arg(args.arch.as_deref().unwrap_or("sm_90"))
        .args(
            counts
                .iter()
                .flat_map(|counts| ["--counts", counts.get_name()]),
        )
        .args(args.defines.iter().map(|define| format!("-D{define}")))
        .arg(path)
        .stdin(Stdio::null());
    let line = progress::busy("running the program");
    let made = command.output();
    drop(line);
    let made = made?;
    // Findings and a program's exit code are part of the report. A program with errors has no report.
    let text = String::from_utf8_lossy(&made.stdout);
    let side = match text.trim().is_empty() {
        true => None,
        false => Some(parse(&text)?).filter(Side::is_of_run),
    };
    if side.is_none() {
        output::err_bytes(&made.stderr);
        if made.status.code() != Some(1) {
            return Err(Failure::new(format!("`{name}` did not run")));
        }
    }
    Ok(side)
}
