//! Errors are reported: as an error if nothing can continue, as findings of the run otherwise.

use dslc::{Arch, Buffer, Checks, Device, Grid, Order, Severity, kernel};

kernel! { #[allow(deprecated, reason = "a warning about a barrier that some threads miss")] mod k {
    __global__ void beyond(float *x, int n) { x[threadIdx.x + n] = 1.0f; }
    __global__ void misaligned(float *x) { *(float4 *)(x + 1) = make_float4(0, 0, 0, 0); }
    __global__ void asserts(int n) { assert(n > 3); }
    __global__ void halves(float *x)
    {
        __shared__ float s[64];
        s[threadIdx.x] = threadIdx.x;
        if (threadIdx.x < 32) x[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 32];
    }
    __global__ void some_wait(float *x)
    {
        if (threadIdx.x < 3) __syncthreads();
        x[threadIdx.x] = 1;
    }
    __global__ void copy(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x]; }
    __global__ void divide(int *x, int by) { x[threadIdx.x] = 7 / by; }
    __global__ void forever(volatile int *x) { while (*x == 0) {} }
    __global__ void dynamic(float *x) { extern __shared__ double d[]; d[threadIdx.x] = 1; x[threadIdx.x] = d[threadIdx.x]; }
    __global__ void says(int n) { printf("n is %d\n", n); }
    __global__ void nothing() {}
    __global__ void conflicts(float *x)
    {
        __shared__ float t[32][32];
        t[threadIdx.x][0] = 1;
        x[threadIdx.x] = t[threadIdx.x][0];
    }
} }

fn device() -> Device {
    Device::simulator(Arch::SM_90).expect("a simulator")
}

#[test]
fn an_access_out_of_bounds_is_an_error_with_its_line() {
    let device = device();
    let mut x = device.zeroed::<f32>(32).unwrap();
    let kernels = k::load(&device).unwrap();
    let error = kernels.beyond(Grid::new(1, 32), &mut x, 1).unwrap_err();
    let text = error.to_string();
    assert_eq!(text, format!("{error:?}"));
    assert!(text.contains("faults.rs:6:"), "{text}");
    assert!(text.contains("x[threadIdx.x + n] = 1.0f"), "{text}");
    assert!(
        text.contains("launched at dslc/tests/it/faults.rs:")
            || text.contains("launched at tests/faults.rs:"),
        "{text}"
    );
    let [finding] = error.findings() else {
        panic!("{text}");
    };
    assert_eq!(
        (finding.kind(), finding.severity()),
        ("out_of_bounds", Severity::Error)
    );
    assert_eq!(
        (finding.line(), finding.accesses()[0].thread),
        (6, [31, 0, 0])
    );
    // The device still works.
    kernels
        .beyond(Grid::new(1, 32), &mut x, 0)
        .unwrap()
        .assert_clean();
    assert_eq!(device.launches().len(), 2);
}

#[test]
fn other_faults_are_errors_too() {
    let device = device();
    let kernels = k::load(&device).unwrap();
    let kind = |result: dslc::Result<dslc::Run>| {
        let error = result.unwrap_err();
        error
            .findings()
            .first()
            .map(|finding| finding.kind().to_string())
    };
    let mut x = device.zeroed::<f32>(32).unwrap();
    let some = |kind: &str| Some(kind.to_string());
    assert_eq!(
        kind(kernels.misaligned(Grid::new(1, 1), &mut x)),
        some("misaligned")
    );
    assert_eq!(kind(kernels.asserts(Grid::new(1, 1), 3)), some("assertion"));
    let mut null = Buffer::<f32>::null(&device);
    assert_eq!(
        kind(kernels.beyond(Grid::new(1, 1), &mut null, 0)),
        some("null_pointer")
    );
    let mut flag = device.zeroed::<i32>(1).unwrap();
    assert_eq!(
        kind(kernels.forever(Grid::new(1, 1), &mut flag)),
        some("deadlock")
    );
    assert_eq!(
        kind(kernels.nothing(Grid::new(1, 2048))),
        some("invalid_launch")
    );
}

#[test]
fn a_refused_launch_says_the_limit() {
    let device = device();
    let kernels = k::load(&device).unwrap();
    let error = kernels.nothing(Grid::new(1, 2048)).unwrap_err().to_string();
    assert!(error.contains("2048") && error.contains("1024"), "{error}");
    let error = kernels
        .nothing(Grid::new([1, 70_000], 1))
        .unwrap_err()
        .to_string();
    assert!(error.contains("65535"), "{error}");
}

#[test]
fn dynamic_shared_memory_has_to_be_said() {
    let device = device();
    let kernels = k::load(&device).unwrap();
    let mut x = device.zeroed::<f32>(32).unwrap();
    let error = kernels
        .dynamic(Grid::new(1, 32), &mut x)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("extern __shared__ double d[]") && error.contains(".shared(bytes)"),
        "{error}"
    );
    let error = kernels
        .dynamic(Grid::new(1, 32).shared(31 * 8), &mut x)
        .unwrap_err();
    assert_eq!(error.findings()[0].kind(), "out_of_bounds");
    assert!(
        error
            .to_string()
            .contains("the launch gives 248 bytes of dynamic shared memory"),
        "{error}"
    );
    kernels
        .dynamic(Grid::new(1, 32).shared(32 * 8), &mut x)
        .unwrap()
        .assert_clean();
}

#[test]
fn races_are_findings_and_panic_with_the_report() {
    let device = device();
    let mut x = device.zeroed::<f32>(32).unwrap();
    let run = k::load(&device)
        .unwrap()
        .halves(Grid::new(1, 64), &mut x)
        .unwrap();
    assert!(!run.is_clean());
    assert_eq!(run.findings()[0].kind(), "race");
    assert!(run.findings()[0].accesses().len() >= 2);
    let panic = std::panic::catch_unwind(|| run.assert_clean()).unwrap_err();
    let text = panic.downcast_ref::<String>().expect("a message");
    assert!(
        text.starts_with("the launch of `halves` is not clean"),
        "{text}"
    );
    assert!(text.contains("s[threadIdx.x + 32]"), "{text}");
    assert!(run.report().contains("race"), "{}", run.report());
    let page = run.html();
    assert!(
        page.starts_with("<!doctype html>") && page.contains("id=finding-0"),
        "{page}"
    );
    let json: serde_json::Value = serde_json::from_str(&run.json()).unwrap();
    assert_eq!(json["findings"][0]["kind"], "race");
    assert_eq!(json["launches"][0]["kernel"], "halves");
}

#[test]
fn what_nobody_wrote_cannot_be_read_back() {
    let device = device();
    let kernels = k::load(&device).unwrap();
    let input = device.buffer(&[7; 48]).unwrap();
    let mut output = device.uninit::<i32>(64).unwrap();
    kernels
        .copy(Grid::new(1, 48), &input, &mut output)
        .unwrap()
        .assert_clean();
    assert_eq!(output.slice(0..48).unwrap().read().unwrap(), [7; 48]);
    let error = output.read().unwrap_err().to_string();
    assert!(
        error.contains("elements 48 to 63 were never written, of 64"),
        "{error}"
    );
    let quiet = Device::builder(Arch::SM_90).checks(Checks::NONE);
    let device = quiet.build().expect("a simulator");
    assert_eq!(device.uninit::<i32>(2).unwrap().read().unwrap(), [0, 0]);
}

#[test]
fn other_findings() {
    let device = device();
    let kernels = k::load(&device).unwrap();
    let mut x = device.zeroed::<f32>(64).unwrap();
    // The threads that do not wait end, which CUDA leaves undefined, below sm_70 and above.
    let run = kernels.some_wait(Grid::new(1, 64), &mut x);
    let findings = match &run {
        Ok(run) => run.findings(),
        Err(error) => error.findings(),
    };
    assert_eq!(findings[0].kind(), "barrier_divergence");

    let unset = device.uninit::<i32>(32).unwrap();
    let mut out = device.zeroed::<i32>(32).unwrap();
    let run = kernels.copy(Grid::new(1, 32), &unset, &mut out).unwrap();
    assert_eq!(run.findings()[0].kind(), "uninitialized");

    let run = kernels.divide(Grid::new(1, 32), &mut out, 0).unwrap();
    assert_eq!(run.findings()[0].kind(), "division_by_zero");
    assert_eq!(run.findings()[0].severity(), Severity::Warning);
}

#[test]
fn counts_are_asserted_by_text() {
    let device = device();
    let mut x = device.zeroed::<f32>(32).unwrap();
    let run = k::load(&device)
        .unwrap()
        .conflicts(Grid::new(1, 32), &mut x)
        .unwrap();
    let store = run.store("t[threadIdx.x] [0]");
    assert_eq!(
        (store.requests(), store.transactions(), store.ideal()),
        (1, Some(32), Some(1))
    );
    assert_eq!(
        (store.bank_conflicts(), store.max_degree()),
        (Some(31), Some(32))
    );
    assert_eq!(store.sectors(), None, "shared memory has no sectors");
    // The load and the store.
    assert_eq!(run.site("t[threadIdx.x][0]").transactions(), Some(64));
    assert_eq!(run.store("x[threadIdx.x]").sectors_per_request(), Some(4.0));
    assert_eq!(
        run.metric("shared_load_transactions_per_request"),
        Some(32.0)
    );
    assert_eq!(run.metric("gst_efficiency"), Some(1.0));
    let panic = std::panic::catch_unwind(|| run.site("t[0]")).unwrap_err();
    let text = panic.downcast_ref::<String>().expect("a message");
    assert!(
        text.contains("there is no access `t[0]`")
            && text.contains("shared store  t[threadIdx.x][0]"),
        "{text}"
    );
    let panic = std::panic::catch_unwind(|| run.metric("gst_eficiency")).unwrap_err();
    let text = panic.downcast_ref::<String>().expect("a message");
    assert!(text.contains("gst_efficiency"), "{text}");
}

#[test]
fn what_was_asked_of_the_device_is_done() {
    let device = Device::builder(Arch::SM_90)
        .jobs(1)
        .checks(Checks::NONE)
        .order(Order::Descending)
        .limit(10_000)
        .build()
        .unwrap();
    let kernels = k::load(&device).unwrap();
    let mut x = device.zeroed::<f32>(32).unwrap();
    kernels
        .halves(Grid::new(1, 64), &mut x)
        .unwrap()
        .assert_clean();
    assert_eq!(
        kernels.says(Grid::new(1, 2), 5).unwrap().printed(),
        "n is 5\nn is 5\n"
    );
    let eight = Device::builder(Arch::SM_90)
        .bank_width(dslc::BankWidth::Eight)
        .build();
    assert!(eight.unwrap_err().to_string().contains("sm_90"));
    let launches = device.launches();
    assert_eq!((launches.len(), launches.total()), (2, 2));
    let kernels: Vec<String> = launches
        .iter()
        .map(|run| run.kernel().to_string())
        .collect();
    assert_eq!(kernels, ["halves", "says"]);
}

#[test]
fn buffers_belong_to_their_device() {
    let (one, two) = (device(), device());
    let mut x = two.zeroed::<f32>(32).unwrap();
    let error = k::load(&one)
        .unwrap()
        .halves(Grid::new(1, 64), &mut x)
        .unwrap_err();
    assert!(error.to_string().contains("another device"), "{error}");
}
