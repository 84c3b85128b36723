/* The same bits as another type, half precision and bfloat16: on both sides, since types of the library that the host uses are made of them. */
#ifndef DSLC_BITS_H
#define DSLC_BITS_H

#define DSLC_BITS(name, to, from)                                                                                                  \
    static inline __attribute__((host)) to name(from x) {                                                                          \
        to y;                                                                                                                       \
        memcpy(&y, &x, sizeof y);                                                                                                   \
        return y;                                                                                                                   \
    }
DSLC_BITS(__float_as_int, int, float)
DSLC_BITS(__float_as_uint, unsigned int, float)
DSLC_BITS(__int_as_float, float, int)
DSLC_BITS(__uint_as_float, float, unsigned int)
DSLC_BITS(__double_as_longlong, long long, double)
DSLC_BITS(__longlong_as_double, double, long long)
#undef DSLC_BITS

/* What ir/src/half.rs computes. */
static inline __attribute__((host)) float __dslc_f16_to_f32(unsigned int half) {
    unsigned int size = half & 0x7fffu, sign = (half & 0x8000u) << 16;
    if (size > 0x7c00u) return __uint_as_float(0x7fffffffu);
    unsigned int finite = __float_as_uint(__uint_as_float(size << 13) * 0x1p112f);
    return __uint_as_float(sign | (size == 0x7c00u ? 0x7f800000u : finite));
}
static inline __attribute__((host)) unsigned int __dslc_f32_to_f16(float x) {
    unsigned int bits = __float_as_uint(x), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return 0x7fffu;
    unsigned int small = __float_as_uint(__uint_as_float(size) + 0.5f) - 0x3f000000u;
    unsigned int normal = (size + 0xfffu + (size >> 13 & 1u) - 0x38000000u) >> 13;
    return sign | (size >= 0x477ff000u ? 0x7c00u : size < 0x38800000u ? small : normal);
}
static inline __attribute__((host)) unsigned int __dslc_half_fma_bits(unsigned int a, unsigned int b, unsigned int c) {
    double product = (double)__dslc_f16_to_f32(a) * (double)__dslc_f16_to_f32(b), sum = product + (double)__dslc_f16_to_f32(c);
    float single = (float)sum;
    double rest = sum - (double)single;
    unsigned int bits = __float_as_uint(single);
    if (rest != 0.0 && rest == rest && (bits & 1u) == 0) bits += (rest > 0.0) == (sum > 0.0) ? 1u : -1u;
    return __dslc_f32_to_f16(__uint_as_float(bits));
}
static inline __attribute__((host)) unsigned int __dslc_fma_f16x2(unsigned int a, unsigned int b, unsigned int c) {
    return __dslc_half_fma_bits(a, b, c) | __dslc_half_fma_bits(a >> 16, b >> 16, c >> 16) << 16;
}

/* What ir/src/bfloat16.rs computes. */
static inline __attribute__((host)) unsigned int __dslc_f32_to_bf16(float x) {
    unsigned int bits = __float_as_uint(x);
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}
static inline __attribute__((host)) unsigned int __dslc_bfloat16_fma_bits(unsigned int a, unsigned int b, unsigned int c) {
    double product = (double)__uint_as_float(a << 16) * (double)__uint_as_float(b << 16), term = __uint_as_float(c << 16);
    double sum = product + term, part = sum - product, lost = (product - (sum - part)) + (term - part);
    float single = (float)sum;
    double rest = (sum - (double)single) + lost;
    unsigned int bits = __float_as_uint(single);
    if (rest != 0.0 && rest == rest && (bits & 1u) == 0) bits += (rest > 0.0) == (bits >> 31 == 0) ? 1u : -1u;
    return __dslc_f32_to_bf16(__uint_as_float(bits));
}
static inline __attribute__((host)) unsigned int __dslc_fma_bf16x2(unsigned int a, unsigned int b, unsigned int c) {
    return __dslc_bfloat16_fma_bits(a, b, c) | __dslc_bfloat16_fma_bits(a >> 16, b >> 16, c >> 16) << 16;
}

#endif
