#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define __CUDACC_VER_BUILD__ 0
#define CUDA_VERSION 12080
#define CUDART_VERSION 12080
#define __DSLC__ 1
#define __cplusplus 201703L
#define __STDC__ 1
#define __STDC_HOSTED__ 1
#define __linux__ 1
#define __unix__ 1
#define __x86_64__ 1
#define __LP64__ 1
#define __CHAR_BIT__ 8
#define NULL nullptr
#define cudaMallocPitch(rows, pitch, width, height) __dslc_malloc_pitch((void **)(rows), pitch, width, height)
#define cudaFuncGetAttributes(attributes, ...) __dslc_func_attributes(attributes, __dslc_kernel_fact(0, __VA_ARGS__), __dslc_kernel_fact(1, __VA_ARGS__), __dslc_kernel_fact(2, __VA_ARGS__))
#define cudaHostGetDevicePointer(device, host, flags) __dslc_host_device_pointer((void **)(device), host, flags)
#define cudaMemcpyToSymbolAsync(symbol, ...) __dslc_to_symbol(cudaGetSymbolAddress(&__dslc_symbol, symbol), sizeof(symbol), __VA_ARGS__)
#define cudaMemcpyFromSymbolAsync(to, symbol, ...) __dslc_from_symbol(to, cudaGetSymbolAddress(&__dslc_symbol, symbol), sizeof(symbol), __VA_ARGS__)
#define cudaGetSymbolSize(bytes, symbol) __dslc_symbol_size(bytes, sizeof(symbol))
#define CUDART_CB
#define offsetof(type, member) ((unsigned long)&((type *)0)->member)
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN (-128)
#define CHAR_MAX 127
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LONG_MIN (-9223372036854775807l - 1l)
#define LONG_MAX 9223372036854775807l
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MIN (-9223372036854775807ll - 1ll)
#define LLONG_MAX 9223372036854775807ll
#define ULLONG_MAX 18446744073709551615ull
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_MIN (-9223372036854775807l - 1l)
#define INT64_MAX 9223372036854775807l
#define UINT64_MAX 18446744073709551615ul
#define INT8_C(x) x
#define INT16_C(x) x
#define INT32_C(x) x
#define INT64_C(x) x##L
#define INTMAX_C(x) x##L
#define UINT8_C(x) x
#define UINT16_C(x) x
#define UINT32_C(x) x##U
#define UINT64_C(x) x##UL
#define UINTMAX_C(x) x##UL
#define __INT_MAX__ 2147483647
#define __LONG_MAX__ 9223372036854775807l
#define __FLT_MAX__ 3.402823466e+38f
#define __FLT_MIN__ 1.175494351e-38f
#define __FLT_EPSILON__ 1.192092896e-07f
#define __DBL_MAX__ 1.7976931348623157e+308
#define __DBL_MIN__ 2.2250738585072014e-308
#define __DBL_EPSILON__ 2.2204460492503131e-16
#define INTPTR_MAX 9223372036854775807l
#define UINTPTR_MAX 18446744073709551615ul
#define SIZE_MAX 18446744073709551615ul
#define PTRDIFF_MAX 9223372036854775807l
#define RAND_MAX 2147483647
#define EOF (-1)
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define CLOCKS_PER_SEC 1000000l
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MIN 1.17549435e-38f
#define FLT_MAX 3.40282347e+38f
#define FLT_EPSILON 1.19209290e-7f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_EPSILON 2.2204460492503131e-16
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define INFINITY __dslc_infinity
#define NAN __dslc_nan
#define HUGE_VALF __dslc_infinity
#define HUGE_VAL ((double)__dslc_infinity)
#define CUDART_INF_F __int_as_float(0x7f800000)
#define CUDART_NAN_F __int_as_float(0x7fffffff)
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_INF __longlong_as_double(0x7ff0000000000000ull)
#define CUDART_NAN __longlong_as_double(0xfff8000000000000ull)
#define PRId32 "d"
#define PRIi32 "i"
#define PRIu32 "u"
#define PRIx32 "x"
#define PRIX32 "X"
#define PRId64 "ld"
#define PRIi64 "li"
#define PRIu64 "lu"
#define PRIx64 "lx"
#define PRIX64 "lX"
