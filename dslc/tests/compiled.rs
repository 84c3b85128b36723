//! Counts of compiled kernels. The test sets a variable of its process, so the process is separate.
#![cfg(feature = "compiled")]
#![expect(clippy::print_stderr, reason = "a test that was skipped says so")]

use std::{env, path::PathBuf};

use dslc::{Arch, Counts, Device, Grid, kernel};

kernel! { mod k {
    __global__ void rows(const float *in, float *out)
    {
        __shared__ float tile[128];
        int t = threadIdx.x;
        for (int i = 0; i < 4; i++) tile[i * 32 + t] = in[i * 32 + t];
        __syncthreads();
        float sum = 0;
        for (int i = 0; i < 4; i++) sum += tile[t * 4 + i];
        out[t] = sum;
    }
} }

/// The program `dslc-ptx` of the same build.
fn back_end() -> Option<PathBuf> {
    let test = env::current_exe().ok()?;
    let path = test.parent()?.parent()?.join("dslc-ptx");
    path.is_file().then_some(path)
}

#[test]
fn launches_are_counted_as_compiled() -> dslc::Result<()> {
    let Some(back_end) = back_end() else {
        eprintln!("skipped: `dslc-ptx` is not built");
        return Ok(());
    };
    // SAFETY: this process has one test, and no other thread reads variables.
    unsafe { env::set_var("DSLC_PTX", back_end) };
    let input: Vec<f32> = (0..128_u8).map(f32::from).collect();
    let requests = |counts| -> dslc::Result<(u64, bool)> {
        let device = Device::builder(Arch::SM_90).counts(counts).build()?;
        let (input, mut out) = (device.buffer(&input)?, device.zeroed(32)?);
        let run = k::load(&device)?.rows(Grid::new(1, 32), &input, &mut out)?;
        assert_eq!(out.read()?[1], 4.0 + 5.0 + 6.0 + 7.0);
        let tells = run.to_string().contains("as compiled");
        Ok((run.load("tile[t * 4 + i]").requests(), tells))
    };
    assert_eq!(requests(Counts::Written)?, (4, false));
    assert_eq!(requests(Counts::Both)?, (4, true));
    assert_eq!(requests(Counts::Compiled)?, (1, true));
    Ok(())
}
