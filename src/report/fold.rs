//! Many launches of one kernel with one shape and equal counts are one entry of the text report.

use interp::LaunchReport;

use super::Input;

/// Like launches.
pub(crate) struct Group<'a> {
    /// Index of the first among all launches.
    pub(crate) first: usize,
    /// How many.
    pub(crate) count: usize,
    /// The first; the others have the same kernel, shape and counts.
    pub(crate) launch: &'a LaunchReport,
}

/// Groups launches in the order of their first one. With `all_launches` each is a group.
pub(crate) fn groups<'a>(input: &'a Input<'_>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (index, launch) in input.launches() {
        let like = |group: &&mut Group<'a>| {
            let other = group.launch;
            (other.kernel, other.grid, other.block) == (launch.kernel, launch.grid, launch.block)
                && other.shared_dynamic_bytes == launch.shared_dynamic_bytes
                && other.line == launch.line
                && other.counts == launch.counts
                && other.sites == launch.sites
        };
        match groups.iter_mut().find(like) {
            Some(group) if !input.all_launches => group.count += 1,
            _ => groups.push(Group {
                first: index,
                count: 1,
                launch,
            }),
        }
    }
    groups
}
