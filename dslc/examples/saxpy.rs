//! y = a x + y, on the simulator or on a GPU: `cargo run --example saxpy`, and with `--features ptx` also `cargo run … -- --gpu`.
//!
//! The kernel is in this file. Its costs are printed as by `dslc run`: its accesses are aligned and contiguous, so that the request of a
//! whole warp is 4 sectors of 32 bytes, and none is wasted. The last warp has 8 elements left: 1 sector.
#![expect(clippy::print_stdout, reason = "it shows what it found")]

use dslc::{Arch, Device, Grid, kernel};

kernel! { mod blas {
    __global__ void saxpy(float a, const float *x, float *y, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = a * x[i] + y[i];
    }
} }

fn main() -> dslc::Result<()> {
    let n = 1000;
    let device = if std::env::args().any(|arg| arg == "--gpu") {
        // SAFETY: the kernel stays below `n`, which is the length of both buffers.
        unsafe { Device::gpu(0)? }
    } else {
        Device::simulator(Arch::SM_90)?
    };
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let (x, mut y) = (device.buffer(&x)?, device.buffer(&vec![1.0f32; n])?);

    let blas = blas::load(&device)?;
    let run = blas.saxpy(Grid::cover(n, 256), 2.0, &x, &mut y, n as i32)?;

    let result = y.read()?;
    for (i, value) in result.iter().enumerate() {
        assert_eq!(*value, 2.0 * i as f32 + 1.0);
    }
    println!(
        "{} on {}: y[10] = {}",
        run.kernel(),
        device.name(),
        result[10]
    );
    println!("{run}");
    Ok(())
}
