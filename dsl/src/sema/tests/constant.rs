//! `constexpr` functions where a constant is needed.

use super::{check, expect, passes};

#[test]
fn constexpr_functions_are_constants() {
    passes(
        "constexpr int twice(int x) { return x * 2; }
constexpr int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
__host__ __device__ constexpr unsigned log2_of(unsigned n) { unsigned r = 0; while (n >>= 1) ++r; return r; }
constexpr int odd_sum(int n) {
    int sum = 0;
    for (int i = 0; ; i++) { if (i % 2 == 0) continue; if (i > n) break; sum += i; }
    return sum;
}
constexpr int pick(int n) { int r = 1; switch (n) { case 1: r = 5; case 2: r += 10; break; default: return 7; } return r; }
template <typename T> constexpr T larger(const T &a, const T &b) { return a < b ? b : a; }
template <int N> struct box { int data[N]; };
int table[fact(4)];
static_assert(sizeof(table) == 96, \"24 elements\");
static_assert(log2_of(1024u) == 10, \"\");
static_assert(odd_sum(7) == 16, \"1 + 3 + 5 + 7\");
static_assert(pick(1) == 15 && pick(2) == 11 && pick(9) == 7, \"\");
static_assert(sizeof(box<twice(3)>) == 24, \"\");
static_assert(larger(3, 8) == 8, \"\");
enum { EIGHT = twice(4) };
__global__ void k(int *d) {
    __shared__ int s[fact(3)];
    constexpr int n = twice(5) + 1;
    static_assert(n == 11, \"\");
    switch (d[0]) { case twice(1): s[0] = n; }
    d[1] = s[0] + EIGHT;
}
",
    );
}

#[test]
fn what_is_no_constant_says_why() {
    let text = "constexpr int forever() { while (true) { } return 0; }
constexpr int deep(int n) { return deep(n + 1); }
constexpr int by(int n) { return 8 / n; } //~ E0508
constexpr int unset() { int x; return x; }
constexpr int first(const int *p) { return p[0]; }
constexpr int later();
int plain(int n) { return n; }
int a[forever()]; //~ E0506
int b[deep(0)]; //~ E0506
int c[by(0)];
int d[unset()]; //~ E0506
int e[plain(2)]; //~ E0518
static_assert(first(nullptr) == 0, \"\"); //~ E0506
";
    let checked = check(text);
    let labels: Vec<_> = checked
        .diagnostics
        .iter()
        .flat_map(|diagnostic| &diagnostic.labels)
        .map(|label| format!("{label:?}"))
        .collect();
    let labels = labels.join("\n");
    assert!(labels.contains("more than 100000 steps"), "{labels}");
    assert!(labels.contains("nested too deep"), "{labels}");
    assert!(labels.contains("no value yet"), "{labels}");
    expect(text);
}

#[test]
fn constexpr_functions_run_on_both_sides() {
    expect(
        "constexpr int next(int n) { return n + 1; }
int host_only(int n) { return n + 1; }
__global__ void k(int *d) {
    constexpr int two = next(1);
    int a[next(2)];
    d[0] = two + (int)sizeof(a);
    d[1] = next(d[0]);
    d[2] = host_only(d[0]); //~ E0607
}
",
    );
}
