//! `dslc merge FILE...`: merges the results of a sweep's parts to one file, as one run would have written it, or the reports of a launch's
//! parts to one report.

mod parts;

use super::sweep::row;
use crate::{
    args::{Color, MergeArgs},
    failure::Failure,
    output,
};

pub(crate) fn run(args: &MergeArgs, color: Color) -> Result<u8, Failure> {
    if let Some(reports) = parts::read(&args.files)? {
        return parts::merge(args, reports, color);
    }
    let all = args.files.iter().map(|file| row::read(file));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    let counts: usize = all.iter().map(Vec::len).sum();
    let rows = row::merged(all)?;
    match &args.output {
        Some(path) => row::write(path, &rows)?,
        None => {
            let lines: String = rows.iter().map(row::Row::line).collect();
            output::out(lines.as_bytes());
        }
    }
    output::err(&format!(
        "{} results of {} files, {} of them twice\n",
        rows.len(),
        args.files.len(),
        counts - rows.len()
    ));
    Ok(u8::from(rows.is_empty()))
}
