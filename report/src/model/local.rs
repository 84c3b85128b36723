//! Local arrays that cannot be registers, because registers have no index. Such an array is in local memory, which is a thread's part of
//! device memory, cached in L1 and L2. The rules give its accesses no transactions; a request of 32 lanes is 128 bytes for each 4 bytes of
//! an element.

use interp::{LaunchReport, Site};
use ir::Space;

use crate::Input;
use crate::advice::Advice;
use crate::code::Codes;

/// Least requests of an array, and their least share of a launch's instructions, to report it.
const LEAST_REQUESTS: u64 = 32;
const LEAST_SHARE: f64 = 0.02;

/// Where a site's array is reported: the file and line of its most frequent access. `None` if it is not such an array, or is little used.
pub(super) fn place(site: &Site, launch: &LaunchReport, codes: &Codes) -> Option<(u32, u32)> {
    if site.space != Space::Local {
        return None;
    }
    let local = codes.local(launch.kernel, site)?;
    let own = launch.sites.iter().filter(|other| {
        other.space == Space::Local && codes.local(launch.kernel, other) == Some(local)
    });
    let requests: u64 = own.clone().map(|site| site.counts.instructions).sum();
    let is_much = requests as f64 >= LEAST_SHARE * launch.counts.warp_instructions as f64;
    let indexed = own.filter(|other| codes.indexed_local(launch.kernel, other).is_some());
    let most =
        indexed.max_by_key(|other| (other.counts.instructions, std::cmp::Reverse(other.line)))?;
    (requests >= LEAST_REQUESTS && is_much).then_some((most.file, most.line))
}

/// The array's cost, and what may help.
pub(super) fn advice(
    site: &Site,
    launch: &LaunchReport,
    codes: &Codes,
    input: &Input<'_>,
) -> Option<Advice> {
    // Users cannot change CUDA's library.
    if input.file_name(site.file).starts_with('<') {
        return None;
    }
    let local = codes.local(launch.kernel, site)?;
    let var = input
        .module
        .function(launch.kernel)
        .locals
        .get(local.index())?;
    let of_array = |other: &&Site| {
        other.space == Space::Local && codes.local(launch.kernel, other) == Some(local)
    };
    let bytes: u64 = launch
        .sites
        .iter()
        .filter(of_array)
        .map(|site| site.counts.bytes)
        .sum();
    let name = &var.name;
    Some(Advice::new(
        format!(
            "`{name}` ({} bytes of each thread) has an index that is known only when the kernel runs. Registers have no index, so it lies in local memory: \
             device memory behind the caches, to and from which a launch moves {bytes} bytes",
            var.size_bytes
        ),
        "if all threads have the same values, keep the array in constant or shared memory; if it has few elements, choose by conditions \
         (`i == 0 ? a : b`); if the index is a loop's counter, let the compiler unroll the loop (a constant number of rounds, `#pragma unroll`)",
    ))
}
