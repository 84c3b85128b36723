//! Typed trees: conversions are nodes, places carry their source text, layouts are C's.

use super::{check, passes};
use crate::sema::typed::{Arith, FunctionId, PlaceKind, Stmt, StmtKind, Storage, Value, ValueKind};
use ir::DeviceProp;

fn body<'p>(program: &'p crate::sema::typed::Program, name: &str) -> &'p [Stmt] {
    let function = program
        .functions
        .iter()
        .find(|function| function.name == name);
    function
        .and_then(|function| function.body.as_deref())
        .unwrap_or_default()
}

fn expr(stmt: &Stmt) -> &Value {
    match &stmt.kind {
        StmtKind::Expr(value) => value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn places_are_the_exact_text_of_the_access() {
    let text = "__global__ void t(float *B, int n) { __shared__ float S[32][33]; B[n * 2] = S[threadIdx.x][threadIdx.y]; }";
    let checked = check(text);
    let program = checked.program.unwrap_or_default();
    let ValueKind::Assign(place, value) = &expr(&body(&program, "t")[1]).kind else {
        panic!()
    };
    assert_eq!(checked.map.snippet(place.span), "B[n * 2]");
    let ValueKind::Load(place) = &value.kind else {
        panic!()
    };
    assert_eq!(
        checked.map.snippet(place.span),
        "S[threadIdx.x][threadIdx.y]"
    );
    let PlaceKind::ArrayIndex(row, _) = &place.kind else {
        panic!()
    };
    assert_eq!(checked.map.snippet(row.span), "S[threadIdx.x]");
}

#[test]
fn conversions_are_nodes_and_constants_are_converted() {
    let program = passes(
        "void f(float x, double d, int i) { x = x + 1; d = x * 2.0; i += 0.5; i = -1; x = 0.1; }",
    );
    let stmts = body(&program, "f");
    let dump = |stmt: &Stmt| format!("{:?}", expr(stmt).kind);
    assert!(
        dump(&stmts[0]).contains("Float(1.0)"),
        "{}",
        dump(&stmts[0])
    );
    assert!(
        dump(&stmts[1]).contains("Convert(Value"),
        "{}",
        dump(&stmts[1])
    );
    let ValueKind::CompoundAssign {
        op: Arith::Add,
        compute,
        ..
    } = &expr(&stmts[2]).kind
    else {
        panic!()
    };
    assert_eq!(*compute, crate::sema::ty::Ty::Double);
    let ValueKind::Assign(_, value) = &expr(&stmts[3]).kind else {
        panic!()
    };
    assert_eq!(value.kind, ValueKind::Int(u64::MAX));
    let ValueKind::Assign(_, value) = &expr(&stmts[4]).kind else {
        panic!()
    };
    assert_eq!(value.kind, ValueKind::Float(f64::from(0.1f32)));
}

#[test]
fn variables_know_where_they_live_and_whether_they_need_memory() {
    let program = passes(
        "__global__ void f(int n) { extern __shared__ int d[]; __shared__ float s[4]; int a, b[2], c; int *p = &a; b[n] = c; p[0] = d[0] + s[1]; }",
    );
    let vars = &program.functions[FunctionId(0)].vars;
    let find = |name: &str| {
        vars.iter()
            .find(|var| var.name == name)
            .map(|var| (var.storage, var.address_taken))
    };
    assert_eq!(find("d"), Some((Storage::SharedDynamic, false)));
    assert_eq!(find("s"), Some((Storage::Shared, false)));
    assert_eq!(find("a"), Some((Storage::Auto, true)));
    assert_eq!(find("b"), Some((Storage::Auto, false)));
    assert_eq!(find("c"), Some((Storage::Auto, false)));
}

#[test]
fn records_have_cs_layout() {
    let program = passes(
        "struct inner { char c; double d; }; struct __align__(16) outer { short s; struct inner i[2]; char tail; union { int a; char b[6]; }; };
         struct outer o; typedef struct { float x, y; } vec; vec v; float4 f4;",
    );
    let record = |name: &str| {
        let record = program.records.iter().find(|record| record.name == name);
        record.map(|record| {
            let offsets: Vec<_> = record
                .fields
                .iter()
                .map(|field| field.offset_bytes)
                .collect();
            (record.size_bytes, record.align_bytes, offsets)
        })
    };
    // Offsets and sizes as g++ 12 gives them on x86-64.
    assert_eq!(record("inner"), Some((16, 8, vec![0, 8])));
    assert_eq!(record("outer"), Some((64, 16, vec![0, 8, 40, 44])));
    assert_eq!(record("vec"), Some((8, 4, vec![0, 4])));
    assert_eq!(record("float4"), Some((16, 16, vec![0, 4, 8, 12])));
}

#[test]
fn switches_are_cut_at_their_labels() {
    let program = passes(
        "void f(int a) { switch (a) { int x; case 1: case 2: x = 1; break; case -1: { x = 2; } default: x = 3; } }",
    );
    let stmts = body(&program, "f");
    assert!(matches!(stmts[0].kind, StmtKind::Declare(..)));
    let StmtKind::Switch { sections, .. } = &stmts[1].kind else {
        panic!()
    };
    let cut: Vec<_> = sections
        .iter()
        .map(|section| {
            (
                section.cases.clone(),
                section.is_default,
                section.body.len(),
            )
        })
        .collect();
    assert_eq!(
        cut,
        [
            (vec![1, 2], false, 2),
            (vec![u64::MAX], false, 1),
            (vec![], true, 1)
        ]
    );
}

#[test]
fn launches_have_dim3s() {
    let program = passes(
        "__global__ void k(int n) { } int main() { dim3 b(2); k<<<4, b, 16>>>(1); return 0; }",
    );
    let ValueKind::Launch(launch) = &expr(&body(&program, "main")[1]).kind else {
        panic!()
    };
    let ValueKind::Aggregate(sizes) = &launch.grid.kind else {
        panic!()
    };
    assert_eq!(
        sizes
            .iter()
            .map(|size| size.kind.clone())
            .collect::<Vec<_>>(),
        [4, 1, 1].map(ValueKind::Int)
    );
    assert_eq!(
        launch.shared_bytes.as_ref().map(|bytes| bytes.kind.clone()),
        Some(ValueKind::Int(16))
    );
}

#[test]
fn device_property_indices_are_the_runtimes() {
    let text = include_str!("../../../library/device.k");
    for (index, property) in DeviceProp::ALL.iter().enumerate() {
        let member = property.text();
        let name = format!(
            "__dslc_property_{}",
            member.replace('[', "_").replace(']', "")
        );
        assert_eq!(*property as usize, index);
        assert!(text.contains(&format!("{name} = {index}")), "{name}");
        assert!(
            text.contains(&format!("prop->{member} = __dslc_device_property({name});")),
            "{name}"
        );
    }
}

#[test]
fn deep_programs_do_not_overflow() {
    let sum = vec!["a"; 990].join(" + ");
    let nested = format!("{}a{}", "(".repeat(150), ")".repeat(150));
    let blocks = format!("{}a = 1;{}", "if (a) {".repeat(90), "}".repeat(90));
    let negated = format!("{} a", "- ".repeat(150));
    passes(&format!(
        "int f(int a) {{ {blocks} a = {negated}; return {sum} + {nested}; }}"
    ));
    let chain: String = (0..500)
        .map(|i| format!("__device__ int f{}(int a) {{ return f{i}(a); }}\n", i + 1))
        .collect();
    passes(&format!(
        "__device__ int f0(int a) {{ return a; }}\n{chain}"
    ));
}
