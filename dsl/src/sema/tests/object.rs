//! Objects with destructors, `new` and `delete`: errors, and what is not supported.

use super::expect;

#[test]
fn new_and_delete() {
    expect(
        "struct Opaque;
struct Wants { int n; Wants(int n) : n(n) {} };
void f(Opaque *o, void *v, int n) {
    int *p = new int[n];
    float *q = new int; //~ E0501
    Wants *w = new Wants; //~ E0509
    Wants *x = new Wants(1, 2); //~ E0503
    Opaque *y = new Opaque; //~ E0505
    delete n; //~ E0502
    delete o; //~ E0505
    delete v; //~ E0505
    int *a = new int[n](1); //~ E0801
    int *b = new int[2.5]; //~ E0501
    delete[] p;
}
__global__ void k() { int *p = new int[4]; delete[] p; }
",
    );
}

#[test]
fn objects_with_destructors() {
    expect(
        "struct S { int *p; S(int n); ~S(); operator int() const { return 1; } };
S::S(int n) : p(0) {}
S::~S() {}
struct Fixed { Fixed(); ~Fixed(); Fixed(const Fixed &) = delete; };
Fixed::Fixed() {}
Fixed::~Fixed() {}
void take(Fixed f);
void take(Fixed f) {}
S global(1); //~ E0801
__global__ void k(S s) {}
void f(int n) {
    Fixed one;
    Fixed two = one; //~ E0525
    take(one); //~ E0525
    take(Fixed());
    S s(1);
    const int *p = n ? S(2).p : s.p; //~ E0801
    S array[4]; //~ E0509
}
",
    );
}

#[test]
fn addresses_in_initialisers() {
    expect(
        "int table[4];
__device__ int on_device[4];
int *second = table + 2;
__device__ int *third = &on_device[3];
int *wrong_side = on_device; //~ E0605
__device__ int *other_side = table + 1; //~ E0604
",
    );
}

#[test]
fn parts_of_the_library_that_are_not_there() {
    expect(
        "#include <vector>
void f(int argc) {
    std::vector<int> v(3);
    v.emplace(1); //~ E0403
    std::list<int> m; //~ E0801
    std::next_permutation(v.begin(), v.end()); //~ E0802
    std::ifstream in; //~ E0802
    std::max<int, int>(1, 2); //~ E0801
}
",
    );
}

#[test]
fn exceptions_and_objects_at_file_scope() {
    expect(
        "struct Ends { int n; Ends(int n) : n(n) {} ~Ends() { n = 0; } };
struct Begins { int n; Begins(int n) : n(n) {} };
Ends ends(1); //~ E0801
Begins begins(1), missing; //~ E0509
int g(int x) { if (x) return x; throw 1; }
__global__ void k() { throw 1; } //~ E0801
int main() { try { g(0); } catch (...) { } return 0; } //~ E0801
",
    );
}

#[test]
fn virtual_functions_are_where_they_may_be() {
    expect(
        "struct Shape {
    __device__ virtual int area(int scale) const = 0;
    __device__ virtual int corners() const final { return 0; }
    __device__ virtual float weight() { return 1; }
    static __device__ virtual int count(); //~ E0408
    __device__ int sides() = 0; //~ E0408
};
struct Square : Shape {
    __device__ int area(int scale) override { return scale; } //~ E0408
    __device__ int corners() const { return 4; } //~ E0408
    __device__ int weight() { return 2; } //~ E0408
};
struct Line : Shape {
    int area(int scale) const { return scale; } //~ E0408
};
virtual int free_one(); //~ E0408
struct Named { __device__ virtual int id() { return 1; } int n; };
__global__ void k(int *d) {
    Square square; //~ E0509
    d[0] = (new Shape())->area(2); //~ E0509
    Named named = {3}; //~ E0509
    d[1] = dynamic_cast<Square *>(&square) != 0; //~ E0801
    d[2] = typeid(named) == typeid(square); //~ E0801
}
",
    );
}

#[test]
fn destructors_and_conversions_that_override() {
    expect(
        "struct A { __device__ virtual ~A() {} };
struct B : A { ~B() override {} }; //~ E0408 E0608
struct C : A {};
struct D : A { ~D() = default; };
struct P { __device__ virtual ~P() = 0; };
__device__ P::~P() {}
struct Q : P { __device__ ~Q() override {} };
struct X { __device__ virtual operator int() const { return 1; } };
struct Y : X { __device__ operator float() const override { return 1; } }; //~ E0408
struct Z : X { operator int() const { return 2; } }; //~ E0408
__global__ void k() {
    C c;
    D d;
    P p; //~ E0509
    Q q;
}
",
    );
}
