//! Invalid input of any kind: one clear message, exit code 1 or 2, no panic, no overflow, no hang.

use std::{fs, time::Duration};

use crate::support::{examples, file, has, survives};

const LIMIT: Duration = Duration::from_secs(20);

/// The program has an error, which is reported.
fn refused(name: &str, contents: &[u8]) -> String {
    let path = file(name, contents);
    let output = survives(name, &["run", &path], LIMIT);
    let error = output.stderr;
    assert!(matches!(output.code, Some(1 | 2)), "{name} was accepted");
    assert!(!error.trim().is_empty(), "{name}: no message");
    error
}

fn main_of(body: &str) -> Vec<u8> {
    format!("int main() {{ {body} }}\n").into_bytes()
}

#[test]
fn files_that_are_no_programs() {
    refused("empty.k", b"");
    refused("blank.k", b"\n\n   \n");
    refused(
        "binary.k",
        &(0..=255u8).cycle().take(5000).collect::<Vec<_>>(),
    );
    refused("nul.k", b"int main() { \0 return 0; }");
    refused("not_utf8.k", b"int main() { return \xff\xfe; }");
    refused("comment.k", b"int main() { return 0; } /* never closed");
    refused(
        "string.k",
        b"int main() { puts(\"never closed); return 0; }",
    );
    refused("conditional.k", b"#if 1\nint main() { return 0; }\n");
}

#[test]
fn nesting_without_end() {
    let parens = |n: usize| main_of(&format!("int x = {}1{};", "(".repeat(n), ")".repeat(n)));
    refused("parens.k", &parens(20_000));
    refused("open_parens.k", &main_of(&"(".repeat(20_000)));
    refused("ifs.k", &main_of(&("if (1) ".repeat(5_000) + ";")));
    refused(
        "if_blocks.k",
        &main_of(&("if (1) {".repeat(5_000) + &"}".repeat(5_000))),
    );
    refused("braces.k", &main_of(&"{".repeat(20_000)));
    refused(
        "brackets.k",
        &main_of(&("int a".to_string() + &"[2]".repeat(5_000) + ";")),
    );
    refused(
        "minus.k",
        &main_of(&format!("return {}1;", "- ".repeat(10_000))),
    );
    refused(
        "sum.k",
        &main_of(&format!("return 0{};", " + 1".repeat(100_000))),
    );
    refused(
        "ternary.k",
        &main_of(&format!("return {}0;", "1 ? 1 : ".repeat(10_000))),
    );
    refused(
        "initializer.k",
        &main_of(&format!(
            "int a[] = {}0{};",
            "{".repeat(10_000),
            "}".repeat(10_000)
        )),
    );
}

#[test]
fn macros_without_end() {
    refused("self.k", b"#define F F\nint main() { return F; }\n");
    refused(
        "mutual.k",
        b"#define F G\n#define G F\nint main() { return F; }\n",
    );
    refused(
        "include_self.k",
        b"#include \"include_self.k\"\nint main() { return 0; }\n",
    );
    let mut doubling = String::from("#define A0 1\n");
    for i in 1..60 {
        doubling += &format!("#define A{i} A{} + A{}\n", i - 1, i - 1);
    }
    refused(
        "doubling.k",
        format!("{doubling}int main() {{ return A59; }}\n").as_bytes(),
    );
}

/// Templates that need five hundred instances of themselves, as C++ libraries do, and templates with infinitely many instances.
#[test]
fn templates_that_need_themselves() {
    let path = file(
        "deep_templates.k",
        b"#include <stdio.h>
template <int N> struct Sum { static const int value = N + Sum<N - 1>::value; };
template <> struct Sum<0> { static const int value = 0; };
template <int N> struct Chain : Chain<N - 1> { int get() const { return N; } };
template <> struct Chain<0> { };
template <int N> __host__ __device__ int count(int x) { if constexpr (N > 0) return x + count<N - 1>(x); else return x; }
template <int N> __device__ int branches(int x) { if constexpr (N > 0) { if (x > N) { return branches<N - 1>(x) + 1; } return 7; } else return 0; }
template <int N> __host__ __device__ auto deduced(int x) { if constexpr (N > 0) return x + deduced<N - 1>(x); else return x; }
__global__ void k(int *p) { p[0] = count<500>(1); p[1] = Sum<500>::value; p[2] = branches<500>(1000); p[3] = deduced<500>(1); }
int main()
{
    int *p;
    cudaMallocManaged(&p, 16);
    k<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    Chain<500> chain;
    printf(\"%d %d %d %d %d %d %d\\n\", p[0], p[1], p[2], p[3], count<500>(1), chain.get(), deduced<500>(1));
    cudaFree(p);
    return 0;
}
",
    );
    let output = survives("deep_templates.k", &["run", "-q", &path], LIMIT);
    assert_eq!(
        output.stdout, "501 125250 500 501 501 500 501\n",
        "{}",
        output.stderr
    );
    for (name, template, use_) in [
        (
            "value",
            "template <int N> struct A { static const int v = N + A<N + 1>::v; };",
            "A<0>::v",
        ),
        (
            "member",
            "template <int N> struct A { A<N + 1> next; };",
            "sizeof(A<0>)",
        ),
        (
            "base",
            "template <int N> struct A : A<N + 1> { };",
            "sizeof(A<0>)",
        ),
        (
            "type",
            "template <typename T> struct A { A<A<T>> next; };",
            "sizeof(A<int>)",
        ),
        (
            "host",
            "template <int N> int a() { return a<N + 1>() + 1; }",
            "a<0>()",
        ),
        (
            "device",
            "template <int N> __host__ __device__ int a() { return a<N + 1>() + a<N + 2>(); }",
            "a<0>()",
        ),
        (
            "auto",
            "template <int N> auto a() { return a<N + 1>() + 1; }",
            "a<0>()",
        ),
        (
            "argument",
            "template <typename T> int a(T t) { return a(&t); }",
            "a(0)",
        ),
    ] {
        let program = format!("{template}\nint main() {{ return {use_}; }}\n");
        let error = refused(&format!("endless_{name}.k"), program.as_bytes());
        assert_eq!(error.matches("[E0523]").count(), 1, "{name}: {error}");
        assert_eq!(error.matches("Error:").count(), 1, "{name}: {error}");
        let counts = ["1024 instances of", "1024 template instances"];
        assert!(
            counts.iter().any(|&text| error.contains(text)),
            "{name}: {error}"
        );
    }
}

/// Templates with few levels that need more instances than fit in memory: one message, about the first one beyond the limit.
#[test]
fn templates_with_too_many_instances() {
    let two = "N - 1, 2 * M>() + f<N - 1, 2 * M + 1>()";
    for (name, declared, use_, needle) in [
        (
            "classes",
            "template <int N, int M> struct A { static const int v = A<N - 1, 2 * M>::v + A<N - 1, 2 * M + 1>::v; };
             template <int M> struct A<0, M> { static const int v = 1; };"
                .to_string(),
            "A<24, 1>::v",
            "more than 65536 instances of templates; the last one is of `A`",
        ),
        (
            "members",
            "template <int N, int M> struct A { int f() { A<N - 1, 2 * M> a; A<N - 1, 2 * M + 1> b; return a.f() + b.f(); } };
             template <int M> struct A<0, M> { int f() { return M; } };"
                .to_string(),
            "A<24, 1>().f()",
            "more than 65536 instances",
        ),
        (
            "functions",
            format!("template <int N, int M> int f() {{ if constexpr (N == 0) return 1; else return f<{two}; }}"),
            "(f<24, 1>())",
            "more than 65536 instances of templates; the last one is of `f`",
        ),
        (
            "variables",
            "template <int N, int M> constexpr int v = v<N - 1, 2 * M> + v<N - 1, 2 * M + 1>;
             template <int M> constexpr int v<0, M> = 1;"
                .to_string(),
            "(v<24, 1>)",
            "more than 65536 instances of templates; the last one is of `v`",
        ),
        (
            "aliases",
            "template <typename A, typename B> struct P { };
             template <typename T> using A0 = P<T, T>;"
                .to_string()
                + &(1..30)
                    .map(|n| format!("template <typename T> using A{n} = P<A{0}<T>, A{0}<T *>>;", n - 1))
                    .collect::<String>(),
            "sizeof(A29<int>)",
            "more than",
        ),
        (
            "names",
            "template <typename A, typename B> struct P { };
             template <typename T, int N> struct R { static const int v = R<P<T, T>, N - 1>::v; };
             template <typename T> struct R<T, 0> { static const int v = 1; };"
                .to_string(),
            "(R<int, 60>::v)",
            "the names of the instances of templates take more than 32 MiB",
        ),
    ] {
        let program = format!("{declared}\nint main() {{ return {use_}; }}\n");
        let error = refused(&format!("many_{name}.k"), program.as_bytes());
        assert_eq!(error.matches("Error:").count(), 1, "{name}: {error}");
        assert!(error.contains("[E0523]"), "{name}: {error}");
        // A title may take more than one line.
        let words: Vec<&str> = error.split_whitespace().collect();
        assert!(words.join(" ").contains(needle), "{name}: {error}");
    }
}

/// Constant variables are computed once for each list of arguments.
#[test]
fn templates_of_variables_that_share_their_instances() {
    let program = "template <int N> constexpr long long fib = fib<N - 1> + fib<N - 2>;
        template <> constexpr long long fib<0> = 0;
        template <> constexpr long long fib<1> = 1;
        int main() { return fib<80> == 23416728348467685LL ? 0 : 1; }";
    let path = file("fibonacci.k", program.as_bytes());
    let output = survives("fibonacci.k", &["run", "-q", &path], LIMIT);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
}

/// Errors in a body are reported although the body is first read only for its type.
#[test]
fn errors_in_functions_whose_type_is_deduced() {
    for (name, functions, call) in [
        ("plain", "auto a() { return missing; }", "a()"),
        (
            "instance",
            "template <int N> auto a() { return missing; }",
            "a<0>()",
        ),
        (
            "in_instance",
            "template <int N> auto a() { return missing; } template <int N> auto b() { return a<N>(); }",
            "b<0>()",
        ),
        (
            "in_variable",
            "template <int N> auto a() { return missing; } template <int N> auto b() { int x = a<N>(); return x; }",
            "b<0>()",
        ),
        (
            "in_plain",
            "template <int N> auto a() { return missing; } auto b() { return a<1>(); }",
            "b()",
        ),
    ] {
        let program = format!("{functions}\nint main() {{ return {call}; }}\n");
        let error = refused(&format!("deduced_{name}.k"), program.as_bytes());
        assert_eq!(
            error.matches("there is no variable `missing`").count(),
            1,
            "{name}: {error}"
        );
        assert_eq!(error.matches("Error:").count(), 1, "{name}: {error}");
    }
}

/// Each level of a template is as deep as the parser allows.
#[test]
fn templates_that_are_deep_in_each_level() {
    let nested = |open: &str, inner: &str, close: &str, n: usize| {
        format!("{}{inner}{}", open.repeat(n), close.repeat(n))
    };
    let value = nested("(", "A<N + 1>::v", ")", 150);
    let program = format!(
        "template <int N> struct A {{ static const int v = {value}; }};\nint main() {{ return A<0>::v; }}\n"
    );
    refused("deep_value.k", program.as_bytes());
    let call = nested("if (x > N) { ", "return f<N - 1>(x);", " }", 90);
    let program = format!(
        "template <int N> __device__ int f(int x) {{ if constexpr (N > 0) {{ {call} }} return x; }}\n__global__ void k(int *p) {{ p[0] = f<1000>(p[1]); }}\nint main() {{ k<<<1, 1>>>(0); return 0; }}\n"
    );
    let error = refused("deep_calls.k", program.as_bytes());
    has(&error, "too large");
    let chain: String = (1..20_000)
        .map(|i| {
            format!(
                "__device__ int f{i}(int x) {{ if (x > {i}) return f{}(x); return x; }}\n",
                i - 1
            )
        })
        .collect();
    let program = format!(
        "__device__ int f0(int x) {{ return x; }}\n{chain}__global__ void k(int *p) {{ p[0] = f19999(p[1]); }}\nint main() {{ k<<<1, 1>>>(0); return 0; }}\n"
    );
    let error = refused("deep_chain.k", program.as_bytes());
    has(&error, "too large");
}

#[test]
fn long_but_right() {
    let chain: String = (0..3_000)
        .map(|i| format!("if (x == {i}) y = {i}; else "))
        .collect();
    let path = file(
        "else_if.k",
        main_of(&format!(
            "int x = 2999, y = 1; {chain} y = 2; return y - 2999;"
        )),
    );
    let output = survives("else_if.k", &["run", &path], LIMIT);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    // Each passes its pointer on to the one before.
    let chain: String = (1..6_000)
        .map(|i| format!("int f{i}(int *p, int n) {{ while (n > 0) {{ n--; if (n == 3) return f{}(p, n); }} return *p; }}\n", i - 1))
        .collect();
    let path = file(
        "handed_on.k",
        format!(
            "int f0(int *p, int n) {{ if (n) return *p; return 0; }}\n{chain}__global__ void k() {{}}\nint main() {{ int x = 3; return f5999(&x, 5) - 3; }}\n"
        ),
    );
    let output = survives("handed_on.k", &["run", &path], LIMIT);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
}

/// Quadratic behaviour shows at this size: each of these took a minute or more.
#[test]
fn much_of_one_thing() {
    let many = |n: usize, what: &dyn Fn(usize) -> String| (0..n).map(what).collect::<String>();
    refused(
        "open_conditionals.k",
        format!("{}int main() {{ return 0; }}\n", "#if 1\n".repeat(200_000)).as_bytes(),
    );
    let accepted = |name: &str, contents: &[u8]| {
        let path = file(name, contents);
        let output = survives(name, &["run", "-q", &path], LIMIT);
        assert_eq!(output.code, Some(0), "{name}: {}", output.stderr);
    };
    accepted(
        "one_line.k",
        &main_of(&format!(
            "int s = 0; {} return s - 40000;",
            "for (int i = 0; i < 2; i++) s++; ".repeat(20_000)
        )),
    );
    accepted(
        "lambdas.k",
        &main_of(&format!(
            "int s = 0; {} return s - 5000;",
            many(5_000, &|i| format!(
                "auto f{i} = [&](int x) {{ return x + 1; }};\ns += f{i}(0);\n"
            ))
        )),
    );
    accepted(
        "class_with_array.k",
        b"struct A { int a[100000]; A() {} A(const A &o) = default; ~A() {} };
int main() { A x; for (int i = 0; i < 100000; i++) x.a[i] = i; A y = x; return y.a[99999] - 99999; }\n",
    );
    accepted(
        "class_in_kernel.k",
        b"struct A { int a[100000]; };
__global__ void k(A *p) { A x = p[0]; x.a[7] += 1; p[1] = x; }
int main() {
    A *p; cudaMallocManaged(&p, 2 * sizeof(A)); cudaMemset(p, 0, 2 * sizeof(A)); cudaDeviceSynchronize(); p[0].a[7] = 41; k<<<1, 1>>>(p); cudaDeviceSynchronize();
    int wrong = p[1].a[7] - 42; cudaFree(p); return wrong;
}\n",
    );
}

#[test]
fn programs_that_never_end() {
    // Far beyond the limit that distinguishes a loop from a wait; a loop whose threads race takes its time.
    let refused_run = |name: &str, contents: &str| {
        let path = file(name, contents.as_bytes());
        let output = survives(name, &["run", "--limit", "300000", &path], LIMIT);
        assert_eq!(output.code, Some(1), "{name}: {}", output.stderr);
        output.stderr
    };
    let error = refused_run("host_loop.k", "int main() { for (;;) {} }\n");
    has(&error, "R0202");
    let kernel = |body: &str| {
        format!(
            "__global__ void k(int *p) {{ {body} }}\nint main() {{ int *p; cudaMalloc(&p, 4); k<<<2, 64>>>(p); return cudaDeviceSynchronize() != cudaSuccess; }}\n"
        )
    };
    refused_run("kernel_loop.k", &kernel("while (true) p[0] = p[0] + 1;"));
    let error = refused_run("spin.k", &kernel("volatile int *q = p; while (*q == 0) ;"));
    assert!(
        error.contains("R0201") || error.contains("R0202"),
        "{error}"
    );
    refused_run(
        "recursion.k",
        "int f(int n) { return f(n + 1) + 1; }\nint main() { return f(0); }\n",
    );
}

#[test]
fn launches_over_the_limits() {
    for (name, config) in [
        ("threads", "1, 2048"),
        ("zero", "0, 32"),
        ("shared", "1, 32, 1 << 20"),
        ("dims", "dim3(1, 70000), 32"),
        ("depth", "1, dim3(1, 1, 128)"),
    ] {
        let program =
            format!("__global__ void k() {{}}\nint main() {{ k<<<{config}>>>(); return 0; }}\n");
        let error = refused(&format!("launch_{name}.k"), program.as_bytes());
        assert!(error.contains("R0301"), "{name}: {error}");
    }
}

/// Wherever a program is cut off, a message says what is missing.
#[test]
fn every_prefix_of_an_example() {
    for path in examples()
        .into_iter()
        .filter(|path| path.ends_with("reverse.k") || path.ends_with("last_block.k"))
    {
        let source = fs::read_to_string(&path).expect("an example");
        let mut map_errors = 0;
        for end in (0..source.len()).filter(|&end| source.is_char_boundary(end)) {
            let mut map = ir::source::SourceMap::new();
            let file = map.add(ir::source::SourceFile::new("prefix.k", &source[..end]));
            let compiled = dsl::compile(
                &mut map,
                file,
                &dsl::Options::default(),
                &ir::source::NoFiles,
            );
            let shown =
                ir::diagnostic::render::render(&compiled.diagnostics, &map, false, Some(80));
            map_errors += usize::from(!shown.is_empty());
        }
        assert!(
            map_errors > source.len() / 4,
            "{}: prefixes are not programs",
            path.display()
        );
    }
}
