//! What the PTX of small kernels must and must not contain. These are facts instead of whole texts: each one guards a decision.

mod arithmetic;
mod memory;

use codegen_ptx::{Error, Lines, Options, Target, llvm_ir, ptx};
use ir::symbol::{global_symbol, kernel_symbol};
use ir::{
    FunctionKind, Module,
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
        lines: Lines::None,
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
    let module = ir::parse(text).unwrap_or_else(|error| panic!("{error}"));
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
    // Before sm_80 the reductions are loops; before sm_70 there is no `match`.
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
                lines: Lines::Source,
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
        lines: Lines::Source,
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
    // Four, and one for the remaining rounds.
    assert_eq!(count(&text, "ld.global"), 5, "{text}");
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

#[test]
fn a_loop_that_counts_through_an_array_is_unrolled() {
    let text = body(
        "float *x, const int *levels",
        "int counts[16] = {0};
         for (int i = 0; i < 100; i++) counts[levels[i] & 15]++;
         float sum = 0;
         for (int k = 0; k < 16; k++)
             if (counts[k] > 0) {
                 float p = counts[k] / x[1];
                 sum -= p * logf(p);
             }
         x[0] = sum;",
    );
    assert_eq!(count(&text, "div.rn.f32"), 16, "{text}");
}

#[test]
fn a_function_with_branches_is_computed_once() {
    let text = body(
        "float *x, float d",
        "x[0] = expf(d) * x[1];
         x[1] = expf(d) + x[2];",
    );
    assert_eq!(count(&text, "setp"), 3, "{text}");
}
