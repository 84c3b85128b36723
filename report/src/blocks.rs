//! A part of a launch in the JSON report: the object `blocks`, which `dslc merge` puts together with the other parts.

use std::ops::Range;

use interp::{
    part::{Part, PartMemory},
    trap::AccessOp,
};
use ir::{Module, source::fingerprint};
use serde::{Deserialize, Serialize};

/// The part that ran.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Blocks {
    /// The launch, by its number in the report.
    pub launch: usize,
    /// The first block, by its number in the grid: x fastest.
    pub from: u64,
    /// The block after the last one.
    pub to: u64,
    /// The number of blocks in the grid.
    pub of: u64,
    grid: [u32; 3],
    /// What all parts have in common.
    pub key: Key,
    /// The command line of the run.
    pub command: Vec<String>,
    /// What its blocks accessed of memory that the launch writes, by allocation and source access.
    memory: Vec<MemoryRow>,
    /// What its threads printed, in hexadecimal.
    printed: String,
    /// What was counted and found, in a form only for `dslc merge`.
    gathered: String,
    /// The checksum of the three fields before.
    checksum: String,
}

/// Hashes of what the parts of one launch have in common.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct Key {
    /// The version, as `dslc --version` says it.
    pub version: String,
    /// The program with all that it includes.
    pub program: String,
    /// Arguments, architecture, rules, and what was looked for.
    pub options: String,
}

impl Key {
    /// The first difference, in words.
    pub fn difference(&self, other: &Key) -> Option<&'static str> {
        if self.version != other.version {
            Some("another version of dslc")
        } else if self.program != other.program {
            Some("another program text")
        } else if self.options != other.options {
            Some("other options or arguments")
        } else {
            None
        }
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct MemoryRow {
    allocation: String,
    /// The allocation's number among those that exist when the launch starts.
    number: u32,
    /// The access, by its number in the kernel.
    access: u32,
    op: String,
    line: u32,
    text: String,
    /// `0+128 b7 x32+4096b1`: 128 bytes from offset 0 on, accessed by block 7; this 32 times, each 4096 bytes further and by the next
    /// block.
    stretches: Vec<String>,
    /// The stretches were too many to keep: all that the access touched lies somewhere in these.
    #[serde(skip_serializing_if = "is_false", default)]
    coarse: bool,
}

fn is_false(is: &bool) -> bool {
    !is
}

impl MemoryRow {
    fn new(memory: &PartMemory, module: &Module) -> MemoryRow {
        let loc = module.loc(memory.loc);
        MemoryRow {
            allocation: memory.allocation.clone(),
            number: memory.region,
            access: memory.access,
            op: memory.op.to_string(),
            line: loc.line,
            text: loc.text.clone(),
            stretches: memory.stretches.clone(),
            coarse: memory.is_coarse,
        }
    }

    fn memory(&self) -> Option<PartMemory> {
        let ops = [AccessOp::Load, AccessOp::Store, AccessOp::Atomic];
        Some(PartMemory {
            allocation: self.allocation.clone(),
            region: self.number,
            access: self.access,
            loc: Default::default(),
            op: ops.into_iter().find(|op| op.to_string() == self.op)?,
            stretches: self.stretches.clone(),
            is_coarse: self.coarse,
        })
    }
}

impl Blocks {
    /// Makes the object of a part.
    pub fn new(
        part: &Part,
        launch: usize,
        key: Key,
        command: Vec<String>,
        module: &Module,
    ) -> Blocks {
        let memory = part.memory.iter();
        let mut blocks = Blocks {
            launch,
            from: part.blocks.start,
            to: part.blocks.end,
            of: part.grid.iter().map(|&n| u64::from(n)).product(),
            grid: part.grid,
            key,
            command,
            memory: memory
                .map(|memory| MemoryRow::new(memory, module))
                .collect(),
            printed: hex(&part.printed),
            gathered: hex(&part.gathered),
            checksum: String::new(),
        };
        blocks.checksum = blocks.sum();
        blocks
    }

    /// Its blocks.
    pub fn range(&self) -> Range<u64> {
        self.from..self.to
    }

    /// The part; `None` if the object was changed since it was written.
    pub fn part(&self) -> Option<Part> {
        let memory = self.memory.iter().map(MemoryRow::memory);
        let is_whole = self.sum() == self.checksum;
        is_whole.then_some(())?;
        Some(Part {
            blocks: self.range(),
            grid: self.grid,
            gathered: bytes(&self.gathered)?,
            printed: bytes(&self.printed)?,
            memory: memory.collect::<Option<_>>()?,
            hears: None,
        })
    }

    fn sum(&self) -> String {
        let place = (self.launch, self.from, self.to, self.of, self.grid);
        let text = format!(
            "{place:?}\n{:?}\n{}\n{}",
            self.memory, self.printed, self.gathered
        );
        format!("{:016x}", fingerprint(text.as_bytes()))
    }
}

fn hex(bytes: &[u8]) -> String {
    let digits = b"0123456789abcdef";
    let pairs = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    pairs
        .map(|digit| char::from(digits[usize::from(digit)]))
        .collect()
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pairs = hex.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes(&hex(&all)), Some(all));
        assert_eq!(bytes("0"), None);
        assert_eq!(bytes("0g"), None);
    }
}
