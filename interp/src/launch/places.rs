//! Merges the counts of instructions by place in the source.

use ir::{Module, Space};

use crate::count::reuse::Reuse;
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::Code;
use crate::launch::report::{Barrier, Branch, Site};
use crate::machine::Divergence;

/// The sites, sorted. Instructions from one place that do the same become one site. For a generic access, spaces that
/// it never went to are left out. The sites come in the order of their counters; `reused` tells for groups of them how
/// often they access the same bytes, out of how many in all.
pub(super) fn merged(
    sites: Vec<Site>,
    reused: &dyn Fn(&[usize], u64) -> Option<Reuse>,
) -> Vec<Site> {
    type Key<'a> = (u32, u32, u32, &'a str, AccessOp, Space, u32);
    fn key(site: &Site) -> Key<'_> {
        (
            site.file,
            site.line,
            site.column,
            &site.text,
            site.op,
            site.space,
            site.width_bytes,
        )
    }
    let mut sites: Vec<(usize, Site)> = sites.into_iter().enumerate().collect();
    sites.sort_by(|(_, a), (_, b)| key(a).cmp(&key(b)));
    let mut out: Vec<Site> = Vec::new();
    let mut counters: Vec<Vec<usize>> = Vec::new();
    for (counter, site) in sites {
        match out.last_mut() {
            Some(last) if key(last) == key(&site) => {
                last.counts.merge(&site.counts);
                let waste = |site: &Site| site.witness.as_ref().map(|witness| witness.waste);
                if waste(&site) > waste(last) {
                    last.witness = site.witness;
                }
                if let Some(own) = counters.last_mut() {
                    own.push(counter);
                }
            }
            _ => {
                out.push(site);
                counters.push(vec![counter]);
            }
        }
    }
    for (site, counters) in out.iter_mut().zip(&counters) {
        if site.space == Space::Global && site.counts.instructions > 0 {
            site.reuse = reused(counters, site.counts.bytes);
        }
    }
    out
}

/// Divergent branches: the instructions of one place are one branch.
pub(super) fn branches(divergence: &[Divergence], code: &Code, module: &Module) -> Vec<Branch> {
    let mut all: Vec<Branch> = Vec::new();
    for (pc, divergence) in divergence.iter().enumerate() {
        if divergence.branches == 0 {
            continue;
        }
        let at = code.locs[pc];
        let loc = module.loc(at);
        let place = (loc.file, loc.line, loc.column);
        let known = all
            .iter_mut()
            .find(|known| (known.file, known.line, known.column) == place);
        match known {
            Some(known) => {
                known.divergent += divergence.branches;
                known.fewer_lanes += divergence.fewer_lanes;
            }
            None => all.push(Branch {
                loc: at,
                file: loc.file,
                line: loc.line,
                column: loc.column,
                text: loc.text.clone(),
                divergent: divergence.branches,
                fewer_lanes: divergence.fewer_lanes,
            }),
        }
    }
    all.sort_by_key(|branch| (branch.file, branch.line, branch.column));
    all
}

/// Where blocks waited: the instructions of one place are one barrier.
pub(super) fn barriers(warps: &[u64], code: &Code, module: &Module) -> Vec<Barrier> {
    let mut all: Vec<Barrier> = Vec::new();
    for (pc, &warps) in warps.iter().enumerate().filter(|&(_, &warps)| warps > 0) {
        let loc = module.loc(code.locs[pc]);
        let barrier = Barrier {
            file: loc.file,
            line: loc.line,
            column: loc.column,
            warps,
        };
        match all.iter_mut().find(|known| known.is_at(&barrier)) {
            Some(known) => known.warps += warps,
            None => all.push(barrier),
        }
    }
    all.sort_by_key(|barrier| (barrier.file, barrier.line, barrier.column));
    all
}
