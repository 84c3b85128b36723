//! Source that is compiled at run time.

use dslc::{Arch, Argument, Device, Grid, Kernels, Number, Passed, Source};

const TEXT: &str = r#"
struct Line { float slope; char offset; };

template <typename T, int N> __global__ void fill(T *out, T value)
{
    out[threadIdx.x] = value + T(N);
}

__global__ void apply(float *y, const float *x, Line line, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = line.slope * x[i] + line.offset;
}

__global__ void turn(int *out)
{
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    SYNC;
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
"#;

fn kernels() -> dslc::Result<Kernels> {
    let source = Source::new("text.cu", TEXT).define("SYNC", "__syncthreads()");
    source.instance("fill<unsigned short, 3>").compile()
}

fn device() -> dslc::Result<Device> {
    Device::simulator(Arch::SM_90)
}

#[test]
fn a_launch_takes_buffers_numbers_and_structures() -> dslc::Result<()> {
    let (device, kernels) = (device()?, kernels()?);
    let x = device.buffer(&[1.0f32, 2.0, 3.0])?;
    let mut y = device.zeroed::<f32>(3)?;
    let mut line = 2.0f32.to_le_bytes().to_vec();
    line.extend([(-5i8) as u8, 0, 0, 0]);
    let apply = kernels.kernel("apply")?;
    let run = apply.launch(
        &device,
        Grid::cover(3, 32),
        &[
            (&mut y).into(),
            (&x).into(),
            Argument::bytes(line),
            Argument::value(&3i32),
        ],
    )?;
    run.assert_clean();
    assert_eq!(y.read()?, [-3.0, -1.0, 1.0]);
    assert_eq!(run.load("x[i]").requests(), 1);
    Ok(())
}

#[test]
fn parameters_are_as_declared() -> dslc::Result<()> {
    let kernels = kernels()?;
    let names: Vec<&str> = kernels.names().collect();
    assert_eq!(names, ["apply", "turn", "fill<unsigned short, 3>"]);
    let apply = kernels.kernel("apply")?;
    assert_eq!(
        apply.prototype(),
        "apply(float *y, const float *x, Line line, int n)"
    );
    let passed: Vec<&Passed> = apply.parameters().iter().map(|one| &one.passed).collect();
    let float = Some(Number::Float);
    let pointer = |is_const| Passed::Pointer {
        element: float,
        element_bytes: 4,
        is_const,
    };
    let value = |bytes, number| Passed::Value { bytes, number };
    assert_eq!(
        passed,
        [
            &pointer(false),
            &pointer(true),
            &value(8, None),
            &value(4, Some(Number::Signed))
        ]
    );
    Ok(())
}

#[test]
fn an_instance_is_found_by_its_name() -> dslc::Result<()> {
    let (device, kernels) = (device()?, kernels()?);
    let mut out = device.zeroed::<u16>(4)?;
    let fill = kernels.kernel("fill<unsigned short,3>")?;
    fill.launch(
        &device,
        Grid::new(1, 4),
        &[(&mut out).into(), Argument::value(&4u16)],
    )?;
    assert_eq!(out.read()?, [7; 4]);
    Ok(())
}

#[test]
fn what_does_not_fit_is_an_error_with_the_parameter() -> dslc::Result<()> {
    let (device, kernels) = (device()?, kernels()?);
    let apply = kernels.kernel("apply")?;
    let x = device.buffer(&[1.0f32; 3])?;
    let wide = device.buffer(&[1.0f64; 3])?;
    let line = || Argument::bytes(vec![0; 8]);
    let n = || Argument::value(&3i32);
    let message = |arguments: &[Argument<'_>]| {
        let launched = apply.launch(&device, Grid::new(1, 32), arguments);
        launched.map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(
        message(&[(&x).into(), (&wide).into(), line(), n()]),
        "argument 2 of `apply`: `const float *x` has elements of 4 bytes, and the buffer's have 8"
    );
    assert_eq!(
        message(&[(&x).into(), n(), line(), n()]),
        "argument 2 of `apply`: `const float *x` is a pointer: it takes a buffer"
    );
    assert_eq!(
        message(&[(&x).into(), (&x).into(), line(), Argument::value(&3i64)]),
        "argument 4 of `apply`: `int n` has 4 bytes, and the value has 8"
    );
    assert_eq!(
        message(&[(&x).into(), (&x).into(), (&x).into(), n()]),
        "argument 3 of `apply`: `Line line` is a value, and this is a buffer"
    );
    assert_eq!(
        message(&[(&x).into()]),
        "`apply` takes 4 arguments, not 1: apply(float *y, const float *x, Line line, int n)"
    );
    let other = kernels.kernel("aply").map(|_| ()).unwrap_err();
    assert_eq!(
        other.to_string(),
        "there is no kernel `aply` in `text.cu`; it has `apply`, `turn`, `fill<unsigned short, 3>`"
    );
    Ok(())
}

#[test]
fn mistakes_are_the_compilers_messages() {
    let wrong = Source::new(
        "wrong.cu",
        "__global__ void k(int *x) {\n    *x = undefined;\n}\n",
    );
    let message = wrong.compile().map(|_| ()).unwrap_err().to_string();
    assert!(
        message.contains("undefined") && message.contains("wrong.cu:2:10"),
        "{message}"
    );
    let none = Source::new("none.cu", "int main() { return 0; }").compile();
    assert_eq!(
        none.map(|_| ()).unwrap_err().to_string(),
        "`none.cu` has no kernel: no function is declared `__global__`"
    );
}

#[test]
fn a_race_of_a_missing_barrier_is_found() -> dslc::Result<()> {
    let device = device()?;
    let without = Source::new("text.cu", TEXT).define("SYNC", "").compile()?;
    let mut out = device.zeroed::<i32>(64)?;
    let grid = Grid::new(1, 64).shared(256);
    let run = without
        .kernel("turn")?
        .launch(&device, grid, &[(&mut out).into()])?;
    assert_eq!(run.findings()[0].kind(), "race");
    let with = kernels()?.kernel("turn")?;
    let run = with.launch(&device, grid, &[(&mut out).into()])?;
    assert!(run.is_clean() && run.messages(false).is_empty());
    assert_eq!(out.read()?[0], 63);
    // Without its shared memory.
    let refused = with.launch(&device, Grid::new(1, 64), &[(&mut out).into()]);
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("extern __shared__ int s[]")
    );
    Ok(())
}

#[test]
fn a_file_includes_what_lies_beside_it() -> dslc::Result<()> {
    let folder = std::env::temp_dir().join(format!("dslc-source-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("size.h"), "#define SIZE 8\n")?;
    let path = folder.join("k.cu");
    std::fs::write(
        &path,
        "#include \"size.h\"\n__global__ void k(int *x) { x[0] = SIZE; }\n",
    )?;
    let kernels = Source::read(&path)?.compile()?;
    let device = device()?;
    let mut x = device.zeroed::<i32>(1)?;
    kernels
        .kernel("k")?
        .launch(&device, Grid::new(1, 1), &[(&mut x).into()])?;
    assert_eq!(x.read()?, [8]);
    // The text alone, without its folder, does not.
    let text = Source::new("k.cu", std::fs::read_to_string(&path)?);
    assert!(text.compile().is_err());
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
