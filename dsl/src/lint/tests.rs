//! Kernels with `//~ CODE` on the guilty lines, and nothing on the others.

use crate::{Options, compile};
use ir::{
    diagnostic::{Code, render},
    source::{NoFiles, SourceFile, SourceMap},
};

/// The messages of a program as `line code`, and in full.
fn messages(source: &str) -> (Vec<(u32, &'static str)>, String) {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("t.k", source));
    let compiled = compile(&mut map, file, &Options::default(), &NoFiles);
    let all = &compiled.diagnostics;
    let found = all.iter().map(|message| {
        let at = map.use_site(message.primary.span);
        (
            map.file(at.file).line_column(at.start).0,
            message.code.number(),
        )
    });
    (found.collect(), render::render(all, &map, false, None))
}

/// `body` is that of a kernel with `int *x, int n`, `__shared__ int s[64]` and `int t = threadIdx.x`.
#[track_caller]
fn check(body: &str) -> String {
    let source = format!(
        "__device__ int flag;\n__global__ void k(int *x, int n) {{\n__shared__ int s[64];\nint t = threadIdx.x;\n{body}\n}}\n"
    );
    let expected: Vec<(u32, &str)> = source
        .lines()
        .zip(1..)
        .filter_map(|(line, n)| Some((n, line.split_once("//~ ")?.1)))
        .collect();
    let (found, text) = messages(&source);
    assert_eq!(found, expected, "{text}");
    text
}

#[test]
fn active_mask_after_a_branch() {
    check(
        "int v = x[t];
if (v % 2) v = v * 3 + 1;
else v = v / 2;
unsigned m = __activemask();
x[t] = v + __shfl_xor_sync(m, v, 1); //~ W1004",
    );
    check(
        "int v = 0;
for (int i = 0; i < x[t]; i++) v += i;
x[t] = __reduce_add_sync(__activemask(), v); //~ W1004",
    );
    check(
        "int v = x[t];
for (int i = 0; i < n; i++) {
v += __shfl_down_sync(__activemask(), v, 1); //~ W1004
if (v & 1) x[t] = v;
}",
    );
}

#[test]
fn active_mask_that_is_right() {
    // In the branch itself, after a return, before the lanes diverge, after they have reconverged.
    check("if (x[t] > 0) x[t] = __shfl_xor_sync(__activemask(), t, 1);");
    check("if (t >= n) return;\nx[t] = __shfl_down_sync(__activemask(), t, 1);");
    check("unsigned m = __activemask();\nif (t & 1) x[t] = 1;\nx[t] += __shfl_xor_sync(m, t, 1);");
    check("if (t & 1) x[t] = 1;\n__syncwarp();\nx[t] += __shfl_xor_sync(__activemask(), t, 1);");
    check("int v = t < n ? x[t] : 0;\nx[t] = __shfl_xor_sync(__activemask(), v, 1);");
    // One lane adds for all active lanes.
    check(
        "if (t & 1) x[t] = 1;
unsigned m = __activemask();
int leader = __ffs(m) - 1, first;
if ((t & 31) == leader) first = atomicAdd(x, __popc(m));
first = __shfl_sync(m, first, leader);
x[first + __popc(m & ((1u << (t & 31)) - 1))] = n;",
    );
}

#[test]
fn branches_on_the_thread() {
    check("if (t < 32) {\n__syncthreads(); //~ W1001\n}");
    check("if (t < n) s[t] = 1;\n__syncthreads();");
    check("if (t / 32 == 0)\n__syncthreads(); //~ W1001\nelse\n__syncthreads(); //~ W1001");
    check("bool first = t == 0;\nif (n > 3 && first)\n__syncthreads(); //~ W1001");
    check("int k = 0;\nif (t > 5) k = 1;\nif (k)\n__syncthreads(); //~ W1001");
    check("if (atomicAdd(&flag, 1) == 3)\n__syncthreads(); //~ W1001");
    check("if (s[t])\n__syncthreads(); //~ W1001");
    check("if (t < n) {\nint all = __syncthreads_count(t); //~ W1001\nx[t] = all;\n}");
}

#[test]
fn conditions_of_the_whole_block() {
    check("if (blockIdx.x == 0) __syncthreads();");
    check("if (n > 3 && blockDim.x == 64) __syncthreads();");
    check("if (__syncthreads_or(s[t])) __syncthreads();");
    check("if (t == 0) s[0] = n;\n__syncthreads();\nif (s[0]) __syncthreads();");
    check("if (t < blockDim.x) __syncthreads();");
    check("if (!(blockDim.x > threadIdx.x)) return;\n__syncthreads();");
    check(
        "for (int d = blockDim.x / 2; d > 0; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }",
    );
    check("if (flag) return;\n__syncthreads();");
    // No warning about values that only may differ.
    check("int a[4]; a[n & 3] = n; a[1] = 2;\nif (a[n & 1]) __syncthreads();");
}

#[test]
fn loops_of_uneven_rounds() {
    check("for (int i = t; i < n; i += 64) {\ns[t] += x[i];\n__syncthreads(); //~ W1002\n}");
    check("for (int i = 0; i < n; i++) {\n__syncthreads(); //~ W1002\nif (x[t] == i) break;\n}");
    check(
        "int i = 0;\nwhile (true) {\nif (i++ >= t) break;\n__syncthreads(); //~ W1002\n}\n__syncthreads();",
    );
    check(
        "for (int i = 0; i < n; i++) {\nfor (int j = 0; j < i; j++) __syncthreads();\nfor (int j = 0; j < t; j++) s[t] += j;\n__syncthreads();\n}",
    );
    check("do {\n__syncthreads(); //~ W1002\n} while (--n > t);");
    // All threads leave in the same round.
    check("while (true) { bool done = s[0] > 3; __syncthreads(); if (done) break; }");
}

#[test]
fn jumps_over_a_barrier() {
    check("for (int i = 0; i < n; i++) {\nif (x[t] == i) continue;\n__syncthreads(); //~ W1001\n}");
    // After the barrier, a `continue` misses nothing; the threads reconverge at the step.
    check("for (int i = 0; i < n; i++) {\n__syncthreads();\nif (x[t] == i) continue;\nx[t]++;\n}");
    check(
        "switch (t & 1) {\ncase 0: s[t] = 1; break;\ndefault:\n__syncthreads(); //~ W1001\n}\n__syncthreads();",
    );
    check("switch (n) { case 0: s[t] = 1; break; default: __syncthreads(); }");
    // The threads that continue stay in the loop that the others leave.
    check(
        "for (int i = 0; i < n; i++) {\nif (t == i) continue;\nif (n == 7) break;\n}\n__syncthreads();",
    );
    check(
        "for (int i = 0; i < n; i++) {\n__syncthreads(); //~ W1002\nif (t == i) continue;\nif (n == 7) break;\n}",
    );
}

#[test]
fn threads_that_have_returned() {
    check("if (t >= n) return;\n__syncthreads(); //~ W1003");
    check(
        "for (int i = 0; i < n; i++) {\n__syncthreads(); //~ W1003\nif (x[t] == i) return;\n}\n__syncthreads();",
    );
    // The other branch of a condition that is uniform in the block.
    check("if (n == 3) {\nif (t > 5) return;\ns[t] = 1;\n} else\n__syncthreads();");
    check("if (n == 3) {\nif (t > 5) return;\nx[t] = 3;\nreturn;\n}\n__syncthreads();");
}

#[test]
fn inlined_functions_are_told_once_and_their_returns_end_with_them() {
    let source = "__device__ int f(int v) { if (v > 3) return 1; return 2; }\n\
        __device__ bool odd(int v) { for (int d = 2; d < v; d++) if (v % d == 1) return true; return false; }\n\
        __device__ void meet() { __syncthreads(); }\n\
        __global__ void a(int *x) { x[0] = f(threadIdx.x); meet(); x[1] = odd(threadIdx.x); meet(); }\n\
        __global__ void b(int *x) { if (threadIdx.y) meet(); }\n\
        __global__ void c(int *x) { if (threadIdx.z) meet(); }\n";
    assert_eq!(messages(source).0, [(3, "W1001")]);
}

#[test]
fn the_way_from_the_condition_to_the_thread_is_shown() {
    let text = check(
        "int row = t / 8;\nint last = 0;\nif (row < n)\n  last = 1;\nif (last == 1) {\n__syncthreads(); //~ W1001\n}",
    );
    insta::assert_snapshot!(text, @r"
[W1001] Warning: `__syncthreads` under a condition that depends on `threadIdx.x`
    ╭─[ t.k:10:1 ]
    │
  4 │ int t = threadIdx.x;
    │         ─────┬─────
    │              ╰─────── `threadIdx.x` is different in each thread
    │
  7 │ if (row < n)
    │     ───┬───
    │        ╰───── whether `last` is set depends on this
    │
  9 │ if (last == 1) {
    │     ────┬────
    │         ╰────── this differs between the threads of a block
 10 │ __syncthreads(); //~ W1001
    │ ───────┬───────
    │        ╰───────── only the threads of this branch come here
    │
    │ Help: end the branch before the barrier and begin it again after, so that all threads come by the barrier
────╯
    ");
}

#[test]
fn barriers_of_the_library_are_told_where_the_program_calls_them() {
    let (found, text) = messages(
        "#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int n) {
auto b = cg::this_thread_block();
if (b.thread_rank() < n)
b.sync();
auto g = cg::this_grid();
if (g.thread_rank() < n)
g.sync();
}
",
    );
    assert_eq!(found, [(6, "W1001"), (9, "W1001")], "{text}");
    let title = "`b.sync` under a condition that depends on `b.thread_rank()`";
    assert!(text.contains(title), "{text}");
}

#[test]
fn explained_examples_are_true() {
    for code in [
        Code::BarrierUnderCondition,
        Code::BarrierInUnevenLoop,
        Code::BarrierAfterReturn,
        Code::TooMuchLocal,
        Code::TooMuchConstant,
        Code::TooManyParameterBytes,
    ] {
        let found = messages(code.bad_example()).0;
        assert!(
            !found.is_empty() && found.iter().all(|(_, number)| *number == code.number()),
            "{}: {found:?}",
            code.number()
        );
        assert_eq!(messages(code.good_example()).0, [], "{}", code.number());
    }
}
