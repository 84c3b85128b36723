//! A kernel that faults on an NVIDIA GPU. CUDA does not work any more in the process after that, so this test has a separate process.
#![cfg(feature = "gpu")]
#![expect(clippy::print_stderr, reason = "a test that was skipped says so")]

use dslc::{Device, Grid, kernel};

kernel! { mod k {
    __global__ void beyond(int *x) { x[(long long)threadIdx.x << 40] = 1; }
} }

#[test]
fn a_fault_is_the_error_of_the_call_that_waits_for_it() -> dslc::Result<()> {
    // SAFETY: the addresses are not mapped.
    let gpu = match unsafe { Device::gpu(0) } {
        Ok(gpu) => gpu,
        Err(why) => {
            eprintln!("skipped: {why}");
            return Ok(());
        }
    };
    let mut x = gpu.zeroed::<i32>(4)?;
    let launched = k::load(&gpu)?.beyond(Grid::new(1, 32), &mut x);
    let text = match (launched, gpu.synchronize()) {
        (Err(error), _) | (Ok(_), Err(error)) => error.to_string(),
        (Ok(_), Ok(())) => panic!("no error"),
    };
    assert!(text.contains("illegal"), "{text}");
    Ok(())
}
