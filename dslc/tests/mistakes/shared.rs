dslc::kernel! { mod k {
    __global__ void k(float *out, int n)
    {
        __shared__ float s[n]; //~ 28 E0
        out[0] = s[0];
    }
} }
