// The place of what is missing is behind what comes before.
dslc::kernel! { mod k {
    __global__ void k(float *x)
    {
        float a = 1.0f //~ 23 E0301
        x[0] = a;
    }
} }
