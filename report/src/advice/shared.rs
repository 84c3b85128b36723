//! Shared memory: which lanes meet in a bank, and how an array could lie otherwise.
//!
//! A worked case: lanes 0 to 31 load `S[lane][0]` of `float S[32][32]`, byte offsets 0, 128, 256 …: one column, one bank. In rows of 33
//! the offsets are 0, 132, 264 …: a bank each.

use dsl::ir::{Module, SharedVar, Space};
use interp::{
    LaunchReport, Site,
    mask::LaneMask,
    report::Witness,
    rules::bank::{Cost, SharedOp, shared_cost},
    trap::AccessOp,
};

use super::{Advice, Thought, distinct, lanes, verb, written::Written};
use crate::Input;

/// Rows are made wider by at most so many bytes: as wide as the banks.
const MAX_PAD_BYTES: u64 = 128;

/// One request to an array, as element indices.
struct Request<'a> {
    site: &'a Site,
    var: &'a SharedVar,
    mask: LaneMask,
    offsets: [u32; 32],
    /// What offsets cost by the machine's rule.
    cost: &'a dyn Fn(&[u32; 32]) -> Option<Cost>,
}

impl Request<'_> {
    fn element(&self) -> u64 {
        self.var.element_bytes.max(1)
    }

    /// The element a lane's access begins in.
    fn index(&self, lane: usize) -> u64 {
        (u64::from(self.offsets[lane]) - self.var.offset_bytes) / self.element()
    }

    /// What it costs if each index becomes another one.
    fn moved(&self, to: impl Fn(u64) -> u64) -> Option<Cost> {
        let mut offsets = [0; 32];
        for lane in self.mask.lanes() {
            let within = (u64::from(self.offsets[lane]) - self.var.offset_bytes) % self.element();
            let offset = self.var.offset_bytes + to(self.index(lane)) * self.element() + within;
            offsets[lane] = offset as u32;
        }
        (self.cost)(&offsets)
    }

    /// The distance in elements between neighbouring lanes, upwards or downwards, if it is one and the same and not 0.
    fn stride(&self) -> Option<u64> {
        let lanes: Vec<usize> = self.mask.lanes().collect();
        let [first, second, ..] = lanes[..] else {
            return None;
        };
        let from_first = |lane: usize| self.index(lane) as i64 - self.index(first) as i64;
        let stride = from_first(second) / (second - first) as i64;
        let mut all = lanes.iter();
        let fits = all.all(|&lane| from_first(lane) == (lane - first) as i64 * stride);
        (stride != 0 && fits).then_some(stride.unsigned_abs())
    }
}

pub(super) fn advice(
    site: &Site,
    witness: &Witness,
    launch: &LaunchReport,
    input: &Input<'_>,
) -> Option<Advice> {
    let mask = LaneMask(witness.mask);
    let offsets: [u32; 32] = witness.addresses.map(|address| address as u32);
    let op = shared_op(site.op);
    let cost =
        |offsets: &[u32; 32]| shared_cost(&input.rules.shared, op, site.width_bytes, mask, offsets);
    let now = cost(&offsets)?;
    if now.transactions <= now.ideal {
        return None;
    }
    let lanes_meet = mask.count() as usize - distinct(mask, |lane| offsets[lane]);
    if site.op == AccessOp::Atomic && lanes_meet > 0 {
        return Some(atomic(mask, &offsets, now));
    }
    let head = format!(
        "{}-way bank conflict: {} {}",
        now.degree,
        lanes(mask),
        verb(site.op)
    );
    let var = var_of(witness, launch, input.module)?;
    let request = Request {
        site,
        var,
        mask,
        offsets,
        cost: &cost,
    };
    debug_assert_eq!(site.space, Space::Shared);
    Some(match var.dims[..] {
        _ if is_struct(&request) => structs(&head, &request),
        [.., _, columns] => matrix(&head, &request, columns.max(1), (launch, input)),
        _ => vector(&head, &request, launch),
    })
}

fn conflicts(site: &Site) -> bool {
    site.space == Space::Shared && site.counts.transactions > site.counts.ideal
}

/// Lanes that update one address wait for one another.
fn atomic(mask: LaneMask, offsets: &[u32; 32], now: Cost) -> Advice {
    let addresses = distinct(mask, |lane| offsets[lane]);
    let fact = format!(
        "{} lanes of a warp update {addresses} address{}: {} passes, one after another",
        mask.count(),
        if addresses == 1 { "" } else { "es" },
        now.transactions
    );
    let thought = if addresses == 1 {
        "reduce first: within the warp (`__reduce_add_sync`, `__shfl_down_sync`), then one lane updates"
    } else {
        "give each warp a copy of the array and add the copies at the end"
    };
    let other = ", or add up equal keys within the warp first (`__match_any_sync`)";
    let other = if addresses == 1 { "" } else { other };
    Advice::new(fact, Thought::with_other(thought, other))
}

/// Whether a member of a struct is accessed, a part of an element.
fn is_struct(request: &Request<'_>) -> bool {
    request.element() > u64::from(request.site.width_bytes)
        && Written::of(&request.site.text).is_member
}

fn structs(head: &str, request: &Request<'_>) -> Advice {
    let var = request.var;
    Advice::new(
        format!(
            "{head} a member of {}, an array of structs of {} bytes",
            var.name, var.element_bytes
        ),
        Thought::with_other(
            "keep each member in a separate array (struct of arrays)",
            ", or give the struct an odd number of words",
        ),
    )
}

/// The conflict in a declared array of two or more dimensions: rows may be padded.
fn matrix(
    head: &str,
    request: &Request<'_>,
    columns: u64,
    (launch, input): (&LaunchReport, &Input<'_>),
) -> Advice {
    let (var, mask) = (request.var, request.mask);
    let column = |lane: usize| request.index(lane) % columns;
    let first = mask.lowest().unwrap_or(0);
    let dims = |last: u64| -> String {
        let outer = var.dims[..var.dims.len() - 1].iter();
        outer.chain([&last]).map(|n| format!("[{n}]")).collect()
    };
    let what = if mask.lanes().all(|lane| column(lane) == column(first)) {
        format!("column {} of {}{}", column(first), var.name, dims(columns))
    } else {
        let rows = distinct(mask, |lane| request.index(lane) / columns);
        format!("{rows} rows of {}{}", var.name, dims(columns))
    };
    let pad = pads(var, columns, launch, input).first().copied();
    let fact = format!("{head} {what}");
    match pad {
        Some(pad) => Advice::new(
            fact,
            format!("make the rows wider: `{}{}`", var.name, dims(columns + pad)),
        ),
        None => Advice::new(
            fact,
            "store the columns of each row in another order: the column `c` of row `r` at `c ^ r`",
        ),
    }
}

/// The shared array that a request is to.
pub(super) fn var_of<'m>(
    witness: &Witness,
    launch: &LaunchReport,
    module: &'m Module,
) -> Option<&'m SharedVar> {
    let lanes = LaneMask(witness.mask).lanes();
    let first = lanes.map(|lane| witness.addresses[lane]).min()?;
    let inside = |var: &&SharedVar| {
        let bytes = if var.dynamic {
            launch.shared.dynamic
        } else {
            var.size_bytes
        };
        (var.offset_bytes..var.offset_bytes + bytes).contains(&first)
    };
    module.function(launch.kernel).shared.iter().find(inside)
}

/// By how many elements rows may be wider: what costs less than they do now, the least first, in all accesses to the array, by the worst
/// request of each.
pub(super) fn pads(
    var: &SharedVar,
    columns: u64,
    launch: &LaunchReport,
    input: &Input<'_>,
) -> Vec<u64> {
    let element = var.element_bytes.max(1);
    let end = var.offset_bytes + var.size_bytes;
    let of_var = |site: &&Site| {
        site.space == Space::Shared
            && site.witness.as_ref().is_some_and(|witness| {
                let mut lanes = LaneMask(witness.mask).lanes();
                lanes.all(|lane| (var.offset_bytes..end).contains(&witness.addresses[lane]))
            })
    };
    let sites: Vec<&Site> = launch.sites.iter().filter(of_var).collect();
    // Elements below a word meet in other words in the next column.
    let shifts = (4 / element).max(1);
    let cost = |pad: u64| -> Option<u64> {
        let mut sum = 0u64;
        for site in &sites {
            let witness = site.witness.as_deref()?;
            let (mask, op) = (LaneMask(witness.mask), shared_op(site.op));
            let rule = |offsets: &[u32; 32]| {
                shared_cost(&input.rules.shared, op, site.width_bytes, mask, offsets)
            };
            let request = Request {
                site,
                var,
                mask,
                offsets: witness.addresses.map(|address| address as u32),
                cost: &rule,
            };
            for shift in 0..shifts {
                let to = |index| index / columns * (columns + pad) + index % columns + shift;
                let once = u64::from(request.moved(to)?.transactions);
                sum = sum.saturating_add(once.saturating_mul(site.counts.requests));
            }
        }
        Some(sum)
    };
    // Wider accesses than an element have to stay aligned in each row.
    let aligned = |pad: &u64| {
        let row = (columns + pad) * element;
        let mut all = sites.iter();
        all.all(|site| row.is_multiple_of(site.width_bytes.into()))
    };
    let now = cost(0);
    let pads = (1..=MAX_PAD_BYTES / element).filter(aligned);
    let costs = pads.filter_map(|pad| Some((cost(pad)?, pad)));
    let mut less: Vec<(u64, u64)> = costs.filter(|&(cost, _)| Some(cost) < now).collect();
    less.sort_unstable();
    less.into_iter().map(|(_, pad)| pad).collect()
}

fn shared_op(op: AccessOp) -> SharedOp {
    match op {
        AccessOp::Load => SharedOp::Load,
        AccessOp::Store => SharedOp::Store,
        AccessOp::Atomic => SharedOp::Atomic,
    }
}

/// The conflict in a one-dimensional (or dynamic) array: a stride, or something irregular.
fn vector(head: &str, request: &Request<'_>, launch: &LaunchReport) -> Advice {
    let name = &request.var.name;
    let Some(stride) = request.stride() else {
        return Advice::new(
            format!("{head} {name}, several of them different words of one bank"),
            Thought::with_other(
                "let the lanes of a warp take elements that lie side by side",
                ", or spread the array: an unused element behind every 32",
            ),
        );
    };
    let fact = format!("{head} {name} with a stride of {stride} elements");
    let histogram = request.site.counts.degree_histogram.iter().enumerate();
    let ways = histogram.filter(|&(degree, &count)| degree > 1 && count > 0);
    // A scan does so on several lines, down the tree and up again: it needs its order.
    let mut lines: Vec<u32> = launch
        .sites
        .iter()
        .filter(|site| conflicts(site))
        .map(|site| site.line)
        .collect();
    lines.dedup();
    if ways.count() > 1 && lines.len() == 1 {
        return Advice::new(
            fact,
            format!(
                "the stride grows from round to round: begin with the largest distance and halve it, so that neighbouring threads take \
                 neighbouring elements: `for (d = blockDim.x / 2; d > 0; d /= 2) if (t < d) {name}[t] += {name}[t + d];`"
            ),
        );
    }
    let spread = request.moved(|index| index + index / 32);
    let spreads = spread.is_some_and(|cost| cost.transactions == cost.ideal);
    let other = if spreads {
        format!(
            "; or leave an element unused behind every 32: index `i + i / 32` wherever `{name}` is accessed"
        )
    } else {
        String::new()
    };
    Advice::new(
        fact,
        Thought::with_other("let neighbouring threads take neighbouring elements", other),
    )
}
