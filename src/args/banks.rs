//! The options of `dslc banks`.

use std::path::PathBuf;

use clap::Args;

use super::RulesArgs;

#[derive(Debug, Args)]
pub(crate) struct BanksArgs {
    /// An array element, or a member of one, in threadIdx and lane: 'tile[threadIdx.x][threadIdx.y]', 's[lane].x'. Or a number of
    /// bytes: 'lane * 12'. dslc shows a second expression beside the first.
    #[arg(num_args = 1..=2, required = true)]
    pub(crate) expr: Vec<String>,
    /// The array's type and dimensions: 'float[32][33]', 'float4[64]', 'struct { float x, y; }[32]'. A second one is for the second
    /// expression. Default: int[1024], float[32][32] or float4[256], by the expression's subscripts.
    #[arg(long, value_name = "TYPE[N][M]")]
    pub(crate) array: Vec<String>,
    /// Bytes that a lane accesses, if the expression is a number of bytes: 1, 2, 4, 8 or 16.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) bytes: u32,
    /// Threads of the block: 32, 32x8 or 32,8.
    #[arg(long, visible_alias = "lanes", value_name = "X[xY[xZ]]", default_value = "32", value_parser = block_of)]
    pub(crate) block: [u32; 3],
    /// Which warp of the block. Default: the one that costs most.
    #[arg(long, value_name = "N")]
    pub(crate) warp: Option<u32>,
    /// Define a macro, as in C compilers.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) defines: Vec<String>,
    /// The architecture. Default: sm_90.
    #[arg(long, value_name = "SM")]
    pub(crate) arch: Option<String>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// Show a store instead of a load.
    #[arg(long)]
    pub(crate) store: bool,
    /// Draw each pass over the banks separately.
    #[arg(long)]
    pub(crate) passes: bool,
    /// Also write the picture as a page.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Also write the picture as SVG.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// The threads of a block: `32`, `32x8`, `32,8`.
fn block_of(text: &str) -> Result<[u32; 3], String> {
    let mut block = [1; 3];
    let parts: Vec<&str> = text.split(['x', ',']).map(str::trim).collect();
    let malformed = || Err("expected the threads of a block: 32, 32x8 or 8x8x4".to_string());
    if parts.len() > block.len() {
        return malformed();
    }
    for (dim, part) in block.iter_mut().zip(&parts) {
        match part.parse() {
            Ok(threads) => *dim = threads,
            Err(_) => return malformed(),
        }
    }
    Ok(block)
}
