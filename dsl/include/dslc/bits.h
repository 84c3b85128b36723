/* The same bits as another type: on both sides, since types of the library that the host uses are made of them. */
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

#endif
