//! The threads of a finding, drawn as lanes of their warps.
//!
//! ```text
//! lanes  0       8       16      24
//! write  ################················  block (0, 0, 0), warp 0, line 12
//! read   ················################  block (0, 0, 0), warp 0, line 14
//! ```
//!
//! One row per access and warp, eight at most. Nothing is drawn where one lane met one lane: the text says which.

use std::fmt::Write;

use interp::index_text;
use ir::Module;

use super::Found;

const LANES: u32 = 32;
const MAX_ROWS: usize = 8;

/// The picture, indented; empty if there is nothing to see.
pub fn draw(found: &Found, module: &Module) -> String {
    if found.witness.iter().all(|row| row.lanes.count_ones() < 2) {
        return String::new();
    }
    let op = |access: usize| found.sides.get(access).map_or("", |side| side.op.name());
    let wide = found.witness.iter().map(|row| op(row.access).len()).max();
    let wide = wide.unwrap_or(0).max("lanes".len());
    let mut text = String::new();
    let _ = writeln!(text, "    {:<wide$}  0       8       16      24", "lanes");
    for row in found.witness.iter().take(MAX_ROWS) {
        let lane = |lane: u32| {
            if row.lanes >> lane & 1 == 1 {
                '#'
            } else {
                '·'
            }
        };
        let lanes: String = (0..LANES).map(lane).collect();
        let line = found
            .sides
            .get(row.access)
            .map_or(0, |side| module.loc(side.loc).line);
        let _ = writeln!(
            text,
            "    {:<wide$}  {lanes}  block {}, warp {}, line {line}",
            op(row.access),
            index_text(row.block),
            row.warp
        );
    }
    if found.witness.len() > MAX_ROWS {
        let _ = writeln!(
            text,
            "    … and {} more rows",
            found.witness.len() - MAX_ROWS
        );
    }
    text
}
