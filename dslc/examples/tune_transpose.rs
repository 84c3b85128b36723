//! A transposition that is tuned by asserting counts: `cargo run --example tune_transpose`, `cargo test --example tune_transpose`.
//!
//! The two kernels of `transpose.k`, which nvcc accepts unchanged, differ by one column of padding. The tests assert what that gains
//! on each architecture, so that an edit that loses it fails on any machine.
#![expect(clippy::print_stdout, reason = "it shows what it found")]

use dslc::{Arch, Buffer, Device, Grid, Run, include_kernel};

include_kernel!(mod transpose = "transpose.k");

const N: usize = 64;

/// A version of the kernel.
type Version = fn(&transpose::Kernels, &mut Buffer<f32>, &Buffer<f32>) -> dslc::Result<Run>;

fn plain(
    kernels: &transpose::Kernels,
    out: &mut Buffer<f32>,
    x: &Buffer<f32>,
) -> dslc::Result<Run> {
    kernels.transpose_tile(Grid::cover([N, N], [32, 32]), out, x, N as i32)
}

fn padded(
    kernels: &transpose::Kernels,
    out: &mut Buffer<f32>,
    x: &Buffer<f32>,
) -> dslc::Result<Run> {
    kernels.transpose_tile_padded(Grid::cover([N, N], [32, 32]), out, x, N as i32)
}

/// Runs a version and checks its result and that it has no race.
fn transposed(arch: Arch, version: Version) -> dslc::Result<Run> {
    let device = Device::simulator(arch)?;
    let x: Vec<f32> = (0..N * N).map(|i| i as f32).collect();
    let (input, mut out) = (device.buffer(&x)?, device.uninit::<f32>(N * N)?);
    let run = version(&transpose::load(&device)?, &mut out, &input)?;
    run.assert_clean();
    for (i, value) in out.read()?.into_iter().enumerate() {
        assert_eq!(value, x[i % N * N + i / N]);
    }
    Ok(run)
}

/// The read of the tile by columns: the access that matters.
const COLUMN: &str = "tile[threadIdx.x][threadIdx.y]";

fn main() -> dslc::Result<()> {
    println!("transactions for each request of {COLUMN}");
    for arch in [Arch::SM_20, Arch::SM_35, Arch::SM_90] {
        let of = |version| -> dslc::Result<f64> {
            let run = transposed(arch, version)?;
            Ok(run
                .site(COLUMN)
                .transactions_per_request()
                .unwrap_or(f64::NAN))
        };
        println!(
            "{arch}: rows of 32 {:>5.1}, rows of 33 {:>5.1}",
            of(plain)?,
            of(padded)?
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_takes_the_conflicts_away() -> dslc::Result<()> {
        for (arch, ways) in [
            (Arch::SM_20, 32.0),
            (Arch::SM_35, 16.0),
            (Arch::SM_90, 32.0),
        ] {
            let load = transposed(arch, plain)?.site(COLUMN);
            assert_eq!(load.transactions_per_request(), Some(ways), "{arch}");
            let load = transposed(arch, padded)?.site(COLUMN);
            assert_eq!(load.bank_conflicts(), Some(0), "{arch}");
        }
        Ok(())
    }

    #[test]
    fn no_sector_is_wasted() -> dslc::Result<()> {
        let run = transposed(Arch::SM_90, padded)?;
        assert_eq!(run.metric("gld_efficiency"), Some(1.0));
        assert_eq!(run.metric("gst_efficiency"), Some(1.0));
        Ok(())
    }
}
