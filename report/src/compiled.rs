//! What the accesses of a launch cost as compiled, next to what they cost as written.
//!
//! A compiled access belongs to the accesses of the source at the same place. Copies by unrolling add up. One that was made from several
//! belongs to the place that the compiler gives it, and the others have none.

use interp::{CompiledCounts, LaunchReport, Site, stats::LaunchCounts};
use serde::Serialize;

use crate::Cost;

/// What accesses cost as compiled.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Compiled {
    /// Requests of warps.
    pub(crate) requests: u64,
    /// As nvprof and ncu count them.
    pub(crate) transactions: u64,
    /// 32-byte sectors; 0 for shared memory.
    pub(crate) sectors: u64,
    /// Bytes per lane of each kind of access.
    pub(crate) widths: Vec<u32>,
}

impl Compiled {
    fn add(&mut self, site: &Site) {
        self.requests += site.counts.requests;
        self.transactions += site.counts.transactions;
        self.sectors += site.counts.sectors;
        if !self.widths.contains(&site.width_bytes) && site.counts.requests > 0 {
            self.widths.push(site.width_bytes);
            self.widths.sort_unstable();
        }
    }

    /// Whether an access of the source is the same as written.
    fn is(&self, site: &Site) -> bool {
        let counts = &site.counts;
        let is_as_wide = self.widths.iter().all(|&width| width == site.width_bytes);
        is_as_wide
            && (self.requests, self.transactions, self.sectors)
                == (counts.requests, counts.transactions, counts.sectors)
    }

    /// `16-byte loads`, `4- and 16-byte loads`; empty without an access.
    fn width(&self, op: interp::trap::AccessOp) -> String {
        let widths: Vec<String> = self.widths.iter().map(u32::to_string).collect();
        let op = match op {
            interp::trap::AccessOp::Load => "loads",
            interp::trap::AccessOp::Store => "stores",
            interp::trap::AccessOp::Atomic => "atomics",
        };
        match widths.split_last() {
            None => String::new(),
            Some((last, [])) => format!("{last}-byte {op}"),
            Some((last, others)) => format!("{}- and {last}-byte {op}", others.join("-, ")),
        }
    }
}

/// What a launch costs as compiled, in the measure of a suggestion's cost; `None` if it was not counted so, or a compiler does not change it.
pub fn as_compiled(launch: &LaunchReport, measure: &Cost) -> Option<u64> {
    let Some(CompiledCounts::Counted { counts, .. }) = &launch.compiled else {
        return None;
    };
    let global = [
        &counts.global_load,
        &counts.global_store,
        &counts.global_atomic,
    ];
    let shared = [
        &counts.shared_load,
        &counts.shared_store,
        &counts.shared_atomic,
    ];
    if measure.sectors.is_some() {
        Some(global.iter().map(|counts| counts.sectors).sum())
    } else if measure.transactions.is_some() {
        Some(shared.iter().map(|counts| counts.transactions).sum())
    } else if measure.shared_atomic_transactions.is_some() {
        Some(counts.shared_atomic.transactions)
    } else if measure.global_atomic_sectors.is_some() {
        Some(counts.global_atomic.sectors)
    } else {
        None
    }
}

/// The compiled accesses of a launch by the accesses of its source.
#[derive(Debug)]
pub(crate) struct ByPlace<'a> {
    written: &'a [Site],
    compiled: &'a [Site],
    /// By compiled access: the access of the source that it belongs to.
    places: Vec<Option<usize>>,
    /// The compiler.
    pub(crate) by: &'a str,
    /// Totals.
    pub(crate) counts: &'a LaunchCounts,
    /// Whether memory ended as the written kernel left it.
    pub(crate) same_memory: bool,
}

impl<'a> ByPlace<'a> {
    /// `None` if the launch was not counted as compiled.
    pub(crate) fn of(launch: &'a LaunchReport) -> Option<ByPlace<'a>> {
        match launch.compiled.as_ref()? {
            CompiledCounts::Not(_) | CompiledCounts::Instead { .. } => None,
            CompiledCounts::Counted {
                by,
                counts,
                sites,
                same_memory,
            } => Some(ByPlace {
                written: &launch.sites,
                compiled: sites,
                places: sites
                    .iter()
                    .map(|site| place(site, &launch.sites))
                    .collect(),
                by,
                counts,
                same_memory: *same_memory,
            }),
        }
    }

    /// What an access of the source, one of the launch's sites, costs as compiled.
    pub(crate) fn site(&self, site: &Site) -> Compiled {
        let mut found = Compiled::default();
        self.sites(site).for_each(|compiled| found.add(compiled));
        found
    }

    /// The compiled accesses that belong to an access of the source.
    pub(crate) fn sites(&self, site: &Site) -> impl Iterator<Item = &'a Site> {
        let all = self.compiled.iter().zip(&self.places);
        let of = self.written.iter().position(|own| std::ptr::eq(own, site));
        all.filter(move |(compiled, place)| {
            of.is_some() && **place == of && compiled.counts.requests > 0
        })
        .map(|(compiled, _)| compiled)
    }

    /// The compiled accesses that belong to no access of the source.
    pub(crate) fn unattributed(&self) -> impl Iterator<Item = &'a Site> {
        let all = self.compiled.iter().zip(&self.places);
        all.filter(|(site, place)| place.is_none() && site.counts.requests > 0)
            .map(|(site, _)| site)
    }

    /// Whether an access of the source is another one as compiled, and wastes nothing there. Then what wastes as written is no advice.
    pub(crate) fn is_cured(&self, site: &Site) -> bool {
        let wastes = |site: &Site| match site.space {
            ir::Space::Global => site.counts.sectors > site.counts.ideal_sectors,
            _ => site.counts.transactions > site.counts.ideal,
        };
        !self.site(site).is(site) && !self.sites(site).any(wastes)
    }

    /// The access of the source at whose place the compiled access is that this one became part of: a wider one, which has the bytes of its
    /// own and of all accesses to that array that are gone and were made as often, no more and no less.
    fn merged_into(&self, site: &Site) -> Option<&'a Site> {
        let is_gone = |other: &Site| self.site(other).requests == 0;
        let alike = |other: &Site| {
            (other.space, other.op, array(&other.text)) == (site.space, site.op, array(&site.text))
                && other.counts.requests == site.counts.requests
        };
        let written = || self.written.iter().filter(|other| alike(other));
        written().find(|first| {
            let compiled: Vec<&Site> = self.sites(first).collect();
            let is_wider = compiled
                .iter()
                .any(|one| one.width_bytes > first.width_bytes);
            let bytes: u64 = compiled.iter().map(|one| one.counts.bytes).sum();
            let gone = written().filter(|other| is_gone(other));
            let members: u64 = gone.map(|other| other.counts.bytes).sum();
            is_wider && bytes == members + first.counts.bytes
        })
    }

    /// What is to be said of an access of the source: nothing if it costs the same as compiled.
    pub(crate) fn remark(&self, site: &Site) -> Option<String> {
        let compiled = self.site(site);
        if compiled.is(site) {
            return None;
        }
        if compiled.requests == 0 {
            if let Some(first) = self.merged_into(site) {
                let place = match first.line == site.line {
                    true => String::new(),
                    false => format!(" in line {}", first.line),
                };
                return Some(format!(
                    "compiled: part of the access to `{}`{place}",
                    first.text
                ));
            }
            return Some(
                "compiled: no access. It is part of another line's, or the value is in a register"
                    .to_string(),
            );
        }
        let amount = match site.space {
            ir::Space::Global | ir::Space::Generic => format!("{} sectors", compiled.sectors),
            _ => format!("{} transactions", compiled.transactions),
        };
        Some(format!(
            "compiled: {} requests, {amount}: {}",
            compiled.requests,
            compiled.width(site.op)
        ))
    }
}

/// The name at the beginning of an access's text.
fn array(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The access of the source that a compiled one belongs to: at its place, or else the first of its kind on the line.
fn place(compiled: &Site, written: &[Site]) -> Option<usize> {
    let alike = |site: &Site| (site.op, site.space) == (compiled.op, compiled.space);
    let same_line = |site: &Site| (site.file, site.line) == (compiled.file, compiled.line);
    let here = |site: &Site| site.column == compiled.column && site.text == compiled.text;
    let find = |of: &dyn Fn(&Site) -> bool| {
        let mut sites = written.iter();
        sites.position(|site| alike(site) && same_line(site) && of(site))
    };
    find(&|site| here(site) && site.width_bytes == compiled.width_bytes)
        .or_else(|| find(&here))
        .or_else(|| find(&|site| compiled.line > 0 && site.counts.requests > 0))
}
