//! Templates and namespaces: an error is at its place, with the instance that it is in. `tests/programs/templates.k` tests what runs.

use super::{check, expect, passes};

#[test]
fn errors_in_instances_say_which() {
    let text = "template <typename T> __device__ T half(T x) { return x.missing; } //~ E0403
template <typename T> __device__ T twice(T x) { return half(x) + half(x); }
template <typename T> __device__ T never(T x) { return x.missing; }
struct S { int a; };
__global__ void k(S *s) { s[0] = twice(s[0]); }
";
    let checked = check(text);
    let first = &checked.diagnostics[0];
    assert_eq!(
        first.notes,
        [
            "in the instance `half<S>`, needed at line 2",
            "in the instance `twice<S>`, needed at line 5"
        ]
    );
}

#[test]
fn an_error_in_several_instances_counts_them() {
    let text = "template <typename T> __device__ T half(T x) { return missing(x); } //~ E0401
__global__ void k(float *d, int *n) { d[0] = half(1.0f) + half(1.0); n[0] = half(1); }
";
    let checked = check(text);
    let first = &checked.diagnostics[0];
    assert_eq!(checked.diagnostics.len(), 1);
    let wanted = "in 3 instances, one of them `half<int>`, needed at line 2";
    assert_eq!(first.notes, [wanted]);
}

#[test]
fn arguments_of_templates() {
    expect(
        "template <typename T> __device__ T larger(T a, T b) { return a > b ? a : b; }
template <typename T, int N> struct tile { T data[N]; };
template <int N> __device__ int deep() { return deep<N + 1>(); } //~ E0523
static_assert(sizeof(tile<float, 4>) == 16, \"size\");
static_assert(sizeof(int) == 8, \"int has 8 bytes\"); //~ E0524
__global__ void k(int *d) {
    d[0] = larger(1, 2.0f); //~ E0521
    d[1] = larger<int>(1, 2.0f);
    tile<float> t; //~ E0522
    tile<4, 4> u; //~ E0522
    tile<float, 4, 4> v; //~ E0522
    tile w; //~ E0522
    int n = d[2];
    tile<float, n> x; //~ E0506
    d[3] = none<int>(3); //~ E0401
    d[4] = deep<0>();
}
",
    );
}

#[test]
fn names_in_namespaces() {
    expect(
        "namespace a { __device__ int f() { return 1; } namespace b { struct P { int x; }; __device__ int g() { return f(); } } }
namespace { __device__ int hidden() { return 2; } }
namespace ab = a::b;
__global__ void k(int *d) {
    d[0] = a::f() + a::b::g() + ab::g() + hidden() + ::hidden();
    a::b::P p; p.x = 3; d[1] = p.x;
    d[2] = f(); //~ E0401
    d[3] = a::none(); //~ E0401
}
using namespace a;
__global__ void l(int *d) { d[0] = f() + b::g(); }
",
    );
}

#[test]
fn instances_have_their_arguments_in_their_names() {
    let program = passes(
        "enum mode { FAST, SLOW };
template <typename T, int N, bool B = true> __global__ void k(T *d) { d[0] = N; }
namespace n { __global__ void inner(int *d) { d[0] = 1; } }
template __global__ void k<long, -1, false>(long *);
int main() { k<float, 32><<<1, 1>>>((float *)0); n::inner<<<1, 1>>>((int *)0); k<double, 2><<<1, 1>>>(0); return 0; }
",
    );
    let names: Vec<&str> = program
        .functions
        .iter()
        .filter(|function| function.body.is_some())
        .map(|function| function.name.as_str())
        .filter(|name| name.starts_with("k<") || name.starts_with("n::"))
        .collect();
    assert_eq!(
        names,
        [
            "n::inner",
            "k<long, -1, false>",
            "k<float, 32, true>",
            "k<double, 2, true>"
        ]
    );
}

#[test]
fn the_more_special_template_is_called() {
    passes(
        "template <typename T> struct kind { static const int value = 0; };
template <typename T> struct kind<T *> { static const int value = 1; };
template <typename T, int N> struct kind<T[N]> { static const int value = 2; };
template <> struct kind<int *> { static const int value = 3; };
static_assert(kind<int>::value == 0, \"plain\");
static_assert(kind<float *>::value == 1, \"pointer\");
static_assert(kind<int *>::value == 3, \"exactly\");
static_assert(std::is_same<int, int>::value && !std::is_same<int, float>::value, \"same\");
static_assert(sizeof(typename std::conditional<(sizeof(int) > 2), double, char>::type) == 8, \"conditional\");
static_assert(std::is_unsigned<unsigned>::value && std::is_signed<float>::value, \"signs\");
",
    );
}

#[test]
fn what_forwarding_references_may_not_be() {
    let lines = expect(
        "#include <utility>
struct Owner { int *p; Owner() {} Owner(const Owner &other) {} ~Owner() {} };
template <class T> struct Box { T x; }; //~ E0801
template <class T> void boxed(T &&x) { Box<T> b; }
template <class T> __global__ void kernel(T &&x) {} //~ E0709
template <class... Args> void run(void (*k)(Args...), Args &&...args) { k<<<1, 1>>>(args...); }
__global__ void takes(int *p) {}
template <class... Args> void same(void (*k)(Args...), Args... args) { k<<<1, 1>>>(args...); }
void f(int *p, Owner *o) {
    int x = 1;
    boxed(x);
    kernel<<<1, 1>>>(x);
    run(takes, p); //~ E0521
    same(takes, 1.0f); //~ E0521
    Owner other = std::move(*o); //~ E0801
    std::forward<float>(x); //~ E0801
}
",
    );
    assert!(lines.contains("`std::forward` to another type"), "{lines}");
}

#[test]
fn why_a_template_does_not_fit() {
    let text = "#include <type_traits>
template <typename T> __device__ T get(int i) { return T(i); }
template <typename T, int N> __device__ T sized(int i) { return T(i); }
template <typename T> __device__ T larger(T a, T b) { return a > b ? a : b; }
template <typename T> __device__ T first(T *p) { return *p; }
template <typename T> __device__ void three(T a, T b, T c) {}
template <typename T, std::enable_if_t<std::is_integral<T>::value, int> = 0> __device__ T only(T x) { return x; }
template <int N> __device__ int number() { return N; }
template <typename T> __device__ typename T::kind of(T x) { return 0; }
template <typename T, typename = std::enable_if_t<std::is_integral<T>::value>> __device__ int same(T x) { return 1; }
template <typename T, typename = std::enable_if_t<!std::is_integral<T>::value>> __device__ int same(T x) { return 2; } //~ E0402
template <typename T> struct Bad { T x; Missing y; }; //~ E0406
template <typename T> __device__ int hard(T x, Bad<T> *p = 0) { return 1; }
__device__ int hard(double x) { return 2; }
__global__ void k(float *d) {
    d[0] = get(3); //~ E0521
    d[1] = sized<float>(3); //~ E0521
    d[2] = larger(1, 2.0f); //~ E0521
    d[3] = first(d[0]); //~ E0521
    three(1, 2); //~ E0521
    d[4] = only(1.0f); //~ E0521
    d[5] = number<float>(); //~ E0522
    d[6] = of(3); //~ E0521
    hard(1);
}
template <typename T> __global__ void launched(int n) {}
int main() { launched<<<1, 1>>>(3); } //~ E0521
";
    expect(text);
    let lines = format!("{:?}", check(text).diagnostics);
    for expected in [
        "`T` of the template `get` cannot be deduced from this call",
        "write it, for example `get<float>(…)`",
        "write it, for example `sized<float, 32>(…)`",
        "write it, for example `launched<float><<<…>>>(…)`",
        "its `T` would be `int`, but `float` by argument 2",
        "`T *p` cannot be given `float`",
        "it needs 3 arguments",
        "its `enable_if` is false for these types",
        "C++ treats templates that differ only in a default argument as the same",
    ] {
        assert!(lines.contains(expected), "{expected}\n{lines}");
    }
}

#[test]
fn generic_lambdas() {
    let lines = expect(
        "template <typename... Ts> __device__ int sum(Ts... xs) {
    auto all = [](auto x) { return (x + ... + xs); }; //~ E0401
    return all(1);
}
__global__ void k(int *out) {
    int n = 3;
    auto none = [](auto x) { return x + n; }; //~ E0401
    auto some = [out](auto x) { out[0] = x; return n; }; //~ E0401
    auto copy = [n](auto x) { n += x; return n; }; //~ E0504
    auto grow = [](auto &x) { x += 1; };
    auto first = [](auto *p) { return p->x; }; //~ E0403
    auto pick = [](auto x, auto y) -> decltype(x) { return x + y; };
    auto itself = [](auto &x) -> decltype(x) { return x; };
    copy(1);
    copy(1.5);
    grow(n);
    grow(1); //~ E0504
    first(out);
    first(n); //~ E0521
    pick(1); //~ E0521
    itself(n) = 1; //~ E0521
    out[0] = pick(1, 2.5) + none(1) + some(2) + sum(1, 2);
}
",
    );
    assert!(lines.contains("the lambda does not capture `n`"), "{lines}");
}
