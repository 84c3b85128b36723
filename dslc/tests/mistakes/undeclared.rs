// An undeclared name, after a comment with letters of more than one byte; and another one.
dslc::kernel! { mod k {
    __global__ void scale(float *x, int n)
    {
        /* größer als */ x[threadIdx.x] = factor * n; //~ 43 E0401
        int last = cout; //~ 20 E0401
    }
} }
