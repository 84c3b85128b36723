//! References and objects in kernels: names for slots, memory only where an address is needed.

use super::{accesses, kernel};

/// The accesses of a kernel and its number of variables in local memory.
fn costs(text: &str) -> (Vec<String>, usize) {
    let function = kernel(text);
    (accesses(&function), function.locals.len())
}

#[test]
fn a_reference_to_a_scalar_is_its_slot() {
    let by_hand = costs("__global__ void k(int *d, int n) { int a = n; a += 2; d[0] = a; }");
    let referred = costs(
        "__device__ void bump(int &x, int by) { x += by; }
         __global__ void k(int *d, int n) { int a = n; bump(a, 2); int &b = a; d[0] = b; }",
    );
    assert_eq!(by_hand, referred);
    assert_eq!(referred.1, 0);
}

#[test]
fn an_address_behind_a_reference_needs_memory() {
    let text = "__device__ void inner(int &x) { atomicAdd(&x, 1); }
         __device__ void outer(int &x) { inner(x); }
         __global__ void k(int *d, int n) { int a = n; outer(a); d[0] = a; }";
    assert_eq!(costs(text).1, 1);
}

#[test]
fn methods_work_on_the_object_in_its_slots() {
    let text = "struct V { float x, y; __device__ V(float a, float b) : x(a), y(b) {}
           __device__ V &operator+=(const V &o) { x += o.x; y += o.y; return *this; }
           __device__ float dot(const V &o) const { return x * o.x + y * o.y; } };
         __global__ void k(float *d, float a) { V v(a, 1); v += V(2, a); (v += v) += v; d[0] = v.dot(v); }";
    let (accesses, n_locals) = costs(text);
    assert_eq!(accesses.len(), 1, "{accesses:?}");
    assert_eq!(n_locals, 0);
}

#[test]
fn an_element_is_found_once() {
    let text = "__device__ void bump(int &x) { x += 1; x += 2; }
         __global__ void k(int *d, int i) { bump(d[i]); }";
    let (accesses, n_locals) = costs(text);
    assert_eq!(accesses.len(), 4, "{accesses:?}");
    assert_eq!(n_locals, 0);
}

#[test]
fn copies_that_a_lambda_captures_are_slots() {
    let text = "__global__ void k(int *d, int n) { auto f = [=](int x) { return x * n; }; d[0] = f(2) + f(3); }";
    assert_eq!(costs(text).1, 0);
}
