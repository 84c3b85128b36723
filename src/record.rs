//! What can be observed of a run: the bytes that reach the host, in order, the output to `stderr`, and how it ends.
//!
//! `verify` runs a program twice and compares two of these. The run on the GPU is another process, because its driver prints to the
//! process's standard output and because a profiler needs a process. It writes its record to a file; [`write()`] and [`read()`] define the
//! file's format.

use std::{collections::BTreeMap, fs, path::Path};

use runtime::host::{Arrival, Outcome};
use serde::{Deserialize, Serialize};

use report::findings::Found;

use crate::{failure::Failure, files};

/// The record of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Record {
    /// What happened, in order.
    pub(crate) entries: Vec<Entry>,
    /// How it ended; `None` if it did not end.
    pub(crate) end: Option<End>,
}

/// An observable event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    /// Device memory was allocated: address, bytes.
    Allocated(u64, u64),
    /// Bytes came from the device.
    Arrived {
        /// The line of the call, 0 for none.
        line: u32,
        /// The call.
        how: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The host program printed to `stderr`.
    Stderr(Vec<u8>),
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct End {
    /// What `main` returned.
    pub(crate) exit_code: i32,
    /// Messages about faults.
    pub(crate) faults: Vec<String>,
    /// Notes that are errors.
    pub(crate) errors: Vec<String>,
    /// The kernels launched, in order.
    pub(crate) kernels: Vec<String>,
    /// Milliseconds of each launch.
    pub(crate) times_ms: Vec<Option<f64>>,
}

impl End {
    /// From an outcome and its findings.
    pub(crate) fn new(outcome: &Outcome, found: &[Found]) -> End {
        let faults = found.iter().filter(|found| found.is_error());
        let errors = outcome.notes.iter().filter(|note| note.is_error);
        let kernels = outcome.launches.iter();
        End {
            exit_code: outcome.exit_code,
            faults: faults.map(|found| found.message.clone()).collect(),
            errors: errors.map(|note| note.text.clone()).collect(),
            kernels: kernels.map(|launch| launch.kernel_name.clone()).collect(),
            times_ms: outcome.times_ms.clone(),
        }
    }
}

impl Record {
    /// Adds bytes that came from the device.
    pub(crate) fn arrived(&mut self, arrival: &Arrival<'_>, line: u32) {
        self.entries.push(Entry::Arrived {
            line,
            how: arrival.how.to_string(),
            bytes: arrival.bytes.to_vec(),
        });
    }

    /// Adds text for `stderr`.
    pub(crate) fn stderr(&mut self, bytes: &[u8]) {
        match self.entries.last_mut() {
            Some(Entry::Stderr(text)) => text.extend_from_slice(bytes),
            _ => self.entries.push(Entry::Stderr(bytes.to_vec())),
        }
    }

    /// The number of bytes that came from the device, and of arrivals.
    pub(crate) fn arrived_bytes(&self) -> (u64, usize) {
        let arrived = self.entries.iter().filter_map(|entry| match entry {
            Entry::Arrived { bytes, .. } => Some(bytes.len() as u64),
            Entry::Allocated(..) | Entry::Stderr(_) => None,
        });
        arrived.fold((0, 0), |(sum, count), bytes| (sum + bytes, count + 1))
    }

    /// Allocations by address, each with its number; if an address was allocated twice, the later one.
    pub(crate) fn allocations(&self) -> BTreeMap<u64, (usize, u64)> {
        let allocated = self.entries.iter().filter_map(|entry| match entry {
            Entry::Allocated(address, bytes) => Some((*address, *bytes)),
            Entry::Arrived { .. } | Entry::Stderr(_) => None,
        });
        let numbered = allocated.enumerate();
        numbered
            .map(|(number, (address, bytes))| (address, (number, bytes)))
            .collect()
    }
}

/// The first bytes of every file.
const MAGIC: &[u8] = b"dslc-record/1\n";

/// Writes a record: after the magic come entries of a kind byte, numbers as little-endian `u64`, and bytes after their length.
pub(crate) fn write(record: &Record, path: &Path) -> Result<(), Failure> {
    let mut out = MAGIC.to_vec();
    let number = |out: &mut Vec<u8>, value: u64| out.extend_from_slice(&value.to_le_bytes());
    let bytes = |out: &mut Vec<u8>, bytes: &[u8]| {
        out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        out.extend_from_slice(bytes);
    };
    for entry in &record.entries {
        match entry {
            Entry::Allocated(address, size) => {
                out.push(b'A');
                number(&mut out, *address);
                number(&mut out, *size);
            }
            Entry::Arrived {
                line,
                how,
                bytes: content,
            } => {
                out.push(b'B');
                number(&mut out, u64::from(*line));
                bytes(&mut out, how.as_bytes());
                bytes(&mut out, content);
            }
            Entry::Stderr(text) => {
                out.push(b'S');
                bytes(&mut out, text);
            }
        }
    }
    if let Some(end) = &record.end {
        out.push(b'E');
        bytes(&mut out, &serde_json::to_vec(end)?);
    }
    files::write(path, &out)
        .map_err(|why| Failure::new(format!("cannot write `{}`: {why}", path.display())))
}

/// Reads a record.
pub(crate) fn read(path: &Path) -> Result<Record, Failure> {
    let file = fs::read(path)?;
    let broken = || Failure::new(format!("`{}` is not a record of a run", path.display()));
    let mut rest = file.strip_prefix(MAGIC).ok_or_else(broken)?;
    let mut record = Record::default();
    while let Some((&kind, tail)) = rest.split_first() {
        rest = tail;
        match kind {
            b'A' => {
                let address = take_number(&mut rest).ok_or_else(broken)?;
                let bytes = take_number(&mut rest).ok_or_else(broken)?;
                record.entries.push(Entry::Allocated(address, bytes));
            }
            b'B' => {
                let line = take_number(&mut rest).ok_or_else(broken)? as u32;
                let how = take_bytes(&mut rest).ok_or_else(broken)?;
                let how = String::from_utf8_lossy(how).into_owned();
                let bytes = take_bytes(&mut rest).ok_or_else(broken)?.to_vec();
                record.entries.push(Entry::Arrived { line, how, bytes });
            }
            b'S' => {
                let text = take_bytes(&mut rest).ok_or_else(broken)?.to_vec();
                record.entries.push(Entry::Stderr(text));
            }
            b'E' => {
                let end = take_bytes(&mut rest).ok_or_else(broken)?;
                record.end = Some(serde_json::from_slice(end)?);
            }
            _ => return Err(broken()),
        }
    }
    Ok(record)
}

fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let (number, tail) = rest.split_first_chunk::<8>()?;
    *rest = tail;
    Some(u64::from_le_bytes(*number))
}

fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = take_number(rest)?;
    let (bytes, tail) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    *rest = tail;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let record = Record {
            entries: vec![
                Entry::Allocated(0x7f00_0000_0000, 256),
                Entry::Arrived {
                    line: 7,
                    how: "cudaMemcpy".into(),
                    bytes: vec![1, 2, 3],
                },
                Entry::Stderr(b"oh\n".to_vec()),
            ],
            end: Some(End {
                exit_code: 3,
                times_ms: vec![Some(0.25), None],
                ..End::default()
            }),
        };
        let path = std::env::temp_dir().join(format!("dslc-record-{}", std::process::id()));
        write(&record, &path).unwrap();
        let again = read(&path);
        fs::remove_file(&path).unwrap();
        assert_eq!(again.unwrap(), record);
    }
}
