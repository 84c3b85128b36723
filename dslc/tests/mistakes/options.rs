dslc::kernel! { mod a(instance = [fill<float>]) { template <typename T> __global__ void fill(T *x) {} } } //~ 23 did you mean `instances`
dslc::kernel! { mod b(fmad = 3) { __global__ void k() {} } } //~ 30 `fmad` is `true` or `false`
dslc::kernel! { fn b { __global__ void k() {} } } //~ 1 expected `mod name
dslc::include_kernel!(mod c { __global__ void k() {} }); //~ 27 expected a path
