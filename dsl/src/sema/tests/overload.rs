//! Overloads: ambiguous calls, calls that nothing fits, repeated declarations. `tests/programs/overloads.k` tests which function is called.

use super::{expect, passes};

#[test]
fn calls_that_mean_no_one_function() {
    let lines = expect(
        "__device__ int f(int a, double b) { return 1; }
__device__ int f(double a, int b) { return 2; }
__device__ int g(int a, int b = 2) { return a; }
__device__ int g(float a) { return 1; }
__device__ int h(long a) { return 1; }
__device__ int h(float a) { return 1; }
__global__ void k(int *d) { d[0] = 1; }
__global__ void k(float *d) { d[0] = 1; }
__global__ void all(int *d) {
    d[0] = f(1, 1); //~ E0520
    d[1] = f(1, 2.0);
    d[2] = f(d, 1); //~ E0521
    d[3] = g(1, 2, 3); //~ E0521
    d[4] = g(d); //~ E0521
    d[5] = h(1); //~ E0520
    d[6] = h(1u); //~ E0520
    d[7] = h(1.0); //~ E0520
    d[8] = g(1.0f) + g(1);
    d[9] = f(missing, 1); //~ E0401
}
int main() {
    double *p = 0;
    k<<<1, 1>>>(p); //~ E0521
    k<<<1, 1>>>((int *)0);
    cudaFuncSetCacheConfig(k, cudaFuncCachePreferL1); //~ E0520
}
",
    );
    assert!(lines.contains("this call of `f` is ambiguous"), "{lines}");
}

#[test]
fn declarations_of_overloads() {
    expect(
        "__device__ int f(int a, int b = 1);
__device__ int f(int a, int b = 2) { return a; } //~ E0402
__device__ float f(int a, int b); //~ E0408
__device__ int f(float a);
__device__ int g(int a = 1, int b) { return a; } //~ E0515
int twice(int a) { return 1; }
int twice(int b) { return 2; } //~ E0402
int main() { return 0; }
int main(int argc, char **argv) { return 0; } //~ E0402
__global__ void use(int *d) {
    d[0] = f(1.5f); //~ E0405
    d[1] = g(); //~ E0503
}
",
    );
}

#[test]
fn a_default_is_read_where_the_function_stands() {
    passes(
        "__device__ const int size = 4;
__device__ int f(int n = size * 2) { return n; }
__global__ void k(int *d) { int size = 1; d[0] = f() + size; }
",
    );
}

#[test]
fn kernels_of_one_name_are_told_apart() {
    let program = passes(
        "__global__ void scale(float *d, float by) { d[0] *= by; }
__global__ void scale(const int *d, int n) { }
__global__ void alone(int *d) { }
",
    );
    let names: Vec<&str> = program
        .functions
        .iter()
        .map(|function| function.name.as_str())
        .filter(|name| name.starts_with("scale") || *name == "alone")
        .collect();
    assert_eq!(
        names,
        ["scale(float*, float)", "scale(const int*, int)", "alone"]
    );
}
