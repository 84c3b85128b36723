//! Tests the output of `dslc bind`: `cd dslc/tests/bound && dslc bind ../kernels/particles.k > particles.rs`. The module has a test that
//! fails if the kernels are newer; `tests/it/bind.rs` checks that the command still writes this.

use dslc::{Arch, Device, Grid, float3};

#[path = "../bound/particles.rs"]
mod particles;

#[test]
fn a_bound_module_is_used_as_the_macro_s() -> dslc::Result<()> {
    let device = Device::simulator(Arch::SM_90)?;
    let kernels = particles::load(&device)?;
    let particle = particles::Particle {
        position: float3::new(1.0, 2.0, 3.0),
        velocity: [10.0, 0.0, 0.0],
        kind: 1,
    };
    let mut p = device.buffer(&[particle])?;
    let calm = particles::Wind::default();
    kernels.set_wind(&calm)?;
    let run = kernels.step(Grid::new(1, 32), &mut p, calm, 2.0, 1)?;
    run.assert_clean();
    assert_eq!(p.read()?[0].position.x, 21.0);
    assert_eq!(kernels.collisions()?, 4);
    assert!(run.report().contains("p[i].position.x += dt"), "{run}");
    Ok(())
}
