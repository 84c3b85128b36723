// Measures the mathematical functions of dsl/library against quadruple precision, and makes the program that tests them.
//
//     for part in double angle float float_angle float_gamma float_bessel special bessel; do sed 's/(int)n/to_int(n)/g' ../../dsl/library/math_$part.k > math_$part.k; done
//     g++ -std=gnu++17 -O2 -march=native -ffp-contract=off -fno-builtin -w -I. measure.cpp -lquadmath -o measure
//     ./measure table 1000000       rows of dsl/README.md: function, largest error in ulp, points
//     ./measure program             tests/programs/math_library.k; its .out is what the simulator printed: no line "wrong", small distances
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <quadmath.h>
#include <string>
#include <vector>

#include "host.h"

typedef __float128 quad;

static uint64_t state = 88172645463325252ull;
static double uniform() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (state * 2685821657736338717ull >> 11) * 0x1p-53;
}

// Where arguments are drawn from.
struct Domain {
    enum Kind { LINEAR, EXPONENTS, POSITIVE, NEAR_ONE } kind;
    double from, to;
    double pick() const {
        double u = uniform();
        if (kind == LINEAR) return from + (to - from) * u;
        if (kind == NEAR_ONE) return 1 + (uniform() < 0.5 ? -1 : 1) * std::exp2(-u * 50);
        double x = std::exp2(from + (to - from) * u);
        return kind == EXPONENTS && uniform() < 0.5 ? -x : x;
    }
};

struct Function {
    std::string name;
    bool is_float;
    int n_args;
    double (*one)(double);
    double (*two)(double, double);
    quad (*exact)(quad);
    quad (*exact2)(quad, quad);
    std::vector<std::pair<Domain, Domain>> domains;
    double call(double x, double y) const { return n_args == 1 ? one(x) : two(x, y); }
    quad want(double x, double y) const { return n_args == 1 ? exact(x) : exact2(x, y); }
    double round(double x) const { return is_float ? (double)(float)x : x; }
};

static quad exp10Q(quad x) { return powq(10, x); }
static quad exp2Q(quad x) { return powq(2, x); }
static quad sinpiQ(quad x) {
    if (!(fabsq(x) < (quad)INFINITY)) return NAN;
    quad n = rintq(2 * x), r = (x - n / 2) * M_PIq;
    if (r == 0 && fmodq(n, 2) == 0) return copysignq(0, x);
    int quadrant = ((int)fmodq(n, 4) + 4) & 3;
    quad value = quadrant & 1 ? cosq(r) : sinq(r);
    return quadrant & 2 ? -value : value;
}
static quad cospiQ(quad x) {
    if (!(fabsq(x) < (quad)INFINITY)) return NAN;
    quad n = rintq(2 * x), r = (x - n / 2) * M_PIq;
    int quadrant = ((int)fmodq(n, 4) + 4) & 3;
    quad value = quadrant & 1 ? sinq(r) : cosq(r);
    value = (quadrant + 1) & 2 ? -value : value;
    return value == 0 ? 0 : value;
}
static quad rsqrtQ(quad x) { return 1 / sqrtq(x); }
static quad rcbrtQ(quad x) { return 1 / cbrtq(x); }

// The distance in units of the exact value's last place.
static double error(const Function &f, double got, quad want) {
    int digits = f.is_float ? 24 : 53, top = f.is_float ? 128 : 1024, bottom = f.is_float ? -149 : -1074;
    quad limit = scalbnq(1, top);
    if (isnanq(want) || got != got) return isnanq(want) && got != got ? 0 : 1e9;
    if (isinfq(want)) return (quad)got == want ? 0 : 1e9;
    quad value = std::isinf(got) ? copysignq(limit, got) : (quad)got;
    if (fabsq(want) >= limit && std::isinf(got) && (got > 0) == (want > 0)) return 0;
    if (want == 0) return got == 0 ? 0 : 1e9;
    int exponent;
    frexpq(want, &exponent);
    int unit = std::max(std::min(exponent, top) - digits, bottom);
    return (double)(fabsq(value - want) / scalbnq(1, unit));
}

static void table(const std::vector<Function> &functions, long points) {
    for (const Function &f : functions) {
        double worst = 0, wx = 0, wy = 0;
        long n = 0;
        for (auto &domain : f.domains)
            for (long i = 0; i < points / (long)f.domains.size() + 1; i++, n++) {
                double x = f.round(domain.first.pick()), y = f.round(domain.second.pick());
                double e = error(f, f.call(x, y), f.want(x, y));
                if (e > worst) worst = e, wx = x, wy = y;
            }
        printf("| %s | %.4f | %ld | %a, %a\n", f.name.c_str(), worst, n, wx, wy);
        fflush(stdout);
    }
}

static void program(const std::vector<Function> &functions);

int main(int argc, char **argv) {
    std::vector<Function> all;
#define ONE(T, name, ref, ...)                                                                                              \
    all.push_back({#name, sizeof(T) == 4, 1, [](double x) -> double { return ours::name((T)x); }, nullptr, ref, nullptr, {}}); \
    for (Domain d : {__VA_ARGS__}) all.back().domains.push_back({d, d});
#define TWO(T, name, ref, ...)                                                                                                \
    all.push_back({#name, sizeof(T) == 4, 2, nullptr, [](double x, double y) -> double { return ours::name((T)x, (T)y); }, nullptr, ref, \
                   {__VA_ARGS__}});
#define ALL(T, f, XB, PB, EX)                                                                                               \
    {                                                                                                                       \
        Domain near{Domain::NEAR_ONE, 0, 0}, small{Domain::EXPONENTS, -30, 5}, tiny{Domain::EXPONENTS, -60, 1},            \
            wide{Domain::EXPONENTS, -EX, EX}, all_positive{Domain::POSITIVE, -EX, EX}, e{Domain::LINEAR, -XB, XB},          \
            mid{Domain::LINEAR, -20, 20}, unit{Domain::LINEAR, -1, 1}, to4{Domain::LINEAR, 0, 4};                           \
        typedef std::pair<Domain, Domain> P;                                                                                \
        ONE(T, exp##f, expq, e, small) ONE(T, exp2##f, exp2Q, Domain{Domain::LINEAR, -PB, PB}, small)                       \
        ONE(T, exp10##f, exp10Q, Domain{Domain::LINEAR, -PB * 0.3, PB * 0.3}, small)                                        \
        ONE(T, expm1##f, expm1q, e, Domain{Domain::LINEAR, -3, 3}, tiny)                                                    \
        ONE(T, log##f, logq, all_positive, near, to4) ONE(T, log2##f, log2q, all_positive, near, to4)                       \
        ONE(T, log10##f, log10q, all_positive, near, to4)                                                                   \
        ONE(T, log1p##f, log1pq, Domain{Domain::LINEAR, -0.999, 4}, all_positive, tiny)                                     \
        TWO(T, pow##f, powq, P{all_positive, small}, P{near, wide}, P{to4, Domain{Domain::LINEAR, -100, 100}},              \
            P{Domain{Domain::LINEAR, 0.9, 1.1}, Domain{Domain::LINEAR, -XB * 10, XB * 10}})                                 \
        ONE(T, sin##f, sinq, mid, small, wide) ONE(T, cos##f, cosq, mid, small, wide) ONE(T, tan##f, tanq, mid, small, wide) \
        ONE(T, sinpi##f, sinpiQ, mid, tiny, small) ONE(T, cospi##f, cospiQ, mid, tiny, small)                               \
        ONE(T, asin##f, asinq, unit, tiny) ONE(T, acos##f, acosq, unit, tiny, Domain{Domain::LINEAR, 0.99, 1})              \
        ONE(T, atan##f, atanq, mid, wide, unit) TWO(T, atan2##f, atan2q, P{unit, unit}, P{wide, wide}, P{small, small})     \
        ONE(T, sinh##f, sinhq, e, tiny, mid) ONE(T, cosh##f, coshq, e, tiny, mid) ONE(T, tanh##f, tanhq, unit, tiny, mid)   \
        ONE(T, asinh##f, asinhq, mid, wide, unit)                                                                           \
        ONE(T, acosh##f, acoshq, Domain{Domain::LINEAR, 1, 4}, Domain{Domain::POSITIVE, 0, EX}, Domain{Domain::LINEAR, 1, 1.01}) \
        ONE(T, atanh##f, atanhq, unit, tiny) ONE(T, cbrt##f, cbrtq, wide) ONE(T, rcbrt##f, rcbrtQ, wide)                    \
        ONE(T, rsqrt##f, rsqrtQ, all_positive) TWO(T, hypot##f, hypotq, P{unit, unit}, P{wide, wide}, P{small, small})      \
        ONE(T, erf##f, erfq, Domain{Domain::LINEAR, -6, 6}, tiny)                                                           \
        ONE(T, erfc##f, erfcq, Domain{Domain::LINEAR, -6, 28}, tiny)                                                        \
        TWO(T, remainder##f, remainderq, P{wide, wide}, P{small, small})                                                    \
        GAMMA(T, f)                                                                                                        \
    }
#ifdef WITH_GAMMA
#define GAMMA(T, f)                                                                                                         \
        ONE(T, tgamma##f, tgammaq, Domain{Domain::LINEAR, 0, sizeof(T) == 4 ? 35.0 : 171.6}, tiny, mid)                    \
        ONE(T, lgamma##f, lgammaq, to4, Domain{Domain::POSITIVE, -EX, EX * 0.98}, Domain{Domain::LINEAR, 0, 40})
#else
#define GAMMA(T, f)
#endif
    ALL(double, , 745.0, 1075.0, 1022.0)
    ALL(float, f, 104.0, 150.0, 126.0)
    if (argc > 1 && argv[1][0] == 't') table(all, argc > 2 ? atol(argv[2]) : 10000);
    else program(all);
}

// The program: for each function 16 points with their correctly rounded results, as bits.
static void program(const std::vector<Function> &functions) {
    static const double SPECIAL[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 0.5};
    for (int side = 0; side < 2; side++) {
        const char *real = side ? "float" : "double", *bits = side ? "unsigned int" : "unsigned long long";
        std::string cases, rows, names;
        int n = 0;
        for (const Function &f : functions) {
            if (f.is_float != (side == 1)) continue;
            cases += "    case " + std::to_string(n++) + ": r = " + f.name + (f.n_args == 1 ? "(x)" : "(x, y)") + "; break;\n";
            names += "\"" + f.name + "\", ";
            for (int i = 0; i < 16; i++) {
                auto &domain = f.domains[i % f.domains.size()];
                double x = f.round(i < 8 ? SPECIAL[i] : domain.first.pick());
                double y = f.n_args == 1 ? 0 : f.round(i == 6 ? 3.0 : i == 7 ? INFINITY : domain.second.pick());
                double r = side ? (double)(float)f.want(x, y) : (double)f.want(x, y);
                char text[100];
                if (side) snprintf(text, sizeof text, "0x%xu,0x%xu,0x%xu,", ours::bits<int>((float)x), ours::bits<int>((float)y), r != r ? 0x7fc00000 : ours::bits<int>((float)r));
                else snprintf(text, sizeof text, "0x%llxull,0x%llxull,0x%llxull,", ours::bits<long long>(x), ours::bits<long long>(y), r != r ? 0x7ff8000000000000ll : ours::bits<long long>(r));
                rows += std::string(i % 4 ? " " : "\n    ") + text;
            }
        }
        if (side == 0) printf("// The mathematical functions on 16 points each, ends and signed zeros among them, against results that were rounded once from\n"
                              "// quadruple precision. Made by tests/math/measure.cpp. A line says the largest distance in representable numbers.\n"
                              "#include <stdio.h>\n\n");
        printf("__global__ void run_%s(int function, const %s *in, %s *out) {\n    %s x = in[3 * threadIdx.x], y = in[3 * threadIdx.x + 1], r = 0;\n"
               "    switch (function) {\n%s    }\n    out[threadIdx.x] = r;\n}\n\n", real, real, real, real, cases.c_str());
        printf("const char *names_%s[] = {%s};\n\n%s points_%s[] = {%s\n};\n\n", real, names.c_str(), bits, real, rows.c_str());
    }
    printf("%s", R"(// Numbers between two results; -1 if only one is a NaN, or if zeros differ in sign.
long long distance(long long a, long long b, long long infinity, long long sign) {
    bool is_nan_a = (a & ~sign) > infinity, is_nan_b = (b & ~sign) > infinity;
    if (is_nan_a || is_nan_b) return is_nan_a && is_nan_b ? 0 : -1;
    if (((a ^ b) & sign) != 0) return -1;
    return a > b ? a - b : b - a;
}

#define TEST(real, bits, infinity, sign)                                                                        \
    for (int f = 0; f < (int)(sizeof(names_##real) / sizeof(names_##real[0])); f++) {                           \
        real *in, *out;                                                                                         \
        bits results[16];                                                                                       \
        cudaMalloc(&in, 48 * sizeof(real));                                                                     \
        cudaMalloc(&out, 16 * sizeof(real));                                                                    \
        cudaMemcpy(in, points_##real + 48 * f, 48 * sizeof(real), cudaMemcpyHostToDevice);                      \
        run_##real<<<1, 16>>>(f, in, out);                                                                      \
        cudaMemcpy(results, out, 16 * sizeof(real), cudaMemcpyDeviceToHost);                                    \
        long long worst = 0;                                                                                    \
        for (int i = 0; i < 16; i++) {                                                                          \
            bits want = points_##real[48 * f + 3 * i + 2];                                                      \
            long long d = distance((long long)results[i], (long long)want, infinity, sign);                     \
            if (d < 0) printf("%s: point %d is wrong: %llx, not %llx\n", names_##real[f], i,                    \
                              (unsigned long long)results[i], (unsigned long long)want);                        \
            if (d > worst) worst = d;                                                                           \
        }                                                                                                       \
        printf("%s: %lld\n", names_##real[f], worst);                                                           \
        cudaFree(in);                                                                                           \
        cudaFree(out);                                                                                          \
    }

int main() {
    TEST(double, unsigned long long, 0x7ff0000000000000ll, (long long)0x8000000000000000ull)
    TEST(float, unsigned int, 0x7f800000ll, 0x80000000ll)
    return 0;
}
)");
}
