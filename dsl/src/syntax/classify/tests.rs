//! Which names of a program are types.

use crate::syntax::token::TokenKind;
use crate::syntax::{Options, tokenize};
use ir::source::{NoFiles, SourceFile, SourceMap};

/// The names that are types, each time they appear.
fn types(text: &str) -> String {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("t.k", text));
    let tokenized = tokenize(&mut map, file, &Options::default(), &NoFiles);
    let names = tokenized
        .tokens
        .iter()
        .filter_map(|token| match &token.kind {
            TokenKind::TypeName(name) => Some(&**name),
            _ => None,
        });
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn typedefs() {
    assert_eq!(types("typedef unsigned int u, *pu; x = (u)y;"), "u pu u");
    assert_eq!(types("typedef float row[N][4]; row r;"), "row row");
    assert_eq!(
        types("typedef float (row)[4], (*ptr)[4]; row r;"),
        "row ptr row"
    );
    assert_eq!(types("typedef __align__(N) int T; T t;"), "T T");
    assert_eq!(
        types("typedef float (*op)(float x, float *y); op f;"),
        "op op"
    );
    assert_eq!(types("typedef int fn(int a, int b); fn *f;"), "fn fn");
    assert_eq!(
        types("typedef struct node { int v; struct node *next; } Node; Node n;"),
        "node node Node Node"
    );
    assert_eq!(
        types("typedef struct { float x, y; } vec; vec a;"),
        "vec vec"
    );
    assert_eq!(types("typedef pair<int, float> p; p q;"), "p p");
}

#[test]
fn tags_and_aliases() {
    assert_eq!(
        types(
            "struct __align__(16) P { int a; }; enum class E { A }; union U u; using real = float; real r;"
        ),
        "P E U real real"
    );
}

#[test]
fn types_of_functions_end_with_their_block() {
    assert_eq!(
        types("void f() { typedef int T; T t; } int g() { return T; }"),
        "T T"
    );
    assert_eq!(types("void f() { { using T = int; T t; } T = 1; }"), "T T");
    assert_eq!(
        types("void f() { struct S { int x; }; S s; } void S(); void g() { S(); }"),
        "S S"
    );
    assert_eq!(
        types("struct A { int f() const { using T = int; return T(1); } int T; };"),
        "A T T"
    );
    assert_eq!(
        types("struct __align__(8) A { typedef int T; }; A::T x;"),
        "A T A T"
    );
    assert_eq!(
        types("namespace n { struct B { using T = int; }; } n::B::T x;"),
        "B T B T"
    );
    assert_eq!(types("extern \"C\" { typedef int T; } T x;"), "T T");
    assert_eq!(
        types("void f() { struct S { typedef int T; }; S::T x; }"),
        "S T S T"
    );
}

#[test]
fn template_parameters_end_with_the_template() {
    assert_eq!(
        types(
            "template <typename T, class U = float, int N> __global__ void k(T *a, U b) { T c; } int T; U N;"
        ),
        "T U T U T"
    );
}

#[test]
fn builtin_types() {
    assert_eq!(
        types("dim3 float4 uint3 ulonglong2 float5 size_t cudaError_t uint8_t foo"),
        "dim3 float4 uint3 ulonglong2 size_t cudaError_t uint8_t"
    );
}

#[test]
fn half_is_a_type_only_with_its_header() {
    assert_eq!(types("int half = n / 2;"), "");
    assert_eq!(
        types("#include <cuda_fp16.h>\nhalf h; half2 g;"),
        "half half2"
    );
}
