/* Elements whose type is known when the program runs: half, bfloat16 and whole numbers are widened to double, and narrowed again. */
#ifndef DSLC_LIBRARIES_ELEMENTS_H
#define DSLC_LIBRARIES_ELEMENTS_H

#include <library_types.h>

#include <cmath>
#include <cstring>

namespace dslc {
namespace elements {

/* An 8-, 16- or 32-bit number as its bits. */
inline float half_value(unsigned short bits) {
    unsigned sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
    float value;
    if (exponent == 31) {
        unsigned word = sign | 0x7f800000u | fraction << 13;
        memcpy(&value, &word, 4);
        return value;
    }
    value = exponent ? ldexpf((float)(fraction | 1024), (int)exponent - 25) : ldexpf((float)fraction, -24);
    return sign ? -value : value;
}
/* To the nearest, ties to even. */
inline unsigned short half_bits(float value) {
    unsigned word;
    memcpy(&word, &value, 4);
    unsigned sign = word >> 16 & 0x8000u, magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0x7fff;
    if (magnitude >= 0x47800000u) return (unsigned short)(sign | 0x7c00u);
    if (magnitude < 0x38800000u) return (unsigned short)(sign | (unsigned)nearbyintf(ldexpf(fabsf(value), 24)));
    unsigned rest = magnitude - 0x38000000u;
    return (unsigned short)(sign | (rest + 0xfffu + (rest >> 13 & 1)) >> 13);
}
inline float bfloat_value(unsigned short bits) {
    unsigned word = (unsigned)bits << 16;
    float value;
    memcpy(&value, &word, 4);
    return value;
}
inline unsigned short bfloat_bits(float value) {
    unsigned word;
    memcpy(&word, &value, 4);
    if ((word & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return (unsigned short)((word + 0x7fffu + (word >> 16 & 1)) >> 16);
}

inline long bytes(cudaDataType type) {
    switch (type) {
    case CUDA_R_8I: return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    case CUDA_R_32F:
    case CUDA_R_32I: return 4;
    case CUDA_R_64F: return 8;
    default: return 0;
    }
}
inline double widened(const char *from, cudaDataType type) {
    auto as = [&](auto value) {
        memcpy(&value, from, sizeof value);
        return value;
    };
    switch (type) {
    case CUDA_R_8I: return as((signed char)0);
    case CUDA_R_16F: return half_value(as((unsigned short)0));
    case CUDA_R_16BF: return bfloat_value(as((unsigned short)0));
    case CUDA_R_32F: return as(0.0f);
    case CUDA_R_32I: return as(0);
    default: return as(0.0);
    }
}
inline void narrowed(char *to, double value, cudaDataType type) {
    auto put = [&](auto value) { memcpy(to, &value, sizeof value); };
    switch (type) {
    case CUDA_R_8I: return put((signed char)fmin(127, fmax(-128, value)));
    case CUDA_R_16F: return put(half_bits((float)value));
    case CUDA_R_16BF: return put(bfloat_bits((float)value));
    case CUDA_R_32F: return put((float)value);
    case CUDA_R_32I: return put((int)value);
    default: return put(value);
    }
}

} // namespace elements
} // namespace dslc

#endif
