//! `dslc run --trace FILE`: writes everything that the launches of a run did, one line per event.
//!
//! ```text
//! launch BLOCKS THREADS             a launch begins: blocks of the grid, threads of a block
//! turn BLOCK WARP                   what follows is this warp's doing
//! load PLACE SPACE WIDTH HOW LANE:AT ...    PLACE is file:line:column; HOW is plain, volatile or block; also store, atomic
//! syncwarp LANE:MASK ...
//! fence SCOPE LANES
//! barrier BLOCK                     it opens for all threads of the block
//! ```
//!
//! Addresses, masks and sets of lanes are hexadecimal; an address of shared or local memory is the offset in it.

use std::{
    io::{self, Write},
    path::Path,
};

use interp::trace::Event;
use interp::trap::AccessOp;
use ir::{FenceScope, Module};
use runtime::host::Outcome;

use crate::{failure::Failure, files};

/// Writes the file.
pub(crate) fn write(outcome: &Outcome, module: &Module, path: &Path) -> Result<(), Failure> {
    let lines = |file: &mut dyn Write| {
        for launch in outcome.launches.iter() {
            let product = |sizes: [u32; 3]| sizes.iter().map(|&n| u64::from(n)).product::<u64>();
            let (blocks, threads) = (product(launch.grid), product(launch.block));
            writeln!(file, "launch {blocks} {threads}")?;
            for event in &launch.trace {
                line(file, event, module)?;
            }
        }
        Ok(())
    };
    files::write_with(path, lines)
        .map_err(|why| Failure::new(format!("cannot write `{}`: {why}", path.display())))
}

fn line(file: &mut dyn Write, event: &Event, module: &Module) -> io::Result<()> {
    match event {
        Event::Turn { block, warp } => write!(file, "turn {block} {warp}")?,
        Event::Access {
            loc,
            op,
            space,
            width_bytes,
            is_volatile,
            is_block_scope,
            lanes,
        } => {
            let loc = module.loc(*loc);
            let op = match op {
                AccessOp::Load => "load",
                AccessOp::Store => "store",
                AccessOp::Atomic => "atomic",
            };
            let how = match (is_volatile, is_block_scope) {
                (_, true) => "block",
                (true, false) => "volatile",
                (false, false) => "plain",
            };
            let (file_number, line, column) = (loc.file, loc.line, loc.column);
            write!(
                file,
                "{op} {file_number}:{line}:{column} {space} {width_bytes} {how}"
            )?;
            for (lane, at) in lanes {
                write!(file, " {lane}:{at:x}")?;
            }
        }
        Event::SyncWarp(lanes) => {
            write!(file, "syncwarp")?;
            for (lane, mask) in lanes {
                write!(file, " {lane}:{mask:x}")?;
            }
        }
        Event::Fence { lanes, scope } => {
            let scope = match scope {
                FenceScope::Block => "block",
                FenceScope::Device => "device",
                FenceScope::System => "system",
            };
            write!(file, "fence {scope} {lanes:x}")?;
        }
        Event::Barrier { block } => write!(file, "barrier {block}")?,
    }
    writeln!(file)
}
