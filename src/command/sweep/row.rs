//! A result: one JSON object in a line, with a key made from what was run.
//!
//! A row contains no times and no machine names: equal configurations give equal rows, so that files of several machines can be merged.

use std::{collections::HashMap, path::Path};

use ir::source::fingerprint;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{failure::Failure, files};

/// Size limit of a file of results.
const MOST_BYTES: u64 = 4 << 30;

/// One result.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub(in crate::command) struct Row {
    /// The configuration's number in its sweep.
    pub(in crate::command) n: usize,
    /// A hash of the program with its includes, the configuration, the measured quantities, and the version.
    pub(in crate::command) key: String,
    /// The values of the axes that have several.
    pub(in crate::command) at: Map<String, Value>,
    pub(in crate::command) status: Status,
    /// What went wrong, in one line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(in crate::command) error: Option<String>,
    /// The measurements; `null` where there was nothing to look at.
    #[serde(default)]
    pub(in crate::command) measured: Map<String, Value>,
    /// The kinds of errors and warnings that were found.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(in crate::command) findings: Vec<String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(in crate::command) enum Status {
    Ok,
    /// It does not compile.
    Compile,
    /// It could not start: no such kernel, an invalid option, no memory for its variables.
    Launch,
    /// A thread or the host trapped, or CUDA refused a launch.
    Trap,
    /// It ended, with an error among its findings.
    Finding,
    /// It needed more memory than allowed.
    Memory,
    Timeout,
    /// It ended with an exit code other than 0.
    Exit,
    /// A bug of dslc.
    Internal,
}

impl Status {
    pub(in crate::command) fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Compile => "compile",
            Status::Launch => "launch",
            Status::Trap => "trap",
            Status::Finding => "finding",
            Status::Memory => "memory",
            Status::Timeout => "timeout",
            Status::Exit => "exit",
            Status::Internal => "internal",
        }
    }
}

impl Row {
    /// The line, with its line break.
    pub(in crate::command) fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// The value of a measure.
    pub(in crate::command) fn measure(&self, name: &str) -> Option<f64> {
        self.measured.get(name).and_then(Value::as_f64)
    }
}

/// 128 bits of a text, as 32 digits.
pub(super) fn hash(text: &str) -> String {
    let other = format!("{}\n{text}", text.len());
    let (a, b) = (fingerprint(text.as_bytes()), fingerprint(other.as_bytes()));
    format!("{a:016x}{b:016x}")
}

/// The rows of a file. A last line without a line break is from an interrupted run, and is left out.
pub(in crate::command) fn read(path: &Path) -> Result<Vec<Row>, Failure> {
    let name = path.display();
    let bytes = files::read(path, true, MOST_BYTES)
        .map_err(|why| Failure::new(format!("cannot read `{name}`: {why}")))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::new(format!(
            "`{name}` is not a file of results: it is not UTF-8"
        ))
    })?;
    let mut rows = vec![];
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        match serde_json::from_str(line) {
            Ok(row) => rows.push(row),
            Err(_) if !line.ends_with('\n') => {}
            Err(why) => {
                return Err(Failure::new(format!(
                    "`{name}` is not a file of results: line {number}: {why}"
                )));
            }
        }
    }
    Ok(rows)
}

/// The rows of several files in one order, each once. A successful run wins over a failed one; two successful ones that differ are an
/// error.
pub(in crate::command) fn merged(all: Vec<Vec<Row>>) -> Result<Vec<Row>, Failure> {
    let mut rows: Vec<Row> = vec![];
    let mut places: HashMap<String, usize> = HashMap::new();
    for row in all.into_iter().flatten() {
        let Some(&at) = places.get(&row.key) else {
            places.insert(row.key.clone(), rows.len());
            rows.push(row);
            continue;
        };
        let known = &mut rows[at];
        match (known.status, row.status) {
            (Status::Ok, Status::Ok) if known.measured != row.measured => {
                return Err(Failure::new(format!(
                    "two results of the configuration {} differ: {} and {}",
                    row.key,
                    serde_json::to_string(&known.measured)?,
                    serde_json::to_string(&row.measured)?
                )));
            }
            (Status::Ok, _) => {}
            _ => *known = row,
        }
    }
    rows.sort_by(|a, b| (a.n, &a.key).cmp(&(b.n, &b.key)));
    Ok(rows)
}

/// Rewrites a whole file of results.
pub(in crate::command) fn write(path: &Path, rows: &[Row]) -> Result<(), Failure> {
    files::write_with(path, |out| {
        let mut lines = rows.iter().map(Row::line);
        lines.try_for_each(|line| out.write_all(line.as_bytes()))
    })
    .map_err(|why| Failure::new(format!("cannot write `{}`: {why}", path.display())))
}
