//! Memory spaces and sides.

use super::{expect, passes};

#[test]
fn shared_memory() {
    expect(
        "extern __shared__ float at_file[];
__shared__ int fixed[4];
__global__ void f(int n) {
    extern __shared__ int *p; //~ E0601
    extern __shared__ int one; //~ E0601
    __shared__ float tile[]; //~ E0602
    __shared__ int zero = 0; //~ E0603
    __shared__ int list[2] = { 1, 2 }; //~ E0603
    extern __shared__ int sized[64]; //~ W0601
    static __shared__ int still[4];
    for (int i = 0; i < n; i++) { __shared__ int inside[4]; inside[0] = i; }
    fixed[0] = at_file[0];
    tile[n] = 1; p[0] = 1;
}
__device__ void helper() { __shared__ int s[4]; s[0] = 1; }
int main() {
    __shared__ int s[4]; //~ E0610
    fixed[0] = 1; //~ E0605
}
",
    );
}

#[test]
fn one_dynamic_array_has_one_type() {
    expect(
        "__global__ void a() { extern __shared__ float s[]; s[0] = 1; }
__global__ void b() { extern __shared__ int s[]; s[0] = 1; } //~ E0402
__global__ void c() { extern __shared__ volatile float s[]; s[0] = 1; } //~ E0402
namespace n { __global__ void d() { extern __shared__ int s[]; s[0] = 1; } }
template <typename T> __global__ void e() { extern __shared__ T t[]; t[0] = 1; } //~ E0402
extern __shared__ double file[];
__device__ void f() { extern __shared__ float file[]; file[0] = 1; } //~ E0402
__global__ void g() { extern __shared__ __align__(16) char wide[]; wide[0] = 1; }
__global__ void h() { extern __shared__ __align__(8) char wide[]; wide[0] = 1; } //~ W0602
__global__ void i() { extern __shared__ char wide[]; wide[0] = 1; }
int main() { e<float><<<1, 1>>>(); e<int><<<1, 1>>>(); }
",
    );
}

#[test]
fn sides() {
    expect(
        "int counter = 4;
const int limit = 4;
const float scale = 0.5f;
const int table[2] = { 1, 2 };
__device__ int total;
__constant__ float weights[16];
__managed__ int both;
__global__ void f(int *d) {
    d[0] = counter; //~ E0604
    d[1] = limit;
    d[2] = scale;
    d[3] = table[0]; //~ E0604
    d[4] = total + weights[1] + both;
    weights[0] = 1; //~ E0606
    total = 1;
    const int *p = &limit; //~ E0604
    static int n = 0;
    static const int m = 4;
    __constant__ int c; //~ E0610
}
__host__ __device__ int everywhere() {
    static int n = 0; //~ E0610
    return n;
}
int main() {
    float w[16];
    cudaMemcpyToSymbol(weights, w, sizeof(weights));
    cudaMemcpyToSymbol(weights, w, sizeof(float), 4, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(w, w, 4); //~ E0707
    cudaMemcpyFromSymbol(&w, total, 4);
    total = 1; //~ E0605
    both = 1;
    static int calls = 0;
    return calls++ + counter;
}
",
    );
}

#[test]
fn what_only_one_side_has_matters_where_it_is_reached() {
    let hd = |caller: &str| {
        format!(
            "__host__ __device__ int f() {{ return threadIdx.x; }}\n__host__ __device__ int g() {{ return f(); }}\n{caller}"
        )
    };
    passes(&hd("__global__ void k(int *d) { d[0] = g(); }"));
    let checked = super::check(&hd("int main() { return g(); }"));
    assert_eq!(
        checked.lines(),
        "1: E0609 `threadIdx` does not exist in host code"
    );
}

#[test]
fn unsupported_things_are_named_once() {
    let lines = expect(
        "__global__ void f(int *d, float x) {
    x = curand_poisson(0); //~ E0802
    x = curand_poisson(0);
    d[0] = perror(d); //~ E0802
    cufftHandle s; //~ E0802
    d[1] = undefined; //~ E0401
}
int main() { return expf(1.0f); }
",
    );
    assert!(
        lines.contains("`curand_poisson` is not supported yet (cuRAND)"),
        "{lines}"
    );
}

#[test]
fn atomics_have_cudas_forms() {
    let lines = expect(
        "__global__ void f(int *i, unsigned *u, float *f, double *d, unsigned long long *q, short *s, long *l, const int *c, volatile int *v) {
    i[0] = atomicAdd(i, 1) + atomicSub(i, 1) + atomicCAS(i, 0, 1) + atomicMax(&i[1], 2) + atomicExch(i, 1) + atomicOr(i, 1);
    u[0] = atomicInc(u, 7) + atomicDec(u, 7) + atomicMin(u, 1);
    f[0] = atomicAdd(f, 1) + atomicExch(f, 2);
    d[0] = atomicAdd(d, 1.5) + atomicAdd_block(d, 1);
    q[0] = atomicAdd(q, 1) + atomicAdd_system(q, 1);
    atomicAdd(s, 1); //~ E0516
    atomicAdd(l, 1); //~ E0516
    atomicAdd(c, 1); //~ E0516
    atomicAdd(v, 1); //~ E0516
    atomicAnd(f, 1); //~ E0516
    atomicInc(i, 1); //~ E0516
    atomicAdd(i[0], 1); //~ E0516
    atomicAdd(i); //~ E0503
}
",
    );
    assert!(
        lines.contains("`atomicAdd` has no form for `short *`"),
        "{lines}"
    );
}

#[test]
fn formats() {
    expect(
        "int main() {
    double x = 1; long n = 1; int i = 1;
    printf(\"%d %f %ld %s %c %zu\\n\", i, x, n, \"text\", 'c', sizeof(x));
    printf(\"%d\\n\", x); //~ W0505
    printf(\"%d %d\\n\", i); //~ W0505
    printf(\"%d\\n\", i, i); //~ W0505
    fprintf(stderr, \"%f\\n\", i); //~ W0505
}
",
    );
}
