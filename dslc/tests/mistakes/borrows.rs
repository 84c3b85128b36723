// A buffer that is both read and written has to be an alias.
dslc::kernel! { mod k { __global__ void copy(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; } } }

pub fn wrong(device: &dslc::Device) -> dslc::Result<()> {
    let mut x = device.zeroed::<f32>(32)?;
    let kernels = k::load(device)?;
    kernels.copy(dslc::Grid::new(1, 32), &x, &mut x)?; //~ 46 E0502
    kernels.copy(dslc::Grid::new(1, 32), &x.alias(), &mut x)?;
    Ok(())
}
