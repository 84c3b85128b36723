//! Many launches of one kernel in one shape are one entry of the text report: of launches that cost the same, one of them; of others, the
//! sum. With `--launches all` each is an entry.

use std::borrow::Cow;

use interp::{LaunchReport, Site};

use super::Input;

/// Launches shown as one.
pub(crate) struct Group<'a> {
    /// Index of the first among all launches.
    pub(crate) first: usize,
    /// How many.
    pub(crate) count: usize,
    /// The counts are the sum over all of them; else each has these counts.
    pub(crate) summed: bool,
    /// The first, or the sum.
    pub(crate) launch: Cow<'a, LaunchReport>,
}

/// Groups launches in the order of their first one.
pub(crate) fn groups<'a>(input: &'a Input<'_>) -> Vec<Group<'a>> {
    let mut shapes: Vec<Vec<(usize, &'a LaunchReport)>> = Vec::new();
    for (index, launch) in input.launches() {
        let like = |shape: &&mut Vec<(usize, &'a LaunchReport)>| {
            let other = shape[0].1;
            (other.kernel, other.grid, other.block, other.line)
                == (launch.kernel, launch.grid, launch.block, launch.line)
                && other.shared_dynamic_bytes == launch.shared_dynamic_bytes
        };
        match shapes.iter_mut().find(like) {
            Some(shape) if !input.all_launches => shape.push((index, launch)),
            _ => shapes.push(vec![(index, launch)]),
        }
    }
    shapes.iter().map(|shape| group(shape)).collect()
}

fn group<'a>(shape: &[(usize, &'a LaunchReport)]) -> Group<'a> {
    let (first, launch) = shape[0];
    let alike = |(_, other): &(usize, &LaunchReport)| {
        other.counts == launch.counts
            && other.sites.iter().map(key).eq(launch.sites.iter().map(key))
            && other
                .sites
                .iter()
                .map(|site| &site.counts)
                .eq(launch.sites.iter().map(|site| &site.counts))
    };
    let summed = !shape.iter().all(alike);
    let mut sum = Cow::Borrowed(launch);
    if summed {
        for (_, other) in &shape[1..] {
            add(sum.to_mut(), other);
        }
    }
    Group {
        first,
        count: shape.len(),
        summed,
        launch: sum,
    }
}

/// What makes two sites one.
fn key(site: &Site) -> impl PartialEq + '_ {
    let place = (site.file, site.line, site.column, &site.text);
    (place, site.op, site.space, site.width_bytes)
}

/// Adds the counts of a launch; of each site the worse witness stays.
fn add(sum: &mut LaunchReport, other: &LaunchReport) {
    sum.counts.merge(&other.counts);
    for site in &other.sites {
        match sum.sites.iter_mut().find(|known| key(known) == key(site)) {
            Some(known) => {
                known.counts.merge(&site.counts);
                let waste = |site: &Site| site.witness.as_ref().map(|witness| witness.waste);
                if waste(site) > waste(known) {
                    known.witness.clone_from(&site.witness);
                }
            }
            None => sum.sites.push(site.clone()),
        }
    }
    sum.sites
        .sort_by_key(|site| (site.file, site.line, site.column));
}
