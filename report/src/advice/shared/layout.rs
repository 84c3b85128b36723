//! Other layouts of a shared array, and what all accesses to it would cost then. Each access counts with its worst request.

use interp::{LaunchReport, Site, mask::LaneMask, rules::bank::shared_cost};
use ir::{SharedVar, Space};

use super::{Request, shared_op};
use crate::Input;

/// Rows are widened by at most this many bytes: the width of all banks.
const MAX_PAD_BYTES: u64 = 128;
/// The shared memory that a kernel may declare.
const MAX_DECLARED_BYTES: u64 = 48 * 1024;
/// Bytes of a bank's word.
const WORD: u64 = 4;

/// The number of elements that fill the banks once: after that many, one is left unused.
pub(super) fn spread_unit(element: u64) -> u64 {
    (MAX_PAD_BYTES / element.max(1)).max(1)
}

/// A shared array and the accesses to it in a launch.
pub(super) struct Layout<'a> {
    var: &'a SharedVar,
    sites: Vec<&'a Site>,
    launch: &'a LaunchReport,
    input: &'a Input<'a>,
}

impl<'a> Layout<'a> {
    pub(super) fn of(
        var: &'a SharedVar,
        launch: &'a LaunchReport,
        input: &'a Input<'a>,
    ) -> Layout<'a> {
        let bytes = match var.dynamic {
            true => launch.shared.dynamic,
            false => var.size_bytes,
        };
        let all = var.offset_bytes..var.offset_bytes + bytes;
        let of_var = |site: &&Site| {
            site.space == Space::Shared
                && site.witness.as_ref().is_some_and(|witness| {
                    let mut lanes = LaneMask(witness.mask).lanes();
                    lanes.all(|lane| all.contains(&witness.addresses[lane]))
                })
        };
        Layout {
            var,
            sites: launch.sites.iter().filter(of_var).collect(),
            launch,
            input,
        }
    }

    fn element(&self) -> u64 {
        self.var.element_bytes.max(1)
    }

    /// The cost of all accesses if `to` maps each index to another one.
    fn cost(&self, to: impl Fn(u64) -> u64) -> Option<u64> {
        let mut sum = 0u64;
        for site in &self.sites {
            let witness = site.witness.as_deref()?;
            let (mask, op) = (LaneMask(witness.mask), shared_op(site.op));
            let rule = |offsets: &[u32; 32]| {
                shared_cost(
                    &self.input.rules.shared,
                    op,
                    site.width_bytes,
                    mask,
                    offsets,
                )
            };
            let request = Request {
                site,
                var: self.var,
                mask,
                offsets: witness.addresses.map(|address| address as u32),
                cost: &rule,
            };
            let once = u64::from(request.moved(&to)?.transactions);
            sum = sum.saturating_add(once.saturating_mul(site.counts.requests));
        }
        Some(sum)
    }

    /// Whether indices may be mapped one by one: no access takes more than an element.
    fn is_by_element(&self) -> bool {
        let mut all = self.sites.iter();
        all.all(|site| u64::from(site.width_bytes) <= self.element())
    }

    /// Whether the kernel may declare this many more bytes.
    fn has_room(&self, more_bytes: u64) -> bool {
        self.var.dynamic || self.launch.shared.fixed + more_bytes <= MAX_DECLARED_BYTES
    }

    /// The numbers of elements by which rows may be widened so that they cost less than now, the cheapest first.
    pub(super) fn pads(&self, columns: u64) -> Vec<u64> {
        let element = self.element();
        // Elements smaller than a word share other words in the next column.
        let shifts = (WORD / element).max(1);
        let cost = |pad: u64| -> Option<u64> {
            let mut sum = 0u64;
            for shift in 0..shifts {
                let to = |index| index / columns * (columns + pad) + index % columns + shift;
                sum = sum.saturating_add(self.cost(to)?);
            }
            Some(sum)
        };
        // Accesses wider than an element have to stay aligned in each row.
        let aligned = |pad: &u64| {
            let row = (columns + pad) * element;
            let mut all = self.sites.iter();
            all.all(|site| row.is_multiple_of(site.width_bytes.into()))
        };
        let rows = self.var.size_bytes / (columns * element).max(1);
        let fits = |pad: &u64| self.has_room(rows * pad * element);
        let now = cost(0);
        let pads = (1..=MAX_PAD_BYTES / element).filter(aligned).filter(fits);
        let costs = pads.filter_map(|pad| Some((cost(pad)?, pad)));
        let mut less: Vec<(u64, u64)> = costs.filter(|&(cost, _)| Some(cost) < now).collect();
        less.sort_unstable();
        less.into_iter().map(|(_, pad)| pad).collect()
    }

    /// Whether it costs less to store column `c` of row `r` at `c ^ r`: it has to stay in the row, and accesses have to take one element.
    pub(super) fn swizzles(&self, (rows, columns): (u64, u64)) -> bool {
        let moved = |index: u64| {
            let (row, column) = (index / columns % rows, index % columns);
            index - column + (column ^ (row % columns))
        };
        columns.is_power_of_two()
            && columns > 1
            && self.element() >= WORD
            && self.is_by_element()
            && self.cost(moved) < self.cost(|index| index)
    }

    /// Whether an unused element after every group that fills the banks costs less in total. The inner value is the new number of elements,
    /// where the array declares one.
    pub(super) fn spreads(&self) -> Option<Option<u64>> {
        let element = self.element();
        let elements = self.var.size_bytes / element;
        let unit = spread_unit(element);
        let more = elements.saturating_sub(1) / unit;
        let less = self.cost(|index| index + index / unit) < self.cost(|index| index);
        let holds = less && element >= WORD && self.is_by_element();
        (holds && self.has_room(more * element))
            .then(|| (!self.var.dynamic).then_some(elements + more))
    }

    /// Whether elements that are a word longer cost less, and are possible: structs whose members are words.
    pub(super) fn grows_by_a_word(&self) -> bool {
        let element = self.element();
        let elements = self.var.size_bytes / element;
        // An element of the larger size, whose last word is unused.
        let larger = SharedVar {
            element_bytes: element + WORD,
            ..self.var.clone()
        };
        let cost = |var: &SharedVar| {
            let sum = self.sites.iter().map(|site| {
                let witness = site.witness.as_deref()?;
                let (mask, op) = (LaneMask(witness.mask), shared_op(site.op));
                let moved = witness.addresses.map(|address| {
                    let within = address.wrapping_sub(self.var.offset_bytes);
                    let (index, rest) = (within / element, within % element);
                    (self.var.offset_bytes + index * var.element_bytes + rest) as u32
                });
                let rules = &self.input.rules.shared;
                let cost = shared_cost(rules, op, site.width_bytes, mask, &moved)?;
                Some(u64::from(cost.transactions).saturating_mul(site.counts.requests))
            });
            sum.sum::<Option<u64>>()
        };
        let mut all = self.sites.iter();
        self.var.align_bytes <= WORD
            && all.all(|site| u64::from(site.width_bytes) <= WORD)
            && self.has_room(elements * WORD)
            && cost(&larger) < cost(self.var)
    }

    /// Whether there is room for a copy for each lane.
    pub(super) fn has_room_for_copies(&self) -> bool {
        !self.var.dynamic && self.has_room(31 * self.var.size_bytes)
    }

    /// The bytes of the widest access that would serve a column without conflicts because it reads neighbouring elements of a row at once.
    /// The rows have to be a multiple of it.
    pub(super) fn serves_wide(&self, request: &Request<'_>) -> Option<u64> {
        let wide = self.sites.iter().map(|site| site.width_bytes).max()?;
        let (width, element) = (request.site.width_bytes, self.element());
        if wide <= width || u64::from(width) != element {
            return None;
        }
        let offsets = request.offsets.map(|offset| offset / wide * wide);
        let rules = &self.input.rules.shared;
        let cost = shared_cost(
            rules,
            shared_op(request.site.op),
            wide,
            request.mask,
            &offsets,
        )?;
        (cost.transactions == cost.ideal).then_some(wide.into())
    }
}
