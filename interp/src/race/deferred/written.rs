//! Knows which shared memory a block has written, because reads may be deferred only if they find values.

#![allow(
    clippy::inline_always,
    reason = "what looks at cells must vanish into the levels"
)]

use super::Footprint;
use crate::isa::mask::LaneMask;
use crate::memory::defined::are_set;
use crate::race::access::Cpu;
use crate::race::shadow::Cells;

/// The most scans of a block's cells.
const SCANS: u32 = 16;

/// The cells that are known to be written.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// One bit per cell.
    bits: Vec<u64>,
    /// Bytes of a cell at that time, as a power of two.
    shift: u32,
    /// Whether all cells are written.
    all: bool,
    scans: u32,
}

impl Written {
    /// A block begins.
    pub(super) fn clear(&mut self) {
        self.bits.clear();
        self.all = false;
        self.scans = 0;
    }

    /// Whether all of the memory is written.
    #[inline(always)]
    pub(super) fn is_all(&self) -> bool {
        self.all
    }

    /// Determines which cells are written.
    pub(super) fn scan(&mut self, cells: &Cells, cpu: Cpu) {
        if self.all || self.scans >= SCANS || cells.is_untouched() {
            return;
        }
        self.scans += 1;
        self.shift = cells.shift;
        look_on(cpu, &mut self.bits, cells);
        self.all = are_set(&self.bits, 0, cells.count() as u64 - 1);
    }

    /// Whether all lanes of a read find values.
    pub(super) fn holds(
        &self,
        cells: &Cells,
        footprint: &Footprint<'_>,
        mask: u32,
        width_bytes: u32,
    ) -> bool {
        self.all
            || self.holds_range(footprint.lowest, footprint.lowest + footprint.extent)
            || self.holds_lanes(footprint, mask, width_bytes)
            // More cells may have been written since the last scan.
            || self.scans >= SCANS && all_written(cells, footprint, mask, width_bytes)
    }

    /// Whether all bytes of a range are written.
    fn holds_range(&self, from: u32, end: u32) -> bool {
        let cell = |byte: u32| u64::from(byte >> self.shift);
        are_set(&self.bits, cell(from), cell(end - 1))
    }

    /// Whether all bytes of each lane are written. The cells of a lane are within one word, because its bytes are
    /// aligned.
    fn holds_lanes(&self, footprint: &Footprint<'_>, mask: u32, width_bytes: u32) -> bool {
        let own = u64::MAX >> (64 - (width_bytes >> self.shift).clamp(1, 64));
        let mut missing = 0;
        for lane in 0..32 {
            let cell = footprint.lowest.wrapping_add(footprint.bytes[lane]) >> self.shift;
            // Inactive lanes may be anywhere.
            let bits = self.bits.get((cell / 64) as usize).copied().unwrap_or(0);
            let on = 0u64.wrapping_sub(u64::from(mask >> lane & 1));
            missing |= !(bits >> (cell % 64)) & own & on;
        }
        missing == 0
    }
}

/// Whether each of the lanes' cells is written.
fn all_written(cells: &Cells, footprint: &Footprint<'_>, mask: u32, width_bytes: u32) -> bool {
    LaneMask(mask).into_iter().all(|lane| {
        let from = footprint.lowest + footprint.bytes[lane];
        let own = from >> cells.shift..=(from + width_bytes - 1) >> cells.shift;
        own.into_iter().all(|cell| cells.is_written(cell as usize))
    })
}

/// Determines which cells are written.
#[inline(always)]
fn look(bits: &mut Vec<u64>, cells: &Cells) {
    bits.clear();
    for line in 0..cells.count().div_ceil(32) {
        let written = u64::from(cells.written_of_line(line));
        match (line % 2, bits.last_mut()) {
            (1, Some(word)) => *word |= written << 32,
            _ => bits.push(written),
        }
    }
}

/// The same, compiled for the CPU's features.
fn look_on(cpu: Cpu, bits: &mut Vec<u64>, cells: &Cells) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn avx512(bits: &mut Vec<u64>, cells: &Cells) {
            look(bits, cells);
        }
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn avx2(bits: &mut Vec<u64>, cells: &Cells) {
            look(bits, cells);
        }
        match cpu {
            // SAFETY: the CPU has the features.
            Cpu::Avx512 => return unsafe { avx512(bits, cells) },
            // SAFETY: the CPU has the features.
            Cpu::Avx2 => return unsafe { avx2(bits, cells) },
            Cpu::Any => {}
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let Cpu::Any = cpu;
    look(bits, cells);
}
