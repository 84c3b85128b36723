//! CUDA's vector types, under the same names: `float4`, `int2`, `uchar4` …
//!
//! Sizes and alignments are those of CUDA's headers: a vector of 2 or 4 components is aligned to its size (at most 16 bytes), one of 3 or 1
//! to its component.

use crate::element::Element;

macro_rules! vectors {
    ($($name:ident, $component:ty, $align:literal, $bytes:literal: $($field:ident)*;)*) => { $(
        #[doc = concat!("CUDA's `", stringify!($name), "`: ", stringify!($bytes), " bytes, aligned to ", stringify!($align), ".")]
        #[allow(non_camel_case_types, reason = "the name is CUDA's")]
        #[repr(C, align($align))]
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name { $(
            #[doc = concat!("Component ", stringify!($field), ".")]
            pub $field: $component,
        )* }

        impl $name {
            /// A vector of these components.
            pub const fn new($($field: $component),*) -> $name {
                $name { $($field),* }
            }
        }

        const _: () = assert!(size_of::<$name>() == $bytes && align_of::<$name>() == $align);

        impl Element for $name {
            const BYTES: usize = $bytes;

            #[inline]
            fn put(&self, bytes: &mut [u8]) {
                const EACH: usize = <$component as Element>::BYTES;
                let components = [$(self.$field),*];
                for (component, bytes) in components.iter().zip(bytes.chunks_exact_mut(EACH)) {
                    component.put(bytes);
                }
            }

            #[inline]
            fn take(bytes: &[u8]) -> $name {
                const EACH: usize = <$component as Element>::BYTES;
                let mut components = bytes.chunks_exact(EACH).map(<$component>::take);
                $(let $field = components.next().unwrap_or_default();)*
                $name { $($field),* }
            }
        }
    )* };
}

vectors! {
    char1, i8, 1, 1: x; char2, i8, 2, 2: x y; char3, i8, 1, 3: x y z; char4, i8, 4, 4: x y z w;
    uchar1, u8, 1, 1: x; uchar2, u8, 2, 2: x y; uchar3, u8, 1, 3: x y z; uchar4, u8, 4, 4: x y z w;
    short1, i16, 2, 2: x; short2, i16, 4, 4: x y; short3, i16, 2, 6: x y z; short4, i16, 8, 8: x y z w;
    ushort1, u16, 2, 2: x; ushort2, u16, 4, 4: x y; ushort3, u16, 2, 6: x y z; ushort4, u16, 8, 8: x y z w;
    int1, i32, 4, 4: x; int2, i32, 8, 8: x y; int3, i32, 4, 12: x y z; int4, i32, 16, 16: x y z w;
    uint1, u32, 4, 4: x; uint2, u32, 8, 8: x y; uint3, u32, 4, 12: x y z; uint4, u32, 16, 16: x y z w;
    long1, i64, 8, 8: x; long2, i64, 16, 16: x y; long3, i64, 8, 24: x y z; long4, i64, 16, 32: x y z w;
    ulong1, u64, 8, 8: x; ulong2, u64, 16, 16: x y; ulong3, u64, 8, 24: x y z; ulong4, u64, 16, 32: x y z w;
    longlong1, i64, 8, 8: x; longlong2, i64, 16, 16: x y; longlong3, i64, 8, 24: x y z; longlong4, i64, 16, 32: x y z w;
    ulonglong1, u64, 8, 8: x; ulonglong2, u64, 16, 16: x y; ulonglong3, u64, 8, 24: x y z; ulonglong4, u64, 16, 32: x y z w;
    float1, f32, 4, 4: x; float2, f32, 8, 8: x y; float3, f32, 4, 12: x y z; float4, f32, 16, 16: x y z w;
    double1, f64, 8, 8: x; double2, f64, 16, 16: x y; double3, f64, 8, 24: x y z; double4, f64, 16, 32: x y z w;
}

#[cfg(feature = "half")]
vectors! {
    half2, half::f16, 4, 4: x y;
    bfloat162, half::bf16, 4, 4: x y;
}
