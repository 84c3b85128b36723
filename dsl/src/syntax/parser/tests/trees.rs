//! Trees of programs. Each snapshot shows the source above its tree.

use super::{dump, errors, parsed, snapshot, tree};

/// Each text and its tree.
fn trees(texts: &[&str]) -> String {
    texts
        .iter()
        .map(|text| {
            format!(
                "{text}\n  {}\n",
                tree(text).trim_end().replace('\n', "\n  ")
            )
        })
        .collect()
}

/// Each expression and its tree.
fn expressions(texts: &[&str]) -> String {
    texts
        .iter()
        .map(|text| {
            let tree = tree(&format!("typedef int T; void f() {{ {text}; }}"));
            let tree = tree.lines().skip(2).collect::<Vec<_>>().join("\n");
            format!(
                "{text}\n    {}\n",
                tree.trim().strip_suffix(')').unwrap_or_default()
            )
        })
        .collect()
}

#[test]
fn precedence() {
    snapshot(
        "trees_precedence",
        &expressions(&[
            "a + b * c - d / e % f",
            "a << b + c >> d",
            "a < b == c > d != e <= f",
            "a & b ^ c | d && e || f & g",
            "a || b && c",
            "a = b += c ? d : e ? f : g",
            "a ? b : c = d",
            "a ? b, c : d",
            "a = 1, b = 2, c",
            "-a * !b + ~c - *p & &q",
            "- -a",
            "++*p++ - --q[1]",
            "*p++ = -x--",
            "a.b->c[d].e(f, g)(h)++",
            "(a + b) * (c, d)",
            "!a == b",
            "a - b - c",
        ]),
    );
}

#[test]
fn casts_and_sizeof() {
    snapshot(
        "trees_casts_and_sizeof",
        &expressions(&[
            "(float)a * b",
            "(T)-a",
            "(a) - b",
            "(T *)p + 1",
            "(const unsigned char *)&s[64]",
            "(int (*)[4])p",
            "(struct S *)p",
            "(double)(int)x",
            "(real)x",
            "sizeof(int) * n",
            "sizeof(T)",
            "sizeof(T[4])",
            "sizeof x + 1",
            "sizeof(x) + 1",
            "sizeof *p",
            "sizeof((a))",
            "float(x) + unsigned(y)",
            "T(1) + dim3(1, 2).x",
            "k = dim3(32, 8)",
            "(float(x) + 1)",
        ]),
    );
}

#[test]
fn literals() {
    snapshot(
        "trees_literals",
        &expressions(&[
            "x = 42u + 0xff + 1ll",
            "x = 1.5f + 1e-3 + .5",
            "c = 'a'",
            r#"printf("%d\n", true)"#,
            "p = nullptr",
        ]),
    );
}

#[test]
fn launches() {
    snapshot(
        "trees_launches",
        &expressions(&[
            "k<<<1, 64>>>(d, n)",
            "k<<<grid, block, n * sizeof(int), 0>>>()",
            "k<<<(n + 127) / 128, 128>>>(d)",
            "k<<<(n >> 7), 128>>>(d)",
            "k<<<n >> 7, 128>>>(d)",
            "k<<<dim3(2, 2), dim3(32, 8)>>>(d)",
            "k<<<a < b, 1>>>(x)",
            "ks[0]<<<1, 1>>>(x)",
        ]),
    );
}

#[test]
fn declarators() {
    snapshot(
        "trees_declarators",
        &trees(&[
            "int *a[4];",
            "int (*a)[4];",
            "int (*f)(int, float *);",
            "int *(*f[3])(void);",
            "int (*g(int n))[2];",
            "const float *const __restrict__ p, *volatile q, r;",
            "float const *east;",
            "char s[][4] = {\"abc\", \"def\"};",
            "extern __shared__ float tile[];",
            "__shared__ int a[2][3], b;",
            "__constant__ float weights[3] = {1.0f, 2.0f, 3.0f};",
            "int x = 1, *p = &x, a[2] = {1, 2,};",
            "float4 v = {.x = 1, .w = 2}; int m[3] = {[2] = 1, [0] = 3};",
            "int t[2][2] = {{1, 2}, {3, 4}};",
            "dim3 block(32, 8), grid = {4, 4}, one(1);",
            "typedef float real; real x; typedef int (*fn)(real); fn table[2];",
            "void (*signal(int sig, void (*handler)(int)))(int);",
        ]),
    );
}

#[test]
fn specifiers() {
    snapshot(
        "trees_specifiers",
        &trees(&[
            "unsigned a; signed b; long c; long long d; short e; unsigned long long f;",
            "long long unsigned int a; int long b; char unsigned c; signed char d; int short unsigned e; long const int long f;",
            "static const volatile bool b = true;",
            "void __global__ a(); __global__ void b(); static __global__ void c(); inline __device__ __host__ int d(); __forceinline__ __device__ void e();",
            "__global__ void __launch_bounds__(256, 2) a(); __global__ __launch_bounds__(128) void b();",
            "struct __align__(16) V { float x, y; }; __align__(8) char c[8]; __shared__ alignas(16) int s[4];",
            "size_t n; cudaError_t err;",
            "real undeclared; const real also; real *pointer;",
            "std::string s2(std::string a);",
        ]),
    );
}

#[test]
fn records() {
    snapshot(
        "trees_records",
        &trees(&[
            "struct S { int a; float *b, c[3]; } x, *y; struct S z; S w;",
            "typedef struct { float x, y; } P; P p = {1, 2};",
            "struct O { struct I { int a; } in; union { int i; float f; }; struct O *next; };",
            "union U { int i; char c[4]; };",
            "enum E { A, B = 2, C = B << 1, }; enum E e; enum { N = 4 }; E g;",
            "struct F; struct F *forward;",
        ]),
    );
}

#[test]
fn functions() {
    snapshot(
        "trees_functions",
        &trees(&[
            "int f(); int g(void); int h(int, float *, ...); int *p(const int a[], int b[3][4]);",
            "int f(int (*compare)(const void *, const void *)) { return compare(0, 0); }",
            "extern \"C\" { __global__ void k(int *a); int x; } extern \"C\" void one() {}",
            "int main(int argc, char **argv) { return 0; };",
            "__global__ void k(real *a, real b) { real c = b; a[0] = c; }",
        ]),
    );
}

#[test]
fn statements() {
    snapshot(
        "trees_statements",
        &trees(&[
            "void f() { ; {} { a; } if (a) b; else c; if (a) if (b) c; else d; }",
            "void f() { if (a) x; else if (b) { y; } else if (c) z; else { w; } }",
            "void f() { for (int i = 0, j = 1; i < n; i++, j--) s += i; for (;;) break; for (i = 0; ; ) continue; }",
            "void f() { while (a) b++; do { c; } while (d); do x--; while (x > 0); }",
            "void f() { switch (a) { case 1: case 2 + 3: b; break; default: return; } }",
            "void f() {\n#pragma unroll\nfor (;;) ;\n#pragma unroll 4\nwhile (a) ;\n#pragma unroll\nx = 1;\n}",
            "int f() { typedef int T; T a = 1, *p; T(2); struct L { int m; } l; a * p; return (a); }",
            "void f() { __shared__ float s[32]; dim3 b(n * m, 2); dim3 c(n); int g(int x); unsigned(x); }",
            "void f() { return {1, 2}; }",
        ]),
    );
}

#[test]
fn cxx_is_named() {
    snapshot(
        "trees_cxx_is_named",
        &trees(&[
            "template <int N> __global__ void k(int *a) { a[0] = N; } int after;",
            "template <class T> struct V { T x; }; class C { public: int a; }; namespace n { int b; } using T = int; int after;",
            "static_assert(sizeof(int) == 4, \"int\"); std::vector<int> v(3); int after;",
            "float2 operator+(float2 a, float2 b) { return a; } int after;",
            "void f() { x = static_cast<float>(y) + reinterpret_cast<int *>(p)[0]; auto g = [&](int i) { return i; }; }",
            "void f() { int *p = new int[4]; delete[] p; goto end; end: throw 1; asm(\"x\" : \"=r\"(a)); try { a; } catch (...) { b; } }",
            "void f() { for (int x : v) { a; } std::vector<int> h(n); std::sort(a, b); if (int x = g()) a; using namespace std; }",
            "void f() { p = (float4){1, 2}; k<0><<<1, 2>>>(x); g<int>(y); float4 w = float4{1}; q = {1, 2}; A::b = 3; }",
            "void f(int &a, const float4 &b) { auto c = a; int &d = c; constexpr int e = 2; if constexpr (e) c; }",
        ]),
    );
}

#[test]
fn seed_programs() {
    let text = include_str!("seeds.txt");
    snapshot("errors_of_seeds", &errors(text));
    snapshot("trees_of_seeds", &dump::unit(&parsed(text).0));
}

#[test]
fn templates() {
    snapshot(
        "templates",
        &trees(&[
            "struct T;\nstruct Tile;\ntemplate <typename T, int N = 4, bool B = (N > 2), class = void> __global__ void k(T *d, const Tile<T, N> &t) { }",
            "template <> __device__ float f<float>(float x) { return x; }",
            "struct T;\nstruct template_t;\ntemplate <typename T> struct Tile { T data[4]; template_t<T> x; };\ntemplate <typename T> struct Tile<T *> { };\ntemplate <typename T> __device__ T Tile<T>::get(int i) { return data[i]; }\ntemplate <typename T> Tile<T>::Tile() { }",
            "template void k<float, 32>(float *d);",
            "template <template <typename> class C, typename... Ts> void g(C<int> c);",
            "struct Tile;\ntemplate <int N> int f();\nint main() { k<float, 32><<<g, b>>>(d); x = f<4>() + f<(3 > 2)>() * Tile<Tile<int>>::value; if (a < b && c > d) return a < b; Tile<float> t(3), *p; return Tile<int>(3).x; }",
            "typedef int T;\nnamespace a::b { int x; namespace { int y; } inline namespace v1 { } }\nusing namespace a::b;\nusing std::min;\nnamespace ab = a::b;\nusing row = float *;\ntemplate <typename T> using ptr = T *;",
            "static_assert(sizeof(int) == 4, \"int\");\nvoid f() { static_assert(N > 2); using T = int; if constexpr (N > 1) a = 1; else if constexpr (N > 0) a = 2; else a = 3; }",
            "struct T { typedef int type; };\nvoid f() { typename T::type x = typename T::type(3); decltype(x + 1) y; std::vector<int> v(4); s.v < n; }",
        ]),
    );
}
