//! The program on the library's first page, on the simulator and on a GPU: every word of every result has to be equal.

use dslc::{Arch, Device, Grid, include_kernel, kernel};

include_kernel!(mod transpose = "../../../../dslc/tests/kernels/transpose.k");

kernel! { mod blas {
    __global__ void saxpy(float a, const float *x, float *y, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = a * x[i] + y[i];
    }
    __global__ void sum(const float *x, float *out)
    {
        extern __shared__ float s[];
        unsigned t = threadIdx.x;
        s[t] = expf(x[blockIdx.x * blockDim.x + t] * -0.01f);
        for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
            __syncthreads();
            if (t < half) s[t] += s[t + half];
        }
        if (t == 0) out[blockIdx.x] = s[0];
    }
} }

fn work(device: &Device) -> dslc::Result<Vec<u32>> {
    let x: Vec<f32> = (0..4096).map(|i| i as f32 * 0.37).collect();
    let (x, mut y) = (device.buffer(&x)?, device.buffer(&vec![0.1f32; 4096])?);
    let blas = blas::load(device)?;
    blas.saxpy(Grid::cover(4096, 256), 2.0, &x, &mut y, 4096)?;
    let mut out = device.zeroed::<f32>(16)?;
    blas.sum(Grid::new(16, 256).shared(256 * 4), &y, &mut out)?;
    let mut t = device.zeroed::<f32>(4096)?;
    transpose::load(device)?.transpose_tile_padded(Grid::new([2, 2], [32, 32]), &mut t, &y, 64)?;
    let all = [y.read()?, out.read()?, t.read()?].concat();
    Ok(all.into_iter().map(f32::to_bits).collect())
}

fn main() -> dslc::Result<()> {
    let simulated = work(&Device::simulator(Arch::SM_90)?)?;
    // SAFETY: the simulator has no findings.
    let gpu = unsafe { Device::gpu(0)? };
    let real = work(&gpu)?;
    let same = simulated.iter().zip(&real).filter(|(a, b)| a == b).count();
    println!("{}: {same} of {} words the same", gpu.name(), real.len());
    assert_eq!(simulated, real);
    Ok(())
}
