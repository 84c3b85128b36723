//! The program at the beginning of the README, unchanged.
#![cfg_attr(rustfmt, rustfmt_skip)]

use dslc::{Arch, Device, Grid, include_kernel, kernel};
include_kernel!(pub mod transpose = "kernels/transpose.k");      // the path is relative to this source file, as with include_str!
kernel! { mod blas {
    __global__ void saxpy(float a, const float *x, float *y, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = a * x[i] + y[i];
    }
    __global__ void sum(const float *x, float *out) { extern __shared__ float s[]; /* … */ }
} }
fn main() -> dslc::Result<()> {
    let device = Device::simulator(Arch::SM_90)?;                // or unsafe { Device::gpu(0)? }
    let x = device.buffer(&[1.0f32; 1024])?;
    let mut y = device.zeroed::<f32>(1024)?;
    let blas = blas::load(&device)?;
    blas.saxpy(Grid::cover(1024, 256), 2.0, &x, &mut y, 1024)?;  // Grid::new([2, 2], [32, 8]) likewise
    assert_eq!(y.read()?[0], 2.0);
    let mut out = device.zeroed::<f32>(1)?;
    blas.sum(Grid::new(1, 256).shared(256 * 4), &x, &mut out)?;  // without .shared: an error that says so
    Ok(())
}
#[test]
fn a_padded_tile_has_no_conflict() -> dslc::Result<()> {
    for arch in [Arch::SM_35, Arch::SM_90] {
        let device = Device::simulator(arch)?;
        let input = device.buffer(&vec![1.0f32; 64 * 64])?;
        let mut out = device.zeroed::<f32>(64 * 64)?;
        let run = transpose::load(&device)?.transpose_tile_padded(Grid::new([2, 2], [32, 32]), &mut out, &input, 64)?;
        run.assert_clean();                                      // panics with the report's own words, in colour on a terminal
        let load = run.site("tile[threadIdx.x][threadIdx.y]");   // an access by its text: a line number breaks with every edit
        assert_eq!((load.bank_conflicts(), load.transactions_per_request()), (Some(0), Some(1.0)));
        assert_eq!(run.metric("gst_efficiency"), Some(1.0));
        assert!(run.findings().is_empty());
    }
    Ok(())
}

#[test]
fn the_program_runs_to_its_end() -> dslc::Result<()> {
    main()
}

#[test]
fn it_is_the_one_of_the_readme() {
    let readme = include_str!("../README.md");
    let program = readme.split("```").nth(1).and_then(|block| block.strip_prefix("rust,ignore\n"));
    assert!(include_str!("contract.rs").contains(program.expect("README has a program")));
}
