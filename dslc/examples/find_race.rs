//! A test suite that finds a race: `cargo test --example find_race`; `cargo run --example find_race` shows the report.
//!
//! `sum_wrong` lacks a barrier between the rounds of its reduction. On most GPUs it gives the right sum nearly always, so that a test of
//! the result passes. The test of the launch does not.
#![expect(clippy::print_stdout, reason = "it shows what it found")]

use dslc::{Arch, Device, Grid, Run, kernel};

kernel! { mod sums {
    #define THREADS 256

    __global__ void sum_wrong(const float *x, float *out)
    {
        __shared__ float s[THREADS];
        int t = threadIdx.x;
        s[t] = x[blockIdx.x * THREADS + t];
        __syncthreads();
        for (int half = THREADS / 2; half > 0; half /= 2)
            if (t < half) s[t] += s[t + half];
        if (t == 0) out[blockIdx.x] = s[0];
    }

    __global__ void sum(const float *x, float *out)
    {
        __shared__ float s[THREADS];
        int t = threadIdx.x;
        s[t] = x[blockIdx.x * THREADS + t];
        for (int half = THREADS / 2; half > 0; half /= 2) {
            __syncthreads();
            if (t < half) s[t] += s[t + half];
        }
        if (t == 0) out[blockIdx.x] = s[0];
    }
} }

/// Runs one of the two over 4 blocks of ones.
fn run(is_wrong: bool) -> dslc::Result<Run> {
    let device = Device::simulator(Arch::SM_90)?;
    let x = device.buffer(&[1.0f32; 4 * 256])?;
    let mut out = device.uninit::<f32>(4)?;
    let kernels = sums::load(&device)?;
    let grid = Grid::new(4, 256);
    if is_wrong {
        kernels.sum_wrong(grid, &x, &mut out)
    } else {
        let run = kernels.sum(grid, &x, &mut out)?;
        assert_eq!(out.read()?, [256.0; 4]);
        Ok(run)
    }
}

fn main() -> dslc::Result<()> {
    println!("{}", run(true)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_has_no_race() -> dslc::Result<()> {
        run(false)?.assert_clean();
        Ok(())
    }

    #[test]
    fn without_its_barrier_it_has_one() -> dslc::Result<()> {
        let run = run(true)?;
        let race = &run.findings()[0];
        assert_eq!(race.kind(), "race");
        let texts: Vec<&str> = race
            .accesses()
            .iter()
            .map(|access| access.text.as_str())
            .collect();
        assert!(texts.contains(&"s[t + half]"), "{texts:?}");
        Ok(())
    }

    #[test]
    #[should_panic(expected = "is not clean")]
    fn an_assertion_says_so() {
        run(true).expect("it runs to its end").assert_clean();
    }
}
