//! Compares two records of a run bit by bit.
//!
//! Addresses differ between the devices. So if 8 aligned bytes differ, and both are an address at the same place of the same allocation,
//! they count as equal. The same holds for two such addresses in printed text. Threads of different warps print in no defined order, so the
//! same lines in another order count as the same output.

use std::collections::BTreeMap;

use crate::record::{Entry, Record};

/// A difference between the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// The line of the program, 0 for none.
    pub(super) line: u32,
    /// `cudaMemcpy`, `output` …
    pub(super) what: String,
    /// The description, in one sentence.
    pub(super) text: String,
}

/// Allocations of both runs by address.
struct Places<'a> {
    simulated: &'a BTreeMap<u64, (usize, u64)>,
    measured: &'a BTreeMap<u64, (usize, u64)>,
}

impl Places<'_> {
    /// The number of the allocation that holds an address, and the offset. An address one past its end belongs to it.
    fn place(allocations: &BTreeMap<u64, (usize, u64)>, address: u64) -> Option<(usize, u64)> {
        let (&base, &(number, bytes)) = allocations.range(..=address).next_back()?;
        (address - base <= bytes).then_some((number, address - base))
    }

    /// Whether two addresses mean the same place.
    fn are_same(&self, simulated: u64, measured: u64) -> bool {
        let place = Places::place(self.simulated, simulated);
        place.is_some() && place == Places::place(self.measured, measured)
    }
}

/// All differences; for an arrival of bytes, only the first differing word.
pub(super) fn compare(
    simulated: &Record,
    printed: &[u8],
    measured: &Record,
    stdout: &[u8],
) -> Vec<Difference> {
    let (first, second) = (simulated.allocations(), measured.allocations());
    let places = Places {
        simulated: &first,
        measured: &second,
    };
    let mut differences = Vec::new();
    let arrivals = |record: &Record| -> Vec<(u32, String, Vec<u8>)> {
        let all = record.entries.iter().filter_map(|entry| match entry {
            Entry::Arrived { line, how, bytes } => Some((*line, how.clone(), bytes.clone())),
            Entry::Allocated(..) | Entry::Stderr(_) => None,
        });
        all.collect()
    };
    let (ours, theirs) = (arrivals(simulated), arrivals(measured));
    for ((line, how, ours), (_, _, theirs)) in ours.iter().zip(&theirs) {
        if let Some(text) = bytes(ours, theirs, &places) {
            differences.push(Difference {
                line: *line,
                what: how.clone(),
                text,
            });
        }
    }
    let mut whole = |what: &str, text: String| {
        differences.push(Difference {
            line: 0,
            what: what.to_string(),
            text,
        });
    };
    if ours.len() != theirs.len() {
        let (ours, theirs) = (ours.len(), theirs.len());
        let text = format!("{ours} copies reached the host in the simulator, {theirs} on the GPU");
        whole("copies", text);
    }
    if let Some(why) = text(printed, stdout, &places) {
        whole("output", why);
    }
    let errors = |record: &Record| -> Vec<u8> {
        let all = record.entries.iter().filter_map(|entry| match entry {
            Entry::Stderr(text) => Some(text.as_slice()),
            Entry::Allocated(..) | Entry::Arrived { .. } => None,
        });
        all.flatten().copied().collect()
    };
    if let Some(why) = text(&errors(simulated), &errors(measured), &places) {
        whole("stderr", why);
    }
    ends(simulated, measured, &mut whole);
    differences
}

/// How the ends of two runs differ.
fn ends(simulated: &Record, measured: &Record, whole: &mut dyn FnMut(&str, String)) {
    let (Some(ours), Some(theirs)) = (&simulated.end, &measured.end) else {
        let text = "the run on the GPU did not end";
        return whole("end", text.to_string());
    };
    if ours.exit_code != theirs.exit_code {
        let (ours, theirs) = (ours.exit_code, theirs.exit_code);
        let text = format!("{ours} in the simulator, {theirs} on the GPU");
        whole("exit code", text);
    }
    for fault in &theirs.faults {
        whole("fault", fault.clone());
    }
    if ours.errors != theirs.errors {
        let of = |errors: &[String]| match errors.len() {
            0 => "none".to_string(),
            _ => errors.join("; "),
        };
        let (ours, theirs) = (of(&ours.errors), of(&theirs.errors));
        let text = format!("in the simulator: {ours}; on the GPU: {theirs}");
        whole("refused calls", text);
    }
    if ours.kernels != theirs.kernels {
        let (ours, theirs) = (ours.kernels.len(), theirs.kernels.len());
        let text = format!("{ours} in the simulator, {theirs} on the GPU");
        whole("launches", text);
    }
}

/// Why two arrivals differ.
fn bytes(ours: &[u8], theirs: &[u8], places: &Places<'_>) -> Option<String> {
    if ours.len() != theirs.len() {
        return Some(format!(
            "{} bytes in the simulator, {} on the GPU",
            ours.len(),
            theirs.len()
        ));
    }
    if ours == theirs {
        return None;
    }
    let mut differing = Vec::new();
    for (index, (a, b)) in ours.chunks(8).zip(theirs.chunks(8)).enumerate() {
        if a == b {
            continue;
        }
        if let (Ok(a), Ok(b)) = (a.try_into(), b.try_into())
            && places.are_same(u64::from_le_bytes(a), u64::from_le_bytes(b))
        {
            continue;
        }
        for (half, (a, b)) in a.chunks(4).zip(b.chunks(4)).enumerate() {
            if a != b {
                differing.push((index * 8 + half * 4, a, b));
            }
        }
    }
    let &(offset, a, b) = differing.first()?;
    let hex = |bytes: &[u8]| -> String {
        let digits = bytes.iter().rev().map(|byte| format!("{byte:02x}"));
        digits.collect()
    };
    Some(format!(
        "{} of {} words differ; the first at byte {offset}: {} in the simulator, {} on the GPU",
        differing.len(),
        ours.len().div_ceil(4),
        hex(a),
        hex(b)
    ))
}

/// Why two texts differ.
fn text(ours: &[u8], theirs: &[u8], places: &Places<'_>) -> Option<String> {
    if ours == theirs {
        return None;
    }
    let lines = |bytes: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.split('\n').map(str::to_string).collect()
    };
    let (ours, theirs) = (lines(ours), lines(theirs));
    let sorted = |lines: &[String]| {
        let mut lines = lines.to_vec();
        lines.sort();
        lines
    };
    if sorted(&ours) == sorted(&theirs) {
        return None;
    }
    let both = ours.iter().zip(&theirs).enumerate();
    for (number, (a, b)) in both {
        if a != b && !lines_are_same(a, b, places) {
            return Some(format!(
                "line {} is `{}` in the simulator, `{}` on the GPU",
                number + 1,
                a.escape_debug(),
                b.escape_debug()
            ));
        }
    }
    (ours.len() != theirs.len()).then(|| {
        format!(
            "{} lines in the simulator, {} on the GPU",
            ours.len().saturating_sub(1),
            theirs.len().saturating_sub(1)
        )
    })
}

/// Whether two lines differ only in addresses, and these mean the same place.
fn lines_are_same(ours: &str, theirs: &str, places: &Places<'_>) -> bool {
    let is_part = |c: char| !c.is_ascii_alphanumeric();
    let (a, b): (Vec<&str>, Vec<&str>) = (
        ours.split(is_part).collect(),
        theirs.split(is_part).collect(),
    );
    let address = |word: &str| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok();
    a.len() == b.len()
        && a.iter().zip(&b).all(|(a, b)| {
            a == b
                || match (address(a), address(b)) {
                    (Some(a), Some(b)) => places.are_same(a, b),
                    _ => false,
                }
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::End;

    fn record(base: u64, bytes: &[u8]) -> Record {
        Record {
            entries: vec![
                Entry::Allocated(base, 64),
                Entry::Arrived {
                    line: 9,
                    how: "cudaMemcpy".into(),
                    bytes: bytes.to_vec(),
                },
            ],
            end: Some(End::default()),
        }
    }

    #[test]
    fn the_first_differing_word_is_shown() {
        let found = compare(
            &record(0x1000, &[0; 16]),
            b"",
            &record(0x2000, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0x80]),
            b"",
        );
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, found[0].what.as_str()), (9, "cudaMemcpy"));
        assert_eq!(
            found[0].text,
            "1 of 4 words differ; the first at byte 12: 00000000 in the simulator, 80000001 on the GPU"
        );
    }

    #[test]
    fn an_address_in_memory_or_text_is_compared_by_what_it_means() {
        let ours = record(0x7e40_0020_0000, &0x7e40_0020_0008u64.to_le_bytes());
        let same = record(0x7f12_3400_0000, &0x7f12_3400_0008u64.to_le_bytes());
        let other = record(0x7f12_3400_0000, &0x7f12_3400_0010u64.to_le_bytes());
        let out = |address: &str| format!("p = {address}\n").into_bytes();
        let printed = out("0x7e4000200008");
        assert_eq!(compare(&ours, &printed, &same, &out("0x7f1234000008")), []);
        assert_eq!(
            compare(&ours, &printed, &other, &out("0x7f1234000008")).len(),
            1
        );
        assert_eq!(
            compare(&ours, &printed, &same, &out("0x7f1234000010")).len(),
            1
        );
    }

    #[test]
    fn lines_that_kernels_print_have_no_order() {
        let of = |ours: &[u8], theirs: &[u8]| {
            compare(&record(1, &[]), ours, &record(1, &[]), theirs).len()
        };
        assert_eq!(of(b"a\nb\n", b"b\na\n"), 0);
        assert_eq!(of(b"a\nb\n", b"b\nb\n"), 1);
    }

    #[test]
    fn a_missing_copy_and_another_exit_code_are_found() {
        let mut measured = record(0x1000, &[1]);
        measured.entries.pop();
        measured.end = Some(End {
            exit_code: 1,
            ..End::default()
        });
        let found = compare(&record(0x1000, &[1]), b"a\n", &measured, b"a\n");
        let what: Vec<&str> = found.iter().map(|found| found.what.as_str()).collect();
        assert_eq!(what, ["copies", "exit code"]);
    }
}
