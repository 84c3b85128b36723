//! `DSLC_REPORT_DIR`. It is a separate process, since all tests of a process share the environment.

use dslc::{Arch, Device, Grid, kernel};

kernel! { mod k {
    __global__ void halves(float *x)
    {
        __shared__ float s[64];
        s[threadIdx.x] = threadIdx.x;
        if (threadIdx.x < 32) x[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 32];
    }
} }

#[test]
fn a_failed_assertion_leaves_its_report() {
    let folder = std::env::temp_dir().join(format!("dslc-report-{}", std::process::id()));
    // SAFETY: this is the only test of its process.
    unsafe { std::env::set_var("DSLC_REPORT_DIR", &folder) };
    let device = Device::simulator(Arch::SM_90).unwrap();
    let mut x = device.zeroed::<f32>(32).unwrap();
    let run = k::load(&device)
        .unwrap()
        .halves(Grid::new(1, 64), &mut x)
        .unwrap();
    let panic = std::panic::catch_unwind(|| run.assert_clean()).unwrap_err();
    unsafe { std::env::remove_var("DSLC_REPORT_DIR") };
    let text = panic.downcast_ref::<String>().expect("a message");
    let path = folder.join("a_failed_assertion_leaves_its_report.txt".replace('_', "-"));
    assert!(text.contains("the report is in"), "{text}");
    let report = std::fs::read_to_string(&path).unwrap_or_default();
    std::fs::remove_dir_all(&folder).expect("the folder was made");
    assert!(report.contains("halves<<<1, 64>>>"), "{report}");
}
