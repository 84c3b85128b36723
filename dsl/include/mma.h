/* Matrix operations of a warp, as in CUDA's header of this name: fragments, and clang's builtins for the instructions. */
#ifndef DSLC_MMA_H
#define DSLC_MMA_H
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#if defined(__cplusplus) && defined(__CUDACC__)

namespace nvcuda {
namespace wmma {

enum layout_t { mem_row_major, mem_col_major };
struct row_major { enum { dslc_layout = 0 }; };
struct col_major { enum { dslc_layout = 1 }; };
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
namespace precision {
struct tf32 {};
struct u4 {};
struct s4 {};
struct b1 {};
}

/* What a thread has of a fragment: the elements, and the registers that they are. */
template <class T, int elements> struct __dslc_fragment {
    enum { num_elements = elements, num_storage_elements = elements };
    T x[elements];
    __host__ __device__ int *__dslc_words() { return (int *)x; }
    __host__ __device__ const int *__dslc_words() const { return (const int *)x; }
};

template <class Use, int m, int n, int k, class T, class Layout = void> class fragment;

#define DSLC_FRAGMENT(use, m, n, k, type, element, count)                                                                          \
    template <class Layout> class __attribute__((aligned(4))) fragment<use, m, n, k, type, Layout> : public __dslc_fragment<element, count> {};
#define DSLC_ACCUMULATOR(m, n, k, type, count)                                                                                     \
    template <> class __attribute__((aligned(4))) fragment<accumulator, m, n, k, type, void> : public __dslc_fragment<type, count> {};
#define DSLC_HALVES(m, n)                                                                                                          \
    DSLC_FRAGMENT(matrix_a, m, n, 16, __half, __half, 16)                                                                          \
    DSLC_FRAGMENT(matrix_b, m, n, 16, __half, __half, 16)                                                                          \
    DSLC_ACCUMULATOR(m, n, 16, __half, 8)                                                                                          \
    DSLC_ACCUMULATOR(m, n, 16, float, 8)                                                                                           \
    DSLC_ACCUMULATOR(m, n, 16, int, 8)
DSLC_HALVES(16, 16)
DSLC_HALVES(32, 8)
DSLC_HALVES(8, 32)
#undef DSLC_HALVES
/* Elements of a and b for bfloat16 and bytes. */
#define DSLC_NARROW(m, n, bf_a, bf_b, byte_a, byte_b)                                                                              \
    DSLC_FRAGMENT(matrix_a, m, n, 16, __nv_bfloat16, __nv_bfloat16, bf_a)                                                          \
    DSLC_FRAGMENT(matrix_b, m, n, 16, __nv_bfloat16, __nv_bfloat16, bf_b)                                                          \
    DSLC_FRAGMENT(matrix_a, m, n, 16, signed char, signed char, byte_a)                                                            \
    DSLC_FRAGMENT(matrix_b, m, n, 16, signed char, signed char, byte_b)                                                            \
    DSLC_FRAGMENT(matrix_a, m, n, 16, unsigned char, unsigned char, byte_a)                                                        \
    DSLC_FRAGMENT(matrix_b, m, n, 16, unsigned char, unsigned char, byte_b)
DSLC_NARROW(16, 16, 8, 8, 8, 8)
DSLC_NARROW(32, 8, 16, 4, 16, 4)
DSLC_NARROW(8, 32, 4, 16, 4, 16)
#undef DSLC_NARROW
DSLC_FRAGMENT(matrix_a, 16, 16, 8, precision::tf32, float, 4)
DSLC_FRAGMENT(matrix_b, 16, 16, 8, precision::tf32, float, 4)
DSLC_ACCUMULATOR(16, 16, 8, float, 8)
DSLC_FRAGMENT(matrix_a, 8, 8, 4, double, double, 1)
DSLC_FRAGMENT(matrix_b, 8, 8, 4, double, double, 1)
DSLC_ACCUMULATOR(8, 8, 4, double, 2)
#undef DSLC_ACCUMULATOR
#undef DSLC_FRAGMENT

template <class T, int n, class V> __device__ inline void __dslc_fill(__dslc_fragment<T, n> &f, const V &value) {
    for (int i = 0; i < n; i++) f.x[i] = (T)value;
}
template <class Use, int m, int n, int k, class T, class Layout, class V>
__device__ inline void fill_fragment(fragment<Use, m, n, k, T, Layout> &f, const V &value) {
    __dslc_fill(f, value);
}
/* The number that tf32 has of a float: 10 bits of mantissa, the nearest. */
__device__ inline float __float_to_tf32(float x) {
#ifdef DSLC_DEVICE_CODE
    unsigned int y;
    __asm__("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return __uint_as_float(y);
#else
    return x;
#endif
}

#ifdef DSLC_DEVICE_CODE
#define DSLC_DO(...) __VA_ARGS__
#else
#define DSLC_DO(...)
#endif
#define DSLC_LOAD(use, m, n, k, type, word, builtin)                                                                               \
    template <class Layout> __device__ inline void load_matrix_sync(fragment<use, m, n, k, type, Layout> &f, const word *p, unsigned int stride) { \
        DSLC_DO(builtin)                                                                                                           \
    }
#define DSLC_LOADS(m, n, name, type, of)                                                                                           \
    DSLC_LOAD(matrix_a, m, n, 16, type, type, __##of##_##name##_ld_a(f.__dslc_words(), (const int *)p, stride, Layout::dslc_layout);) \
    DSLC_LOAD(matrix_b, m, n, 16, type, type, __##of##_##name##_ld_b(f.__dslc_words(), (const int *)p, stride, Layout::dslc_layout);)
#define DSLC_STORE(m, n, k, type, store, load)                                                                                     \
    __device__ inline void load_matrix_sync(fragment<accumulator, m, n, k, type> &f, const type *p, unsigned int stride, layout_t layout) { \
        DSLC_DO(if (layout == mem_row_major) { auto *words = f.x; load(words, p, stride, 0); } else { auto *words = f.x; load(words, p, stride, 1); }) \
    }                                                                                                                              \
    __device__ inline void store_matrix_sync(type *p, const fragment<accumulator, m, n, k, type> &f, unsigned int stride, layout_t layout) { \
        DSLC_DO(if (layout == mem_row_major) { auto *words = f.x; store(p, words, stride, 0); } else { auto *words = f.x; store(p, words, stride, 1); }) \
    }
/* The layouts of a and b as the builtins number them. */
#define DSLC_LAYOUTS(La, Lb, call)                                                                                                 \
    DSLC_DO(if (La::dslc_layout == 0 && Lb::dslc_layout == 0) { call(0); }                                                         \
            else if (La::dslc_layout == 0) { call(1); }                                                                            \
            else if (Lb::dslc_layout == 0) { call(2); }                                                                            \
            else { call(3); })
#define DSLC_MMA(m, n, k, type, tc, td, builtin)                                                                                   \
    template <class La, class Lb>                                                                                                  \
    __device__ inline void mma_sync(fragment<accumulator, m, n, k, td> &d, const fragment<matrix_a, m, n, k, type, La> &a,         \
                                    const fragment<matrix_b, m, n, k, type, Lb> &b, const fragment<accumulator, m, n, k, tc> &c,   \
                                    bool = false) {                                                                                \
        DSLC_LAYOUTS(La, Lb, builtin)                                                                                              \
    }

/* a and b */
DSLC_LOADS(16, 16, m16n16k16, __half, hmma)
DSLC_LOADS(32, 8, m32n8k16, __half, hmma)
DSLC_LOADS(8, 32, m8n32k16, __half, hmma)
DSLC_LOADS(16, 16, m16n16k16, __nv_bfloat16, mma_bf16)
DSLC_LOADS(32, 8, m32n8k16, __nv_bfloat16, mma_bf16)
DSLC_LOADS(8, 32, m8n32k16, __nv_bfloat16, mma_bf16)
#define DSLC_BYTES(m, n, name, type, sign)                                                                                         \
    DSLC_LOAD(matrix_a, m, n, 16, type, type, __imma_##name##_ld_a_##sign(f.__dslc_words(), (const int *)p, stride, Layout::dslc_layout);) \
    DSLC_LOAD(matrix_b, m, n, 16, type, type, __imma_##name##_ld_b_##sign(f.__dslc_words(), (const int *)p, stride, Layout::dslc_layout);)
DSLC_BYTES(16, 16, m16n16k16, signed char, s8)
DSLC_BYTES(32, 8, m32n8k16, signed char, s8)
DSLC_BYTES(8, 32, m8n32k16, signed char, s8)
DSLC_BYTES(16, 16, m16n16k16, unsigned char, u8)
DSLC_BYTES(32, 8, m32n8k16, unsigned char, u8)
DSLC_BYTES(8, 32, m8n32k16, unsigned char, u8)
#undef DSLC_BYTES
DSLC_LOAD(matrix_a, 16, 16, 8, precision::tf32, float, __mma_tf32_m16n16k8_ld_a(f.__dslc_words(), (const int *)p, stride, Layout::dslc_layout);)
DSLC_LOAD(matrix_b, 16, 16, 8, precision::tf32, float, __mma_tf32_m16n16k8_ld_b(f.__dslc_words(), (const int *)p, stride, Layout::dslc_layout);)
DSLC_LOAD(matrix_a, 8, 8, 4, double, double, __dmma_m8n8k4_ld_a(f.x, p, stride, Layout::dslc_layout);)
DSLC_LOAD(matrix_b, 8, 8, 4, double, double, __dmma_m8n8k4_ld_b(f.x, p, stride, Layout::dslc_layout);)

/* Accumulators: the builtins take whole numbers for halves. */
#define DSLC_STORES(m, n, name)                                                                                                    \
    DSLC_STORE(m, n, 16, float, __hmma_##name##_st_c_f32, __hmma_##name##_ld_c_f32)                                                \
    DSLC_STORE(m, n, 16, int, __imma_##name##_st_c_i32, __imma_##name##_ld_c)                                                      \
    __device__ inline void load_matrix_sync(fragment<accumulator, m, n, 16, __half> &f, const __half *p, unsigned int stride, layout_t layout) { \
        DSLC_DO(if (layout == mem_row_major) __hmma_##name##_ld_c_f16(f.__dslc_words(), (const int *)p, stride, 0);                \
                else __hmma_##name##_ld_c_f16(f.__dslc_words(), (const int *)p, stride, 1);)                                       \
    }                                                                                                                              \
    __device__ inline void store_matrix_sync(__half *p, const fragment<accumulator, m, n, 16, __half> &f, unsigned int stride, layout_t layout) { \
        DSLC_DO(if (layout == mem_row_major) __hmma_##name##_st_c_f16((int *)p, f.__dslc_words(), stride, 0);                      \
                else __hmma_##name##_st_c_f16((int *)p, f.__dslc_words(), stride, 1);)                                             \
    }
DSLC_STORES(16, 16, m16n16k16)
DSLC_STORES(32, 8, m32n8k16)
DSLC_STORES(8, 32, m8n32k16)
#undef DSLC_STORES
DSLC_STORE(16, 16, 8, float, __mma_m16n16k8_st_c_f32, __mma_tf32_m16n16k8_ld_c)
DSLC_STORE(8, 8, 4, double, __dmma_m8n8k4_st_c_f64, __dmma_m8n8k4_ld_c)

/* Products. */
#define DSLC_A a.__dslc_words()
#define DSLC_B b.__dslc_words()
#define DSLC_PRODUCTS(m, n, name)                                                                                                  \
    DSLC_MMA(m, n, 16, __half, float, float, DSLC_##name##_ff)                                                                     \
    DSLC_MMA(m, n, 16, __half, __half, float, DSLC_##name##_fh)                                                                    \
    DSLC_MMA(m, n, 16, __half, float, __half, DSLC_##name##_hf)                                                                    \
    DSLC_MMA(m, n, 16, __half, __half, __half, DSLC_##name##_hh)                                                                   \
    DSLC_MMA(m, n, 16, __nv_bfloat16, float, float, DSLC_##name##_bf)                                                              \
    DSLC_MMA(m, n, 16, signed char, int, int, DSLC_##name##_s8)                                                                    \
    DSLC_MMA(m, n, 16, unsigned char, int, int, DSLC_##name##_u8)
#define DSLC_m16n16k16_ff(layout) __hmma_m16n16k16_mma_f32f32(d.x, DSLC_A, DSLC_B, c.x, layout, 0)
#define DSLC_m16n16k16_fh(layout) __hmma_m16n16k16_mma_f32f16(d.x, DSLC_A, DSLC_B, c.__dslc_words(), layout, 0)
#define DSLC_m16n16k16_hf(layout) __hmma_m16n16k16_mma_f16f32(d.__dslc_words(), DSLC_A, DSLC_B, c.x, layout, 0)
#define DSLC_m16n16k16_hh(layout) __hmma_m16n16k16_mma_f16f16(d.__dslc_words(), DSLC_A, DSLC_B, c.__dslc_words(), layout, 0)
#define DSLC_m16n16k16_bf(layout) __mma_bf16_m16n16k16_mma_f32(d.x, DSLC_A, DSLC_B, c.x, layout, 0)
#define DSLC_m16n16k16_s8(layout) __imma_m16n16k16_mma_s8(d.x, DSLC_A, DSLC_B, c.x, layout, 0)
#define DSLC_m16n16k16_u8(layout) __imma_m16n16k16_mma_u8(d.x, DSLC_A, DSLC_B, c.x, layout, 0)
#define DSLC_m32n8k16_ff(layout) __hmma_m32n8k16_mma_f32f32(d.x, DSLC_A, DSLC_B, c.x, layout, 0)
#define DSLC_m32n8k16_fh(layout) __hmma_m32n8k16_mma_f32f16(d.x, DSLC_A, DSLC_B, c.__dslc_words(), layout, 0)
#define DSLC_m32n8k16_hf(layout) __hmma_m32n8k16_mma_f16f32(d.__dslc_words(), DSLC_A, DSLC_B, c.x, layout, 0)
#define DSLC_m32n8k16_hh(layout) __hmma_m32n8k16_mma_f16f16(d.__dslc_words(), DSLC_A, DSLC_B, c.__dslc_words(), layout, 0)
#define DSLC_m32n8k16_bf(layout) __mma_bf16_m32n8k16_mma_f32(d.x, DSLC_A, DSLC_B, c.x, layout, 0)
#define DSLC_m32n8k16_s8(layout) __imma_m32n8k16_mma_s8(d.x, DSLC_A, DSLC_B, c.x, layout, 0)
#define DSLC_m32n8k16_u8(layout) __imma_m32n8k16_mma_u8(d.x, DSLC_A, DSLC_B, c.x, layout, 0)
#define DSLC_m8n32k16_ff(layout) __hmma_m8n32k16_mma_f32f32(d.x, DSLC_A, DSLC_B, c.x, layout, 0)
#define DSLC_m8n32k16_fh(layout) __hmma_m8n32k16_mma_f32f16(d.x, DSLC_A, DSLC_B, c.__dslc_words(), layout, 0)
#define DSLC_m8n32k16_hf(layout) __hmma_m8n32k16_mma_f16f32(d.__dslc_words(), DSLC_A, DSLC_B, c.x, layout, 0)
#define DSLC_m8n32k16_hh(layout) __hmma_m8n32k16_mma_f16f16(d.__dslc_words(), DSLC_A, DSLC_B, c.__dslc_words(), layout, 0)
#define DSLC_m8n32k16_bf(layout) __mma_bf16_m8n32k16_mma_f32(d.x, DSLC_A, DSLC_B, c.x, layout, 0)
#define DSLC_m8n32k16_s8(layout) __imma_m8n32k16_mma_s8(d.x, DSLC_A, DSLC_B, c.x, layout, 0)
#define DSLC_m8n32k16_u8(layout) __imma_m8n32k16_mma_u8(d.x, DSLC_A, DSLC_B, c.x, layout, 0)
DSLC_PRODUCTS(16, 16, m16n16k16)
DSLC_PRODUCTS(32, 8, m32n8k16)
DSLC_PRODUCTS(8, 32, m8n32k16)
#define DSLC_TF32(layout) __mma_tf32_m16n16k8_mma_f32(d.x, DSLC_A, DSLC_B, c.x, layout, 0)
DSLC_MMA(16, 16, 8, precision::tf32, float, float, DSLC_TF32)
#define DSLC_F64(layout) __dmma_m8n8k4_mma_f64(d.x, a.x, b.x, c.x, layout, 0)
DSLC_MMA(8, 8, 4, double, double, double, DSLC_F64)

}
}

#endif
#endif
