//! A plain sentence for a line that wastes transactions: what the warp does, and what would help.
//!
//! It looks at one witness, the first request of the worst cost of a site, and says only what it has computed: the advice "rows of 33"
//! stands there when the same lanes, in rows of 33, cost no more than the ideal by the same rules.
//!
//! A worked case: lanes 0 to 31 load `S[lane][0]` of `float S[32][32]`, byte offsets 0, 128, 256 …: one column. In rows of 33 the
//! offsets are 0, 132, 264 …, one transaction.

use dsl::ir::{SharedVar, Space};
use interp::{
    LaunchReport, Site,
    mask::LaneMask,
    report::Witness,
    rules::{
        RuleSet,
        bank::{Cost, SharedOp, shared_cost},
    },
    trap::AccessOp,
};

use super::Input;

/// Padding that is tried, in elements.
const PADS: std::ops::RangeInclusive<u64> = 1..=4;

/// The sentence for a site, if there is something to say.
pub(crate) fn advice(site: &Site, launch: &LaunchReport, input: &Input<'_>) -> Option<String> {
    let witness = site.witness.as_deref()?;
    match site.space {
        Space::Shared if site.counts.transactions > site.counts.ideal => {
            shared(site, witness, launch, input)
        }
        Space::Global if site.counts.sectors > site.counts.ideal_sectors => global(site, witness),
        _ => None,
    }
}

fn verb(op: AccessOp) -> &'static str {
    match op {
        AccessOp::Load => "read",
        AccessOp::Store => "write",
        AccessOp::Atomic => "update",
    }
}

/// `lanes 0-31`, `lanes 0, 4, 8`.
fn lanes(mask: LaneMask) -> String {
    let all: Vec<usize> = mask.lanes().collect();
    match all.as_slice() {
        [] => "no lanes".to_string(),
        [one] => format!("lane {one}"),
        [first, .., last] if last - first + 1 == all.len() => format!("lanes {first}-{last}"),
        [first, second, .., last]
            if all
                .windows(2)
                .all(|pair| pair[1] - pair[0] == second - first) =>
        {
            format!(
                "every {} lane from {first} to {last}",
                ordinal(second - first)
            )
        }
        _ => format!("{} lanes", all.len()),
    }
}

fn ordinal(n: usize) -> String {
    match n {
        2 => "second".to_string(),
        3 => "third".to_string(),
        _ => format!("{n}th"),
    }
}

fn shared(
    site: &Site,
    witness: &Witness,
    launch: &LaunchReport,
    input: &Input<'_>,
) -> Option<String> {
    let mask = LaneMask(witness.mask);
    let offsets: [u32; 32] = witness.addresses.map(|address| address as u32);
    let op = match site.op {
        AccessOp::Load => SharedOp::Load,
        AccessOp::Store => SharedOp::Store,
        AccessOp::Atomic => return atomic(site, witness),
    };
    let cost =
        |offsets: &[u32; 32]| shared_cost(&input.rules.shared, op, site.width_bytes, mask, offsets);
    let now = cost(&offsets)?;
    if now.transactions <= now.ideal {
        return None;
    }
    let who = lanes(mask);
    let head = format!("{}-way bank conflict: {who} {}", now.degree, verb(site.op));
    let kernel = input.module.function(launch.kernel);
    let first = mask.lanes().map(|lane| u64::from(offsets[lane])).min()?;
    let inside = |var: &&SharedVar| {
        let bytes = if var.dynamic {
            launch.shared_dynamic_bytes
        } else {
            var.size_bytes
        };
        (var.offset_bytes..var.offset_bytes + bytes).contains(&first)
    };
    let var = kernel.shared.iter().find(inside)?;
    let element = var.element_bytes.max(1);
    let index = |lane: usize| (u64::from(offsets[lane]) - var.offset_bytes) / element;
    if let [.., rows, columns] = var.dims[..] {
        return Some(matrix(&head, var, rows, columns, mask, index, now, cost));
    }
    Some(vector(&head, var, mask, index, now, cost, input.rules))
}

/// The conflict in a declared array of two or more dimensions: rows may be padded.
#[expect(
    clippy::too_many_arguments,
    reason = "the facts of one request, used here only"
)]
fn matrix(
    head: &str,
    var: &SharedVar,
    rows: u64,
    columns: u64,
    mask: LaneMask,
    index: impl Fn(usize) -> u64,
    now: Cost,
    cost: impl Fn(&[u32; 32]) -> Option<Cost>,
) -> String {
    let columns = columns.max(1);
    let column = |lane: usize| index(lane) % columns;
    let dims: String = var.dims.iter().map(|n| format!("[{n}]")).collect();
    let first = mask.lowest().unwrap_or(0);
    let what = if mask.lanes().all(|lane| column(lane) == column(first)) {
        format!("column {} of {}{dims}", column(first), var.name)
    } else {
        let mut touched: Vec<u64> = mask.lanes().map(|lane| index(lane) / columns).collect();
        touched.sort_unstable();
        touched.dedup();
        format!("{} rows of {}{dims}", touched.len(), var.name)
    };
    let element = var.element_bytes as u32;
    let padded = |pad: u64| {
        let mut offsets = [0; 32];
        for lane in mask.lanes() {
            let (row, column) = (index(lane) / columns, column(lane));
            offsets[lane] =
                var.offset_bytes as u32 + (row * (columns + pad) + column) as u32 * element;
        }
        cost(&offsets)
    };
    let _ = rows;
    let fix = PADS
        .filter_map(|pad| Some((pad, padded(pad)?)))
        .find(|(_, cost)| cost.transactions == cost.ideal);
    match fix {
        Some((pad, fixed)) => format!(
            "{head} {what}; rows {} wide would need {}",
            columns + pad,
            fixed.transactions
        ),
        None => format!(
            "{head} {what} ({} transactions where {} would do)",
            now.transactions, now.ideal
        ),
    }
}

/// The conflict in a one-dimensional (or dynamic) array: a stride, or something irregular.
fn vector(
    head: &str,
    var: &SharedVar,
    mask: LaneMask,
    index: impl Fn(usize) -> u64,
    now: Cost,
    cost: impl Fn(&[u32; 32]) -> Option<Cost>,
    rules: &RuleSet,
) -> String {
    let element = var.element_bytes as u32;
    let Some(stride) = stride(mask, &index) else {
        let (bank, sharing) = busiest_bank(mask, &index, var, rules);
        return format!(
            "{head} {}; {sharing} of them meet in bank {bank} with different words",
            var.name
        );
    };
    let moved = |stride: u64| {
        let base = index(mask.lowest().unwrap_or(0));
        let first = mask.lowest().unwrap_or(0) as u64;
        let mut offsets = [0; 32];
        for lane in mask.lanes() {
            offsets[lane] =
                var.offset_bytes as u32 + (base + (lane as u64 - first) * stride) as u32 * element;
        }
        cost(&offsets)
    };
    let fix = moved(stride + 1).filter(|cost| cost.transactions == cost.ideal);
    let tail = match fix {
        Some(fixed) => format!(
            "a stride of {} would need {}",
            stride + 1,
            fixed.transactions
        ),
        None => format!(
            "{} transactions where {} would do",
            now.transactions, now.ideal
        ),
    };
    format!(
        "{head} {} with a stride of {stride} elements; {tail}",
        var.name
    )
}

/// The distance in elements between neighbouring lanes, if it is one and the same and not 0.
fn stride(mask: LaneMask, index: &impl Fn(usize) -> u64) -> Option<u64> {
    let lanes: Vec<usize> = mask.lanes().collect();
    let [first, second, ..] = lanes[..] else {
        return None;
    };
    let step = index(second).checked_sub(index(first))?;
    let stride = step / (second - first) as u64;
    let fits = lanes
        .iter()
        .all(|&lane| index(lane) == index(first) + (lane - first) as u64 * stride);
    (stride > 0 && fits).then_some(stride)
}

/// The bank with the most lanes on different words, and how many lanes that are.
fn busiest_bank(
    mask: LaneMask,
    index: &impl Fn(usize) -> u64,
    var: &SharedVar,
    rules: &RuleSet,
) -> (u64, usize) {
    let width = u64::from(rules.bank_width.bytes());
    let word = |lane: usize| (var.offset_bytes + index(lane) * var.element_bytes) / width;
    let mut words: Vec<u64> = mask.lanes().map(word).collect();
    words.sort_unstable();
    words.dedup();
    let count = |bank: u64| words.iter().filter(|&&word| word % 32 == bank).count();
    (0..32)
        .map(|bank| (bank, count(bank)))
        .max_by_key(|&(bank, count)| (count, 32 - bank))
        .unwrap_or((0, 0))
}

fn atomic(site: &Site, witness: &Witness) -> Option<String> {
    let mask = LaneMask(witness.mask);
    let distinct = {
        let mut addresses: Vec<u64> = mask.lanes().map(|lane| witness.addresses[lane]).collect();
        addresses.sort_unstable();
        addresses.dedup();
        addresses.len()
    };
    let lanes = mask.count() as usize;
    (distinct < lanes).then(|| {
        format!(
            "{}-way serialisation: {lanes} lanes update {distinct} address{}",
            site.counts.max_degree,
            if distinct == 1 { "" } else { "es" }
        )
    })
}

fn global(site: &Site, witness: &Witness) -> Option<String> {
    let mask = LaneMask(witness.mask);
    let sectors = {
        let mut sectors: Vec<u64> = mask
            .lanes()
            .map(|lane| witness.addresses[lane] / 32)
            .collect();
        sectors.sort_unstable();
        sectors.dedup();
        sectors.len() as u64
    };
    let lanes_all: Vec<usize> = mask.lanes().collect();
    let bytes = u64::from(mask.count()) * u64::from(site.width_bytes);
    let best = bytes.div_ceil(32);
    let (Some(&first), Some(&second)) = (lanes_all.first(), lanes_all.get(1)) else {
        return None;
    };
    if sectors <= best {
        return None;
    }
    let address = |lane: usize| witness.addresses[lane];
    let step = address(second).abs_diff(address(first)) / (second - first) as u64;
    let regular = lanes_all.windows(2).all(|pair| {
        address(pair[1]).abs_diff(address(pair[0])) == step * (pair[1] - pair[0]) as u64
    });
    if site.op == AccessOp::Atomic {
        return None;
    }
    if regular && step > u64::from(site.width_bytes) {
        return Some(format!(
            "scattered access: neighbouring lanes are {step} bytes apart, so a warp touches {sectors} sectors of 32 bytes where {best} would do"
        ));
    }
    if regular && step == u64::from(site.width_bytes) {
        return Some(format!(
            "misaligned access: the warp's {bytes} bytes start {} bytes into a sector and touch {sectors} sectors where {best} would do",
            address(first) % 32
        ));
    }
    Some(format!(
        "scattered access: a warp touches {sectors} sectors of 32 bytes where {best} would do"
    ))
}
