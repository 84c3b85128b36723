//! A device that counts launches from some of their blocks: the counts are those of a full run, and results that are read are computed.

use dslc::{Arch, Device, Grid, Run, kernel};

kernel! { mod first {
    __global__ void twice(float *to, const float *from, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) to[i] = 2 * from[i];
    }
    __global__ void large(int *count, const float *from, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n && from[i] > 10) atomicAdd(count, 1);
    }
} }
kernel! { mod second {
    __global__ void reversed(float *to, const float *from, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) to[n - 1 - i] = from[i];
    }
} }

/// A counting device, and one that runs every launch.
fn devices() -> dslc::Result<[Device; 2]> {
    let builder = Device::builder(Arch::SM_90).checks(dslc::Checks::NONE);
    Ok([builder.clone().count_only(true).build()?, builder.build()?])
}

/// Launches of both modules, their results, and how many elements are large.
fn launches(device: &Device) -> dslc::Result<(Vec<Run>, Vec<f32>, i32)> {
    let n = 5000;
    let elements: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let a = device.buffer(&elements)?;
    let (mut b, mut c) = (device.uninit::<f32>(n)?, device.uninit::<f32>(n)?);
    let mut count = device.zeroed::<i32>(1)?;
    let (grid, n) = (Grid::cover(n, 64), n as i32);
    let (first, second) = (first::load(device)?, second::load(device)?);
    let runs = vec![
        first.twice(grid, &mut b, &a, n)?,
        second.reversed(grid, &mut c, &b, n)?,
        first.twice(grid, &mut b, &c, n)?,
        first.large(grid, &mut count, &b, n)?,
    ];
    Ok((runs, b.read()?, count.read()?[0]))
}

#[test]
fn counts_and_results_are_those_of_a_full_run() -> dslc::Result<()> {
    let [counting, full] = devices()?;
    let (counted, elements, count) = launches(&counting)?;
    let (ran, right, all) = launches(&full)?;
    assert_eq!((elements, count), (right, all));
    for (counted, ran) in counted.iter().zip(&ran) {
        assert_eq!(counted.sites(), ran.sites());
        assert_eq!(ran.counted_from(), None);
    }
    let from: Vec<_> = counted.iter().map(Run::counted_from).collect();
    assert!(
        from[..3].iter().all(|blocks| matches!(blocks, Some(1..=8))),
        "{from:?}"
    );
    assert_eq!(from[3], None, "it decides by what it reads");
    Ok(())
}

#[test]
fn a_result_that_takes_long_is_no_number() -> dslc::Result<()> {
    let [counting, _] = devices()?;
    let n = 1 << 28;
    let a = counting.uninit::<f32>(n)?;
    let mut b = counting.uninit::<f32>(n)?;
    let first = first::load(&counting)?;
    first.twice(Grid::cover(n, 256), &mut b, &a, n as i32)?;
    let error = b.slice(0..4)?.read().unwrap_err().to_string();
    assert!(
        error.starts_with("cannot read a result of a launch of `twice`, which was only counted: computing it would take"),
        "{error}"
    );
    b.slice(0..4)?.write(&[1.0; 4])?;
    assert_eq!(b.slice(0..4)?.read()?, [1.0; 4], "that is known now");
    Ok(())
}
