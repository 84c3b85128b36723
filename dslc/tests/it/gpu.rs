//! Runs the same program on an NVIDIA GPU and in the simulator: the same calls, the same bits.
#![expect(clippy::print_stderr, reason = "a test that was skipped says so")]

use dslc::{Arch, Device, Grid, float3, kernel};

kernel! { mod both {
    __constant__ int table[4] = {3, 1, 4, 1};
    __device__ int calls;

    template <typename T> __device__ T twice(T x) { return x + x; }

    __global__ void scale(const float *x, float *y, float factor, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = x[i] * factor + rsqrtf(x[i] + 1.0f);
    }

    __global__ void sum(const int *x, int *out, int n)
    {
        extern __shared__ int part[];
        int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
        part[t] = i < n ? twice(x[i]) + table[i & 3] : 0;
        __syncthreads();
        for (int step = blockDim.x / 2; step > 0; step /= 2) {
            if (t < step) part[t] += part[t + step];
            __syncthreads();
        }
        if (t == 0) {
            atomicAdd(out, part[0]);
            atomicAdd(&calls, 1);
        }
    }

    struct Body { float3 at; double mass; short kind; };

    __global__ void wide(double *x, long long step, unsigned char *bytes, Body body, bool negate)
    {
        int t = threadIdx.x;
        x[t] = x[t] / 3.0 + (double)step + body.mass * body.kind + sin((double)body.at.y + t);
        bytes[t] = (unsigned char)(t * step + negate);
    }
} }

/// A second module on the same device.
mod second {
    dslc::kernel! { pub mod kernels { __global__ void add(int *x, int value) { x[threadIdx.x] += value; } } }
}

/// The GPU, or `None` with a message if there is none.
fn on_gpu() -> Option<Device> {
    // SAFETY: the kernels above stay within their buffers.
    match unsafe { Device::gpu(0) } {
        Ok(device) => Some(device),
        Err(why) => {
            eprintln!("skipped: {why}");
            None
        }
    }
}

/// Every result as bits.
fn work(device: &Device) -> dslc::Result<Vec<Vec<u64>>> {
    let kernels = both::load(device)?;
    let n = 100_000;
    let floats: Vec<f32> = (0..n).map(|i| (i % 997) as f32 * 0.37).collect();
    let (x, mut y) = (device.buffer(&floats)?, device.zeroed::<f32>(n)?);
    kernels.scale(Grid::cover(n, 256), &x, &mut y, 1.7, n as i32)?;
    let ints: Vec<i32> = (0..n as i32).map(|i| i % 31 - 7).collect();
    let (numbers, mut total) = (device.buffer(&ints)?, device.zeroed::<i32>(1)?);
    kernels.set_table(&[5, 9, 2, 6])?;
    // More shared memory than a launch has by default.
    kernels.sum(
        Grid::cover(n, 128).shared(60 << 10),
        &numbers,
        &mut total,
        n as i32,
    )?;
    let doubles: Vec<f64> = (0..64).map(|i| 1.0 / f64::from(i + 1)).collect();
    let (mut d, mut bytes) = (device.buffer(&doubles)?, device.zeroed::<u8>(64)?);
    let body = both::Body {
        at: float3::new(0.0, 0.25, 0.0),
        mass: 2.5,
        kind: -3,
    };
    kernels.wide(Grid::new(1, 64), &mut d, -5, &mut bytes, body, true)?;
    second::kernels::load(device)?.add(Grid::new(1, 1), &mut total, 1000)?;
    Ok(vec![
        y.read()?
            .into_iter()
            .map(|value| value.to_bits().into())
            .collect(),
        total
            .read()?
            .into_iter()
            .map(|value| value as u64)
            .collect(),
        d.read()?.into_iter().map(f64::to_bits).collect(),
        bytes.read()?.into_iter().map(u64::from).collect(),
        vec![kernels.calls()? as u64],
    ])
}

#[test]
fn a_program_gives_the_same_bits_on_both() -> dslc::Result<()> {
    let simulated = work(&Device::simulator(Arch::SM_90)?)?;
    assert_eq!(simulated[4], [782]);
    let Some(gpu) = on_gpu() else { return Ok(()) };
    assert_eq!(simulated, work(&gpu)?);
    assert_eq!(gpu.launches().len(), 4);
    Ok(())
}

#[test]
fn a_device_may_be_used_from_other_threads() -> dslc::Result<()> {
    let Some(gpu) = on_gpu() else { return Ok(()) };
    let other = gpu.clone();
    let elsewhere = std::thread::spawn(move || work(&other))
        .join()
        .expect("no panic");
    assert_eq!(elsewhere?, work(&Device::simulator(Arch::SM_90)?)?);
    Ok(())
}

#[test]
fn what_the_device_refuses_is_an_error_and_leaves_it_usable() -> dslc::Result<()> {
    let Some(gpu) = on_gpu() else { return Ok(()) };
    let kernels = both::load(&gpu)?;
    let mut d = gpu.buffer(&[1f64; 64])?;
    let mut bytes = gpu.zeroed::<u8>(64)?;
    let body = both::Body::default();
    let refused = kernels.wide(Grid::new(1, 2048), &mut d, 0, &mut bytes, body, false);
    assert_eq!(refused.unwrap_err().findings()[0].kind(), "invalid_launch");
    let refused = kernels.wide(
        Grid::new(1, 64).shared(1 << 20),
        &mut d,
        0,
        &mut bytes,
        body,
        false,
    );
    assert_eq!(refused.unwrap_err().findings()[0].kind(), "invalid_launch");
    assert_eq!(d.read()?, [1f64; 64]);
    Ok(())
}

#[test]
fn a_gpu_counts_nothing() -> dslc::Result<()> {
    let Some(gpu) = on_gpu() else { return Ok(()) };
    let mut x = gpu.zeroed::<i32>(32)?;
    let run = second::kernels::load(&gpu)?.add(Grid::new(1, 32), &mut x, 1)?;
    assert!(run.sites().is_empty() && run.is_clean());
    assert_eq!(run.metric("gst_efficiency"), None);
    assert_eq!(x.read()?, [1; 32]);
    Ok(())
}
