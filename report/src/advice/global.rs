//! Advice on global memory: what makes a warp touch more sectors than its bytes fill.

use interp::{LaunchReport, Site, mask::LaneMask, report::Witness, trap::AccessOp};

use super::{
    Advice, CLAIMS, TICKETS, WORD_BY_WORD,
    code::{Code, Purpose},
    distinct, lanes, step, verb,
    written::Written,
};
use crate::Input;

const SECTOR_BYTES: u64 = 32;
/// Neighbouring lanes that are farther apart than this are taken to access different rows.
const ROW_BYTES: u64 = 256;
/// The widest access of a thread.
const WIDEST_BYTES: u64 = 16;
/// The shared memory that a block may have without asking for more.
const SHARED_BYTES: u64 = 48 * 1024;
/// Lanes of a warp.
const LANES: u32 = 32;

/// For threads that each walk along their own row and keep its sum.
const OWN_ROW: &str = "each thread adds up a row: let a warp share one row instead, its lanes neighbouring elements (`for (c = lane; c < n; c += 32)`), and \
     add the lanes' sums with `__shfl_down_sync`";

/// A site in its launch, its first request of the highest cost, and the kernel's code.
struct Request<'a> {
    site: &'a Site,
    witness: &'a Witness,
    mask: LaneMask,
    launch: &'a LaunchReport,
    code: Code<'a>,
    /// `a warp touches 32 sectors of 32 bytes where 4 would do`.
    touched: String,
}

pub(super) fn advice(
    site: &Site,
    witness: &Witness,
    launch: &LaunchReport,
    input: &Input<'_>,
) -> Option<Advice> {
    let mask = LaneMask(witness.mask);
    let sectors = distinct(mask, |lane| witness.addresses[lane] / SECTOR_BYTES) as u64;
    let width = u64::from(site.width_bytes);
    let bytes = distinct(mask, |lane| witness.addresses[lane]) as u64 * width;
    let best = bytes.div_ceil(SECTOR_BYTES);
    let request = Request {
        site,
        witness,
        mask,
        launch,
        code: Code::of(input.module.function(launch.kernel)),
        touched: format!("a warp touches {sectors} sectors of 32 bytes where {best} would do"),
    };
    if site.op == AccessOp::Atomic {
        return Some(request.atomic());
    }
    if sectors <= best {
        return None;
    }
    let Some((step, is_even)) = step(mask, witness) else {
        return Some(request.irregular());
    };
    if !is_even && request.code.goes_by_data(site) {
        return Some(request.irregular());
    }
    let apart = step.unsigned_abs();
    Some(match apart {
        0 => request.repeated(),
        _ if apart == width && !is_even => request.pieces(),
        _ if apart <= width => request.contiguous(),
        _ => request.strided(apart),
    })
}

impl Request<'_> {
    fn width(&self) -> u64 {
        self.site.width_bytes.into()
    }

    /// Whether blocks or the grid have rows.
    fn has_rows(&self) -> bool {
        self.launch.block[1] > 1 || self.launch.grid[1] > 1
    }

    /// Advice where neighbouring lanes are `apart` bytes apart, more than an access takes.
    fn strided(&self, apart: u64) -> Advice {
        let (width, touched) = (self.width(), &self.touched);
        let fact = format!("neighbouring lanes are {apart} bytes apart: {touched}");
        let parts = self.code.parts(self.site);
        let thought = if Written::of(&self.site.text).is_member {
            format!(
                "an array of structs of {apart} bytes, of which this takes {width}: keep each member in a separate array (struct of \
                 arrays), or bring whole structs through shared memory, neighbouring threads neighbouring words"
            )
        } else if parts > 1 && parts * width <= apart {
            let how = match self.site.op {
                AccessOp::Store => {
                    "let the block make its structs in shared memory and copy them out"
                }
                _ => "let the block copy its structs into shared memory",
            };
            format!(
                "each thread takes a whole struct, {width} bytes at a time: {how} {WORD_BY_WORD}; or keep each member in a separate array"
            )
        } else if let Some(wide) = self.piece(apart) {
            format!(
                "each thread takes {wide} bytes side by side, {width} at a time: take them in one access of {wide} bytes (`float{}`, or a \
                 type like it)",
                wide / 4
            )
        } else if self.is_row_of_a_thread(apart) {
            OWN_ROW.to_string()
        } else if apart >= ROW_BYTES && (self.has_rows() || self.code.goes_by_remainder(self.site))
        {
            "the warp runs down a column: let `threadIdx.x` count along the row (exchange the roles of the two indices), or bring a tile \
             through shared memory"
                .to_string()
        } else if self.code.is_in_loop(self.site) {
            format!(
                "a stride of {} elements: let neighbouring threads take neighbouring elements, each thread's next one a whole block or grid \
                 farther on (`i += blockDim.x * gridDim.x`), or bring the piece through shared memory",
                apart / width.max(1)
            )
        } else {
            format!(
                "a stride of {} elements: let neighbouring threads take neighbouring elements, or bring the piece through shared memory",
                apart / width.max(1)
            )
        };
        Advice::new(fact, thought)
    }

    /// Whether each thread adds up a row that deserves a warp: at least as long as a warp, or of a length that only the data determines.
    fn is_row_of_a_thread(&self, apart: u64) -> bool {
        let is_long = apart >= u64::from(LANES) * self.width();
        self.site.op == AccessOp::Load
            && (is_long || self.code.goes_by_data(self.site))
            && self.code.sums_for_each_thread(self.site)
    }

    /// The bytes of a thread's piece, where the accesses next to this one take the rest of it and one wide access could take all of it.
    fn piece(&self, apart: u64) -> Option<u64> {
        let width = self.width();
        if !matches!(apart, 8 | WIDEST_BYTES) || width < 4 {
            return None;
        }
        let first = self.mask.lowest()?;
        let begin = self.witness.addresses[first] / apart * apart;
        let mut taken = vec![];
        for site in &self.launch.sites {
            let like = |witness: &Witness| {
                (witness.block, witness.warp, witness.mask)
                    == (self.witness.block, self.witness.warp, self.witness.mask)
            };
            let Some(witness) = site.witness.as_deref().filter(|witness| like(witness)) else {
                continue;
            };
            let within = witness.addresses[first].wrapping_sub(begin);
            let is_alike = (site.op, site.space, site.width_bytes)
                == (self.site.op, self.site.space, self.site.width_bytes);
            if is_alike && within < apart && !taken.contains(&within) {
                taken.push(within);
            }
        }
        (taken.len() as u64 * width == apart).then_some(apart)
    }

    /// Advice where several lanes access one element at a time.
    fn repeated(&self) -> Advice {
        let elements = distinct(self.mask, |lane| self.witness.addresses[lane]);
        let fact = format!(
            "the lanes {} {elements} different elements, each of several lanes: {}",
            verb(self.site.op),
            self.touched
        );
        let is_read_again = self.site.op == AccessOp::Load && self.code.is_in_loop(self.site);
        Advice {
            fact,
            thought: is_read_again.then(|| {
                "bring the piece that the block reads through shared memory, neighbouring threads neighbouring elements"
                    .into()
            }),
        }
    }

    /// Advice where neighbouring lanes access neighbouring elements: the waste comes from a misaligned start.
    fn contiguous(&self) -> Advice {
        let (width, mask, touched) = (self.width(), self.mask, &self.touched);
        let first = mask.lowest().unwrap_or(0);
        let lowest = mask.lanes().map(|lane| self.witness.addresses[lane]).min();
        let into = lowest.unwrap_or(0) % SECTOR_BYTES;
        // The address that lane 0 has, or would have: if it is aligned, the waste comes only from lanes that do not take part.
        let origin = self.witness.addresses[first].wrapping_sub(first as u64 * width);
        if mask.count() < LANES && (into == 0 || origin.is_multiple_of(SECTOR_BYTES)) {
            return Advice {
                fact: format!("only {} take part: {touched}", lanes(mask)),
                thought: None,
            };
        }
        let rows = match self.has_rows() {
            true => "make rows a multiple of that (`cudaMallocPitch`), ",
            false => "",
        };
        let shift = match self.site.op {
            AccessOp::Load => "read aligned into shared memory and shift there",
            _ => "shift in shared memory and write aligned from there",
        };
        Advice::new(
            format!("misaligned: the warp begins {into} bytes into a sector: {touched}"),
            format!(
                "begin each warp at a multiple of 32 bytes: shift the index or the array so, {rows}or {shift}"
            ),
        )
    }

    /// Advice where the lanes access several pieces. Where blocks are narrow, each of their rows is one.
    fn pieces(&self) -> Advice {
        let width = self.width();
        let lanes: Vec<usize> = self.mask.lanes().collect();
        let breaks = |pair: &&[usize]| {
            let addresses = &self.witness.addresses;
            let apart = addresses[pair[1]].abs_diff(addresses[pair[0]]);
            apart != width * (pair[1] - pair[0]) as u64
        };
        let count = 1 + lanes.windows(2).filter(breaks).count();
        let fact = format!(
            "the warp takes {count} pieces of an array: {}",
            self.touched
        );
        let is_narrow = self.launch.block[0] < LANES && self.has_rows();
        let is_short = lanes.len() as u64 * width < SECTOR_BYTES * count as u64;
        let thought = match (is_short, is_narrow) {
            (true, true) => {
                "the pieces are shorter than a sector: make the block wider in x (`blockDim.x` a multiple of 32), so that a warp is one row"
            }
            (true, false) => {
                "the pieces are shorter than a sector: let more neighbouring threads take neighbouring elements"
            }
            (false, true) => {
                "the pieces do not begin at multiples of 32 bytes: make rows a multiple of that (`cudaMallocPitch`), or let the block be \
                 wider in x so that there are fewer"
            }
            (false, false) => {
                "the pieces do not begin at multiples of 32 bytes: let them, or let more neighbouring threads take neighbouring elements"
            }
        };
        Advice::new(fact, thought)
    }

    fn irregular(&self) -> Advice {
        let thought = match self.code.goes_by_data(self.site) {
            true => {
                "the index comes from memory: sort or bin the work so that neighbouring threads go to neighbouring elements, or keep the \
                 table in shared memory"
            }
            false => {
                "let neighbouring threads take neighbouring elements, or bring the piece through shared memory"
            }
        };
        Advice::new(format!("scattered: {}", self.touched), thought)
    }

    fn atomic(&self) -> Advice {
        let lanes = self.mask.count() as usize;
        let addresses = distinct(self.mask, |lane| self.witness.addresses[lane]);
        let fact = match addresses {
            _ if addresses == lanes => format!(
                "scattered atomics: {lanes} lanes update {addresses} addresses in {} sectors",
                distinct(self.mask, |lane| self.witness.addresses[lane]
                    / SECTOR_BYTES)
            ),
            1 => format!("{lanes} lanes of a warp update 1 address, one after another"),
            _ => format!("{lanes} lanes of a warp update {addresses} addresses, one after another"),
        };
        let all = || {
            let lanes = self.mask.lanes();
            lanes.map(|lane| self.witness.addresses[lane])
        };
        let span = all().max().unwrap_or(0) - all().min().unwrap_or(0);
        let thought = match self.code.purpose(self.site).unwrap_or(Purpose::Joins) {
            Purpose::Takes => {
                "let fewer threads want one place at a time: one thread of each warp or block does it for the others"
            }
            Purpose::Claims => CLAIMS,
            Purpose::Tickets if addresses < lanes => TICKETS,
            Purpose::Joins if addresses == 1 => {
                "reduce first: within the warp (`__shfl_down_sync`), then the block in shared memory, and one atomic of the block on global \
                 memory"
            }
            Purpose::Joins if span < SHARED_BYTES => {
                "collect in shared memory first, a copy for each block, and add the block's result to global memory once, neighbouring threads \
                 neighbouring elements"
            }
            Purpose::Joins | Purpose::Tickets => {
                "sort or bin the work, so that the lanes of a warp update neighbouring elements"
            }
        };
        Advice::new(fact, thought)
    }
}
