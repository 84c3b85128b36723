// Made by `dslc bind ../kernels/particles.k`: change the kernels, not this file.

//! Kernels of `../kernels/particles.k`.
#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    unreachable_pub,
    unused_mut,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    reason = "the names are the kernels' own, and not each is used"
)]

/// The kernels as the machine runs them, and where they come from.
static PROGRAM: ::dslc::embed::Program = ::dslc::embed::Program {
    name: "../kernels/particles.k",
    ir: r#"module "../kernels/particles.k"
file 0 "../kernels/particles.k"
file 1 "<predefined>"
file 2 "../kernels/particles.h"
file 3 "<cuda runtime>"
file 4 "<predefined>"
global global0 constant "wind" "Wind" : 16 align 8 element 16 = zero !1
global global1 device "collisions" "int" : 4 align 4 element 4 = bytes(03000000) !2
global global2 device "history" "float [20000]" : 80000 align 4 element 4 = zero !3

kernel fn0 @step($0: ptr.global "p" "Particle *", $1: f32 "gust.force.x" "float", $2: f32 "gust.force.y" "float", $3: f32 "gust.damping" "float", $4: f32 "dt" "float", $5: i32 "n" "int") !4 {
  %0 = special.ctaid.x !9
  %1 = special.ntid.x !10
  %2 = mul.i32 %0, %1 !9
  %3 = special.tid.x !11
  %4 = add.i32 %2, %3 !9
  %5 = get $5 !14
  %6 = cmp.sge.i32 %4, %5 !15
  if %6 !15 {
    return
  }
  %7 = get $4 !16
  %8 = get $0 !17
  %9 = ptradd %8, %4 * 32 + 12 !19
  %10 = load.f32.global %9 !20
  %11 = addr global0 !21
  %12 = load.f32.constant.align8 %11 of global0 !22
  %13 = fadd.f32 %10, %12 !19
  %14 = get $1 !23
  %15 = fadd.f32 %13, %14 !19
  %16 = ptradd %8, %4 * 32 !26
  %17 = load.f32.global.align16 %16 !27
  %18 = fma.f32 %7, %15, %17 !26
  store.f32.global.align16 %16, %18 !27
  %19 = get $3 !28
  %20 = ptradd %8, %4 * 32 + 20 !31
  %21 = load.f32.global %20 !32
  %22 = fmul.f32 %21, %19 !31
  store.f32.global %20, %22 !32
  %23 = ptradd %8, %4 * 32 + 24 !35
  %24 = load.u8.global.align8 %23 !36
  %25 = cmp.eq.i32 %24, 1 !35
  if %25 !35 {
    %26 = addr global1 !37
    %27 = atomic.add.i32.global %26, 1 of global1 !38
  }
}

kernel fn1 @scale($0: ptr.global "c.in" "const float *" pointee f32 const, $1: ptr.global "c.out" "float *" pointee f32, $2: i32 "c.n" "int", $3: f32 "factor" "float") !39 {
  %0 = special.tid.x !42
  %1 = get $2 !45
  %2 = cmp.slt.i32 %0, %1 !46
  if %2 !46 {
    %3 = get $0 !47
    %4 = ptradd %3, %0 * 4 !49
    %5 = load.f32.global %4 !50
    %6 = get $3 !51
    %7 = fmul.f32 %5, %6 !49
    %8 = get $1 !52
    %9 = ptradd %8, %0 * 4 !54
    store.f32.global %9, %7 !55
  }
}

kernel fn2 @remember($0: f32 "value" "float") !56 {
  %0 = get $0 !58
  %1 = addr global2 !59
  %2 = special.tid.x !60
  %3 = ptradd %1, zext %2 * 4 !59
  store.f32.global %3, %0 of global2 !61
}

loc !1 = 0:4:19
loc !2 = 0:5:16
loc !3 = 0:6:18
loc !4 = 0:8:17
loc !5 = 0:8:32 "p"
loc !6 = 0:8:40 "gust"
loc !7 = 0:8:52 "dt"
loc !8 = 0:8:60 "n"
loc !9 = 0:10:13
loc !10 = 0:10:26
loc !11 = 0:10:39
loc !12 = 0:10:9 "i"
loc !13 = 0:11:9 "i"
loc !14 = 0:11:14 "n"
loc !15 = 0:11:9
loc !16 = 0:12:24 "dt"
loc !17 = 0:12:30 "p"
loc !18 = 0:12:32 "i"
loc !19 = 0:12:30
loc !20 = 0:12:30 "p[i].velocity[0]"
loc !21 = 0:12:49
loc !22 = 0:12:49 "wind.force.x"
loc !23 = 0:12:64 "gust.force.x"
loc !24 = 0:12:5 "p"
loc !25 = 0:12:7 "i"
loc !26 = 0:12:5
loc !27 = 0:12:5 "p[i].position.x"
loc !28 = 0:13:25 "gust.damping"
loc !29 = 0:13:5 "p"
loc !30 = 0:13:7 "i"
loc !31 = 0:13:5
loc !32 = 0:13:5 "p[i].velocity[2]"
loc !33 = 0:14:9 "p"
loc !34 = 0:14:11 "i"
loc !35 = 0:14:9
loc !36 = 0:14:9 "p[i].kind"
loc !37 = 0:14:40
loc !38 = 0:14:40 "collisions"
loc !39 = 0:19:17
loc !40 = 0:19:31 "c"
loc !41 = 0:19:40 "factor"
loc !42 = 0:21:13
loc !43 = 0:21:9 "i"
loc !44 = 0:22:9 "i"
loc !45 = 0:22:13 "c.n"
loc !46 = 0:22:9
loc !47 = 0:22:29 "c.in"
loc !48 = 0:22:34 "i"
loc !49 = 0:22:29
loc !50 = 0:22:29 "c.in[i]"
loc !51 = 0:22:39 "factor"
loc !52 = 0:22:18 "c.out"
loc !53 = 0:22:24 "i"
loc !54 = 0:22:18
loc !55 = 0:22:18 "c.out[i]"
loc !56 = 0:25:17
loc !57 = 0:25:32 "value"
loc !58 = 0:25:64 "value"
loc !59 = 0:25:41
loc !60 = 0:25:49
loc !61 = 0:25:41 "history[threadIdx.x]"
"#,
    sources: &[("../kernels/particles.k", 1, 1, include_str!("../kernels/particles.k")), ("../kernels/particles.h", 1, 1, include_str!("../kernels/particles.h")), ],
    ptx: &[],
};

/// The kernels on a device: one method each.
#[derive(Clone, Debug)]
pub struct Kernels {
    loaded: ::dslc::embed::Loaded,
}

/// Brings the kernels to a device. Twice on one device is once: the variables are shared.
pub fn load(device: &::dslc::Device) -> ::dslc::Result<Kernels> {
    ::core::result::Result::Ok(Kernels {
        loaded: device.load(&PROGRAM)?,
    })
}

impl Kernels {
    /// Launches `step` of line 8:
    ///
    /// ```cuda
    /// __global__ void step(Particle *p, Wind gust, float dt, int n)
    /// ```
    #[track_caller]
    pub fn step(&self, grid: ::dslc::Grid, p: &mut ::dslc::Buffer<Particle>, gust: Wind, dt: f32, n: i32) -> ::dslc::Result<::dslc::Run> {
        let mut call = self.loaded.call(0, grid);
        call.write(p)?;
        call.value(&gust, &[(0, ::dslc::embed::Scalar::F32), (4, ::dslc::embed::Scalar::F32), (8, ::dslc::embed::Scalar::F32)]);
        call.value(&dt, &[(0, ::dslc::embed::Scalar::F32)]);
        call.value(&n, &[(0, ::dslc::embed::Scalar::I32)]);
        call.launch()
    }

    /// Launches `scale` of line 19:
    ///
    /// ```cuda
    /// __global__ void scale(Columns c, float factor)
    /// ```
    #[track_caller]
    pub fn scale(&self, grid: ::dslc::Grid, c: Columns, factor: f32) -> ::dslc::Result<::dslc::Run> {
        let mut call = self.loaded.call(1, grid);
        call.value(&c, &[(0, ::dslc::embed::Scalar::Ptr), (8, ::dslc::embed::Scalar::Ptr), (16, ::dslc::embed::Scalar::I32)]);
        call.value(&factor, &[(0, ::dslc::embed::Scalar::F32)]);
        call.launch()
    }

    /// Launches `remember` of line 25:
    ///
    /// ```cuda
    /// __global__ void remember(float value)
    /// ```
    #[track_caller]
    pub fn remember(&self, grid: ::dslc::Grid, value: f32) -> ::dslc::Result<::dslc::Run> {
        let mut call = self.loaded.call(2, grid);
        call.value(&value, &[(0, ::dslc::embed::Scalar::F32)]);
        call.launch()
    }

    /// Sets `__constant__ wind`.
    pub fn set_wind(&self, value: &Wind) -> ::dslc::Result<()> {
        self.loaded.set(0, value)
    }

    /// What `__constant__ wind` holds now.
    pub fn wind(&self) -> ::dslc::Result<Wind> {
        self.loaded.get(0)
    }

    /// Sets `__device__ collisions`.
    pub fn set_collisions(&self, value: impl ::core::borrow::Borrow<i32>) -> ::dslc::Result<()> {
        self.loaded.set(1, value.borrow())
    }

    /// What `__device__ collisions` holds now.
    pub fn collisions(&self) -> ::dslc::Result<i32> {
        self.loaded.get(1)
    }

    /// Sets `__device__ history`.
    pub fn set_history(&self, value: &[f32]) -> ::dslc::Result<()> {
        self.loaded.set_elements(2, 20000, value)
    }

    /// What `__device__ history` holds now.
    pub fn history(&self) -> ::dslc::Result<::std::vec::Vec<f32>> {
        self.loaded.elements(2, 20000)
    }
}

/// `struct Particle` of the kernels: 32 bytes, aligned to 16.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particle {
    /// At byte 0.
    pub position: ::dslc::float3,
    /// At byte 12.
    pub velocity: [f32; 3],
    /// At byte 24.
    pub kind: u8,
}

// The kernels' compiler and Rust's have to agree.
const _: () = {
    assert!(::core::mem::size_of::<Particle>() == 32);
    assert!(::core::mem::align_of::<Particle>() == 16);
    assert!(::core::mem::offset_of!(Particle, position) == 0);
    assert!(::core::mem::offset_of!(Particle, velocity) == 12);
    assert!(::core::mem::offset_of!(Particle, kind) == 24);
};

impl ::dslc::Element for Particle {
    const BYTES: usize = 32;

    fn put(&self, bytes: &mut [u8]) {
        ::dslc::Element::put(&self.position, &mut bytes[0..12]);
        ::dslc::Element::put(&self.velocity, &mut bytes[12..24]);
        ::dslc::Element::put(&self.kind, &mut bytes[24..25]);
    }

    fn take(bytes: &[u8]) -> Self {
        Particle {
            position: ::dslc::Element::take(&bytes[0..12]),
            velocity: ::dslc::Element::take(&bytes[12..24]),
            kind: ::dslc::Element::take(&bytes[24..25]),
        }
    }
}

impl ::core::default::Default for Particle {
    fn default() -> Self {
        ::dslc::Element::take(&[0; 32])
    }
}

/// `struct Wind` of the kernels: 16 bytes, aligned to 8.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wind {
    /// At byte 0.
    pub force: ::dslc::float2,
    /// At byte 8.
    pub damping: f32,
}

// The kernels' compiler and Rust's have to agree.
const _: () = {
    assert!(::core::mem::size_of::<Wind>() == 16);
    assert!(::core::mem::align_of::<Wind>() == 8);
    assert!(::core::mem::offset_of!(Wind, force) == 0);
    assert!(::core::mem::offset_of!(Wind, damping) == 8);
};

impl ::dslc::Element for Wind {
    const BYTES: usize = 16;

    fn put(&self, bytes: &mut [u8]) {
        ::dslc::Element::put(&self.force, &mut bytes[0..8]);
        ::dslc::Element::put(&self.damping, &mut bytes[8..12]);
    }

    fn take(bytes: &[u8]) -> Self {
        Wind {
            force: ::dslc::Element::take(&bytes[0..8]),
            damping: ::dslc::Element::take(&bytes[8..12]),
        }
    }
}

impl ::core::default::Default for Wind {
    fn default() -> Self {
        ::dslc::Element::take(&[0; 16])
    }
}

/// `struct Columns` of the kernels: 24 bytes, aligned to 8.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Columns {
    /// At byte 0.
    pub r#in: ::dslc::DevicePointer<f32>,
    /// At byte 8.
    pub out: ::dslc::DevicePointer<f32>,
    /// At byte 16.
    pub n: i32,
}

// The kernels' compiler and Rust's have to agree.
const _: () = {
    assert!(::core::mem::size_of::<Columns>() == 24);
    assert!(::core::mem::align_of::<Columns>() == 8);
    assert!(::core::mem::offset_of!(Columns, r#in) == 0);
    assert!(::core::mem::offset_of!(Columns, out) == 8);
    assert!(::core::mem::offset_of!(Columns, n) == 16);
};

impl ::dslc::Element for Columns {
    const BYTES: usize = 24;

    fn put(&self, bytes: &mut [u8]) {
        ::dslc::Element::put(&self.r#in, &mut bytes[0..8]);
        ::dslc::Element::put(&self.out, &mut bytes[8..16]);
        ::dslc::Element::put(&self.n, &mut bytes[16..20]);
    }

    fn take(bytes: &[u8]) -> Self {
        Columns {
            r#in: ::dslc::Element::take(&bytes[0..8]),
            out: ::dslc::Element::take(&bytes[8..16]),
            n: ::dslc::Element::take(&bytes[16..20]),
        }
    }
}

impl ::core::default::Default for Columns {
    fn default() -> Self {
        ::dslc::Element::take(&[0; 24])
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_module_is_as_new_as_its_kernels() {
        let sources: &[(&str, &[u8], u64)] = &[
            ("../kernels/particles.k", include_bytes!("../kernels/particles.k"), 0x864562b5a86b0ba1),
            ("../kernels/particles.h", include_bytes!("../kernels/particles.h"), 0x33034b880c4c6d1e),
        ];
        ::dslc::embed::assert_current(sources, "dslc bind ../kernels/particles.k");
    }
}
