//! Shared layout, globals and their relocations, strings, unions.

use super::{accesses, compile, kernel};
use ir::{GlobalSpace, Object};

#[test]
fn shared_variables_follow_each_other_and_dynamic_ones_come_last() {
    let function = kernel(
        "extern __shared__ char dyn[];
         __shared__ char head[3];
         __global__ void k(int t) { head[t] = 0; dyn[t] = 0; __shared__ double d[2]; d[t] = 0; extern __shared__ int more[]; more[t] = 1; __shared__ short z; z = 1; }",
    );
    let vars: Vec<_> = function
        .shared
        .iter()
        .map(|var| {
            (
                var.name.as_str(),
                var.offset_bytes,
                var.size_bytes,
                var.dynamic,
            )
        })
        .collect();
    assert_eq!(
        vars,
        [
            ("head", 0, 3, false),
            ("dyn", 32, 0, true),
            ("d", 8, 16, false),
            ("more", 32, 0, true),
            ("z", 24, 2, false)
        ]
    );
}

#[test]
fn each_kernel_has_its_own_copy_of_a_shared_variable_at_file_scope() {
    let module = compile(
        "__shared__ int s[4]; __global__ void a() { s[0] = 1; } __global__ void b() { __shared__ int t[2]; t[0] = 1; s[0] = 2; }",
    );
    let sizes: Vec<_> = module
        .kernels()
        .map(|(_, kernel)| kernel.shared.len())
        .collect();
    assert_eq!(sizes, [1, 2]);
}

#[test]
fn globals_have_their_bytes_and_addresses() {
    let module = compile(
        "__constant__ float coef[3] = { 1.0f, 2.0f };
         __device__ int counter;
         struct Row { const char *name; short n; };
         static int table[4] = { 1, -1 };
         static struct Row rows[2] = { { \"one\", 7 }, { \"two\", 8 } };
         static int *second = &table[1];
         __global__ void k(float *d) { d[0] = coef[counter]; }
         int main(void) { printf(\"%s\", rows[1].name); return *second; }",
    );
    let global = |name: &str| {
        module
            .globals
            .iter()
            .find(|global| global.name == name)
            .unwrap()
    };
    let coef = global("coef");
    assert_eq!(
        (coef.space, coef.c_type.as_str()),
        (GlobalSpace::Constant, "float [3]")
    );
    assert_eq!(
        coef.init.as_deref().unwrap(),
        [0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 0, 0]
    );
    assert_eq!(
        (global("counter").space, &global("counter").init),
        (GlobalSpace::Device, &None)
    );
    let rows = global("rows");
    assert_eq!(rows.init.as_ref().unwrap()[8], 7);
    let offsets: Vec<_> = rows.relocations.iter().map(|(at, ..)| *at).collect();
    assert_eq!(offsets, [0, 16]);
    let [(0, Object::Global(id), 4)] = global("second").relocations[..] else {
        panic!("{:?}", global("second").relocations);
    };
    assert_eq!(module.globals[id.index()].name, "table");
}

#[test]
fn equal_strings_are_one() {
    let module = compile("int main(void) { puts(\"a\"); puts(\"b\"); puts(\"a\"); return 0; }");
    assert_eq!(module.strings.len(), 2);
}

#[test]
fn a_union_moves_as_an_integer() {
    let function = kernel(
        "union U { float f; int i; }; __global__ void k(union U *u, int *d) { u[0] = u[1]; union U v; v.f = 1.0f; d[0] = v.i; }",
    );
    assert_eq!(
        accesses(&function),
        [
            "load.i32.global",
            "store.i32.global",
            "store.f32.local",
            "load.i32.local",
            "store.i32.global"
        ]
    );
}

#[test]
fn a_variable_whose_address_is_taken_is_in_memory() {
    let function = kernel(
        "__device__ void bump(int *p) { ++*p; } __global__ void k(int *d, int n) { bump(&n); d[0] = n; }",
    );
    assert_eq!(
        accesses(&function),
        [
            "store.i32.local",
            "load.i32.local",
            "store.i32.local",
            "load.i32.local",
            "store.i32.global"
        ]
    );
}

#[test]
fn a_long_record_is_copied_in_a_loop() {
    let function = kernel(
        "struct Big { int a[100]; }; __global__ void k(struct Big *p) { p[0] = p[1]; struct Big b = p[2]; p[3] = b; }",
    );
    assert_eq!(accesses(&function).len(), 6);
}

#[test]
fn a_small_record_is_split_into_slots() {
    let function = kernel(
        "struct P { int a; float2 b; }; __global__ void k(struct P *p, int n) { struct P q = { n }; q.b.y = 2; if (n) q.a = 3; p[0] = q; }",
    );
    assert!(function.locals.is_empty());
    assert_eq!(accesses(&function).len(), 2);
}
