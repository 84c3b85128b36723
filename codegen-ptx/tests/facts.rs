//! What must stand in the PTX of small kernels, and what must not. Facts instead of whole texts: each says which decision it guards.

use codegen_ptx::{Error, Options, Target, llvm_ir, ptx};
use dsl::ir::symbol::{global_symbol, kernel_symbol};
use dsl::{
    ir::{FunctionKind, Module},
    source::{NoFiles, SourceFile, SourceMap},
};

fn module(source: &str) -> Module {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("test.k".to_string(), source.to_string()));
    let compiled = dsl::compile(&mut map, file, &dsl::Options::default(), &NoFiles);
    let messages = compiled.diagnostics;
    compiled
        .module
        .unwrap_or_else(|| panic!("{source}\n{messages:#?}"))
}

fn options(arch: &str, opt_level: u8) -> Options {
    Options {
        arch: Target::parse(arch).expect("a target"),
        opt_level,
        lines: false,
    }
}

/// The PTX of a kernel with this body.
fn body(parameters: &str, body: &str) -> String {
    whole(&format!("__global__ void k({parameters}) {{ {body} }}"))
}

fn whole(source: &str) -> String {
    ptx(&module(source), &options("sm_90", 3)).unwrap_or_else(|error| panic!("{source}\n{error}"))
}

#[track_caller]
fn has(text: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(text.contains(wanted), "no `{wanted}` in\n{text}");
    }
}

#[track_caller]
fn has_none(text: &str, unwanted: &[&str]) {
    for unwanted in unwanted {
        assert!(!text.contains(unwanted), "`{unwanted}` in\n{text}");
    }
}

/// How often a text occurs.
fn count(text: &str, wanted: &str) -> usize {
    text.matches(wanted).count()
}

#[test]
fn coarse_functions_are_the_units_instructions() {
    let text = body(
        "float *f",
        "f[0] = __expf(f[1]); f[2] = __logf(f[3]); f[4] = __fdividef(f[5], f[6]); f[7] = rsqrtf(f[8]); f[9] = __sinf(f[10]);",
    );
    for name in ["ex2", "lg2", "rcp", "rsqrt", "sin"] {
        let instruction = format!("{name}.approx.ftz.f32");
        assert_eq!(count(&text, &instruction), 1, "{instruction} in\n{text}");
    }
    has_none(&text, &["div.", "sqrt.rn"]);
    let tangent = module("__global__ void k(float *f) { *f = __tanhf(*f); }");
    let text = ptx(&tangent, &options("sm_75", 3)).expect("it has the instruction");
    has(&text, &["tanh.approx.f32"]);
    let refused = ptx(&tangent, &options("sm_70", 3));
    assert!(
        matches!(&refused, Err(Error::Unsupported { .. })),
        "{refused:?}"
    );
}

#[test]
fn floats_round_once_and_are_not_contracted() {
    // `a * b` in its own variable is a product; within one expression the front end made an fma of it.
    let text = body(
        "float *f",
        "float p = f[0] * f[1]; f[2] = p + f[3]; f[4] = f[5] * f[6] + f[7];",
    );
    has(&text, &["mul.rn.f32", "add.rn.f32", "fma.rn.f32"]);
    assert_eq!(count(&text, "fma.rn.f32"), 1, "{text}");
    let text = body(
        "float *f",
        "f[0] = f[1] / f[2]; f[3] = sqrtf(f[4]); f[5] = f[6] / 3.0f;",
    );
    has(&text, &["div.rn.f32", "sqrt.rn.f32"]);
    assert_eq!(count(&text, "div.rn.f32"), 2, "{text}");
    has_none(&text, &[".ftz", ".approx", ".full"]);
    let text = body(
        "double *f",
        "f[0] = f[1] / f[2]; f[3] = sqrt(f[4]); f[5] = f[6] + f[7];",
    );
    has(&text, &["div.rn.f64", "sqrt.rn.f64", "add.rn.f64"]);
}

#[test]
fn minimum_and_maximum_are_one_instruction() {
    let text = body(
        "float *f",
        "f[0] = fminf(f[1], f[2]); f[3] = fmaxf(f[4], f[5]);",
    );
    has(&text, &["min.f32", "max.f32"]);
    has_none(&text, &["setp", "selp"]);
}

#[test]
fn a_changed_sign_keeps_a_nan_where_its_bits_are_seen() {
    let stored = body("float *f", "f[0] = -f[1]; f[2] = fabsf(f[3]);");
    has(&stored, &["xor.b32", "and.b32"]);
    has_none(&stored, &["neg.f32", "abs.f32"]);
    // The same for floats that the source makes of bits.
    let made = body(
        "float *f",
        "f[0] = __int_as_float(__float_as_int(f[1]) & 0x7fffffff); f[2] = __int_as_float(__float_as_int(f[3]) ^ 0x80000000); f[4] = copysignf(f[5], f[6]);",
    );
    has_none(&made, &["neg.f32", "abs.f32", "copysign"]);
    let counted = body("float *f", "f[0] = -f[1] * f[2] + f[3];");
    has_none(&counted, &["xor.b32"]);
}

#[test]
fn conversions_truncate_and_saturate_as_hardware_does() {
    let text = body(
        "float *f, int *i, unsigned *u, long long *l",
        "i[0] = (int)f[0]; u[0] = (unsigned)f[1]; l[0] = (long long)f[2]; f[3] = (float)l[1]; f[4] = (float)u[1];",
    );
    has(
        &text,
        &[
            "cvt.rzi.s32.f32",
            "cvt.rzi.u32.f32",
            "cvt.rzi.s64.f32",
            "cvt.rn.f32.s64",
            "cvt.rn.f32.u32",
        ],
    );
}

#[test]
fn shifts_by_any_count_are_one_instruction() {
    let text = body(
        "unsigned *u, int *i, unsigned long long *l",
        "u[0] = u[1] << u[2]; u[3] = u[4] >> u[5]; l[0] = l[1] << u[6];",
    );
    has(&text, &["shl.b32", "shr.u32", "shl.b64"]);
    has_none(&text, &["setp", "selp", "min."]);
    let text = body("int *i", "i[0] = i[1] >> i[2];");
    has(&text, &["min.u32", "shr.s32"]);
}

#[test]
fn division_by_what_may_be_zero_is_guarded_and_by_a_constant_is_a_product() {
    let text = body("int *i", "i[0] = i[1] / i[2];");
    has(&text, &["div.s32", "selp.b32"]);
    let text = body("int *i", "i[0] = i[1] / 7; i[2] = i[3] % 8u;");
    has(&text, &["mul.hi.s32"]);
    has_none(&text, &["div.", "rem.", "selp"]);
}

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
fn fences_and_barriers_of_every_kind() {
    let text = body(
        "int *a",
        "a[0] = 1; __threadfence_block(); a[1] = 1; __threadfence(); a[2] = 1; __threadfence_system(); \
         a[3] = __syncthreads_count(a[4]); a[5] = __syncthreads_and(a[6]); a[7] = __syncthreads_or(a[8]); __syncwarp();",
    );
    has(
        &text,
        &[
            "membar.cta",
            "membar.gl",
            "membar.sys",
            "bar.red.popc.u32",
            "bar.red.and.pred",
            "bar.red.or.pred",
            "bar.warp.sync",
        ],
    );
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
fn printf_and_assert_call_the_driver() {
    let text = body(
        "int k",
        "printf(\"%d %f %c\\n\", k, 1.5f, 'x'); assert(k != 3);",
    );
    has(&text, &["vprintf", "__assertfail", "trap;"]);
    // k at 0, the double at 8, the character as an int at 16.
    has(&text, &["4609434218613702656"]);
}

#[test]
fn hints_of_the_source_reach_ptx() {
    let text = whole("__global__ void __launch_bounds__(256, 2) k(int *a) { a[threadIdx.x] = 1; }");
    has(&text, &[".maxntid 256", ".minnctapersm 2"]);
    let rolled = body(
        "float *a",
        "_Pragma(\"unroll 1\") for (int i = 0; i < 8; i++) a[i] *= 3;"
            .trim_start_matches("_Pragma(\"unroll 1\") "),
    );
    assert_eq!(count(&rolled, "ld.global"), 8, "{rolled}");
    let text = whole(
        "__global__ void k(float *a) {\n#pragma unroll 1\nfor (int i = 0; i < 8; i++) a[i] *= 3; }",
    );
    assert_eq!(count(&text, "ld.global"), 1, "{text}");
    has(&text, &[".pragma \"nounroll\""]);
    let text = whole(
        "__global__ void k(float *a, int n) {\n#pragma unroll 2\nfor (int i = 0; i < n; i++) a[i] *= 3; }",
    );
    assert_eq!(
        count(&text, "ld.global"),
        3,
        "two in the loop, one for what is left\n{text}"
    );
}

#[test]
fn parameters_are_as_wide_as_their_values() {
    let text = body(
        "bool b, char c, float f, double d, long long l, int *p",
        "if (b) p[c] = (int)(f + d) + (int)l;",
    );
    let widths = [
        "k_param_0",
        "k_param_1",
        "k_param_2",
        "k_param_3",
        "k_param_4",
        "k_param_5",
    ]
    .map(|name| {
        text.lines()
            .find(|line| line.contains(".param .") && line.contains(name))
            .unwrap_or("")
            .trim()
            .to_string()
    });
    let expected = [
        ".param .u8 ",
        ".param .u32 ",
        ".param .f32 ",
        ".param .f64 ",
        ".param .u64 ",
        ".param .u64 .ptr .global",
    ];
    for (line, expected) in widths.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line}: expected {expected}");
    }
}

#[test]
fn exchanges_between_lanes() {
    let text = "module \"test.k\"
file 0 \"test.k\"

kernel fn0 @k($0: ptr.global \"a\" \"int *\" pointee i32, $1: i32 \"m\" \"int\", $2: f32 \"f\" \"float\") !1 {
  %0 = get $0 !1
  %1 = get $1 !1
  %2 = get $2 !1
  %3 = cmp.eq.i32 %1, 7 !1
  %4 = shfl.down.i32 %1, 4, 32 sync -1 !1
  %5 = shfl.xor.f32 %2, 2, 16 sync %1 !1
  %6 = shfl.up.i32 %1, %4, %1 !1
  %7 = vote.ballot %3 sync -1 !1
  %8 = vote.any %3 !1
  %9 = match.any.i32 %7 sync -1 !1
  %10, %11 = match.all.i32 %9 sync -1 !1
  %12 = reduce.add %10 sync -1 !1
  %13 = reduce.umax %12 sync -1 !1
  %14 = special.activemask !1
  nanosleep 100 !1
  %15 = cvt.i32.f32.bits %5 !1
  %16 = cvt.i32.i1 %8 !1
  %17 = add.i32 %13, %14 !1
  %18 = add.i32 %17, %15 !1
  %19 = add.i32 %18, %16 !1
  %20 = add.i32 %19, %6 !1
  store.i32.global %0, %20 !1
}

loc !1 = 0:1:1
";
    let module = dsl::ir::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let modern = ptx(&module, &options("sm_90", 3)).expect("sm_90 has all of them");
    has(
        &modern,
        &[
            "shfl.sync.down.b32",
            ", 4, 31, -1",
            "shfl.sync.bfly.b32",
            ", 2, 4127, ",
            "shfl.sync.up.b32",
            "vote.sync.ballot.b32",
            "vote.sync.any.pred",
            "match.any.sync.b32",
            "match.all.sync.b32",
            "redux.sync.add.s32",
            "redux.sync.max.u32",
            "activemask.b32",
            "nanosleep.u32 \t100",
        ],
    );
    // Before sm_80 the reductions are loops; before sm_70 there is no match.
    let older = ptx(&module, &options("sm_75", 3)).expect("sm_75 has all but the reductions");
    has(
        &older,
        &["$$reduce_add", "$$reduce_umax", "shfl.sync.idx.b32"],
    );
    has_none(&older, &["redux"]);
    let refused = ptx(&module, &options("sm_61", 3));
    assert!(
        matches!(&refused, Err(Error::Unsupported { line: 1, .. })),
        "{refused:?}"
    );
}

#[test]
fn every_level_and_target_gives_ptx() {
    let module = module(
        "__global__ void k(float *a, double *d, int n) { __shared__ float s[32]; s[threadIdx.x] = a[n]; __syncthreads(); \
         atomicAdd(d, fmod(d[1], 3.0)); atomicAdd(a, 1.0f); a[atomicCAS((int *)a, 1, 2)] = s[n / (n - 1)]; __threadfence(); __syncwarp(); }",
    );
    for target in Target::all() {
        for opt_level in 0..=3 {
            let options = Options {
                arch: target,
                opt_level,
                lines: true,
            };
            let text = ptx(&module, &options)
                .unwrap_or_else(|error| panic!("{target} -O{opt_level}: {error}"));
            has(&text, &[&format!(".target {target}"), ".entry k("]);
        }
    }
}

#[test]
fn every_instruction_has_its_line() {
    let module = module(
        "__global__ void k(float *a)\n{\n    int i = threadIdx.x;\n    a[i] =\n        a[i + 1] * 2;\n}\n",
    );
    let options = Options {
        lines: true,
        ..options("sm_90", 3)
    };
    let text = ptx(&module, &options).expect("PTX");
    has(
        &text,
        &[
            ".file\t1 \"test.k\"",
            ".loc\t1 3 ",
            ".loc\t1 4 ",
            ".loc\t1 5 ",
        ],
    );
    // Lines only: nothing that would make the assembler keep variables in memory.
    has_none(&text, &[", debug", ".section"]);
}

#[test]
fn symbols_are_found_again() {
    let module = module(
        "__device__ int größe; __constant__ int c; __global__ void WARP_SZ(int *a) { a[0] = größe + c; } __global__ void k(int *a) { a[0] = 1; }",
    );
    let text = ptx(&module, &options("sm_90", 3)).expect("PTX");
    for (id, _) in module.kernels() {
        has(&text, &[&format!(".entry {}(", kernel_symbol(&module, id))]);
    }
    for index in 0..module.globals.len() {
        has(&text, &[&format!(" {}[4]", global_symbol(&module, index))]);
    }
    assert!(module.find("k", FunctionKind::Kernel).is_some());
}

#[test]
fn host_programs_alone_give_an_empty_module() {
    let text = whole("int main() { return 0; }");
    has(&text, &[".version"]);
    has_none(&text, &[".entry"]);
}

#[test]
fn llvm_ir_is_the_optimised_module() {
    let module = module("__global__ void k(int *a) { int x = 1; x += 2; a[0] = x; }");
    let text = llvm_ir(&module, &options("sm_90", 3)).expect("LLVM IR");
    has(&text, &["define ptx_kernel void @k(", "store i32 3"]);
    has_none(&text, &["alloca"]);
    let text = llvm_ir(&module, &options("sm_90", 0)).expect("LLVM IR");
    has(&text, &["alloca"]);
}

#[test]
fn writes_to_constant_memory_fault_on_the_gpu() {
    // LLVM ends the process where it sees one.
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

/// LLVM 22's InferAddressSpaces leaves an operand out where two constant addresses meet a pointer of a known space, and crashes.
#[test]
fn numbers_may_be_pointers() {
    let text = body(
        "int *q, int c, int d",
        "int *p = q; if (d) p = c ? (int *)8 : (int *)16; *p = 5;",
    );
    has(&text, &["16;", "st.b32"]);
}

#[test]
fn a_function_that_calls_itself_is_one_of_ptx() {
    let text = whole(
        "struct P { int a; bool b; };
         __device__ P f(int n, bool b) { if (n == 0) return P{1, b}; P p = f(n - 1, !b); p.a += f(n / 2, p.b).a; return p; }
         __global__ void k(int *a) { P p = f(a[0], true); a[0] = p.a + p.b; }",
    );
    has(&text, &[".func", "k$R0", "call.uni"]);
    assert_eq!(count(&text, ".visible .entry"), 1);
}

#[test]
fn a_grid_stride_loop_has_four_loads_in_flight() {
    let text = body(
        "float *out, const float *x, int n",
        "int threads = gridDim.x * blockDim.x;
         float sum = 0;
         for (int i = threadIdx.x; i < n; i += threads) sum += x[i];
         out[threadIdx.x] = sum;",
    );
    // Four, and one for the rounds that are left.
    assert_eq!(count(&text, "ld.global"), 5, "{text}");
}

#[test]
fn unsigned_sums_wrap_and_signed_ones_do_not() {
    let text = llvm_ir(
        &module(
            "__global__ void k(int *x, unsigned *y) { x[0] = x[1] + x[2] - -x[3] * 3; y[0] = y[1] + y[2]; }",
        ),
        &options("sm_90", 0),
    );
    let text = text.unwrap_or_else(|error| panic!("{error}"));
    for name in ["add nsw i32", "sub nsw i32 0", "mul nsw i32", "add i32"] {
        assert!(text.contains(name), "no `{name}` in\n{text}");
    }
}

#[test]
fn funnel_shifts_are_one_instruction() {
    let text = body(
        "unsigned *x, unsigned n",
        "x[0] = __funnelshift_l(x[1], x[2], n) + __funnelshift_r(x[3], x[4], 13);",
    );
    has(&text, &["shf.l.wrap.b32"]);
    has_none(&text, &["shl.b64", "shr.u64"]);
}

#[test]
fn half_arithmetic_is_the_hardwares() {
    let source = module(
        "#include <cuda_fp16.h>
         __global__ void k(const half2 *x, half2 *y, float *z) {
             y[0] = __hfma2(x[0], x[1], x[2]);
             y[1] = x[3] + x[4];
             y[2] = x[5] * x[6];
             z[0] = __half2float(x[7].y);
             y[3].x = __float2half(z[1]);
         }",
    );
    let text = ptx(&source, &options("sm_53", 3)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(count(&text, "fma.rn.f16x2"), 3, "{text}");
    has(&text, &["cvt.f32.f16", "cvt.rn.f16.f32", "ld.global.b32"]);
    has_none(&text, &["f64", "add.f32", "mul.f32"]);
    let text = ptx(&source, &options("sm_50", 3)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(count(&text, "fma.rn.f64"), 6, "{text}");
    has_none(&text, &["f16x2"]);
}

#[test]
fn sums_of_products_of_bytes_are_one_instruction() {
    let source = module(
        "__global__ void k(int *x, unsigned *y, char4 *z) {
             x[0] = __dp4a(x[1], x[2], x[3]); x[4] = __dp2a_lo(x[5], x[6], x[7]); x[8] = __dp2a_hi(x[9], x[10], x[11]);
             y[0] = __dp4a(y[1], y[2], y[3]); y[4] = __dp2a_lo(y[5], y[6], y[7]); y[8] = __dp2a_hi(y[9], y[10], y[11]);
             x[12] = __dp4a(z[0], z[1], x[13]);
         }",
    );
    let text = ptx(&source, &options("sm_61", 3)).unwrap_or_else(|error| panic!("{error}"));
    for (instruction, times) in [
        ("dp4a.s32.s32", 2),
        ("dp2a.lo.s32.s32", 1),
        ("dp2a.hi.s32.s32", 1),
        ("dp4a.u32.u32", 1),
        ("dp2a.lo.u32.u32", 1),
        ("dp2a.hi.u32.u32", 1),
    ] {
        assert_eq!(count(&text, instruction), times, "{instruction} in\n{text}");
    }
    has_none(&text, &["add.s32", "mul.lo", "mad.lo", "prmt", "shl"]);
    let text = ptx(&source, &options("sm_60", 3)).unwrap_or_else(|error| panic!("{error}"));
    has_none(&text, &["dp4a", "dp2a"]);
    has(&text, &["mad.lo.s32"]);
}

/// ptxas keeps such an array in registers only where it sees the frame's address.
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
    // Aligned to more, 33 ints would leave a gap behind them.
    let text = body(
        "int *x",
        "__shared__ int s[33]; s[x[0]] = x[1]; __syncthreads(); x[2] = s[x[3]];",
    );
    has(&text, &[".shared .align 4 "]);
}

#[test]
fn a_bit_is_tested_where_it_is() {
    let text = body(
        "int *x, int a, int b",
        "x[0] = (a & 16) != 0 && a > b ? a : b;",
    );
    has(&text, &["and.b32", ", 16;"]);
    has_none(&text, &["shr.u32"]);
}

#[test]
fn a_loop_of_ten_larger_rounds_is_unrolled() {
    let text = body(
        "float *x",
        "__shared__ float2 s[1024];
         int t = threadIdx.x;
         for (int half = 1; half < 1024; half *= 2) {
             __syncthreads();
             int k = t % half, i = 2 * (t - k) + k, j = i + half;
             float angle = k * x[0] / half, c = __cosf(angle), d = __sinf(angle);
             float2 a = s[i], b = s[j];
             float re = b.x * c - b.y * d, im = b.x * d + b.y * c;
             s[i] = make_float2(a.x + re, a.y + im);
             s[j] = make_float2(a.x - re, a.y - im);
         }
         x[t] = s[t].x;",
    );
    assert_eq!(count(&text, "bar.sync"), 10, "{text}");
    has_none(&text, &["div."]);
}
