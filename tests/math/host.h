// What the files math_*.k of dsl/library need to be compiled as C++: the same source, measured without the simulator.
#include <cmath>
#include <cstring>

#define __host__
#define __device__ static
#define __dslc_infinity ((double)INFINITY)
#define __dslc_nan ((double)NAN)

struct double2 { double x, y; };

namespace ours {

static double2 make_double2(double x, double y) { return {x, y}; }

template <class To, class From> static To bits(From from) {
    To to;
    static_assert(sizeof to == sizeof from, "the same bits");
    memcpy(&to, &from, sizeof to);
    return to;
}

static long long __double_as_longlong(double x) { return bits<long long>(x); }
static double __longlong_as_double(long long x) { return bits<double>(x); }
static int __float_as_int(float x) { return bits<int>(x); }
static float __int_as_float(int x) { return bits<float>(x); }
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned __int128)a * b >> 64; }
static float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static float rintf(float x) { return __builtin_rintf(x); }
static float sqrtf(float x) { return __builtin_sqrtf(x); }
static float fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
static float fminf(float x, float y) { return __builtin_fminf(x, y); }
static int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
static double rint(double x) { return __builtin_rint(x); }
static double floor(double x) { return __builtin_floor(x); }
static double ceil(double x) { return __builtin_ceil(x); }
static double trunc(double x) { return __builtin_trunc(x); }
static float truncf(float x) { return __builtin_truncf(x); }
static double fabs(double x) { return __builtin_fabs(x); }
static float fabsf(float x) { return __builtin_fabsf(x); }
static double sqrt(double x) { return __builtin_sqrt(x); }
static double fmax(double x, double y) { return ::fmax(x, y); }
static double fmin(double x, double y) { return ::fmin(x, y); }
static float fmodf(float x, float y) { return ::fmodf(x, y); }
static double fmod(double x, double y) { return ::fmod(x, y); }

// The GPU's units have measurements of their own (units.md). Nothing here measures what calls these.
static bool __dslc_on_device() { return false; }
static float __dslc_rcp_approx(float x) { return 1.0f / x; }
static float __dslc_rsqrt_approx(float x) { return 1.0f / sqrtf(x); }
static float __dslc_sqrt_approx(float x) { return sqrtf(x); }
static float __dslc_ex2_approx(float x) { return ::exp2f(x); }
static float __dslc_lg2_approx(float x) { return ::log2f(x); }
static float __dslc_sin_approx(float x) { return ::sinf(x); }
static float __dslc_cos_approx(float x) { return ::cosf(x); }
static float __dslc_tanh_approx(float x) { return ::tanhf(x); }

// CUDA's conversion saturates, and NaN is 0; C++ leaves both open.
struct to_int {
    int value;
    to_int(double x) : value(x != x ? 0 : x >= 2147483647.0 ? 2147483647 : x <= -2147483648.0 ? -2147483647 - 1 : (int)x) {}
    operator int() const { return value; }
};

#include "math_double.k"
#include "math_angle.k"
#include "math_float.k"
#include "math_float_angle.k"
#include "math_float_gamma.k"
#include "math_float_bessel.k"
#include "math_special.k"
#include "math_bessel.k"

} // namespace ours
