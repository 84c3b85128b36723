//! Inputs and outputs: numbers, vectors, structures, variables, templates, parts of buffers.

use dslc::{Arch, Buffer, Device, Grid, float2, float3, float4, include_kernel, kernel, uchar4};

include_kernel!(mod particles = "../kernels/particles.k");

kernel! { mod scalars {
    // Each parameter arrives with its type; values that do not fit into 32 bits show it.
    __global__ void gather(double *out, bool b, char c, unsigned char uc, short s, unsigned short us, int i, unsigned u,
                           long l, unsigned long long ull, size_t z, float f, double d)
    {
        out[0] = b; out[1] = c; out[2] = uc; out[3] = s; out[4] = us; out[5] = i; out[6] = u;
        out[7] = l; out[8] = ull; out[9] = z; out[10] = f; out[11] = d;
    }
    __global__ void vectors(float4 *out, const uchar4 *colours, float4 add)
    {
        uchar4 c = colours[threadIdx.x];
        out[threadIdx.x] = make_float4(c.x + add.x, c.y + add.y, c.z + add.z, c.w + add.w);
    }
    __global__ void flags(const bool *in, bool *out) { out[threadIdx.x] = !in[threadIdx.x]; }
    __global__ void bytes(const void *in, unsigned char *out) { out[threadIdx.x] = ((const unsigned char *)in)[threadIdx.x]; }
    __global__ void row_sums(const float (*rows)[4], float *out)
    {
        float sum = 0;
        for (int j = 0; j < 4; j++) sum += rows[threadIdx.x][j];
        out[threadIdx.x] = sum;
    }
    __global__ void through(float **rows, float value) { rows[blockIdx.x][threadIdx.x] = value; }
} }

kernel! {
    /// Kernels of templates, and macros.
    pub(crate) mod templates(instances = [fill<float, 2>, fill<int, 3> as fill_int], defines = [START = 40, LATER]) {
        template <typename T, int N> __global__ void fill(T *out, T value)
        {
            for (int i = 0; i < N; i++) out[threadIdx.x * N + i] = value;
        }
        #ifdef LATER
        #define STEP(x) ((x) + 2)
        #else
        #define STEP(x) (x)
        #endif
        __global__ void macros(int *out) { *out = STEP(START); }
        namespace inner { __global__ void k(int *out) { *out = 1; } }
        __global__ void match(int *out, int type, int self) { *out = type + self; }
        __global__ void load(int *grid, int call) { *grid = call; }
    }
}

kernel!(mod text = r##"
#define GLUE(a, b) a##b
__global__ void k(float *out)
{
    out[0] = GLUE(1, 2) + 0x1.8p3 + '\a' \
        + '\0';
}
"##);

#[test]
fn scalars_arrive_as_what_they_are() -> dslc::Result<()> {
    let device = Device::simulator(Arch::SM_90)?;
    let mut out = device.zeroed::<f64>(12)?;
    let run = scalars::load(&device)?.gather(
        Grid::new(1, 1),
        &mut out,
        true,
        -7,
        200,
        -300,
        60_000,
        -70_000,
        4_000_000_000,
        -5_000_000_000,
        1 << 40,
        6_000_000_000,
        0.5,
        1e-3,
    )?;
    run.assert_clean();
    let want = [
        1.0,
        -7.0,
        200.0,
        -300.0,
        60_000.0,
        -70_000.0,
        4e9,
        -5e9,
        (1u64 << 40) as f64,
        6e9,
        0.5,
        1e-3,
    ];
    assert_eq!(out.read()?, want);
    Ok(())
}

#[test]
fn vectors_flags_rows_and_bytes() -> dslc::Result<()> {
    let device = Device::simulator(Arch::SM_90)?;
    let kernels = scalars::load(&device)?;
    let colours = device.buffer(&[uchar4::new(1, 2, 3, 255), uchar4::new(9, 8, 7, 6)])?;
    let mut out = device.zeroed::<float4>(2)?;
    let add = float4::new(0.5, 1.5, 2.5, 3.5);
    let run = kernels.vectors(Grid::new(1, 2), &mut out, &colours, add)?;
    assert_eq!(out.read()?[1], float4::new(9.5, 9.5, 9.5, 9.5));
    // Each lane 16 bytes: one request, one sector.
    assert_eq!(run.store("out[threadIdx.x]").sectors(), Some(1));

    let flags = device.buffer(&[true, false, true])?;
    let mut inverse = device.uninit::<bool>(3)?;
    kernels.flags(Grid::new(1, 3), &flags, &mut inverse)?;
    assert_eq!(inverse.read()?, [false, true, false]);

    let word = device.buffer(&[0x0403_0201u32])?;
    let mut bytes = device.zeroed::<u8>(4)?;
    kernels.bytes(Grid::new(1, 4), &word, &mut bytes)?;
    assert_eq!(bytes.read()?, [1, 2, 3, 4]);

    let rows = device.buffer(&[[1.0f32, 2.0, 3.0, 4.0], [5.0; 4]])?;
    let mut sums = device.zeroed::<f32>(2)?;
    kernels.row_sums(Grid::new(1, 2), &rows, &mut sums)?;
    assert_eq!(sums.read()?, [10.0, 20.0]);

    let parts = [device.zeroed::<f32>(2)?, device.zeroed::<f32>(2)?];
    let mut pointers = device.buffer(&parts.each_ref().map(Buffer::pointer))?;
    kernels.through(Grid::new(2, 2), &mut pointers, 3.0)?;
    assert_eq!(parts[1].read()?, [3.0, 3.0]);
    Ok(())
}

#[test]
fn structures_have_the_kernels_layout() -> dslc::Result<()> {
    let device = Device::simulator(Arch::SM_90)?;
    let kernels = particles::load(&device)?;
    assert_eq!(size_of::<particles::Particle>(), 32);
    let light = particles::Particle {
        position: float3::new(1.0, 2.0, 3.0),
        velocity: [10.0, 20.0, 30.0],
        kind: 0,
    };
    let heavy = particles::Particle { kind: 1, ..light };
    let mut p = device.buffer(&[light, heavy, heavy])?;
    kernels.set_wind(&particles::Wind {
        force: float2::new(100.0, 0.0),
        damping: 0.0,
    })?;
    let gust = particles::Wind {
        force: float2::new(1000.0, 0.0),
        damping: 0.5,
    };
    assert_eq!(kernels.collisions()?, 3);
    kernels
        .step(Grid::cover(3, 32), &mut p, gust, 2.0, 3)?
        .assert_clean();
    let after = p.read()?;
    assert_eq!(after[0].position, float3::new(1.0 + 2.0 * 1110.0, 2.0, 3.0));
    assert_eq!(after[2].velocity, [10.0, 20.0, 15.0]);
    assert_eq!((after[0].kind, after[2].kind), (0, 1));
    assert_eq!(kernels.collisions()?, 5);
    kernels.set_collisions(7)?;
    // The same kernels: their variables belong to the device.
    assert_eq!(particles::load(&device)?.collisions()?, 7);
    // Another device has separate variables.
    let other = Device::simulator(Arch::SM_90)?;
    assert_eq!(particles::load(&other)?.collisions()?, 3);
    Ok(())
}

#[test]
fn structures_hold_pointers_and_large_variables_are_vectors() -> dslc::Result<()> {
    let device = Device::simulator(Arch::SM_90)?;
    let kernels = particles::load(&device)?;
    let (x, y) = (device.buffer(&[1.0f32, 2.0])?, device.zeroed::<f32>(2)?);
    let columns = particles::Columns {
        r#in: x.pointer(),
        out: y.pointer(),
        n: 2,
    };
    kernels
        .scale(Grid::new(1, 32), columns, 3.0)?
        .assert_clean();
    assert_eq!(y.read()?, [3.0, 6.0]);

    kernels.set_history(&vec![1.0; 20_000])?;
    kernels.remember(Grid::new(1, 2), 5.0)?;
    assert_eq!(kernels.history()?[..3], [5.0, 5.0, 1.0]);
    let error = kernels.set_history(&[1.0]).unwrap_err().to_string();
    assert_eq!(error, "`history` has 20000 elements, not 1");
    Ok(())
}

#[test]
fn templates_macros_and_names_that_rust_keeps() -> dslc::Result<()> {
    let device = Device::simulator(Arch::SM_90)?;
    let kernels = templates::load(&device)?;
    let mut floats = device.zeroed::<f32>(4)?;
    kernels.fill_float_2(Grid::new(1, 2), &mut floats, 2.5)?;
    assert_eq!(floats.read()?, [2.5; 4]);
    let mut ints = device.zeroed::<i32>(6)?;
    kernels.fill_int(Grid::new(1, 2), &mut ints, 9)?;
    assert_eq!(ints.read()?, [9; 6]);
    let mut one = device.zeroed::<i32>(1)?;
    kernels.macros(Grid::new(1, 1), &mut one)?;
    assert_eq!(one.read()?, [42]);
    kernels.r#match(Grid::new(1, 1), &mut one, 3, 4)?;
    assert_eq!(one.read()?, [7]);
    kernels.inner_k(Grid::new(1, 1), &mut one)?;
    assert_eq!(one.read()?, [1]);
    kernels.load(Grid::new(1, 1), &mut one, 8)?;
    assert_eq!(one.read()?, [8]);
    Ok(())
}

#[test]
fn a_string_may_hold_what_rust_cannot_read() -> dslc::Result<()> {
    let device = Device::simulator(Arch::SM_90)?;
    let mut out = device.zeroed::<f32>(1)?;
    let run = text::load(&device)?.k(Grid::new(1, 1), &mut out)?;
    assert_eq!(out.read()?, [12.0 + 12.0 + 7.0]);
    // The line of this file.
    let line = run.store("out[0]").line() as usize;
    let text = include_str!("values.rs").lines().nth(line - 1);
    assert!(
        text.is_some_and(|text| text.contains("out[0] = GLUE")),
        "{text:?}"
    );
    Ok(())
}

#[test]
fn parts_and_aliases_are_the_same_memory() -> dslc::Result<()> {
    let device = Device::simulator(Arch::SM_90)?;
    let kernels = particles::load(&device)?;
    let all = device.buffer(&[1.0f32, 2.0, 3.0, 4.0])?;
    let tail = all.slice(2..4)?;
    assert_eq!((tail.len(), tail.read()?), (2, vec![3.0, 4.0]));
    let in_place = particles::Columns {
        r#in: tail.pointer(),
        out: tail.alias().pointer(),
        n: 2,
    };
    kernels.scale(Grid::new(1, 2), in_place, 10.0)?;
    assert_eq!(all.read()?, [1.0, 2.0, 30.0, 40.0]);
    assert!(all.slice(3..5).is_err());
    let in_use = device.bytes_in_use();
    drop(tail);
    assert_eq!(device.bytes_in_use(), in_use, "the part keeps the whole");
    drop(all);
    assert!(device.bytes_in_use() < in_use);
    Ok(())
}

#[test]
fn lines_are_those_of_this_file() -> dslc::Result<()> {
    let device = Device::simulator(Arch::SM_90)?;
    let mut out = device.zeroed::<float4>(1)?;
    let colours = device.buffer(&[uchar4::default()])?;
    let run =
        scalars::load(&device)?.vectors(Grid::new(1, 1), &mut out, &colours, float4::default())?;
    let site = run.load("colours[threadIdx.x]");
    let line = include_str!("values.rs")
        .lines()
        .nth(site.line() as usize - 1);
    let line = line.expect("the file has the line");
    assert_eq!(
        line.find("colours[threadIdx.x]"),
        Some(site.column() as usize - 1),
        "{line}"
    );
    assert!(run.report().contains("uchar4 c = colours[threadIdx.x];"));
    Ok(())
}

#[cfg(feature = "half")]
mod half {
    use dslc::{Arch, Device, Grid, half::f16, kernel};

    kernel! { mod halves {
        #include <cuda_fp16.h>
        __global__ void axpy(half a, const half2 *x, half2 *y)
        {
            y[threadIdx.x] = __hfma2(__half2half2(a), x[threadIdx.x], y[threadIdx.x]);
        }
    } }

    #[test]
    fn half_precision() -> dslc::Result<()> {
        let device = Device::simulator(Arch::SM_90)?;
        let half = f16::from_f32;
        let pair = |x: f32, y: f32| dslc::half2::new(half(x), half(y));
        let x = device.buffer(&[pair(1.0, 2.0)])?;
        let mut y = device.buffer(&[pair(0.5, 0.25)])?;
        halves::load(&device)?.axpy(Grid::new(1, 1), half(3.0), &x, &mut y)?;
        assert_eq!(y.read()?, [pair(3.5, 6.25)]);
        Ok(())
    }
}

kernel! { mod names(instances = [both<3> as three, both<5, 9>, copy<unsigned>]) {
    template <int A, int B = A + 1> __global__ void both(int *out) { out[0] = A; out[1] = B; }
    template <typename T> __global__ void copy(const T *in, T *out) { out[threadIdx.x] = in[threadIdx.x]; }
    namespace image { __constant__ float gain[2]; __global__ void scale(float *x) { *x *= gain[1]; } }
    struct Unused { float2 at; int n; };
} }

#[test]
fn names_are_as_they_were_asked_for() -> dslc::Result<()> {
    let device = Device::simulator(Arch::SM_90)?;
    let kernels = names::load(&device)?;
    let mut out = device.zeroed::<i32>(2)?;
    kernels.three(Grid::new(1, 1), &mut out)?;
    assert_eq!(out.read()?, [3, 4]);
    kernels.both_5_9(Grid::new(1, 1), &mut out)?;
    assert_eq!(out.read()?, [5, 9]);
    let mut copy = device.zeroed::<u32>(1)?;
    kernels.copy_unsigned(Grid::new(1, 1), &device.buffer(&[7u32])?, &mut copy)?;
    assert_eq!(copy.read()?, [7]);
    kernels.set_image_gain(&[1.0, 4.0])?;
    let mut x = device.buffer(&[2.0f32])?;
    kernels.image_scale(Grid::new(1, 1), &mut x)?;
    assert_eq!((x.read()?, kernels.image_gain()?), (vec![8.0], [1.0, 4.0]));
    assert_eq!(device.zeroed::<names::Unused>(2)?.read()?[1].n, 0);
    Ok(())
}

#[test]
fn threads_that_load_at_once_share_the_variables() -> dslc::Result<()> {
    let device = Device::simulator(Arch::SM_90)?;
    let load = |_| {
        let device = device.clone();
        std::thread::spawn(move || particles::load(&device))
    };
    let threads: Vec<_> = (0..8).map(load).collect();
    let mut loaded = Vec::new();
    for thread in threads {
        loaded.push(thread.join().expect("no panic")?);
    }
    loaded[0].set_collisions(11)?;
    for kernels in &loaded {
        assert_eq!(kernels.collisions()?, 11);
    }
    Ok(())
}
