// A program without mistakes.
dslc::kernel! {
    /// Kernels.
    #[allow(dead_code)]
    pub(crate) mod k {
        #pragma once
        #define SQUARE(x) ((x) * (x))
        __global__ void k(float *out) { out[threadIdx.x] = SQUARE(threadIdx.x); }
    }
}
