//! Global memory: what makes a warp touch more sectors than its bytes fill.

use interp::{Site, mask::LaneMask, report::Witness, trap::AccessOp};

use super::{Advice, distinct, lanes, step, written::Written};

const SECTOR_BYTES: u64 = 32;
/// Neighbouring lanes that are farther apart than this are in different rows of something.
const ROW_BYTES: u64 = 256;

pub(super) fn advice(site: &Site, witness: &Witness) -> Option<Advice> {
    let mask = LaneMask(witness.mask);
    if site.op == AccessOp::Atomic {
        return atomic(mask, witness);
    }
    let width = u64::from(site.width_bytes);
    let sectors = distinct(mask, |lane| witness.addresses[lane] / SECTOR_BYTES) as u64;
    let bytes = distinct(mask, |lane| witness.addresses[lane]) as u64 * width;
    let best = bytes.div_ceil(SECTOR_BYTES);
    if sectors <= best {
        return None;
    }
    let touched = format!("a warp touches {sectors} sectors of 32 bytes where {best} would do");
    let Some((step, is_even)) = step(mask, witness) else {
        return Some(irregular(site, &touched));
    };
    let apart = step.unsigned_abs();
    if apart == 0 {
        return Some(shared_elements(bytes / width.max(1), sectors));
    }
    if apart == width && !is_even {
        return Some(pieces(width, witness, mask, &touched));
    }
    if apart <= width {
        return Some(contiguous(site, witness, mask, &touched));
    }
    let fact = format!("neighbouring lanes are {apart} bytes apart: {touched}");
    let thought = if Written::of(&site.text).is_member {
        format!(
            "an array of structs of {apart} bytes, of which this takes {width}: keep each member in an array of its own (struct of arrays), or \
             bring whole structs through shared memory"
        )
    } else if apart >= ROW_BYTES {
        "the warp runs down a column: let `threadIdx.x` count along the row (exchange the roles of the two indices), or bring a tile \
         through shared memory"
            .to_string()
    } else {
        format!(
            "a stride of {} elements: let neighbouring threads take neighbouring elements, each thread's next one a whole block or grid \
             farther on (`i += blockDim.x * gridDim.x`), or stage the piece in shared memory",
            apart / width.max(1)
        )
    };
    Some(Advice::new(fact, thought))
}

/// Groups of lanes take one element each, and the elements are apart: two rows of a matrix, of a block that is 16 threads wide. It is not where
/// they begin that costs.
fn shared_elements(elements: u64, sectors: u64) -> Advice {
    Advice {
        fact: format!(
            "the lanes of a warp take {elements} different elements, each for some lanes, in {sectors} sectors"
        ),
        thought: None,
    }
}

/// Neighbouring lanes read neighbouring elements: it is where they begin.
fn contiguous(site: &Site, witness: &Witness, mask: LaneMask, touched: &str) -> Advice {
    let width = u64::from(site.width_bytes);
    let first = mask.lowest().unwrap_or(0);
    let lowest = mask.lanes().map(|lane| witness.addresses[lane]).min();
    let into = lowest.unwrap_or(0) % SECTOR_BYTES;
    // Where lane 0 would be: if that is aligned, only the lanes that do not take part are missing.
    let origin = witness.addresses[first].wrapping_sub(first as u64 * width);
    if mask.count() < 32 && origin.is_multiple_of(SECTOR_BYTES) {
        return Advice {
            fact: format!("only {} take part: {touched}", lanes(mask)),
            thought: None,
        };
    }
    Advice::new(
        format!("misaligned: the warp begins {into} bytes into a sector: {touched}"),
        "begin each warp at a multiple of 32 bytes: shift the index or the array so, pad rows to that (`cudaMallocPitch`), or read \
         aligned into shared memory and shift there",
    )
}

/// Each row of a narrow block is its own piece.
fn pieces(width: u64, witness: &Witness, mask: LaneMask, touched: &str) -> Advice {
    let lanes: Vec<usize> = mask.lanes().collect();
    let breaks = |pair: &&[usize]| {
        let apart = witness.addresses[pair[1]].abs_diff(witness.addresses[pair[0]]);
        apart != width * (pair[1] - pair[0]) as u64
    };
    let count = 1 + lanes.windows(2).filter(breaks).count();
    let fact = format!("the warp takes {count} pieces of an array: {touched}");
    if lanes.len() as u64 * width < SECTOR_BYTES * count as u64 {
        return Advice::new(
            fact,
            "the pieces are shorter than a sector: make the block wider in x (`blockDim.x` a multiple of 32), so that a warp is one row",
        );
    }
    Advice::new(
        fact,
        "the pieces do not begin at multiples of 32 bytes: pad rows to that (`cudaMallocPitch`), or let the block be wider in x so that \
         there are fewer",
    )
}

fn irregular(site: &Site, touched: &str) -> Advice {
    let thought = if Written::of(&site.text).subscripts > 1 {
        "the index comes from memory: sort or bin the work so that neighbouring threads go to neighbouring elements, or keep the table in \
         shared memory"
    } else {
        "let neighbouring threads take neighbouring elements, or bring the piece through shared memory"
    };
    Advice::new(format!("scattered: {touched}"), thought)
}

fn atomic(mask: LaneMask, witness: &Witness) -> Option<Advice> {
    let lanes = mask.count() as usize;
    let addresses = distinct(mask, |lane| witness.addresses[lane]);
    let scattered = Advice::new(
        format!("scattered atomics: {lanes} lanes update {addresses} addresses in as many sectors"),
        "collect in shared memory first, then update global memory in order",
    );
    if addresses == lanes {
        return Some(scattered);
    }
    let one = addresses == 1;
    let fact = format!(
        "{lanes} lanes of a warp update {addresses} address{}, one after another",
        if one { "" } else { "es" }
    );
    let thought = if one {
        "reduce first: within the warp (`__shfl_down_sync`, `__reduce_add_sync`), then the block in shared memory, and one atomic of the \
         block on global memory"
    } else {
        "collect in shared memory first (a copy for each block), and add the block's result to global memory once"
    };
    Some(Advice::new(fact, thought))
}
