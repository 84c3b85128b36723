/* C++'s overloads of the mathematical functions in device code, before C++'s library declares its own: device code takes these. */
#ifndef DSLC_DEVICE_MATH_H
#define DSLC_DEVICE_MATH_H

/* C's functions that C++'s library names in device code. */
extern "C" {
__device__ void *malloc(size_t);
__device__ void free(void *);
}

#define DSLC_MATH __device__ inline __attribute__((always_inline, nodebug))
#define DSLC_UNARY(name)                                                                                                           \
    DSLC_MATH float name(float x) { return name##f(x); }                                                                           \
    DSLC_MATH double name(int x) { return name((double)x); }                                                                       \
    DSLC_MATH double name(unsigned int x) { return name((double)x); }                                                              \
    DSLC_MATH double name(long x) { return name((double)x); }                                                                      \
    DSLC_MATH double name(unsigned long x) { return name((double)x); }                                                             \
    DSLC_MATH double name(long long x) { return name((double)x); }                                                                 \
    DSLC_MATH double name(unsigned long long x) { return name((double)x); }
#define DSLC_BINARY(name)                                                                                                          \
    DSLC_MATH float name(float x, float y) { return name##f(x, y); }                                                               \
    DSLC_MATH double name(float x, double y) { return name((double)x, y); }                                                        \
    DSLC_MATH double name(double x, float y) { return name(x, (double)y); }                                                        \
    DSLC_MATH double name(double x, int y) { return name(x, (double)y); }                                                          \
    DSLC_MATH double name(int x, double y) { return name((double)x, y); }                                                          \
    DSLC_MATH double name(int x, int y) { return name((double)x, (double)y); }
DSLC_UNARY(acos)
DSLC_UNARY(acosh)
DSLC_UNARY(asin)
DSLC_UNARY(asinh)
DSLC_UNARY(atan)
DSLC_UNARY(atanh)
DSLC_UNARY(cbrt)
DSLC_UNARY(cos)
DSLC_UNARY(cosh)
DSLC_UNARY(erf)
DSLC_UNARY(erfc)
DSLC_UNARY(exp)
DSLC_UNARY(exp2)
DSLC_UNARY(expm1)
DSLC_UNARY(floor)
DSLC_UNARY(ceil)
DSLC_UNARY(lgamma)
DSLC_UNARY(log)
DSLC_UNARY(log10)
DSLC_UNARY(log1p)
DSLC_UNARY(log2)
DSLC_UNARY(logb)
DSLC_UNARY(nearbyint)
DSLC_UNARY(rint)
DSLC_UNARY(round)
DSLC_UNARY(sin)
DSLC_UNARY(sinh)
DSLC_UNARY(sqrt)
DSLC_UNARY(tan)
DSLC_UNARY(tanh)
DSLC_UNARY(tgamma)
DSLC_UNARY(trunc)
DSLC_MATH float fabs(float x) { return fabsf(x); }
DSLC_MATH float abs(float x) { return fabsf(x); }
DSLC_MATH double abs(double x) { return fabs(x); }
DSLC_MATH float rsqrt(float x) { return rsqrtf(x); }
DSLC_BINARY(atan2)
DSLC_BINARY(copysign)
DSLC_BINARY(fdim)
DSLC_BINARY(fmax)
DSLC_BINARY(fmin)
DSLC_BINARY(fmod)
DSLC_BINARY(hypot)
DSLC_BINARY(nextafter)
DSLC_BINARY(remainder)
DSLC_MATH float pow(float x, float y) { return powf(x, y); }
DSLC_MATH double pow(float x, double y) { return pow((double)x, y); }
DSLC_MATH double pow(double x, float y) { return pow(x, (double)y); }
DSLC_MATH double pow(double x, int y) { return pow(x, (double)y); }
DSLC_MATH float pow(float x, int y) { return powf(x, (float)y); }
DSLC_MATH double pow(int x, double y) { return pow((double)x, y); }
DSLC_MATH double pow(int x, int y) { return pow((double)x, (double)y); }
DSLC_MATH float fma(float x, float y, float z) { return fmaf(x, y, z); }
DSLC_MATH float ldexp(float x, int n) { return ldexpf(x, n); }
DSLC_MATH float scalbn(float x, int n) { return scalbnf(x, n); }
DSLC_MATH float frexp(float x, int *n) { return frexpf(x, n); }
DSLC_MATH float modf(float x, float *whole) { return modff(x, whole); }
DSLC_MATH int ilogb(float x) { return ilogbf(x); }
DSLC_MATH long lround(float x) { return lroundf(x); }
DSLC_MATH long long llround(float x) { return llroundf(x); }
DSLC_MATH long lrint(float x) { return lrintf(x); }
DSLC_MATH long long llrint(float x) { return llrintf(x); }
#undef DSLC_BINARY
#undef DSLC_UNARY
#undef DSLC_MATH

#endif
