//! Messages: each snapshot shows a program and its messages.

use super::{errors, parsed, snapshot};
use crate::syntax::ast::Item;
use ir::diagnostic::Code;

/// Each text and its messages.
fn messages(texts: &[&str]) -> String {
    texts
        .iter()
        .map(|text| {
            format!(
                "{text}\n  {}\n",
                errors(text).trim_end().replace('\n', "\n  ")
            )
        })
        .collect()
}

/// Each text inside a function, which starts at column 1 of the second line.
fn inside(texts: &[&str]) -> String {
    texts
        .iter()
        .map(|text| {
            format!(
                "{text}\n  {}\n",
                errors(&format!("void f() {{\n{text}\n}}"))
                    .trim_end()
                    .replace('\n', "\n  ")
            )
        })
        .collect()
}

#[test]
fn missing_semicolons() {
    snapshot(
        "errors_missing_semicolons",
        &inside(&[
            "int a = 1\nint b = 2;",
            "a = 1\nb = 2\nc = 3;",
            "f(a)\nreturn",
            "if (a) b = 1 else c = 2;",
            "break",
            "do a++; while (a)",
            "__syncthreads()\ns[t] = 0",
            "struct S { int a int b; };",
        ]),
    );
    snapshot(
        "errors_missing_semicolons_at_file_scope",
        &messages(&[
            "int a\nint b;",
            "struct S { int a; }\nvoid f() {}",
            "int f(int a)\nint b;",
            "typedef int T\nT x;",
        ]),
    );
}

#[test]
fn operands() {
    snapshot(
        "errors_operands",
        &inside(&[
            "a = b + ;",
            "a = ;",
            "int x = ;",
            "a = * ;",
            "f(a, , b);",
            "f(a b);",
            "a[] = 1;",
            "a = b ? c;",
            "a. = 1;",
            "a->3;",
            "x = 3 4;",
            "(float) = 2;",
            "return +;",
            "int a[2] = {1 2};",
        ]),
    );
}

#[test]
fn brackets() {
    snapshot(
        "errors_brackets",
        &inside(&[
            "f(a, b;\ng(;",
            "int a[3;\nb = ;",
            "s[(t + 1] = 0;",
            "s[t) = 0;",
            "if (t < 64) ]\n  s[t] = 0;\nb = ;",
            "f(a));\ng(b));",
            "if (x { a = 1; }",
            "if (f(x) { a = 1; }\nb = ;",
            "for (int i = 0; i < n; i++ { a = 1; }",
            "while (x) { a = 1; }}",
            "k<<<1, 64(d);",
        ]),
    );
    snapshot(
        "errors_brackets_at_file_scope",
        &messages(&[
            "void f() { if (a) { b;\n}",
            "void f() { while (a) { if (b) {\n",
            "void f() { a;\n__global__ void g() { b = ; }",
            "void f() { a; }}\nint b = ;",
            "int a[3;\nint b;",
            "void f(int a { b; }\nint c = ;",
            "int x = (1;",
            "]",
        ]),
    );
}

#[test]
fn launches() {
    snapshot(
        "errors_launches",
        &inside(&[
            "kernel<<<1, 64>>(x);\na = ;",
            "kernel<<1, 64>>(x);",
            "kernel<<1, 64>>>(x);",
            "kernel<<<1, 64>>>;",
            "kernel<<<1, >>>(x);",
            "kernel<<<1, 64>>> x;",
            "a << b, c >> d;",
        ]),
    );
}

#[test]
fn statements() {
    snapshot(
        "errors_statements",
        &inside(&[
            "if (a) b; c; else d;",
            "if (a); { b; } else { c; }",
            "for (a, b, c) d;",
            "for (int i = 0; i < n) d;",
            "for (int i = 0; i < n; i++; j++) d;",
            "for int i = 0; i < n; i++) d;",
            "while (x) do { a; }",
            "do { a; } b;",
            "while x { a; }",
            "if a == b c;",
            "switch (a) { case: b; case 1 c; }",
            "if () a;",
            "int for = 3;",
            "int new; b = ;",
            "if (a b) c = ; else d = ;",
        ]),
    );
}

#[test]
fn declarations() {
    snapshot(
        "errors_declarations",
        &messages(&[
            "unsigned float x;",
            "int float y; long char z; long long long w; short double s; long double t;",
            "int struct S { int a; } x;",
            "static x = 3; const y;",
            "__global__ k(int *a) { }",
            "main() { return 0; }",
            "__global__ void f(__shared__ float *a, int b) { }",
            "void f(int a,) { } void g(int a int b) { } void h(, int c) { }",
            "void f(int a = 3) { }",
            "struct S { int a : 3; int f(int x); S(); ~S(); public: int b; };",
            "enum { A, 3 }; enum E : int { B }; enum class F { C };",
            "struct { int a; } ; struct 3 { };",
            "int 3x; int b = ;",
            "void f(int a) b = 3; }\nint c;",
            "int a[3] = {1, 2, ; int b = ;",
            "typedef; x; 3;",
            "int a, ; int b = ;",
            "foo bar baz; int q = ;",
            "x = 3; f(x); if (x) { } int q = ;",
            "struct S { int a; }\n__global__ void k(struct S s) { struct T { int b; }\n int c = ; }",
        ]),
    );
}

#[test]
fn errors_are_independent() {
    let text = "__global__ void a(int *p) {\n  int x = ;\n  p[0] = x\n  if (x) {\n    f(x;\n  }\n  p[1] = 2;\n}\n\nvoid b() {\n  y = 1 +;\n}\nint c = ;\nvoid d() { }\n";
    snapshot("errors_are_independent", &messages(&[text]));
    let names: Vec<String> = parsed(text)
        .0
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Function(function) => Some(function.name.node.to_string()),
            Item::Declaration(_)
            | Item::Unsupported { .. }
            | Item::Template(_)
            | Item::Namespace(_)
            | Item::Using(_)
            | Item::StaticAssert(_) => None,
        })
        .collect();
    assert_eq!(names, ["a", "b", "d"]);
}

/// The examples of `dslc explain`: each bad one has its error, each good one has none.
#[test]
fn explained_examples_are_what_they_say() {
    for &code in Code::ALL {
        let (bad, good) = (code.bad_example(), code.good_example());
        if !code.number().starts_with("E03") || bad.is_empty() {
            continue;
        }
        let codes = |text: &str| -> Vec<Code> {
            let diagnostics = parsed(text).1;
            diagnostics
                .iter()
                .map(|diagnostic| diagnostic.code)
                .collect()
        };
        let inside = |text: &str| format!("void example() {{ {text} }}");
        let found = [codes(bad), codes(&inside(bad))];
        assert!(
            found.iter().any(|codes| codes.contains(&code)),
            "{}: {found:?}",
            code.number()
        );
        let found = [codes(good), codes(&inside(good))];
        assert!(
            found.iter().any(Vec::is_empty),
            "{}: {found:?}",
            code.number()
        );
    }
}
