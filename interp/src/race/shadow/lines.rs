//! Lines of memory that a whole warp wrote or read at once: 32 cells with one number for each side instead of 32.
//!
//! Most accesses of a kernel to global memory are aligned runs: all lanes, one element after the other. So are many
//! accesses to shared memory. A line with only such accesses is stored as `[write, read]`. Each is 0 (no access),
//! [`WRITTEN`], or a tag whose lane bits describe how the lanes lie on the line: lanes with `2^k` cells each fill `2^k`
//! lines, and the number is `2^k - 1` plus the index of this line. So two tags with the same number belong to the same
//! lane in each cell, and the result of [`Bases`] for the line holds for each cell. Any other access uses the single
//! cells, and the line is [`MIXED`] from then on.
//!
//! In a run of 8-byte elements with cells of 4 bytes, lanes 0 to 15 have the first line (number 1), and lanes 16 to 31
//! the second (2).

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "the common case must vanish into the levels; a vector of cells is one loop over lanes"
)]

use super::{Cells, Lanes};
use crate::race::epoch::{Bases, WRITTEN};

/// The state of the line is in its cells.
const MIXED: u32 = u32::MAX;

/// A run of all 32 lanes.
pub(crate) struct LineRun {
    /// Its offset in the memory.
    pub(crate) offset: u64,
    /// Bytes per lane.
    pub(crate) width_bytes: u32,
    /// The entry.
    pub(crate) tag: u32,
    pub(crate) stores: bool,
    /// Whether it must find all of it written.
    pub(crate) needs_values: bool,
}

impl Cells {
    /// Records a run, if that is possible by lines and it has no conflict.
    #[inline(always)]
    pub(crate) fn run(&mut self, run: &LineRun, bases: Bases) -> bool {
        let line_bits = 5 + self.shift;
        let (Some(k), 0) = (
            run.width_bytes.trailing_zeros().checked_sub(self.shift),
            run.offset & ((1 << line_bits) - 1),
        ) else {
            return false;
        };
        if self.lines.is_empty() {
            self.make_lines();
        }
        let first = (run.offset >> line_bits) as usize;
        let Some(lines) = self.lines.get_mut(first..first + (1 << k)) else {
            return false;
        };
        let me = |part: u32| run.tag | ((1 << k) - 1 + part);
        if let [line] = lines {
            // Usually 4-byte elements: without the loop, none of this goes through the CPU's store buffer.
            let [write, read] = *line;
            let good = (write != MIXED)
                & bases.orders(write, run.tag)
                & bases.orders_all(read, run.tag)
                & !(run.needs_values & (write == 0));
            if good {
                *line = match run.stores {
                    true => [run.tag, 0],
                    false => [write, run.tag],
                };
            }
            return good;
        }
        let mut good = true;
        for (part, &[write, read]) in (0..).zip(lines.iter()) {
            good &= (write != MIXED)
                & bases.orders(write, me(part))
                & bases.orders_all(read, me(part))
                & !(run.needs_values & (write == 0));
        }
        if good {
            for (part, line) in (0..).zip(lines) {
                if run.stores {
                    *line = [me(part), 0];
                } else {
                    line[1] = me(part);
                }
            }
        }
        good
    }

    #[cold]
    fn make_lines(&mut self) {
        self.lines = vec![[0; 2]; self.count().div_ceil(32)];
    }

    /// Splits the lines of these lanes' cells into cells.
    #[inline(always)]
    pub(crate) fn open(&mut self, lanes: &Lanes) {
        if !self.lined {
            return;
        }
        if self.lines.is_empty() {
            self.make_lines();
        }
        for &cell in &lanes.cells {
            let line = (cell >> 5) as usize;
            if self.lines[line][0] != MIXED {
                self.open_line(line);
            }
        }
    }

    /// Does the same for 32 cells from `first` on.
    #[inline(always)]
    pub(crate) fn open_run(&mut self, first: usize) {
        if !self.lined {
            return;
        }
        if self.lines.is_empty() {
            self.make_lines();
        }
        for line in [first >> 5, (first + 31) >> 5] {
            if self.lines.get(line).is_some_and(|line| line[0] != MIXED) {
                self.open_line(line);
            }
        }
    }

    /// Does the same for the cells from `first` up to `end`.
    #[inline(always)]
    pub(crate) fn open_cells(&mut self, first: usize, end: usize) {
        if !self.lined {
            return;
        }
        if self.lines.is_empty() {
            self.make_lines();
        }
        for line in first >> 5..end.div_ceil(32) {
            if self.lines.get(line).is_some_and(|line| line[0] != MIXED) {
                self.open_line(line);
            }
        }
    }

    fn open_line(&mut self, line: usize) {
        self.make_each();
        let [write, read] = std::mem::replace(&mut self.lines[line], [MIXED; 2]);
        if (write, read) == (0, 0) {
            // The untouched cells already say the same.
            return;
        }
        let cells = 32 * line..(32 * line + 32).min(self.write.len());
        for (within, tag) in (0..).zip(&mut self.write[cells.clone()]) {
            *tag = of_cell(write, within);
        }
        if read != 0 {
            self.prepare_reads();
            for (within, tag) in (0..).zip(&mut self.read[cells]) {
                *tag = of_cell(read, within);
            }
        }
    }

    /// Makes these bytes untouched, because they belong to a new object.
    pub(crate) fn forget(&mut self, offset: u64, bytes: u64) {
        let end = (offset + bytes).min(self.bytes() as u64) as usize;
        let cells = (offset as usize >> self.shift)..end.div_ceil(1 << self.shift);
        for line in cells.start >> 5..cells.end.div_ceil(32) {
            if self.lines.get(line).is_some_and(|line| line[0] != MIXED) {
                self.open_line(line);
            }
        }
        for side in [&mut self.write, &mut self.read, &mut self.other] {
            if let Some(tags) = side.get_mut(cells.clone()) {
                tags.fill(0);
            }
        }
        self.many
            .retain(|cell, _| !cells.contains(&(*cell as usize)));
    }

    /// Called before cells of 4 bytes become 4 cells each.
    pub(crate) fn split_lines(&mut self) {
        for line in 0..self.lines.len() {
            if self.lines[line] != [0; 2] && self.lines[line][0] != MIXED {
                self.open_line(line);
            }
        }
        let wide = std::mem::take(&mut self.lines);
        if !wide.is_empty() {
            let narrow = wide.iter().flat_map(|&line| [line; 4]);
            self.lines = narrow.take(self.bytes().div_ceil(32)).collect();
        }
    }

    /// Like [`Cells::settle`].
    pub(crate) fn settle_lines(&mut self) {
        for [write, read] in &mut self.lines {
            if *write != MIXED {
                (*write, *read) = ((*write).min(WRITTEN), 0);
            }
        }
    }

    /// Like [`Cells::clear`].
    pub(crate) fn clear_lines(&mut self) {
        for line in &mut self.lines {
            if line[0] != MIXED {
                *line = [0; 2];
            }
        }
    }

    /// Whether the memory has not been touched since it was created.
    pub(crate) fn is_untouched(&self) -> bool {
        self.lines.is_empty() && self.write.is_empty()
    }

    /// Which of the 32 cells of a line were written.
    #[inline(always)]
    pub(crate) fn written_of_line(&self, line: usize) -> u32 {
        let cells = (self.count() - 32 * line).min(32);
        let of_lines = self.lines.get(line).map_or(0, |line| line[0]);
        let whole = 0u32.wrapping_sub(u32::from(of_lines != 0)) >> (32 - cells);
        if self.lined && of_lines != MIXED {
            return whole;
        }
        let mut bits = 0;
        match self
            .write
            .get(32 * line..)
            .and_then(|tags| tags.first_chunk::<32>())
        {
            Some(tags) => {
                for l in 0..32 {
                    bits |= u32::from(tags[l] != 0) << l;
                }
            }
            None => {
                for l in 0..cells {
                    bits |=
                        u32::from(self.write.get(32 * line + l).is_some_and(|&tag| tag != 0)) << l;
                }
            }
        }
        bits
    }

    /// The tags of lines that are stored as a whole.
    pub(crate) fn line_tags(&mut self) -> impl Iterator<Item = &mut u32> {
        let tags = self.lines.iter_mut().flatten();
        tags.filter(|tag| **tag != 0 && **tag != MIXED)
    }

    /// Whether a cell was written.
    pub(crate) fn is_written(&self, cell: usize) -> bool {
        if !self.lined {
            return self.write.get(cell).is_some_and(|&tag| tag != 0);
        }
        match self.lines.get(cell / 32) {
            None => false,
            Some(&[MIXED, _]) => self.write[cell] != 0,
            Some(&[write, _]) => write != 0,
        }
    }

    /// Calls `then` with each range of written cells: first cell and length.
    pub(crate) fn for_each_written(&self, mut then: impl FnMut(usize, usize)) {
        if !self.lined {
            let cells = self.write.iter().enumerate();
            let written = cells.filter(|(_, tag)| **tag != 0);
            return written.for_each(|(cell, _)| then(cell, 1));
        }
        for (line, &[write, _]) in self.lines.iter().enumerate() {
            let cells = 32 * line..(32 * line + 32).min(self.count());
            if write == MIXED {
                for cell in cells.filter(|&cell| self.write[cell] != 0) {
                    then(cell, 1);
                }
            } else if write != 0 {
                then(cells.start, cells.len());
            }
        }
    }

    /// Calls `then` with each range of touched cells: first cell, length, and the tags of the last write and of the
    /// readers.
    pub(crate) fn for_each_touched(&self, mut then: impl FnMut(usize, usize, u32, u32)) {
        let each = |cells: std::ops::Range<usize>, then: &mut dyn FnMut(usize, usize, u32, u32)| {
            for cell in cells {
                let tag = |side: &[u32]| side.get(cell).copied().unwrap_or(0);
                let (write, read) = (tag(&self.write), tag(&self.read));
                if (write, read) != (0, 0) {
                    then(cell, 1, write, read);
                }
            }
        };
        if !self.lined {
            return each(0..self.write.len(), &mut then);
        }
        for (line, &[write, read]) in self.lines.iter().enumerate() {
            let cells = 32 * line..(32 * line + 32).min(self.count());
            if write == MIXED {
                each(cells, &mut then);
            } else if (write, read) != (0, 0) {
                then(cells.start, cells.len(), write, read);
            }
        }
    }
}

/// The tag of one cell of a line.
fn of_cell(line: u32, cell: u32) -> u32 {
    if line <= WRITTEN {
        return line;
    }
    let number = (line & 31) + 1;
    let k = number.ilog2();
    let part = number - (1 << k);
    line & !31 | (part * (32 >> k) + (cell >> k))
}
