// Measures the `float` functions of dsl/library over all 2^32 arguments against C's `double` functions, and checks that NaN, infinities and
// the signs of zeros agree. Two arguments: pairs of numbers with all exponents, of numbers near 1, and of small integers.
//
//     for part in double angle float float_angle float_gamma float_bessel special bessel; do sed 's/(int)n/to_int(n)/g' ../../dsl/library/math_$part.k > math_$part.k; done
//     clang++ -std=gnu++17 -O3 -march=native -ffp-contract=off -fno-builtin -w -I. exhaustive.cpp -pthread -o exhaustive
//     ./exhaustive                  every argument
//     ./exhaustive 1009             every 1009th
//     ./exhaustive 1 expf logf      these functions
//     ./exhaustive 101 dense j0f    every one from 2^-12 to 2^17, every 101st of the others
//
// The largest error is in units in the last place, or where "absolute" stands in the name absolute, in units of 2^-24.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "host.h"

struct Worst {
    double error = 0;
    float x = 0, y = 0;
    uint64_t wrong = 0;
    float wrong_x = 0, wrong_y = 0;
};

// The distance in units of the exact value's last place; below 0 where the values are of different kinds.
static double distance(float got, double want) {
    if (want != want) return got != got ? 0 : -1;
    if (got != got) return -1;
    if (want == 0 || std::isinf(want)) return (double)got == want && std::signbit(got) == std::signbit(want) ? 0 : -1;
    if (std::signbit(got) != std::signbit(want)) return -1;
    uint64_t bits;
    memcpy(&bits, &want, 8);
    int exponent = (int)(bits >> 52 & 2047) - 1023;
    if (exponent > 127) return std::isinf(got) ? 0 : 1e9;
    if (exponent < -126) exponent = -126;
    double value = std::isinf(got) ? std::copysign(0x1p128, got) : (double)got;
    uint64_t scale = (uint64_t)(23 - exponent + 1023) << 52;
    double up;
    memcpy(&up, &scale, 8);
    return std::fabs(value - want) * up;
}

static void note(Worst &worst, float x, float y, float got, double want, bool is_absolute = false) {
    double error = distance(got, want);
    if (is_absolute && error > 0 && !std::isinf(got)) error = std::fabs(got - want) * 0x1p24;
    // The sign of a number that is absolutely 0 is free.
    if (is_absolute && error < 0 && std::fabs(got - want) < INFINITY && want != 0) error = std::fabs(got - want) * 0x1p24;
    if (error < 0) {
        if (!worst.wrong++) worst.wrong_x = x, worst.wrong_y = y;
    } else if (error > worst.error) {
        worst.error = error, worst.x = x, worst.y = y;
    }
}

static void join(Worst &all, const Worst &part) {
    if (part.wrong && !all.wrong) all.wrong_x = part.wrong_x, all.wrong_y = part.wrong_y;
    all.wrong += part.wrong;
    if (part.error > all.error) all.error = part.error, all.x = part.x, all.y = part.y;
}

static const unsigned threads = std::thread::hardware_concurrency();

template <class Part> static Worst in_parts(Part part) {
    std::vector<Worst> parts(threads);
    std::vector<std::thread> running;
    for (unsigned i = 0; i < threads; i++) running.emplace_back([&, i] { parts[i] = part(i); });
    Worst all;
    for (unsigned i = 0; i < threads; i++) running[i].join(), join(all, parts[i]);
    return all;
}

static void print(const char *name, int arguments, const Worst &worst) {
    printf("| %s | %.3f |", name, worst.error);
    if (arguments == 1) printf(" %a |", worst.x);
    else printf(" %a, %a |", worst.x, worst.y);
    if (worst.wrong) printf(" WRONG %" PRIu64 ": %a, %a |", worst.wrong, worst.wrong_x, worst.wrong_y);
    printf("\n");
    fflush(stdout);
}

static bool is_dense = false;
// From 2^-12 to 2^17, with any sign.
static bool is_usual(uint64_t bits) { return (bits >> 23 & 255) - 115 < 29; }

template <class F, class R, class Where> static void one(const char *name, F f, R exact, uint64_t step, Where where, bool is_absolute = false) {
    print(name, 1, in_parts([&](unsigned part) {
        Worst worst;
        for (uint64_t chunk = part; chunk < 1ull << 12; chunk += threads) {
            uint64_t stride = is_dense && is_usual(chunk << 20) ? 1 : step;
            // Zeros and infinities begin a chunk.
            for (uint64_t i = chunk << 20; i < (chunk + 1) << 20; i += stride) {
                uint32_t bits = (uint32_t)i;
                float x;
                memcpy(&x, &bits, 4);
                if (where(x)) note(worst, x, 0, f(x), exact((double)x), is_absolute);
            }
        }
        return worst;
    }));
}

struct Random {
    uint64_t state;
    uint64_t next() {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        return state * 2685821657736338717ull;
    }
    float any() {
        uint32_t bits = (uint32_t)(next() >> 32);
        float x;
        memcpy(&x, &bits, 4);
        return x;
    }
    float near(float scale) { return (float)((double)(int64_t)next() * 0x1p-63 * scale); }
};

template <class F, class R> static void two(const char *name, F f, R exact, uint64_t step) {
    static const float ENDS[] = {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, -2.0f, 3.0f, -3.0f, 0.5f, -0.5f, INFINITY, -INFINITY, NAN, 0x1p-149f,
                                 -0x1p-149f, 0x1p-126f, 0x1.fffffep127f, -0x1.fffffep127f, 16777215.0f, -16777215.0f, 16777216.0f, 1e-30f, 1e30f};
    uint64_t points = 400000000 / step;
    print(name, 2, in_parts([&](unsigned part) {
        Worst worst;
        Random random{88172645463325252ull + part * 7919};
        auto at = [&](float x, float y) { note(worst, x, y, f(x, y), exact((double)x, (double)y)); };
        for (float x : ENDS)
            for (float y : ENDS) at(x, y);
        for (uint64_t i = 0; i < points / threads; i++) {
            switch (i & 7) {
            case 0: at(random.any(), random.any()); break;
            case 1: at(1 + random.near(0.5f), random.near(300)); break;
            case 2: at(fabsf(random.any()), random.near(2)); break;
            case 3: at(random.near(1), random.near(1)); break;
            case 4: at(1 + random.near(0x1p-10f), random.any()); break;
            case 5: at(random.near(20), rintf(random.near(30))); break;
            case 6: {
                // Results at the ends of the range.
                float x = fabsf(random.any());
                at(x, (float)((random.next() & 1 ? 127.0 : -140.0) / std::log2((double)x)) * (1 + random.near(0.1f)));
                break;
            }
            default: {
                float x = random.any();
                at(x, x * (1 + random.near(0.25f)));
            }
            }
        }
        return worst;
    }));
}

static double exp10_(double x) { return (double)exp10l((long double)x); }
static double sinpi_(double x) {
    if (!(std::fabs(x) < INFINITY)) return NAN;
    double n = std::rint(2 * x), r = (x - n / 2) * M_PI;
    int quadrant = (int)std::fmod(n, 4) & 3;
    double value = quadrant & 1 ? std::cos(r) : std::sin(r);
    value = quadrant & 2 ? -value : value;
    return value == 0 ? std::copysign(0.0, x) : value;
}
static double cospi_(double x) {
    if (!(std::fabs(x) < INFINITY)) return NAN;
    double n = std::rint(2 * x), r = (x - n / 2) * M_PI;
    int quadrant = (int)std::fmod(n, 4) & 3;
    double value = quadrant & 1 ? std::sin(r) : std::cos(r);
    value = (quadrant + 1) & 2 ? -value : value;
    return value == 0 ? 0 : value;
}

namespace ours {
static float remquof_remainder(float x, float y) {
    int quotient;
    return remquof(x, y, &quotient);
}
// Its three low bits, and the sign.
static float remquof_quotient(float x, float y) {
    int quotient;
    remquof(x, y, &quotient);
    return quotient < 0 ? -(-quotient & 7) : quotient & 7;
}
} // namespace ours
static double quotient_(double x, double y) {
    int quotient = 0;
    std::remquo(x, y, &quotient);
    // Where there is no quotient, C leaves it open.
    if (!(std::fabs(x) < INFINITY) || y != y || y == 0 || std::isinf(y)) return 0;
    return quotient < 0 ? -(-quotient & 7) : quotient & 7;
}

// C has an error of the domain at 0 and at negative integers; CUDA, too, has an infinity at 0.
static double gamma_(double x) { return x == 0 ? 1 / x : std::tgamma(x); }
static double lgamma_(double x) {
    int sign;
    return ::lgamma_r(x, &sign);
}

static double jn_(int n, double x) { return std::isinf(x) ? (x < 0 && n % 2 != 0 ? -0.0 : 0) : ::jn(n, x); }
static double yn_(int n, double x) { return x == 0 ? -INFINITY : ::yn(n, x); }

int main(int argc, char **argv) {
    uint64_t step = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1;
    is_dense = argc > 2 && !strcmp(argv[2], "dense");
    int first = is_dense ? 3 : 2;
    auto is_asked = [&](const char *name) {
        for (int i = first; i < argc; i++)
            if (!strcmp(argv[i], name)) return true;
        return argc <= first;
    };
#define WHERE(name, label, exact, condition, is_absolute)                                                             \
    if (is_asked(#name))                                                                                              \
        one(#name label, [](float x) { return ours::name(x); }, [](double x) -> double { return exact; }, step,       \
            [](float x) { return condition; }, is_absolute);
#define ONE(name, exact) WHERE(name, "", exact, (void(x), true), false)
#define TWO(name, exact)                                                                                              \
    if (is_asked(#name)) two(#name, [](float x, float y) { return ours::name(x, y); }, [](double x, double y) -> double { return exact; }, step);
    ONE(expf, std::exp(x)) ONE(exp2f, std::exp2(x)) ONE(exp10f, exp10_(x)) ONE(expm1f, std::expm1(x))
    ONE(logf, std::log(x)) ONE(log2f, std::log2(x)) ONE(log10f, std::log10(x)) ONE(log1pf, std::log1p(x))
    ONE(sinf, std::sin(x)) ONE(cosf, std::cos(x)) ONE(tanf, std::tan(x)) ONE(sinpif, sinpi_(x)) ONE(cospif, cospi_(x))
    ONE(asinf, std::asin(x)) ONE(acosf, std::acos(x)) ONE(atanf, std::atan(x))
    ONE(sinhf, std::sinh(x)) ONE(coshf, std::cosh(x)) ONE(tanhf, std::tanh(x))
    ONE(asinhf, std::asinh(x)) ONE(acoshf, std::acosh(x)) ONE(atanhf, std::atanh(x))
    ONE(cbrtf, std::cbrt(x)) ONE(rcbrtf, 1 / std::cbrt(x)) ONE(rsqrtf, 1 / std::sqrt(x))
    ONE(erff, std::erf(x)) ONE(erfcf, std::erfc(x)) ONE(normcdff, 0.5 * std::erfc(-x * M_SQRT1_2))
    // C has none of these: the `double` functions of the library, which special.cpp measures.
    ONE(erfcxf, ours::erfcx(x)) ONE(erfinvf, ours::erfinv(x)) ONE(erfcinvf, ours::erfcinv(x)) ONE(normcdfinvf, ours::normcdfinv(x))
    ONE(tgammaf, gamma_(x))
    WHERE(lgammaf, "", lgamma_(x), !(x > -10.001f && x < -2.264f), false)
    WHERE(lgammaf, " from -10.001 to -2.264, absolute", lgamma_(x), x > -10.001f && x < -2.264f, true)
#define BESSEL(name, exact)                                                                                           \
    WHERE(name, " below 8", exact, !(std::fabs(x) >= 8), false)                                                       \
    WHERE(name, " above, absolute", exact, std::fabs(x) >= 8, true)
    BESSEL(j0f, std::isinf(x) ? 0 : ::j0(x)) BESSEL(j1f, std::isinf(x) ? std::copysign(0, x) : ::j1(x))
    BESSEL(y0f, x == 0 ? -INFINITY : ::y0(x)) BESSEL(y1f, x == 0 ? -INFINITY : ::y1(x))
    ONE(cyl_bessel_i0f, ours::cyl_bessel_i0(x)) ONE(cyl_bessel_i1f, ours::cyl_bessel_i1(x))
    for (int n : {2, 3, 10, 50, 128}) {
        char name[40];
        auto all = [](float) { return true; };
        snprintf(name, sizeof name, "jnf(%d), absolute", n);
        if (is_asked("jnf"))
            one(name, [n](float x) { return ours::jnf(n, x); }, [n](double x) { return jn_(n, x); }, step, all, true);
        snprintf(name, sizeof name, "ynf(%d) below %d", n, n);
        if (is_asked("ynf"))
            one(name, [n](float x) { return ours::ynf(n, x); }, [n](double x) { return yn_(n, x); }, step, [n](float x) { return !(x >= n); });
        snprintf(name, sizeof name, "ynf(%d) above, absolute", n);
        if (is_asked("ynf"))
            one(name, [n](float x) { return ours::ynf(n, x); }, [n](double x) { return yn_(n, x); }, step, [n](float x) { return x >= n; }, true);
    }
    TWO(remquof_remainder, std::remainder(x, y))
    TWO(remquof_quotient, quotient_(x, y))
    TWO(rhypotf, 1 / std::hypot(x, y))
    TWO(powf, std::pow(x, y)) TWO(atan2f, std::atan2(x, y)) TWO(hypotf, std::hypot(x, y))
    TWO(remainderf, std::remainder(x, y)) ONE(logbf, std::logb(x))
}
