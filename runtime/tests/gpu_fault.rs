//! A kernel that faults on an NVIDIA GPU. CUDA serves a process no more after that: this is a process of its own.
#![cfg(feature = "gpu")]
#![expect(clippy::print_stderr, reason = "a test that was skipped says so")]

use runtime::session::{Session, SessionError};

const SOURCE: &str = "__global__ void beyond(int *x) { x[(long long)threadIdx.x << 40] = 1; }";

#[test]
fn a_fault_is_the_error_of_the_call_that_waits_for_it() {
    let mut gpu = match Session::on_gpu(SOURCE) {
        Ok(session) => session,
        Err(SessionError::NoGpu(why)) => return eprintln!("skipped: {why}"),
        Err(error) => panic!("{error}"),
    };
    let x = gpu.buffer(&[0i32; 4]).unwrap();
    let launched = gpu.launch("beyond", [1, 1, 1], [32, 1, 1], 0, &[x.arg()]);
    let waited = gpu.finish();
    let text = match (launched, waited) {
        (Err(error), _) | (Ok(_), Err(error)) => error.to_string(),
        (Ok(_), Ok(_)) => panic!("no error"),
    };
    assert!(
        text.contains("beyond") || text.contains("illegal"),
        "{text}"
    );
}
