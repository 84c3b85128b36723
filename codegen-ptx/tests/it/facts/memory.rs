//! Spaces, addresses and accesses.

use super::*;

#[test]
fn spaces_are_named_and_shared_addresses_have_32_bits() {
    let text = body(
        "float *out, int k",
        "__shared__ float s[64]; float mine[4]; for (int i = 0; i < 4; i++) mine[i] = out[i]; \
         s[threadIdx.x] = mine[k & 3]; __syncthreads(); out[threadIdx.x] = s[threadIdx.x ^ 1];",
    );
    has(
        &text,
        &[
            "st.shared.b32 \t[%r",
            "ld.shared.b32",
            "ld.local.b32",
            "st.global.b32",
            "bar.sync \t0;",
        ],
    );
    has_none(&text, &["ld.b32", "st.b32", "cvta."]);
}

#[test]
fn an_index_of_32_bits_is_widened_by_the_address_only() {
    let text = body(
        "float *a, int n",
        "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = 1;",
    );
    assert_eq!(count(&text, "mul.wide.s32"), 1, "{text}");
    has_none(&text, &["cvt.s64", "mul.lo.s64"]);
}

#[test]
fn a_pointer_of_no_known_space_is_generic() {
    let text = body(
        "int *a, int k",
        "__shared__ int s[32]; s[threadIdx.x] = k; __syncthreads(); int *p = k ? a : s; p[0] = 2; a[1] = s[1];",
    );
    has(&text, &["cvta.shared.u64", "st.b32"]);
}

#[test]
fn volatile_accesses_stay_as_they_are() {
    let text = body("volatile int *a", "a[0]; a[0]; a[1] = 1; a[1] = 1;");
    assert_eq!(count(&text, "ld.volatile.global"), 2, "{text}");
    assert_eq!(count(&text, "st.volatile.global"), 2, "{text}");
    let text = body(
        "int *out",
        "volatile __shared__ int s[64]; s[threadIdx.x] = 1; s[threadIdx.x] = 2; out[0] = s[0];",
    );
    assert_eq!(count(&text, "st.volatile.shared"), 2, "{text}");
    has(&text, &["ld.volatile.shared"]);
}

#[test]
fn vectors_are_one_access() {
    let text = body(
        "float4 *a, int2 *b, double2 *d",
        "float4 v = a[0]; a[1] = make_float4(v.w, v.z, v.y, v.x); int2 w = b[0]; b[1] = make_int2(w.y, w.x); \
         double2 e = d[0]; d[1] = make_double2(e.y, e.x);",
    );
    has(
        &text,
        &[
            "ld.global.v4.b32",
            "st.global.v4.b32",
            "ld.global.v2.b32",
            "st.global.v2.b32",
            "ld.global.v2.b64",
            "st.global.v2.b64",
        ],
    );
    assert_eq!(count(&text, "ld.global"), 3, "{text}");
}

#[test]
fn restricted_constant_pointers_are_read_through_the_texture_cache() {
    let text = body(
        "const float * __restrict__ in, float * __restrict__ out",
        "out[threadIdx.x] = in[threadIdx.x];",
    );
    has(&text, &["ld.global.nc.b32"]);
    let text = body(
        "const float *in, float *out",
        "out[threadIdx.x] = in[threadIdx.x];",
    );
    has_none(&text, &[".nc"]);
}

#[test]
fn atomics_are_relaxed_at_the_device_s_scope() {
    let text = body(
        "int *a, float *f, double *d, unsigned long long *l",
        "atomicAdd(a, 2); atomicAdd(f, 1.0f); atomicAdd(d, 1.0); a[1] = atomicCAS(a, 1, 2); atomicExch(f, 2.0f); \
         atomicInc((unsigned *)a, 5u); atomicDec((unsigned *)a, 5u); l[1] = atomicMax(l, 5ull); atomicMin(a, -1);",
    );
    has(
        &text,
        &[
            "atom.global.add.u32",
            "atom.global.add.f32",
            "atom.global.add.f64",
            "atom.relaxed.gpu.global.cas.b32",
            "atom.global.exch.b32",
            "atom.global.inc.u32",
            "atom.global.dec.u32",
            "atom.global.max.u64",
            "atom.global.min.s32",
        ],
    );
    let text = body(
        "int *a",
        "__shared__ int s; if (threadIdx.x == 0) s = 0; __syncthreads(); atomicAdd(&s, 1); __syncthreads(); a[0] = s;",
    );
    has(&text, &["atom.shared.add.u32"]);
}

#[test]
fn a_shared_value_is_read_again_after_a_barrier() {
    let text = body(
        "int *a",
        "__shared__ int s[32]; s[threadIdx.x & 1] = a[1]; s[0] = 5; __syncthreads(); a[threadIdx.x] = s[0];",
    );
    has(&text, &["ld.shared.b32"]);
}

#[test]
fn all_dynamic_arrays_begin_at_one_place() {
    let text = body(
        "float *out",
        "extern __shared__ float f[]; extern __shared__ double d[]; f[threadIdx.x] = 1; __syncthreads(); out[0] = d[threadIdx.x];",
    );
    assert_eq!(count(&text, ".extern .shared .align 16"), 1, "{text}");
    has(&text, &["st.shared.b32", "ld.shared.b64"]);
}

#[test]
fn variables_have_names_initial_values_and_addresses() {
    let text = whole(
        "__device__ int counter = 3; __constant__ float coef[2] = {1, 2}; __device__ const char *name = \"ab\"; \
         __global__ void k(float *out) { out[counter] = coef[threadIdx.x & 1]; printf(\"%s\\n\", name); }",
    );
    has(
        &text,
        &[
            ".visible .global .align 4 .b8 counter[4] = {3",
            ".visible .const .align 4 .b8 coef[8] = {0, 0, 128, 63, 0, 0, 0, 64}",
            ".visible .global .align 8 .u64 name[1] = {generic($$string",
            "ld.const.b32",
        ],
    );
}

#[test]
fn writes_to_constant_memory_fault_on_the_gpu() {
    // LLVM ends the process when it sees such a store.
    let source = "__constant__ int c[4];
        __global__ void k() {
            atomicAdd((float *)c + 1, 1.0f);
            atomicAnd((int *)c, 3);
            int *p = (int *)c;
            p[threadIdx.x] = 4;
        }";
    for level in 0..4 {
        let text = ptx(&module(source), &options("sm_90", level)).expect("PTX");
        has(&text, &["cvta.const.u64", "atom.add.f32", "st.b32"]);
    }
    let read = "__constant__ int c[4];
        __global__ void k(int *out, int i) { out[0] = c[i]; }";
    has_none(&whole(read), &["cvta.const"]);
}

/// LLVM 22's InferAddressSpaces omits an operand where two constant addresses meet a pointer of a known space, and crashes.
#[test]
fn numbers_may_be_pointers() {
    let text = body(
        "int *q, int c, int d",
        "int *p = q; if (d) p = c ? (int *)8 : (int *)16; *p = 5;",
    );
    has(&text, &["16;", "st.b32"]);
}

/// ptxas keeps such an array in registers only if it sees the frame's address.
#[test]
fn addresses_in_a_frame_are_not_cut() {
    let text = body(
        "int *x, int n",
        "int counts[8] = {}, marks[4] = {};
         for (int i = 0; i < n; i++) counts[x[i] & 7]++, marks[x[i] & 3] = i;
         x[0] = counts[n & 7] + marks[n & 3];",
    );
    has(
        &text,
        &["__local_depot0+0;", "__local_depot0+32;", "ld.local"],
    );
    has_none(&text, &["cvt.u32.u64"]);
}

#[test]
fn neighbours_in_shared_memory_are_loaded_at_once() {
    let text = body(
        "int *x",
        "__shared__ int s[64];
         int t = threadIdx.x;
         s[t] = x[t]; s[t + 32] = x[t + 32];
         __syncthreads();
         x[t] = s[2 * t] + s[2 * t + 1];",
    );
    has(&text, &["ld.shared.v2.b32"]);
    // With a larger alignment, 33 ints would leave a gap after them.
    let text = body(
        "int *x",
        "__shared__ int s[33]; s[x[0]] = x[1]; __syncthreads(); x[2] = s[x[3]];",
    );
    has(&text, &[".shared .align 4 "]);
}
