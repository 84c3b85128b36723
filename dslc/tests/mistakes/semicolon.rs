// The place of a missing token is after the token before it.
dslc::kernel! { mod k {
    __global__ void k(float *x)
    {
        float a = 1.0f //~ 23 E0301
        x[0] = a;
    }
} }
