//! Folds many launches of one kernel and one shape to one entry of the text report: one of them if all cost the same, otherwise their sum.
//! With `--launches all` each launch has an entry.

use std::borrow::Cow;

use interp::LaunchReport;
use runtime::launches::{IdenticalLaunches, add, site_key};

use super::{Input, Tables};

/// Launches shown as one.
pub struct LaunchGroup<'a> {
    /// Index of the first among all launches.
    pub first: usize,
    /// How many.
    pub count: u64,
    /// Whether the counts are the sum over all of them; if not, each launch has these counts.
    pub summed: bool,
    /// The first, or the sum.
    pub launch: Cow<'a, LaunchReport>,
}

/// Groups launches in the order of their first one.
pub(crate) fn groups<'a>(input: &'a Input<'_>) -> Vec<LaunchGroup<'a>> {
    if input.tables == Tables::Each {
        let each = input.launches().map(|(first, launch)| LaunchGroup {
            first,
            count: 1,
            summed: false,
            launch: Cow::Borrowed(launch),
        });
        return each.collect();
    }
    let mut shapes: Vec<Vec<&'a IdenticalLaunches>> = Vec::new();
    for kept in input.kept() {
        let launch = &kept.report;
        let like = |shape: &&mut Vec<&'a IdenticalLaunches>| {
            let other = &shape[0].report;
            (
                other.kernel,
                other.grid,
                other.block,
                other.statement.file,
                other.statement.line,
            ) == (
                launch.kernel,
                launch.grid,
                launch.block,
                launch.statement.file,
                launch.statement.line,
            ) && other.shared.dynamic == launch.shared.dynamic
        };
        match shapes.iter_mut().find(like) {
            Some(shape) => shape.push(kept),
            _ => shapes.push(vec![kept]),
        }
    }
    shapes.iter().map(|shape| group(shape)).collect()
}

fn group<'a>(shape: &[&'a IdenticalLaunches]) -> LaunchGroup<'a> {
    let launch = &shape[0].report;
    let alike = |kept: &&IdenticalLaunches| {
        let other = &kept.report;
        !kept.is_sum
            && other.counts == launch.counts
            && other
                .sites
                .iter()
                .map(site_key)
                .eq(launch.sites.iter().map(site_key))
            && other
                .sites
                .iter()
                .map(|site| &site.counts)
                .eq(launch.sites.iter().map(|site| &site.counts))
    };
    let summed = !shape.iter().all(alike);
    let mut sum = Cow::Borrowed(launch);
    if summed {
        add_times(sum.to_mut(), launch, times(shape[0]) - 1);
        for kept in &shape[1..] {
            add_times(sum.to_mut(), &kept.report, times(kept));
        }
    }
    LaunchGroup {
        first: shape[0].first,
        count: shape.iter().map(|kept| kept.count).sum(),
        summed,
        launch: sum,
    }
}

/// How many times a report is added to a sum: once if it is a sum already.
fn times(kept: &IdenticalLaunches) -> u64 {
    match kept.is_sum {
        true => 1,
        false => kept.count,
    }
}

/// Adds the counts of `times` equal launches, by doubling: there may be billions.
fn add_times(sum: &mut LaunchReport, launch: &LaunchReport, mut times: u64) {
    if times == 0 {
        return;
    }
    let mut power = launch.clone();
    loop {
        if times & 1 == 1 {
            add(sum, &power);
        }
        times >>= 1;
        if times == 0 {
            return;
        }
        let same = power.clone();
        add(&mut power, &same);
    }
}
