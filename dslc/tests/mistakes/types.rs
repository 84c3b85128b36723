dslc::kernel! { mod k {
    __global__ void k(index_t n, float *out) { out[0] = n; } //~ 23 there is no type `index_t`
} }
