dslc::kernel! { mod k {
    struct P { float v[4]; int count; };
    __device__ int twice(int a) { return 2 * a; }
    __global__ void k(const P *p, int *out)
    {
        out[0] = p->counts; //~ 21 E0403
        out[1] = twice(1, 2); //~ 18 E0
        p->count = 3; //~ 9 E0
    }
} }
