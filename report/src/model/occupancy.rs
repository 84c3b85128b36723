//! How many blocks of a launch a multiprocessor holds at one time, what limits the number, and what one step of that limit would change.
//!
//! The limits are threads, blocks and shared memory. Registers are not considered: only `ptxas` knows how many a kernel takes. A kernel
//! that takes many has fewer resident blocks than this says.
//!
//! A worked case: 256 threads and 12 KiB of shared memory on sm_90. By threads 2048 / 256 = 8 blocks, by shared memory 228 / 13 = 17 (the
//! system keeps 1 KiB of each block), by blocks 32: 8 blocks, 64 of 64 warps, limited by threads.

use interp::{
    LaunchReport,
    rules::{Arch, limits::Limits},
};

/// More shared memory than this is not a small step.
const STEP_BYTES: u64 = 4096;

/// What keeps more blocks out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Threads of the multiprocessor.
    Threads,
    /// Its blocks.
    Blocks,
    /// Its shared memory.
    Shared,
}

impl Limit {
    /// As words.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Threads => "threads",
            Limit::Blocks => "blocks",
            Limit::Shared => "shared memory",
        }
    }
}

/// A change, and the number of resident warps with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// `blocks of 224 threads`.
    pub change: String,
    /// Resident warps after the change.
    pub warps: u64,
}

/// What a multiprocessor holds of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Resident blocks.
    pub blocks: u64,
    /// Their warps.
    pub warps: u64,
    /// The most warps it can hold.
    pub most_warps: u64,
    /// What keeps more blocks out; there may be several.
    pub limits: Vec<Limit>,
    /// Single steps of block size or shared memory that change the number of warps.
    pub steps: Vec<Step>,
}

impl Occupancy {
    /// The occupancy of a launch on an architecture.
    pub fn of(launch: &LaunchReport, arch: Arch) -> Occupancy {
        let threads = launch
            .block
            .iter()
            .map(|&n| u64::from(n))
            .product::<u64>()
            .max(1);
        let shared = launch.shared.fixed + launch.shared.dynamic;
        Occupancy::new(threads, shared, &Limits::of(arch))
    }

    fn new(threads: u64, shared: u64, device: &Limits) -> Occupancy {
        let held = BlocksByLimit::new(threads, shared, device);
        let blocks = held.blocks();
        let warps = blocks * threads.div_ceil(32);
        let most_warps = u64::from(device.residency.threads) / 32;
        let mut steps = vec![];
        let mut step = |threads: u64, shared: u64, change: String| {
            let then = BlocksByLimit::new(threads, shared, device).blocks() * threads.div_ceil(32);
            if then != warps {
                steps.push(Step {
                    change,
                    warps: then,
                });
            }
        };
        let whole = threads.next_multiple_of(32);
        for other in [whole.saturating_sub(32), whole + 32] {
            if other > 0 && other <= device.block.threads.into() {
                step(other, shared, format!("blocks of {other} threads"));
            }
        }
        // The size at which one more or one fewer block fits.
        let reserved = device.residency.reserved_shared_bytes_per_block;
        let fits =
            |blocks: u64| (device.residency.shared_bytes / blocks.max(1)).saturating_sub(reserved);
        let fewer = fits(blocks + 1);
        if held.limits() == [Limit::Shared] && fewer < shared {
            step(
                threads,
                fewer,
                format!("{} bytes of shared memory less", shared - fewer),
            );
        }
        let more = fits(blocks) + 1;
        if more > shared
            && more - shared <= shared.min(STEP_BYTES)
            && more <= device.block.shared_bytes_optin
        {
            step(
                threads,
                more,
                format!("{} bytes of shared memory more", more - shared),
            );
        }
        Occupancy {
            blocks,
            warps,
            most_warps,
            limits: held.limits(),
            steps,
        }
    }
}

/// The blocks that fit by each limit.
struct BlocksByLimit([(Limit, u64); 3]);

impl BlocksByLimit {
    fn new(threads: u64, shared: u64, device: &Limits) -> BlocksByLimit {
        let each = shared + device.residency.reserved_shared_bytes_per_block;
        let by_shared = device.residency.shared_bytes.checked_div(each);
        BlocksByLimit([
            (
                Limit::Threads,
                u64::from(device.residency.threads) / threads.next_multiple_of(32),
            ),
            (Limit::Blocks, device.residency.blocks.into()),
            (Limit::Shared, by_shared.unwrap_or(u64::MAX)),
        ])
    }

    fn blocks(&self) -> u64 {
        self.0.iter().map(|&(_, blocks)| blocks).min().unwrap_or(0)
    }

    fn limits(&self) -> Vec<Limit> {
        let blocks = self.blocks();
        let tight = self.0.iter().filter(|&&(_, by)| by == blocks);
        tight.map(|&(limit, _)| limit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(threads: u64, shared: u64) -> Occupancy {
        Occupancy::new(threads, shared, &Limits::of(Arch::SM_90))
    }

    #[test]
    fn threads_limit_large_blocks() {
        let held = of(256, 12 << 10);
        assert_eq!((held.blocks, held.warps, held.most_warps), (8, 64, 64));
        assert_eq!(held.limits, [Limit::Threads]);
        // 2048 / 288 = 7 blocks of 9 warps.
        assert!(held.steps.contains(&Step {
            change: "blocks of 288 threads".into(),
            warps: 63
        }));
    }

    #[test]
    fn blocks_limit_small_ones() {
        let held = of(32, 0);
        assert_eq!((held.blocks, held.warps), (32, 32));
        assert_eq!(held.limits, [Limit::Blocks]);
        assert_eq!(
            held.steps,
            [Step {
                change: "blocks of 64 threads".into(),
                warps: 64
            }]
        );
    }

    #[test]
    fn shared_memory_limits_large_tiles() {
        // 228 / (47 + 1) = 4 blocks; 5 fit with 228 * 1024 / 5 - 1024 = 45670 bytes.
        let held = of(128, 47 << 10);
        assert_eq!(
            (held.blocks, held.limits.as_slice()),
            (4, &[Limit::Shared][..])
        );
        let less = Step {
            change: "2458 bytes of shared memory less".into(),
            warps: 20,
        };
        assert!(held.steps.contains(&less), "{held:?}");
    }
}
