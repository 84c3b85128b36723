/* Functions of CUDA's mathematics that host code may call and C's library has not. */
#ifndef DSLC_HOST_MATH_H
#define DSLC_HOST_MATH_H

#define DSLC_BOTH static inline __attribute__((host)) __attribute__((device))
#define DSLC_MIN_MAX(type)                                                                                                         \
    DSLC_BOTH type min(type a, type b) { return b < a ? b : a; }                                                                   \
    DSLC_BOTH type max(type a, type b) { return a < b ? b : a; }
DSLC_MIN_MAX(int)
DSLC_MIN_MAX(unsigned int)
DSLC_MIN_MAX(long)
DSLC_MIN_MAX(unsigned long)
DSLC_MIN_MAX(long long)
DSLC_MIN_MAX(unsigned long long)
DSLC_BOTH unsigned int min(int a, unsigned int b) { return min((unsigned int)a, b); }
DSLC_BOTH unsigned int min(unsigned int a, int b) { return min(a, (unsigned int)b); }
DSLC_BOTH unsigned int max(int a, unsigned int b) { return max((unsigned int)a, b); }
DSLC_BOTH unsigned int max(unsigned int a, int b) { return max(a, (unsigned int)b); }
DSLC_BOTH unsigned long long min(long long a, unsigned long long b) { return min((unsigned long long)a, b); }
DSLC_BOTH unsigned long long min(unsigned long long a, long long b) { return min(a, (unsigned long long)b); }
DSLC_BOTH unsigned long long max(long long a, unsigned long long b) { return max((unsigned long long)a, b); }
DSLC_BOTH unsigned long long max(unsigned long long a, long long b) { return max(a, (unsigned long long)b); }
DSLC_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
DSLC_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
DSLC_BOTH double min(double a, double b) { return __builtin_fmin(a, b); }
DSLC_BOTH double max(double a, double b) { return __builtin_fmax(a, b); }
DSLC_BOTH double min(float a, double b) { return __builtin_fmin(a, b); }
DSLC_BOTH double min(double a, float b) { return __builtin_fmin(a, b); }
DSLC_BOTH double max(float a, double b) { return __builtin_fmax(a, b); }
DSLC_BOTH double max(double a, float b) { return __builtin_fmax(a, b); }
#undef DSLC_MIN_MAX
#undef DSLC_BOTH

#define DSLC_HOST static inline __attribute__((host))
DSLC_HOST float rsqrtf(float x) { return (float)(1.0 / sqrt((double)x)); }
DSLC_HOST double rsqrt(double x) { return 1.0 / sqrt(x); }
DSLC_HOST float rsqrt(float x) { return rsqrtf(x); }
DSLC_HOST float rcbrtf(float x) { return (float)(1.0 / cbrt((double)x)); }
DSLC_HOST double rcbrt(double x) { return 1.0 / cbrt(x); }
DSLC_HOST double sinpi(double x) { return sin(M_PI * fmod(x, 2.0)); }
DSLC_HOST double cospi(double x) { return cos(M_PI * fmod(x, 2.0)); }
DSLC_HOST float sinpif(float x) { return (float)sinpi((double)x); }
DSLC_HOST float cospif(float x) { return (float)cospi((double)x); }
DSLC_HOST void sincospi(double x, double *s, double *c) { *s = sinpi(x); *c = cospi(x); }
DSLC_HOST void sincospif(float x, float *s, float *c) { *s = sinpif(x); *c = cospif(x); }
DSLC_HOST double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
DSLC_HOST float normcdff(float x) { return (float)normcdf((double)x); }
DSLC_HOST double norm3d(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }
DSLC_HOST float norm3df(float a, float b, float c) { return (float)norm3d(a, b, c); }
DSLC_HOST double norm4d(double a, double b, double c, double d) { return sqrt(a * a + b * b + c * c + d * d); }
DSLC_HOST float norm4df(float a, float b, float c, float d) { return (float)norm4d(a, b, c, d); }
DSLC_HOST double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
DSLC_HOST float rhypotf(float a, float b) { return (float)rhypot(a, b); }
DSLC_HOST unsigned int umin(unsigned int a, unsigned int b) { return b < a ? b : a; }
DSLC_HOST unsigned int umax(unsigned int a, unsigned int b) { return a < b ? b : a; }
DSLC_HOST long long llmin(long long a, long long b) { return b < a ? b : a; }
DSLC_HOST long long llmax(long long a, long long b) { return a < b ? b : a; }
DSLC_HOST unsigned long long ullmin(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
DSLC_HOST unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
#undef DSLC_HOST

#endif
