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
fn names_of_namespaces_and_classes() {
    // Its bodies, and nothing between them.
    assert_eq!(
        types("namespace a { typedef int t; } (t) - 1; namespace a { t x; } a::t y;"),
        "t t t"
    );
    // Nested and derived scopes, definitions outside.
    assert_eq!(
        types(
            "namespace a { typedef int t; namespace b { t x; } void f(t); } void a::f(t x) { t y; } int t;"
        ),
        "t t t t t"
    );
    assert_eq!(
        types("struct A { typedef int t; }; struct B : A { t x; }; struct C { int y = (t) - 1; };"),
        "A t B A t C"
    );
    // Using-directives, using-declarations, aliases.
    assert_eq!(
        types(
            "namespace a { typedef int t; } void f() { using namespace a; t x; } void g() { (t) - 1; }"
        ),
        "t t"
    );
    assert_eq!(
        types("namespace a { typedef int t; } namespace b { using a::t; t x; } int y = (t) - 1;"),
        "t t t"
    );
    assert_eq!(
        types(
            "namespace a { typedef int t; } namespace c = a; c::t x; namespace d { int t; } d::t - 1;"
        ),
        "t t"
    );
}

#[test]
fn what_hides_a_type() {
    assert_eq!(types("typedef int t; enum { s, t }; int x = (t) - 1;"), "t");
    assert_eq!(
        types("typedef int t; void f() { auto [s, t] = g(); (t) - 1; } t x;"),
        "t t"
    );
    assert_eq!(
        types("typedef int t; void f() { auto g = [t = 1]() { return (t) - 1; }; t x; }"),
        "t t"
    );
    assert_eq!(
        types(
            "typedef int T; struct B { int g() { return (T) - 1; } int T; }; struct D : B { int h() { return (T) - 1; } }; T x;"
        ),
        "T B D B T"
    );
    assert_eq!(
        types("typedef int t; template <int t> int f() { return (t) - 1; } t x;"),
        "t t"
    );
    // A type that is declared nearer hides the variable.
    assert_eq!(types("int t; namespace a { typedef int t; t x; }"), "t t");
}

#[test]
fn a_name_declared_in_many_places_is_a_type_everywhere() {
    let few: String = (0..10)
        .map(|i| format!("namespace n{i} {{ typedef int t; }} "))
        .collect();
    assert_eq!(types(&format!("{few} (t) - 1;")), ["t"; 10].join(" "));
    let many: String = (0..100)
        .map(|i| format!("namespace n{i} {{ typedef int t; }} "))
        .collect();
    assert_eq!(types(&format!("{many} (t) - 1;")), ["t"; 101].join(" "));
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
