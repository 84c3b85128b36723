//! The call that last wrote to an allocation: evidence for findings about bytes that it did not write.

use ir::LocId;

/// The last call that wrote to an allocation, and how many bytes it wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setter {
    /// `cudaMemcpy`, `memset` …
    pub call: &'static str,
    /// Its place.
    pub loc: LocId,
    /// How many bytes it wrote.
    pub bytes: u64,
}

impl Setter {
    /// For a call that wrote only a part of an allocation: what it wrote, in words. `line`: its line.
    pub fn part_written(&self, size: u64, line: u32) -> Option<String> {
        let Setter { call, bytes, .. } = self;
        let why = match bytes {
            _ if *bytes >= size => return None,
            8 => ", the size of a pointer",
            _ => "",
        };
        if call.starts_with("cudaMemcpy2D") {
            return Some(format!(
                "the {call} at line {line} wrote {bytes} bytes of each row: if that is less than a row, its width is in bytes, as in \
                 `columns * sizeof(T)`; if it is all, step from row to row by the pitch, `(T *)((char *)p + y * pitch)`"
            ));
        }
        Some(format!(
            "the {call} at line {line} wrote only {bytes} of its {size} bytes{why}: give it the number of bytes of the whole array"
        ))
    }
}
