//! The embedding interface on an NVIDIA GPU beside the simulator: the same source, the same calls, the same bits.
#![cfg(feature = "gpu")]
#![expect(clippy::print_stderr, reason = "a test that was skipped says so")]

use runtime::{
    device::{Device, gpu::Gpu},
    session::{Arg, Session, SessionError},
};

const SOURCE: &str = r#"
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
        out[1] = calls >= 0;
    }
}

__global__ void wide(double *x, long long step, unsigned char *bytes)
{
    x[threadIdx.x] = x[threadIdx.x] / 3.0 + (double)step;
    bytes[threadIdx.x] = (unsigned char)(threadIdx.x * step);
}
"#;

/// The GPU's session, or `None` where there is none, which is said.
fn on_gpu() -> Option<Session<Gpu>> {
    match Session::on_gpu(SOURCE) {
        Ok(session) => Some(session),
        Err(SessionError::NoGpu(why)) => {
            eprintln!("skipped: {why}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Every result as bits.
fn work<D: Device>(session: &mut Session<D>) -> Vec<Vec<u64>> {
    let n: u32 = 100_000;
    let floats: Vec<f32> = (0..n).map(|i| (i % 997) as f32 * 0.37).collect();
    let (x, y) = (
        session.buffer(&floats).unwrap(),
        session.buffer(&vec![0f32; n as usize]).unwrap(),
    );
    session
        .launch(
            "scale",
            [n.div_ceil(256), 1, 1],
            [256, 1, 1],
            0,
            &[x.arg(), y.arg(), Arg::F32(1.7), Arg::I32(n as i32)],
        )
        .unwrap();
    let ints: Vec<i32> = (0..n as i32).map(|i| i % 31 - 7).collect();
    let (numbers, total) = (
        session.buffer(&ints).unwrap(),
        session.buffer(&[0i32; 2]).unwrap(),
    );
    // More shared memory than a launch has without asking for it.
    session
        .launch(
            "sum",
            [n.div_ceil(128), 1, 1],
            [128, 1, 1],
            60 << 10,
            &[numbers.arg(), total.arg(), Arg::I32(n as i32)],
        )
        .unwrap();
    let doubles: Vec<f64> = (0..64).map(|i| 1.0 / f64::from(i + 1)).collect();
    let (d, bytes) = (
        session.buffer(&doubles).unwrap(),
        session.buffer(&[0u8; 64]).unwrap(),
    );
    session
        .launch(
            "wide",
            [1, 1, 1],
            [64, 1, 1],
            0,
            &[d.arg(), Arg::I64(-5), bytes.arg()],
        )
        .unwrap();
    vec![
        session
            .read(&y)
            .unwrap()
            .into_iter()
            .map(|value| value.to_bits().into())
            .collect(),
        session
            .read(&total)
            .unwrap()
            .into_iter()
            .map(|value| value as u64)
            .collect(),
        session
            .read(&d)
            .unwrap()
            .into_iter()
            .map(f64::to_bits)
            .collect(),
        session
            .read(&bytes)
            .unwrap()
            .into_iter()
            .map(u64::from)
            .collect(),
    ]
}

#[test]
fn a_session_gives_the_same_bits_on_both() {
    let Some(mut gpu) = on_gpu() else { return };
    let mut simulated = Session::from_source(SOURCE).unwrap();
    assert_eq!(work(&mut simulated), work(&mut gpu));
    let times = gpu.finish().unwrap();
    assert_eq!(times.len(), 3, "{times:?}");
    assert!(
        times
            .iter()
            .all(|time| time.is_some_and(|ms| ms > 0.0 && ms < 1e4)),
        "{times:?}"
    );
}

#[test]
fn what_the_device_refuses_is_an_error_and_leaves_it_usable() {
    let Some(mut gpu) = on_gpu() else { return };
    let d = gpu.buffer(&[1f64; 64]).unwrap();
    let args = [d.arg(), Arg::I64(0), d.arg()];
    assert!(matches!(
        gpu.launch("wide", [1, 1, 1], [2048, 1, 1], 0, &args),
        Err(SessionError::Launch(_))
    ));
    assert!(matches!(
        gpu.launch("wide", [1, 1, 1], [64, 1, 1], 1 << 20, &args),
        Err(SessionError::Launch(_))
    ));
    assert!(matches!(
        gpu.launch("nothing", [1, 1, 1], [1, 1, 1], 0, &[]),
        Err(SessionError::NoKernel(_))
    ));
    assert_eq!(gpu.read(&d).unwrap(), [1f64; 64]);
}
