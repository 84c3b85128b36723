// Launches take arguments of the kernels' types.
use dslc::{Arch, Device, Grid};

dslc::kernel! { mod k {
    struct P { float a; int n; };
    struct Q { float a; int n; };
    __global__ void saxpy(float a, const float *x, float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = a * x[threadIdx.x]; }
    __global__ void take(P p, double *out) { out[0] = p.a; }
} }

pub fn wrong() -> dslc::Result<()> {
    let device = Device::simulator(Arch::SM_90)?;
    let (grid, kernels) = (Grid::new(1, 32), k::load(&device)?);
    let (x, mut y) = (device.zeroed::<f32>(32)?, device.zeroed::<f32>(32)?);
    let mut d = device.zeroed::<f64>(32)?;
    kernels.saxpy(grid, 2.0, &d, &mut y, 32)?; //~ 30 E0308
    kernels.saxpy(grid, 2.0, &x, &y, 32)?; //~ 34 E0308
    kernels.saxpy(grid, 2.0, &x, &mut y)?; //~ 13 E0061
    kernels.saxpy(grid, 2.0, &x, &mut y, 32u32)?; //~ 42 E0308
    kernels.saxpy(grid, 2.0f64, &x, &mut y, 32)?; //~ 25 E0308
    kernels.take(grid, k::Q { a: 1.0, n: 2 }, &mut d)?; //~ 24 E0308
    kernels.take(grid, k::P { a: 1.0, n: 2 }, &mut [0.0; 4])?; //~ 47 E0308
    kernels.saxpi(grid, 2.0, &x, &mut y, 32)?; //~ 13 E0599
    Ok(())
}
