//! Invalid programs: every guilty line has the codes that it expects.

use super::expect;

#[test]
fn names() {
    let lines = expect(
        "__device__ int early(int a) { return later(a); } //~ E0404
__device__ int later(int a) { return a; }
__device__ int nobody(int a);
__global__ void f(int *data, int count) {
    __shared__ int tile[32];
    tiel[threadIdx.x] = count; //~ E0401
    tiel[0] = 1;
    __syncthread(); //~ E0401
    data[threadIdx.w] = 0; //~ E0403
    data[threadidx.x] = 0; //~ E0401
    nobody(1); //~ E0405
    later = 1; //~ E0407
    count(1); //~ E0407
    int count2; int count2; //~ E0402
    struct point { int x, y; } p;
    p.z = 1; //~ E0403
    data->x = 1; //~ E0403
    data.x = 1; //~ E0403
    unknown_t u; //~ E0406
}
int g() { return early; } //~ E0407
struct point3 q; //~ E0505
",
    );
    assert!(lines.contains("there is no variable `tiel`"), "{lines}");
}

#[test]
fn suggestions() {
    let checked = super::check(
        "__global__ void f() { __shared__ int tile[4]; __syncthread(); tiel[0] = 1; threadidx.x; }",
    );
    let helps: Vec<_> = checked
        .diagnostics
        .iter()
        .filter_map(|d| d.help.as_deref())
        .collect();
    assert_eq!(
        helps,
        [
            "did you mean `__syncthreads`?",
            "did you mean `tile`?",
            "did you mean `threadIdx`?"
        ]
    );
}

#[test]
fn one_mistake_is_one_message() {
    expect(
        "__global__ void f(int *d) {
    int a = missing + 1; //~ E0401
    int b = a + missing;
    float2 v = missing;
    d[missing] = v.x + b;
    missing(d); 
    if (missing) d[0] = missing ? 1 : 2;
}
",
    );
}

#[test]
fn conversions() {
    expect(
        "struct point { int x; };
void take(int *p, const float *q, point s) { }
void f(float *p, const int *c, volatile int *v, void *any, int n, point s) {
    take(p, 0, s); //~ E0501
    take(c, 0, s); //~ E0514
    take(v, 0, s); //~ E0514
    take(&n, p, s);
    take(n, p, s); //~ E0501
    take(0, p, n); //~ E0501
    take(any, NULL, s); //~ W0501
    int *i = 4; //~ E0501
    int *z = 0;
    bool b = p;
    n = p; //~ E0501
    n = (int)p; //~ E0513
    long l = (long)p;
    char narrow = 300.5;
    p = p + 1.5f; //~ E0502
    n = 5 % 2.0; //~ E0502
    n = s + 1; //~ E0502
    n <<= 1.0; //~ E0502
    if (s) n = 1; //~ E0502
    n = p == c; //~ E0502
    const char *text = \"abc\";
    int **pp; const int **cp = pp; //~ E0501
    const int *const *ccp = pp;
}
",
    );
}

#[test]
fn calls() {
    let lines = expect(
        "__device__ int one(int a) { return a; }
int host(int a) { return a; }
__host__ __device__ int both(int a) { return a; }
__global__ void kernel(int *p, int n) {
    one(); //~ E0503
    one(1, 2); //~ E0503
    host(1); //~ E0607
    both(1);
    cudaDeviceSynchronize(); //~ E0607
    kernel(p, n); //~ E0702
    kernel<<<1, 1>>>(p, n);
    p = threadIdx; //~ E0501
    threadIdx.x = 1; //~ E0504
    &threadIdx.x; //~ E0504
}
int main() {
    float *f;
    one(1); //~ E0608
    both(1);
    kernel(0, 1); //~ E0702
    kernel<<<1>>>(0, 1); //~ E0705
    kernel<<<1, 2, 3, 0, 5>>>(0, 1); //~ E0705
    kernel<<<1.5, 2>>>(0, 1); //~ E0705
    kernel<<<1, 0>>>(0, 1); //~ E0705
    kernel<<<1, 32>>>(f, 1); //~ E0501
    kernel<<<1, 32>>>(0); //~ E0503
    host<<<1, 32>>>(0); //~ E0703
    int t = threadIdx.x; //~ E0609
    __syncthreads(); //~ E0609
    cudaMalloc(f, 4); //~ E0501
    cudaMalloc(&f); //~ E0503
    cudaMemcpy(f, f, 4, 1); //~ W0502
    return host(host(1));
}
",
    );
    assert!(
        lines.contains("argument 1 of `kernel` expects `int *`, got `float *`"),
        "{lines}"
    );
}

#[test]
fn statements() {
    expect(
        "int f(int a, float x) {
    if (a = 1) a = 2; //~ W0401
    a == 1; //~ W0402
    break; //~ E0510
    continue; //~ E0510
    switch (a) { case 1: break; case 1: break; default: break; default: break; } //~ E0511 E0511
    switch (x) { } //~ E0502
    switch (a) { case a: break; } //~ E0506
    switch (a) { continue; case 0: break; } //~ E0510 W0404
    while (a) { switch (a) { case 1: continue; } break; }
    return; //~ E0512
}
void g() { return 1; } //~ E0512
int h(int a) { if (a) return 1; } //~ W0403
int i(int a) { for (;;) { if (a) return 1; } }
int j(int a) { switch (a) { case 1: return 1; default: return 2; } }
int k(int a) { exit(a); }
int l(int a) { if (a) goto end; int b = a; end: return b; } //~ E0510
int m(int a) { if (a) goto end; a++; end: a++; } //~ W0403
int n(int a) { for (;;) { if (a) goto end; } end: return 1; }
int o(int a) { again: if (a--) goto again; return a; } //~ E0801
int p(int a) { if (a) end: a++; return a; } //~ E0801
int main() { }
",
    );
}

#[test]
fn declarations() {
    expect(
        "int a[-1]; //~ E0507
int b[0]; //~ E0507
int c[4 / 0]; //~ E0508
int d[2][]; //~ E0507
int e[]; //~ E0505
int h[2] = { 1, 2, 3 }; //~ E0509
int i = { 1, 2 }; //~ E0509
int j = i; //~ E0506
const int k = 4;
int l[k] = { k };
char s[2] = \"abc\"; //~ E0509
void v; //~ E0505
struct node { struct node n; }; //~ E0505
struct pair { int a, a; }; //~ E0402
enum : short { A, B = 40000 }; //~ E0506
void f(int n) {
    int a[n]; //~ E0518
    const int m = n;
    int b[m]; //~ E0518
    const int four = 4;
    int c[four];
    const int nothing; //~ E0509
    dim3 grid(); //~ E0515
    int x[3] = { [1] = 1, [5] = 2 }; //~ E0509
    struct { int u, v; } p = { .u = 1, .w = 2 }; //~ E0403
    int arr[2] = 5; //~ E0509
}
int f(float n) { return 0; }
float f(int n) { return 0; } //~ E0408
__device__ int g(int);
int g(int a) { return a; } //~ E0408
void main() { } //~ E0706
__global__ int kernel() { return 1; } //~ E0701
",
    );
}

#[test]
fn structured_bindings() {
    let lines = expect(
        "struct Point { int x, y; };
struct Hidden { int x; private: int y; };
struct Derived : Point { int z; };
union Word { int i; float f; };
Point origin;
auto [gx, gy] = origin; //~ E0801
__device__ void f(Point p, Hidden h, Derived d, Word w, int n) {
    auto [a, b, c] = p; //~ E0515
    a = b + c;
    auto [e, g] = n; //~ E0515
    auto [i, j] = h; //~ E0525
    auto [k, l] = d; //~ E0801
    auto [m, o] = w; //~ E0515
    static auto [q, r] = p; //~ E0801
    int [s, t] = p; //~ E0801
    const auto [u, v] = p;
    u = 1; //~ E0504
    auto [x, x] = p; //~ E0402
}
",
    );
    assert!(
        lines.contains("3 names are bound, but `Point` has 2 members"),
        "{lines}"
    );
}

#[test]
fn bit_fields() {
    expect(
        "struct Wrong {
    float x : 3; //~ E0506
    int none : 0; //~ E0506
    int : -1; //~ E0506
    int wide : 40; //~ E0801
};
struct Nothing { int : 3; int : 0; }; //~ E0801
struct B { unsigned a : 3; int b : 5; bool f : 1; };
__device__ void change(unsigned &x) { x = 1; }
__device__ int look(const unsigned &x) { return x; }
template <typename T> __device__ void take(T &&x) {}
__device__ unsigned &inside(B &s) { return s.a; } //~ E0504
__global__ void k(B *p, int *out) {
    B s;
    int *address = &s.b; //~ E0504
    unsigned &other = p->a; //~ E0504
    const unsigned &copy = s.a;
    change(s.a); //~ E0504
    take(s.a); //~ E0504
    atomicAdd(&p->b, 1); //~ E0504
    out[0] = sizeof(s.a); //~ E0504
    auto &[a, b, f] = s; //~ E0801
    s.f++; //~ E0502
    (out[0] ? s.a : s.a) = 2; //~ E0504
    out[1] = look(s.a) + copy;
}
",
    );
}

#[test]
fn volatile_members() {
    let lines = expect(
        "struct S {
    int x;
    __device__ int plain() { return x; }
    __device__ int both() const volatile { x = 1; return x; } //~ E0504
    __device__ int two() volatile { return plain(); } //~ E0514
    __device__ int amb() const { return 1; }
    __device__ int amb() volatile { return 2; }
    __device__ int out() volatile;
};
__device__ int S::out() { return 1; } //~ E0408
struct B { __device__ virtual int f() volatile { return 1; } };
struct D : B { __device__ int f() override { return 2; } }; //~ E0408
__global__ void k(volatile S *p, const S *q, int *o) {
    S s;
    s.x = 1;
    o[0] = p->plain(); //~ E0514
    o[1] = q->two(); //~ E0514
    o[2] = s.amb(); //~ E0520
    o[3] = p->amb() + q->amb() + q->both();
}
",
    );
    assert!(lines.contains("this call of `amb` is ambiguous"), "{lines}");
}
