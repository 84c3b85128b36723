// Measures the functions of dsl/library/math_bessel.k against quadruple precision, range by range.
//
//     for part in double angle float float_angle float_gamma float_bessel special bessel; do sed 's/(int)n/to_int(n)/g' ../../dsl/library/math_$part.k > math_$part.k; done
//     g++ -std=gnu++17 -O2 -march=native -ffp-contract=off -fno-builtin -w -I. bessel.cpp -lquadmath -o bessel
//     ./bessel 300000              function and range, largest error in ulp (below 8) or of the amplitude in units of 2^-53, where
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <quadmath.h>
#include "host.h"
typedef __float128 quad;

static uint64_t state = 88172645463325252ull;
static double uniform(double a, double b) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return a + (b - a) * ((state * 2685821657736338717ull >> 11) * 0x1p-53);
}

static double in_ulp(double got, quad want) {
    if (isnanq(want) || got != got) return isnanq(want) && got != got ? 0 : 1e9;
    if (fabsq(want) >= scalbnq(1, 1024)) return std::isinf(got) ? 0 : 1e9;
    if (want == 0) return got == 0 ? 0 : 1e9;
    int e;
    frexpq(want, &e);
    if (e - 53 < -1074) e = -1074 + 53;
    return (double)(fabsq((quad)got - want) / scalbnq(1, e - 53));
}

// I0 and I1 by their power series; all terms are positive.
static quad besseli(int n, double x) {
    quad z = (quad)x * x / 4, term = n ? (quad)fabs(x) / 2 : 1, sum = 0;
    for (int k = 1; term > sum * 1e-36Q || k < 5; k++) sum += term, term *= z / k / (k + n);
    return n && x < 0 ? -sum : sum;
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 20000;
    using Ours = std::function<double(double)>;
    using Exact = std::function<quad(double)>;
    auto run = [&](const char *name, const Ours &ours, const Exact &exact, double a, double b, bool absolute) {
        double worst = 0, where = 0;
        for (long i = 0; i < count; i++) {
            double x = a > 0 && b / a > 1e6 ? std::exp(uniform(std::log(a), std::log(b))) : uniform(a, b);
            quad want = exact(x);
            double e = absolute ? (double)(fabsq((quad)ours(x) - want) / sqrtq(2 / (M_PIq * fabsq(x))) / 0x1p-53Q) : in_ulp(ours(x), want);
            if (e > worst) worst = e, where = x;
        }
        printf("%-12s %10g %10g  %8.3f at %.17g\n", name, a, b, worst, where);
        fflush(stdout);
    };
    struct Row { const char *name; Ours ours; Exact exact; };
    Row rows[] = {{"j0", ours::j0, [](double x) { return j0q(x); }}, {"j1", ours::j1, [](double x) { return j1q(x); }},
                  {"y0", ours::y0, [](double x) { return y0q(x); }}, {"y1", ours::y1, [](double x) { return y1q(x); }}};
    for (const Row &row : rows) {
        run(row.name, row.ours, row.exact, 1e-300, 1e-3, false);
        for (double a = 0; a < 8; a += 0.5) run(row.name, row.ours, row.exact, a, a + 0.5, false);
        run(row.name, row.ours, row.exact, 8, 100, true);
        run(row.name, row.ours, row.exact, 100, 1e15, true);
    }
    for (int n : {2, 3, 10, 50, 128}) {
        char name[20];
        snprintf(name, sizeof name, "jn(%d)", n);
        for (auto [a, b] : {std::pair{0.0, 1.0}, {1.0, 8.0}, {8.0, 100.0}, {100.0, 1000.0}})
            run(name, [n](double x) { return ours::jn(n, x); }, [n](double x) { return jnq(n, x); }, a, b, true);
        snprintf(name, sizeof name, "yn(%d)", n);
        for (auto [a, b] : {std::pair{0.5, 8.0}, {8.0, 100.0}})
            run(name, [n](double x) { return ours::yn(n, x); }, [n](double x) { return ynq(n, x); }, a, b, false);
        run(name, [n](double x) { return ours::yn(n, x); }, [n](double x) { return ynq(n, x); }, 128, 1000, true);
    }
    for (auto [a, b] : {std::pair{0.0, 8.0}, {8.0, 20.0}, {20.0, 713.0}}) {
        run("cyl_bessel_i0", ours::cyl_bessel_i0, [](double x) { return besseli(0, x); }, a, b, false);
        run("cyl_bessel_i1", ours::cyl_bessel_i1, [](double x) { return besseli(1, x); }, a, b, false);
    }
    for (double x : {0.0, -0.0, (double)INFINITY, -(double)INFINITY, (double)NAN, -1.0, 1e308, 5e-324, 713.9, 714.1})
        printf("%g: j0 %g j1 %g j2 %g y0 %g y1 %g y2 %g i0 %g i1 %g\n", x, ours::j0(x), ours::j1(x), ours::jn(2, x), ours::y0(x), ours::y1(x),
               ours::yn(2, x), ours::cyl_bessel_i0(x), ours::cyl_bessel_i1(x));
}
