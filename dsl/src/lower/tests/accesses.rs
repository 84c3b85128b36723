//! How many accesses a statement makes, how wide they are, and what their addresses look like.

use super::{accesses, body, insts, kernel};
use ir::{InstKind, Object};

/// Accesses of `statement` in a kernel with some arrays.
fn of(statement: &str) -> Vec<String> {
    let text = format!(
        "struct Mixed {{ float4 a; int b; char c; }};
         __global__ void k(int *d, float *f, float4 *v, char *c, struct Mixed *m, volatile int *w, double4 *q, float3 *u) {{
             __shared__ int s[64]; __shared__ float tile[32][33];
             int t = threadIdx.x; {statement} }}"
    );
    accesses(&kernel(&text))
}

#[test]
fn a_compound_assignment_reads_twice_and_writes_once() {
    let expected = ["load.i32.shared", "load.i32.shared", "store.i32.shared"];
    assert_eq!(of("s[t] += s[t + 1];"), expected);
    assert_eq!(of("s[t]++;"), ["load.i32.shared", "store.i32.shared"]);
    assert_eq!(of("s[t] = d[t];"), ["load.i32.global", "store.i32.shared"]);
}

#[test]
fn an_assignment_is_read_from_the_value_not_from_memory() {
    assert_eq!(
        of("int a = s[t] = d[t]; d[t + 1] = a;"),
        ["load.i32.global", "store.i32.shared", "store.i32.global"]
    );
}

#[test]
fn a_read_for_nothing_happens_only_if_volatile() {
    assert_eq!(of("s[t];"), [""; 0]);
    assert_eq!(of("(void)d[t], w[t];"), ["load.i32.global.volatile"]);
}

#[test]
fn volatile_belongs_to_every_access() {
    assert_eq!(
        of("w[t] += w[t + 32];"),
        [
            "load.i32.global.volatile",
            "load.i32.global.volatile",
            "store.i32.global.volatile"
        ]
    );
}

#[test]
fn vectors_move_as_one() {
    assert_eq!(
        of("v[t] = v[t + 1];"),
        ["load.f32x4.global", "store.f32x4.global"]
    );
    let expected = [
        "load.f64x2.global",
        "load.f64x2.global",
        "store.f64x2.global",
        "store.f64x2.global",
    ];
    assert_eq!(of("q[t] = q[t + 1];"), expected);
    assert_eq!(of("u[t] = u[t + 1];").len(), 6);
    assert_eq!(
        of("f[t] = v[t].z;"),
        ["load.f32.global", "store.f32.global"]
    );
    assert_eq!(of("float4 x = v[t]; x.y = 0; v[t] = x;").len(), 2);
    assert_eq!(
        of("v[t] = make_float4(1, 2, 3, 4);"),
        ["store.f32x4.global"]
    );
}

#[test]
fn a_struct_moves_member_by_member() {
    assert_eq!(
        of("m[t] = m[t + 1];"),
        [
            "load.f32x4.global",
            "load.i32.global",
            "load.s8.global",
            "store.f32x4.global",
            "store.i32.global",
            "store.s8.global"
        ]
    );
}

#[test]
fn memory_narrows() {
    assert_eq!(of("c[t] = d[t];"), ["load.i32.global", "store.s8.global"]);
    let text = "__global__ void k(char *c, int *d) { c[threadIdx.x] = d[threadIdx.x]; }";
    assert!(!body(text).contains("cvt"), "{}", body(text));
}

#[test]
fn an_atomic_is_one_access_of_its_place() {
    assert_eq!(of("atomicAdd(&s[t], 1);"), ["atomic.add.i32.shared"]);
    let function = kernel(
        "__global__ void k(int *d) { __shared__ int bins[4]; atomicAdd(&bins[threadIdx.x], 1); atomicCAS(d, 0, 1); }",
    );
    let objects: Vec<_> = insts(&function)
        .into_iter()
        .filter_map(|inst| match inst.kind {
            InstKind::Atomic { access, .. } => Some(access.object.is_some()),
            _ => None,
        })
        .collect();
    assert_eq!(objects, [true, false]);
}

#[test]
fn an_address_is_computed_once() {
    let text =
        "__global__ void k() { __shared__ int s[64]; int t = threadIdx.x; s[t] += s[t + 1]; }";
    insta::assert_snapshot!(body(text), @"
    %0 = special.tid.x
    %1 = addr shared0
    %2 = sadd.i32 %0, 1
    %3 = ptradd %1, %2 * 4
    %4 = load.i32.shared %3 of shared0
    %5 = addr shared0
    %6 = ptradd %5, %0 * 4
    %7 = load.i32.shared %6 of shared0
    %8 = sadd.i32 %7, %4
    store.i32.shared %6, %8 of shared0
    ");
}

#[test]
fn each_dimension_is_a_step_and_constants_fold() {
    let text = "struct P { int a; float b[4]; };
        __global__ void k(struct P *p) { __shared__ float tile[32][33];
            int x = threadIdx.x, y = threadIdx.y;
            tile[y][x] = p[x].b[2]; tile[y][3] = p->b[x]; }";
    insta::assert_snapshot!(body(text), @"
    %0 = special.tid.x
    %1 = special.tid.y
    %2 = get $0
    %3 = ptradd %2, %0 * 20 + 12
    %4 = load.f32.global %3
    %5 = addr shared0
    %6 = ptradd %5, %1 * 132
    %7 = ptradd %6, %0 * 4
    store.f32.shared %7, %4 of shared0 within 33
    %8 = get $0
    %9 = ptradd %8, %0 * 4 + 4
    %10 = load.f32.global %9 within member 4
    %11 = addr shared0
    %12 = ptradd %11, %1 * 132 + 12
    store.f32.shared %12, %10 of shared0
    ");
}

#[test]
fn an_index_keeps_its_width_and_sign() {
    let text = "__global__ void k(int *d, unsigned u, int i, long long l) { d[u] = 0; d[i] = 1; d[l] = 2; d[-1] = 3; *(d + u) = 4; *(d - i) = 5; }";
    insta::assert_snapshot!(body(text), @"
    %0 = get $0
    %1 = get $1
    %2 = ptradd %0, zext %1 * 4
    store.i32.global %2, 0
    %3 = get $0
    %4 = get $2
    %5 = ptradd %3, %4 * 4
    store.i32.global %5, 1
    %6 = get $0
    %7 = get $3
    %8 = ptradd %6, %7 * 4
    store.i32.global %8, 2
    %9 = get $0
    %10 = ptradd %9 - 4
    store.i32.global %10, 3
    %11 = get $0
    %12 = get $1
    %13 = ptradd %11, zext %12 * 4
    store.i32.global %13, 4
    %14 = get $0
    %15 = get $2
    %16 = sneg.i32 %15
    %17 = ptradd %14, %16 * 4
    store.i32.global %17, 5
    ");
}

#[test]
fn only_direct_indexing_knows_the_array() {
    let text = "__device__ void direct(int t) { __shared__ int own[8]; own[t] = 1; }
        __global__ void k() { __shared__ int s[64]; int *p = s; int t = threadIdx.x;
            s[t] = 1; p[t] = 2; *(s + t) = 3; direct(t); }";
    let objects: Vec<_> = insts(&kernel(text))
        .into_iter()
        .filter_map(|inst| match inst.kind {
            InstKind::Store(access, ..) => Some(access.object),
            _ => None,
        })
        .collect();
    let shared = |n| Some(Object::Shared(ir::SharedId(n)));
    assert_eq!(objects, [shared(0), None, None, shared(1)]);
}

#[test]
fn a_local_array_is_memory_and_its_rest_is_zero() {
    assert_eq!(
        of("int a[4] = {t, 2}; d[t] = a[t & 3];"),
        [
            "store.i32.local",
            "store.i32.local",
            "store.i32.local",
            "store.i32.local",
            "load.i32.local",
            "store.i32.global"
        ]
    );
    // A long array is cleared in a loop.
    assert_eq!(of("int a[400] = {0}; d[t] = a[t];").len(), 4);
}

#[test]
fn an_access_is_named_by_its_source() {
    let module = super::compile(
        "#define AT(i) s[ (i) ]\n__global__ void k(int *d) {\n  __shared__ int s[4];\n  s[ threadIdx.x\n   ] = d[0];\n  AT(1) = 2; }\n",
    );
    let function = module.kernels().next().unwrap().1;
    let texts: Vec<_> = insts(function)
        .into_iter()
        .filter(|inst| matches!(inst.kind, InstKind::Load(..) | InstKind::Store(..)))
        .map(|inst| {
            let loc = module.loc(inst.loc);
            (loc.line, loc.column, loc.text.clone(), loc.via.is_some())
        })
        .collect();
    assert_eq!(
        texts,
        [
            (5, 8, "d[0]".to_string(), false),
            (4, 3, "s[ threadIdx.x ]".to_string(), false),
            (6, 3, "s[ (i) ]".to_string(), true)
        ]
    );
}

#[test]
fn accesses_through_a_macros_parameter_keep_different_names() {
    let module = super::compile(
        "#define FOLD(array, half) if (t < half) array[t] += array[t + half]
         __global__ void k() { __shared__ int part[64]; int t = threadIdx.x; FOLD(part, 32); }",
    );
    let texts: Vec<_> = insts(module.kernels().next().unwrap().1)
        .into_iter()
        .filter(|inst| matches!(inst.kind, InstKind::Load(..) | InstKind::Store(..)))
        .map(|inst| module.loc(inst.loc).text.clone())
        .collect();
    assert_eq!(texts, ["part[t + 32]", "part[t]", "part[t]"]);
}

/// A member is aligned as its record's alignment and its offset allow; an element that a thread chooses, as its size allows.
#[test]
fn accesses_say_what_their_record_is_aligned_to() {
    let text = "struct __align__(16) S { float x, y, z; int a[13]; };
        __global__ void k(S *s, int i) {
            S *one = &s[i];
            one->y = one->x;
            one->a[i] = one->a[1];
            s[0].z = 1;
        }";
    let function = kernel(text);
    let mut shown = vec![];
    function.body.for_each_inst(&mut |inst| {
        if let Some((access, _)) = inst.kind.access() {
            shown.push(access.to_string());
        }
    });
    assert_eq!(
        shown,
        [
            // x at 0, y at 4, elements of a, z at 8.
            "f32.global.align16",
            "f32.global",
            "i32.global",
            "i32.global",
            "f32.global.align8",
        ]
    );
}
