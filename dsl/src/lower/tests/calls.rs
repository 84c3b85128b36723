//! Inlining in kernels, calls on the host, launches.

use super::{accesses, body, body_of, compile, host, kernel};
use ir::FunctionKind;

#[test]
fn a_function_that_returns_at_its_end_is_put_in_place() {
    let text = "__device__ int twice(int x) { int y = x; return y + x; }
        __global__ void k(int *d) { d[0] = twice(d[1]); }";
    insta::assert_snapshot!(body(text), @"
    %0 = get $0
    %1 = ptradd %0 + 4
    %2 = load.i32.global %1
    %3 = sadd.i32 %2, %2
    %4 = get $0
    store.i32.global %4, %3
    ");
}

#[test]
fn an_early_return_leaves_a_scope() {
    let text = "__device__ float2 pick(float a, float b) { if (a < b) return make_float2(a, b); return make_float2(b, a); }
        __global__ void k(float2 *d, float a, float b) { d[0] = pick(a, b); }";
    insta::assert_snapshot!(body(text), @"
    %0 = get $1
    %1 = get $2
    scope L0 {
      %2 = cmp.flt.f32 %0, %1
      if %2 {
        set $3, %0
        set $4, %1
        break L0
      }
      set $3, %1
      set $4, %0
    }
    %3 = get $3
    %4 = get $4
    %5 = get $0
    store.f32x2.global %5, %3, %4
    ");
}

#[test]
fn a_return_inside_a_loop_leaves_the_function_only() {
    let text = "__device__ int find(const int *p, int n) { for (int i = 0; i < n; i++) if (p[i] == 0) return i; return -1; }
        __global__ void k(int *d, int n) { d[threadIdx.x] = find(d, n) + find(d + n, n); }";
    let body = body(text);
    assert_eq!(body.matches("scope").count(), 2, "{body}");
    assert!(!body.contains("return"), "{body}");
}

#[test]
fn a_parameter_that_is_written_is_a_copy() {
    let text = "__device__ int count(int n) { int c = 0; while (n) { n &= n - 1; c++; } return c; }
        __global__ void k(int *d, int n) { d[0] = count(n) + n; }";
    let body = body(text);
    assert!(body.contains("set"), "{body}");
}

#[test]
fn a_static_shared_variable_is_one_however_often_it_is_inlined() {
    let text = "__device__ void put(int t) { __shared__ int s[8]; s[t] = t; }
        __global__ void k() { put(1); put(2); }";
    let function = kernel(text);
    assert_eq!(function.shared.len(), 1);
    assert_eq!(accesses(&function).len(), 2);
}

#[test]
fn inlined_code_says_where_it_was_called() {
    let module = compile(
        "__device__ void put(int *p) {\n  *p = 1;\n}\n__global__ void k(int *d) {\n  put(d);\n}\n",
    );
    let store = super::insts(module.kernels().next().unwrap().1)
        .into_iter()
        .find(|inst| matches!(inst.kind, ir::InstKind::Store(..)))
        .unwrap();
    let loc = module.loc(store.loc);
    assert_eq!((loc.line, loc.text.as_str()), (2, "*p"));
    assert_eq!(module.loc(loc.via.unwrap()).line, 5);
}

#[test]
fn records_cross_host_calls() {
    let text = "struct P { int a; double b; };
        static struct P make(int n, struct P q) { struct P p; p.a = n; p.b = q.b; return p; }
        int main(void) { struct P p = { 1, 2.0 }; p = make(3, p); return p.a; }";
    let function = host(text, "make");
    let types: Vec<_> = function.params.iter().map(|p| p.c_type.as_str()).collect();
    assert_eq!(types, ["P *", "int", "int", "double"]);
    assert_eq!(function.result, None);
    insta::assert_snapshot!(body_of(&compile(text), FunctionKind::Host), @"
    %0 = get $1
    set $4, %0
    %1 = get $3
    set $5, %1
    %2 = get $4
    %3 = get $5
    %4 = get $0
    store.i32.generic.align8 %4, %2
    %5 = ptradd %4 + 8
    store.f64.generic %5, %3
    return
    ");
}

#[test]
fn a_launch_has_three_numbers_for_each_extent() {
    let text = "struct F { float *x; int n; };
        __global__ void k(struct F f, double z) { f.x[threadIdx.x] = z; }
        int main(int argc, char **argv) { struct F f; f.n = argc; dim3 g(2, 3); k<<<g, 64, argc * 4>>>(f, 1); return 0; }";
    insta::assert_snapshot!(body_of(&compile(text), FunctionKind::Host), @"
    %0 = get $0
    set $3, %0
    %1 = get $0
    %2 = mul.i32 %1, 4
    %3 = cvt.i64.i32.sext %2
    %4 = get $2
    %5 = get $3
    launch fn0 <<<(2, 3, 1), (64, 1, 1), %3, 0>>> (%4, %5, f64 1.0)
    return 0
    ");
    let function = kernel(text);
    let names: Vec<_> = function.params.iter().map(|p| p.c_type.as_str()).collect();
    assert_eq!(names, ["float *", "int", "double"]);
}

#[test]
fn only_what_main_reaches_is_lowered() {
    let module = compile(
        "static int used(void) { return 1; } static int unused(void) { return 2; }
         __global__ void k(int *d) { *d = 0; } int main(void) { return used(); }",
    );
    assert!(module.find("used", FunctionKind::Host).is_some());
    assert!(module.find("unused", FunctionKind::Host).is_none());
    assert!(module.find("k", FunctionKind::Kernel).is_some());
}

#[test]
fn main_without_return_gives_zero() {
    let body = body_of(&compile("int main(void) { }"), FunctionKind::Host);
    assert_eq!(body.trim(), "return 0");
}

#[test]
fn functions_for_both_sides_are_inlined_and_called() {
    let text = "__host__ __device__ int sq(int x) { return x * x; }
        __global__ void k(int *d) { *d = sq(*d); } int main(void) { return sq(3); }";
    let module = compile(text);
    assert!(body_of(&module, FunctionKind::Kernel).contains("mul.i32"));
    assert!(module.find("sq", FunctionKind::Host).is_some());
}

#[test]
fn a_function_that_calls_itself_is_a_routine() {
    let text = "__device__ int leaf(int n) { int a[2]; a[n & 1] = n; return a[0]; }
        __device__ int sum(const int *p, int n) { return n == 0 ? leaf(n) : *p + sum(p + 1, n - 1); }
        __global__ void k(int *d, int n) { d[0] = sum(d + 1, n) + leaf(n); }";
    insta::assert_snapshot!(body(text), @r#"
    local local0 "a" "int" [2] : 8 align 4 element 4
    local local1 "a" "int" [2] : 8 align 4 element 4
    routine R0 "sum" ($2, $3) -> ($4)
    code R0 {
      %0 = get $2
      %1 = get $3
      %2 = cmp.eq.i32 %1, 0
      if %2 {
        %3 = addr local1
        %4 = and.i32 %1, 1
        %5 = ptradd %3, %4 * 4
        store.i32.local %5, %1 of local1
        %6 = addr local1
        %7 = load.i32.local %6 of local1
        set $5, %7
      } else {
        %8 = load.i32.global %0
        %9 = ptradd %0 + 4
        %10 = ssub.i32 %1, 1
        %11 = call R0(%9, %10)
        %12 = sadd.i32 %8, %11
        set $5, %12
      }
      %13 = get $5
      set $4, %13
    }
    %14 = get $0
    %15 = ptradd %14 + 4
    %16 = get $1
    %17 = call R0(%15, %16)
    %18 = get $1
    %19 = addr local0
    %20 = and.i32 %18, 1
    %21 = ptradd %19, %20 * 4
    store.i32.local %21, %18 of local0
    %22 = addr local0
    %23 = load.i32.local %22 of local0
    %24 = sadd.i32 %17, %23
    %25 = get $0
    store.i32.global %25, %24
    "#);
}

#[test]
fn a_reference_is_passed_to_a_routine_as_a_pointer() {
    let text = "__device__ void count(int n, int &c, const float &f) { if (n == 0) return; c += f; count(n - 1, c, 2.0f); }
        __global__ void k(int *d, float x) { int c = 0; count(3, c, x); d[0] = c; }";
    insta::assert_snapshot!(body(text), @r#"
    local local0 "x" "float" : 4 align 4 element 4
    local local1 "c" "int" : 4 align 4 element 4
    local local2 "temporary" "float" : 4 align 4 element 4
    routine R0 "count" ($2, $3, $4) -> ()
    code R0 {
      scope L0 {
        %0 = get $2
        %1 = get $3
        %2 = get $4
        %3 = cmp.eq.i32 %0, 0
        if %3 {
          break L0
        }
        %4 = load.f32.local %2
        %5 = load.i32.local %1
        %6 = cvt.f32.s32 %5
        %7 = fadd.f32 %6, %4
        %8 = cvt.s32.f32 %7
        store.i32.local %1, %8
        %9 = ssub.i32 %0, 1
        %10 = addr local2
        store.f32.local %10, 2.0 of local2
        %11 = addr local2
        call R0(%9, %1, %11)
      }
    }
    %12 = get $1
    %13 = addr local0
    store.f32.local %13, %12 of local0
    %14 = addr local1
    store.i32.local %14, 0 of local1
    %15 = addr local1
    %16 = addr local0
    call R0(i32 3, %15, %16)
    %17 = addr local1
    %18 = load.i32.local %17 of local1
    %19 = get $0
    store.i32.global %19, %18
    "#);
}
