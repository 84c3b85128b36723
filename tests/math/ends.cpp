// Measures `exp`, `log`, `sin`, `cos` and `sincos` of dsl/library where their errors are largest: at the ends of the reduced arguments, near
// multiples of pi/2, and where results or arguments are denormal. Prints the largest error in ulp; and each special value that is not C's.
//
//     for part in double angle float float_angle float_gamma float_bessel special bessel; do sed 's/(int)n/to_int(n)/g' ../../dsl/library/math_$part.k > math_$part.k; done
//     g++ -std=gnu++17 -O2 -march=native -ffp-contract=off -fno-builtin -w -I. ends.cpp -lquadmath -o ends
//     ./ends 1000000
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <quadmath.h>

#include "host.h"

typedef __float128 quad;

static uint64_t state = 88172645463325252ull;
static uint64_t word() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state * 2685821657736338717ull;
}
static double unit() { return (word() >> 11) * 0x1p-53; }
static double either_sign(double x) { return word() >> 63 ? -x : x; }

// The distance in units of the exact value's last place.
static double error(double got, quad want) {
    if (isnanq(want) || got != got) return isnanq(want) && got != got ? 0 : 1e9;
    if (isinfq(want)) return (quad)got == want ? 0 : 1e9;
    quad limit = scalbnq(1, 1024), value = std::isinf(got) ? copysignq(limit, got) : (quad)got;
    if (fabsq(want) >= limit && std::isinf(got) && (got > 0) == (want > 0)) return 0;
    if (want == 0) return got == 0 ? 0 : 1e9;
    int exponent;
    frexpq(want, &exponent);
    return (double)(fabsq(value - want) / scalbnq(1, exponent - 53 < -1074 ? -1074 : exponent - 53));
}

template <class F, class G> static void measure(const char *name, F ours, quad (*exact)(quad), G pick, long points) {
    double worst = 0, at = 0;
    for (long i = 0; i < points; i++) {
        double x = pick(), e = error(ours(x), exact(x));
        if (e > worst) worst = e, at = x;
    }
    printf("%-28s %.4f at %a\n", name, worst, at);
    fflush(stdout);
}

static bool are_same(double a, double b) { return (a != a && b != b) || ours::bits<long long>(a) == ours::bits<long long>(b); }

static void pair(double x) {
    double s, c;
    ours::sincos(x, &s, &c);
    if (!are_same(s, ours::sin(x)) || !are_same(c, ours::cos(x))) printf("sincos differs at %a\n", x);
}

// A zero, an infinity, a NaN or a sign that is not C's.
static void special(const char *name, double x, double got, double want) {
    bool is_kind = std::fpclassify(got) == std::fpclassify(want) && (got != got || std::signbit(got) == std::signbit(want));
    if (!is_kind) printf("%s(%a) is %a, not %a\n", name, x, got, want);
}

int main(int argc, char **argv) {
    long points = argc > 1 ? atol(argv[1]) : 100000;
    static const double SPECIAL[] = {0.0, INFINITY, NAN, 1, 0x1p-1074, 0x0.fffffffffffffp-1022, 0x1p-1022, 1e308, 0x1.fffffffffffffp1023, 708, 709.78,
                                     709.782712893384, 709.79, 709.81, 708.4, 745.13, 745.2, 746.1, 0x1p30, 0x1.fffffffffffffp29, 1e22,
                                     0.7853981633974483, 1.5707963267948966, 3.141592653589793};
    for (double a : SPECIAL)
        for (double x : {a, -a}) {
            special("exp", x, ours::exp(x), std::exp(x)), special("log", x, ours::log(x), std::log(x));
            special("sin", x, ours::sin(x), std::sin(x)), special("cos", x, ours::cos(x), std::cos(x));
            pair(x);
        }
    auto exp = [](double x) { return ours::exp(x); };
    auto log = [](double x) { return ours::log(x); };
    auto sin = [](double x) { return ours::sin(x); };
    auto cos = [](double x) { return ours::cos(x); };
    measure("exp, ends of r", exp, expq, [] { return ((double)(word() % 1400) - 699.5) * 0.6931471805599453 + (unit() - 0.5) * 1e-3; }, points);
    measure("exp, -1..1", exp, expq, [] { return 2 * unit() - 1; }, points);
    measure("exp, -745..-700", exp, expq, [] { return -745 + 45 * unit(); }, points);
    measure("exp, 700..709.78", exp, expq, [] { return 700 + 9.78 * unit(); }, points);
    measure("log, ends of m", log, logq, [] { return (word() >> 63 ? 0.7071067811865476 : 1.4142135623730951) * (1 + (unit() - 0.5) * 0.01); }, points);
    measure("log, near 1", log, logq, [] { return 1 + either_sign(std::exp2(-53 * unit())); }, points);
    measure("log, denormal", log, logq, [] { return ours::bits<double>(word() >> 12 >> word() % 50); }, points);
    measure("log, all", log, logq, [] { return ours::bits<double>(word() >> 1); }, points);
    // Up to 2^29 quarters, and two numbers to each side of where the result is 0.
    auto zeros = [] {
        double x = (double)((quad)(word() % (1ull << (1 + word() % 29))) * M_PI_2q);
        return either_sign(ours::bits<double>(ours::bits<long long>(x) + (long long)(x == 0 ? 0 : word() % 5) - (x == 0 ? 0 : 2)));
    };
    auto ends = [] {
        double n = (double)(word() % (1ull << (1 + word() % 20))) + 0.5;
        return either_sign((double)((quad)n * M_PI_2q) * (1 + (unit() - 0.5) * 1e-3 / n));
    };
    auto short_range = [] { return either_sign(std::exp2(30 * unit())); };
    auto any = [] { return ours::bits<double>(word()); };
    measure("sin, multiples of pi/2", sin, sinq, zeros, points), measure("cos, multiples of pi/2", cos, cosq, zeros, points);
    measure("sin, ends of r", sin, sinq, ends, points), measure("cos, ends of r", cos, cosq, ends, points);
    measure("sin, 1..2^30", sin, sinq, short_range, points), measure("cos, 1..2^30", cos, cosq, short_range, points);
    measure("sin, all", sin, sinq, any, points), measure("cos, all", cos, cosq, any, points);
    for (long i = 0; i < points; i++) pair(ends()), pair(zeros()), pair(any());
}
