/* What device code does, for clang: its builtins are the GPU's instructions. A host compiler never reads this. The rest of the library
 * is its own source, in device_library.h. */
#ifndef DSLC_DEVICE_CODE_H
#define DSLC_DEVICE_CODE_H

/* Without lines: what they do belongs to the line that calls them. */
#define DSLC_CODE __device__ inline __attribute__((always_inline, nodebug))
#define DSLC_PURE DSLC_CODE __attribute__((const))

/* The coordinates as CUDA's types. */
DSLC_CODE __cuda_builtin_threadIdx_t::operator dim3() const { return dim3(x, y, z); }
DSLC_CODE __cuda_builtin_threadIdx_t::operator uint3() const { return uint3{x, y, z}; }
DSLC_CODE __cuda_builtin_blockIdx_t::operator dim3() const { return dim3(x, y, z); }
DSLC_CODE __cuda_builtin_blockIdx_t::operator uint3() const { return uint3{x, y, z}; }
DSLC_CODE __cuda_builtin_blockDim_t::operator dim3() const { return dim3(x, y, z); }
DSLC_CODE __cuda_builtin_blockDim_t::operator uint3() const { return uint3{x, y, z}; }
DSLC_CODE __cuda_builtin_gridDim_t::operator dim3() const { return dim3(x, y, z); }
DSLC_CODE __cuda_builtin_gridDim_t::operator uint3() const { return uint3{x, y, z}; }

/* Barriers, fences, and what a thread may ask. `__syncthreads` is clang's own. */
DSLC_CODE int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
DSLC_CODE int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
DSLC_CODE int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
DSLC_CODE void __syncwarp(unsigned int mask) { __nvvm_bar_warp_sync(mask); }
DSLC_CODE void __threadfence_block() { __nvvm_membar_cta(); }
DSLC_CODE void __threadfence() { __nvvm_membar_gl(); }
DSLC_CODE void __threadfence_system() { __nvvm_membar_sys(); }
DSLC_CODE void __dslc_acq_rel_block() { __asm__ volatile("fence.acq_rel.cta;" ::: "memory"); }
DSLC_CODE void __dslc_acq_rel() { __asm__ volatile("fence.acq_rel.gpu;" ::: "memory"); }
DSLC_CODE void __dslc_acq_rel_system() { __asm__ volatile("fence.acq_rel.sys;" ::: "memory"); }
DSLC_CODE void __dslc_bar_sync(unsigned int id, unsigned int count) { __asm__ volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory"); }
DSLC_CODE void __dslc_bar_arrive(unsigned int id, unsigned int count) { __asm__ volatile("bar.arrive %0, %1;" ::"r"(id), "r"(count) : "memory"); }
DSLC_CODE void __dslc_barrier_sync(unsigned int id, unsigned int count) { __asm__ volatile("barrier.sync %0, %1;" ::"r"(id), "r"(count) : "memory"); }
DSLC_CODE void __dslc_barrier_arrive(unsigned int id, unsigned int count) { __asm__ volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(count) : "memory"); }
DSLC_CODE unsigned int __dslc_lane_id() { return __nvvm_read_ptx_sreg_laneid(); }
DSLC_CODE unsigned int __dslc_sm_id() { return __nvvm_read_ptx_sreg_smid(); }
DSLC_CODE unsigned int __dslc_sm_count() { return __nvvm_read_ptx_sreg_nsmid(); }
DSLC_CODE unsigned long long __dslc_global_timer() { return __nvvm_read_ptx_sreg_globaltimer(); }
DSLC_CODE void __trap() { __asm__ volatile("trap;"); }
DSLC_CODE void __brkpt() { __asm__ volatile("brkpt;"); }
DSLC_CODE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
extern "C" DSLC_CODE clock_t clock(void) { return __nvvm_read_ptx_sreg_clock64(); }
DSLC_CODE void __nanosleep(unsigned int time_ns) { __nvvm_nanosleep(time_ns); }
DSLC_CODE unsigned int __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
DSLC_CODE unsigned int __isLocal(const void *p) { return __nvvm_isspacep_local(p); }
DSLC_CODE unsigned int __isConstant(const void *p) { return __nvvm_isspacep_const(p); }
DSLC_CODE unsigned int __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }
extern "C" __device__ void __assertfail(const char *message, const char *file, unsigned int line, const char *function, size_t character_bytes);
extern "C" DSLC_CODE void __assert_fail(const char *message, const char *file, unsigned int line, const char *function) {
    __assertfail(message, file, line, function, 1);
}
DSLC_CODE size_t __cvta_generic_to_shared(const void *p) { return (size_t)(__attribute__((address_space(3))) const void *)p; }
DSLC_CODE size_t __cvta_generic_to_global(const void *p) { return (size_t)(__attribute__((address_space(1))) const void *)p; }
DSLC_CODE void *__cvta_shared_to_generic(size_t p) { return (void *)(__attribute__((address_space(3))) void *)p; }

/* Votes, matches, reductions, shuffles. */
DSLC_CODE unsigned int __activemask() { return __nvvm_activemask(); }
DSLC_CODE int __all_sync(unsigned int mask, int p) { return __nvvm_vote_all_sync(mask, p); }
DSLC_CODE int __any_sync(unsigned int mask, int p) { return __nvvm_vote_any_sync(mask, p); }
DSLC_CODE int __uni_sync(unsigned int mask, int p) { return __nvvm_vote_uni_sync(mask, p); }
DSLC_CODE unsigned int __ballot_sync(unsigned int mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }
DSLC_CODE int __all(int p) { return __nvvm_vote_all_sync(__nvvm_activemask(), p); }
DSLC_CODE int __any(int p) { return __nvvm_vote_any_sync(__nvvm_activemask(), p); }
DSLC_CODE unsigned int __ballot(int p) { return __nvvm_vote_ballot_sync(__nvvm_activemask(), p); }
DSLC_CODE unsigned int __dslc_match_any(unsigned int mask, unsigned int x) { return __nvvm_match_any_sync_i32(mask, x); }
DSLC_CODE unsigned int __dslc_match_any(unsigned int mask, unsigned long long x) { return __nvvm_match_any_sync_i64(mask, x); }
DSLC_CODE unsigned int __dslc_match_all(unsigned int mask, unsigned int x, int *p) { return __nvvm_match_all_sync_i32p(mask, x, p); }
DSLC_CODE unsigned int __dslc_match_all(unsigned int mask, unsigned long long x, int *p) { return __nvvm_match_all_sync_i64p(mask, x, p); }
template <int> struct __dslc_bits_of;
template <> struct __dslc_bits_of<4> { typedef unsigned int word; };
template <> struct __dslc_bits_of<8> { typedef unsigned long long word; };
template <class To, class From> DSLC_CODE To __dslc_cast(From x) {
    To y;
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}
#define DSLC_SHUFFLE(name, by, how, least)                                                                                         \
    DSLC_CODE unsigned int __dslc_##how(unsigned int mask, unsigned int x, by lane, int width) {                                   \
        return __nvvm_shfl_sync_##how##_i32(mask, x, lane, (32 - width) << 8 | least);                                             \
    }                                                                                                                              \
    DSLC_CODE unsigned long long __dslc_##how(unsigned int mask, unsigned long long x, by lane, int width) {                       \
        unsigned int low = __dslc_##how(mask, (unsigned int)x, lane, width);                                                       \
        return (unsigned long long)__dslc_##how(mask, (unsigned int)(x >> 32), lane, width) << 32 | low;                           \
    }
DSLC_SHUFFLE(__shfl, int, idx, 31)
DSLC_SHUFFLE(__shfl_up, unsigned int, up, 0)
DSLC_SHUFFLE(__shfl_down, unsigned int, down, 31)
DSLC_SHUFFLE(__shfl_xor, int, bfly, 31)
#undef DSLC_SHUFFLE
#define DSLC_WORD(type) __dslc_cast<__dslc_bits_of<sizeof(type)>::word>
#define DSLC_SHUFFLES(type)                                                                                                        \
    DSLC_CODE type __shfl_sync(unsigned int mask, type x, int lane, int width) { return __dslc_cast<type>(__dslc_idx(mask, DSLC_WORD(type)(x), lane, width)); } \
    DSLC_CODE type __shfl_up_sync(unsigned int mask, type x, unsigned int by, int width) { return __dslc_cast<type>(__dslc_up(mask, DSLC_WORD(type)(x), by, width)); } \
    DSLC_CODE type __shfl_down_sync(unsigned int mask, type x, unsigned int by, int width) { return __dslc_cast<type>(__dslc_down(mask, DSLC_WORD(type)(x), by, width)); } \
    DSLC_CODE type __shfl_xor_sync(unsigned int mask, type x, int by, int width) { return __dslc_cast<type>(__dslc_bfly(mask, DSLC_WORD(type)(x), by, width)); } \
    DSLC_CODE type __shfl(type x, int lane, int width) { return __shfl_sync(__nvvm_activemask(), x, lane, width); }                \
    DSLC_CODE type __shfl_up(type x, unsigned int by, int width) { return __shfl_up_sync(__nvvm_activemask(), x, by, width); }     \
    DSLC_CODE type __shfl_down(type x, unsigned int by, int width) { return __shfl_down_sync(__nvvm_activemask(), x, by, width); } \
    DSLC_CODE type __shfl_xor(type x, int by, int width) { return __shfl_xor_sync(__nvvm_activemask(), x, by, width); }            \
    DSLC_CODE unsigned int __match_any_sync(unsigned int mask, type x) { return __dslc_match_any(mask, DSLC_WORD(type)(x)); }      \
    DSLC_CODE unsigned int __match_all_sync(unsigned int mask, type x, int *p) { return __dslc_match_all(mask, DSLC_WORD(type)(x), p); }
DSLC_SHUFFLES(int)
DSLC_SHUFFLES(unsigned int)
DSLC_SHUFFLES(long)
DSLC_SHUFFLES(unsigned long)
DSLC_SHUFFLES(long long)
DSLC_SHUFFLES(unsigned long long)
DSLC_SHUFFLES(float)
DSLC_SHUFFLES(double)
#undef DSLC_SHUFFLES
#undef DSLC_WORD
DSLC_CODE int __reduce_add_sync(unsigned int mask, int x) { return __nvvm_redux_sync_add(x, mask); }
DSLC_CODE unsigned int __reduce_add_sync(unsigned int mask, unsigned int x) { return __nvvm_redux_sync_add(x, mask); }
DSLC_CODE int __reduce_min_sync(unsigned int mask, int x) { return __nvvm_redux_sync_min(x, mask); }
DSLC_CODE unsigned int __reduce_min_sync(unsigned int mask, unsigned int x) { return __nvvm_redux_sync_umin(x, mask); }
DSLC_CODE int __reduce_max_sync(unsigned int mask, int x) { return __nvvm_redux_sync_max(x, mask); }
DSLC_CODE unsigned int __reduce_max_sync(unsigned int mask, unsigned int x) { return __nvvm_redux_sync_umax(x, mask); }
DSLC_CODE unsigned int __reduce_and_sync(unsigned int mask, unsigned int x) { return __nvvm_redux_sync_and(x, mask); }
DSLC_CODE unsigned int __reduce_or_sync(unsigned int mask, unsigned int x) { return __nvvm_redux_sync_or(x, mask); }
DSLC_CODE unsigned int __reduce_xor_sync(unsigned int mask, unsigned int x) { return __nvvm_redux_sync_xor(x, mask); }

/* Atomics: relaxed, as CUDA's are. */
#define DSLC_SCOPED(type, name, op)                                                                                                \
    DSLC_CODE type name(type *p, type x) { return op(p, x, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }                             \
    DSLC_CODE type name##_block(type *p, type x) { return op(p, x, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP); }                     \
    DSLC_CODE type name##_system(type *p, type x) { return op(p, x, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM); }
#define DSLC_INTEGERS(name, op) DSLC_SCOPED(int, name, op) DSLC_SCOPED(unsigned int, name, op) DSLC_SCOPED(unsigned long long, name, op)
DSLC_INTEGERS(atomicAdd, __scoped_atomic_fetch_add)
DSLC_SCOPED(float, atomicAdd, __scoped_atomic_fetch_add)
DSLC_SCOPED(double, atomicAdd, __scoped_atomic_fetch_add)
DSLC_SCOPED(int, atomicSub, __scoped_atomic_fetch_sub)
DSLC_SCOPED(unsigned int, atomicSub, __scoped_atomic_fetch_sub)
DSLC_INTEGERS(atomicExch, __scoped_atomic_exchange_n)
DSLC_INTEGERS(atomicMin, __scoped_atomic_fetch_min)
DSLC_SCOPED(long long, atomicMin, __scoped_atomic_fetch_min)
DSLC_INTEGERS(atomicMax, __scoped_atomic_fetch_max)
DSLC_SCOPED(long long, atomicMax, __scoped_atomic_fetch_max)
DSLC_INTEGERS(atomicAnd, __scoped_atomic_fetch_and)
DSLC_INTEGERS(atomicOr, __scoped_atomic_fetch_or)
DSLC_INTEGERS(atomicXor, __scoped_atomic_fetch_xor)
#define DSLC_EXCHANGE_FLOAT(p, x, order, scope) __uint_as_float(__scoped_atomic_exchange_n((unsigned int *)p, __float_as_uint(x), order, scope))
DSLC_PURE unsigned int __float_as_uint(float x) { return __dslc_cast<unsigned int>(x); }
DSLC_PURE float __uint_as_float(unsigned int x) { return __dslc_cast<float>(x); }
DSLC_SCOPED(float, atomicExch, DSLC_EXCHANGE_FLOAT)
#define DSLC_WRAP(type, name, op)                                                                                                  \
    DSLC_CODE type name(type *p, type x) { type old; __asm__ volatile("atom." op ".u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(x) : "memory"); return old; } \
    DSLC_CODE type name##_block(type *p, type x) { type old; __asm__ volatile("atom.cta." op ".u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(x) : "memory"); return old; } \
    DSLC_CODE type name##_system(type *p, type x) { type old; __asm__ volatile("atom.sys." op ".u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(x) : "memory"); return old; }
DSLC_WRAP(unsigned int, atomicInc, "inc")
DSLC_WRAP(unsigned int, atomicDec, "dec")
#undef DSLC_WRAP
#define DSLC_CAS(type, name, scope)                                                                                                \
    DSLC_CODE type name(type *p, type expected, type x) {                                                                          \
        __scoped_atomic_compare_exchange_n(p, &expected, x, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope);                     \
        return expected;                                                                                                           \
    }
#define DSLC_CAS_SCOPES(type)                                                                                                      \
    DSLC_CAS(type, atomicCAS, __MEMORY_SCOPE_DEVICE)                                                                               \
    DSLC_CAS(type, atomicCAS_block, __MEMORY_SCOPE_WRKGRP)                                                                         \
    DSLC_CAS(type, atomicCAS_system, __MEMORY_SCOPE_SYSTEM)
DSLC_CAS_SCOPES(int)
DSLC_CAS_SCOPES(unsigned int)
DSLC_CAS_SCOPES(unsigned long long)
DSLC_CAS_SCOPES(unsigned short)
#undef DSLC_CAS_SCOPES
#undef DSLC_CAS
#undef DSLC_EXCHANGE_FLOAT
#undef DSLC_INTEGERS
#undef DSLC_SCOPED
template <class T> DSLC_CODE void __dslc_store(T *p, T x) { __scoped_atomic_store_n(p, x, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
template <class T> DSLC_CODE void __dslc_store_block(T *p, T x) { __scoped_atomic_store_n(p, x, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP); }

/* Loads and stores with a hint: what is a plain access here. */
template <class T> DSLC_CODE T __ldg(const T *p) { return *p; }
template <class T> DSLC_CODE T __ldca(const T *p) { return *p; }
template <class T> DSLC_CODE T __ldcg(const T *p) { return *p; }
template <class T> DSLC_CODE T __ldcs(const T *p) { return *p; }
template <class T> DSLC_CODE T __ldlu(const T *p) { return *p; }
template <class T> DSLC_CODE T __ldcv(const T *p) {
    __asm__ volatile("" ::: "memory");
    return *p;
}
template <class T> DSLC_CODE void __stwb(T *p, T x) { *p = x; }
template <class T> DSLC_CODE void __stcg(T *p, T x) { *p = x; }
template <class T> DSLC_CODE void __stcs(T *p, T x) { *p = x; }
template <class T> DSLC_CODE void __stwt(T *p, T x) { *p = x; }

/* Integers and bits. */
DSLC_PURE int __popc(unsigned int x) { return __builtin_popcount(x); }
DSLC_PURE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
DSLC_PURE int __clz(int x) { return __builtin_clzg((unsigned int)x, 32); }
DSLC_PURE int __clzll(long long x) { return __builtin_clzg((unsigned long long)x, 64); }
DSLC_PURE unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
DSLC_PURE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
DSLC_PURE int __ffs(int x) { return __builtin_ffs(x); }
DSLC_PURE int __ffsll(long long x) { return __builtin_ffsll(x); }
DSLC_PURE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
DSLC_PURE unsigned int __umulhi(unsigned int a, unsigned int b) { return (unsigned int)((unsigned long long)a * b >> 32); }
DSLC_PURE long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
DSLC_PURE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
DSLC_PURE int __mul24(int a, int b) { return (int)((unsigned int)(a << 8 >> 8) * (unsigned int)(b << 8 >> 8)); }
DSLC_PURE unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffffu) * (b & 0xffffffu); }
#define DSLC_DOT(name, op)                                                                                                         \
    DSLC_PURE unsigned int name(unsigned int a, unsigned int b) { unsigned int sum; __asm__(op " %0, %1, %2, 0;" : "=r"(sum) : "r"(a), "r"(b)); return sum; }
DSLC_DOT(__dslc_sdot4, "dp4a.s32.s32")
DSLC_DOT(__dslc_udot4, "dp4a.u32.u32")
DSLC_DOT(__dslc_sdot2lo, "dp2a.lo.s32.s32")
DSLC_DOT(__dslc_sdot2hi, "dp2a.hi.s32.s32")
DSLC_DOT(__dslc_udot2lo, "dp2a.lo.u32.u32")
DSLC_DOT(__dslc_udot2hi, "dp2a.hi.u32.u32")
#undef DSLC_DOT
DSLC_PURE unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
DSLC_PURE unsigned int umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
DSLC_PURE long long llmin(long long a, long long b) { return a < b ? a : b; }
DSLC_PURE long long llmax(long long a, long long b) { return a > b ? a : b; }
DSLC_PURE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
DSLC_PURE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
DSLC_PURE int abs(int x) { return x < 0 ? (int)-(unsigned int)x : x; }
DSLC_PURE long abs(long x) { return x < 0 ? (long)-(unsigned long)x : x; }
DSLC_PURE long long abs(long long x) { return x < 0 ? (long long)-(unsigned long long)x : x; }
DSLC_PURE long labs(long x) { return x < 0 ? (long)-(unsigned long)x : x; }
DSLC_PURE long long llabs(long long x) { return x < 0 ? (long long)-(unsigned long long)x : x; }

/* The same bits as another type, and conversions. */
DSLC_PURE int __float_as_int(float x) { return __dslc_cast<int>(x); }
DSLC_PURE float __int_as_float(int x) { return __dslc_cast<float>(x); }
DSLC_PURE long long __double_as_longlong(double x) { return __dslc_cast<long long>(x); }
DSLC_PURE double __longlong_as_double(long long x) { return __dslc_cast<double>(x); }
#define DSLC_CONVERT(name, to, from, word, out, in)                                                                                \
    DSLC_PURE to name(from x) { to y; __asm__("cvt." word " %0, %1;" : "=" out(y) : in(x)); return y; }
#define DSLC_ROUNDINGS(name, to, from, types, out, in)                                                                             \
    DSLC_CONVERT(name##_rz, to, from, "rzi." types, out, in)                                                                       \
    DSLC_CONVERT(name##_rn, to, from, "rni." types, out, in)                                                                       \
    DSLC_CONVERT(name##_rd, to, from, "rmi." types, out, in)                                                                       \
    DSLC_CONVERT(name##_ru, to, from, "rpi." types, out, in)
DSLC_ROUNDINGS(__float2int, int, float, "s32.f32", "r", "f")
DSLC_ROUNDINGS(__float2uint, unsigned int, float, "u32.f32", "r", "f")
DSLC_ROUNDINGS(__float2ll, long long, float, "s64.f32", "l", "f")
DSLC_ROUNDINGS(__float2ull, unsigned long long, float, "u64.f32", "l", "f")
DSLC_ROUNDINGS(__double2int, int, double, "s32.f64", "r", "d")
DSLC_ROUNDINGS(__double2uint, unsigned int, double, "u32.f64", "r", "d")
DSLC_ROUNDINGS(__double2ll, long long, double, "s64.f64", "l", "d")
DSLC_ROUNDINGS(__double2ull, unsigned long long, double, "u64.f64", "l", "d")
#undef DSLC_ROUNDINGS
DSLC_PURE float __int2float_rn(int x) { return (float)x; }
DSLC_PURE float __uint2float_rn(unsigned int x) { return (float)x; }
DSLC_PURE float __ll2float_rn(long long x) { return (float)x; }
DSLC_PURE float __ull2float_rn(unsigned long long x) { return (float)x; }
DSLC_PURE double __int2double_rn(int x) { return x; }
DSLC_PURE double __uint2double_rn(unsigned int x) { return x; }
DSLC_PURE double __ll2double_rn(long long x) { return (double)x; }
DSLC_PURE double __ull2double_rn(unsigned long long x) { return (double)x; }
DSLC_PURE float __double2float_rn(double x) { return (float)x; }

/* Arithmetic with a stated rounding is never contracted: only instructions that say no rounding may be. */
#define DSLC_BINARY(name, type, word, c)                                                                                           \
    DSLC_PURE type name(type a, type b) { type y; __asm__(word " %0, %1, %2;" : "=" c(y) : c(a), c(b)); return y; }
DSLC_BINARY(__fadd_rn, float, "add.rn.f32", "f")
DSLC_BINARY(__fsub_rn, float, "sub.rn.f32", "f")
DSLC_BINARY(__fmul_rn, float, "mul.rn.f32", "f")
DSLC_BINARY(__dadd_rn, double, "add.rn.f64", "d")
DSLC_BINARY(__dsub_rn, double, "sub.rn.f64", "d")
DSLC_BINARY(__dmul_rn, double, "mul.rn.f64", "d")
#undef DSLC_BINARY
DSLC_PURE float __fdiv_rn(float a, float b) { return __nvvm_div_rn_f(a, b); }
DSLC_PURE double __ddiv_rn(double a, double b) { return a / b; }
DSLC_PURE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
DSLC_PURE double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
DSLC_PURE float __fsqrt_rn(float x) { return __nvvm_sqrt_rn_f(x); }
DSLC_PURE double __dsqrt_rn(double x) { return __nvvm_sqrt_rn_d(x); }
DSLC_PURE float __frcp_rn(float x) { return __nvvm_div_rn_f(1.0f, x); }
DSLC_PURE double __drcp_rn(double x) { return 1.0 / x; }
DSLC_PURE float __saturatef(float x) { float y; __asm__("cvt.sat.f32.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }

/* Mathematics that is one operation. */
#define DSLC_UNARY(name)                                                                                                           \
    DSLC_PURE double name(double x) { return __builtin_##name(x); }                                                                \
    DSLC_PURE float name##f(float x) { return __builtin_##name##f(x); }
DSLC_UNARY(fabs)
DSLC_UNARY(floor)
DSLC_UNARY(ceil)
DSLC_UNARY(trunc)
DSLC_UNARY(rint)
DSLC_UNARY(nearbyint)
#undef DSLC_UNARY
DSLC_PURE float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
DSLC_PURE double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
/* Halves away from zero. */
DSLC_PURE float roundf(float x) {
    float whole = __builtin_truncf(x), rest = __builtin_fabsf(x - whole);
    return __builtin_copysignf(rest >= 0.5f ? __builtin_fabsf(whole) + 1.0f : __builtin_fabsf(whole), x);
}
DSLC_PURE double round(double x) {
    double whole = __builtin_trunc(x), rest = __builtin_fabs(x - whole);
    return __builtin_copysign(rest >= 0.5 ? __builtin_fabs(whole) + 1.0 : __builtin_fabs(whole), x);
}
DSLC_PURE float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
DSLC_PURE double fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
DSLC_PURE float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
DSLC_PURE double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
DSLC_PURE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
DSLC_PURE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
/* dslc's own name for the operation, as in the PTX of its back end. */
extern "C" __device__ __attribute__((const)) float __dslc_remainderf(float, float) __asm__("$$fmod32");
extern "C" __device__ __attribute__((const)) double __dslc_remainder(double, double) __asm__("$$fmod64");
DSLC_PURE float fmodf(float a, float b) { return __dslc_remainderf(a, b); }
DSLC_PURE double fmod(double a, double b) { return __dslc_remainder(a, b); }
DSLC_PURE long lroundf(float x) { return (long)roundf(x); }
DSLC_PURE long long llroundf(float x) { return (long long)roundf(x); }
DSLC_PURE long lround(double x) { return (long)round(x); }
DSLC_PURE long long llround(double x) { return (long long)round(x); }
DSLC_PURE long lrintf(float x) { return (long)__float2ll_rn(x); }
DSLC_PURE long long llrintf(float x) { return __float2ll_rn(x); }
DSLC_PURE long lrint(double x) { return (long)__double2ll_rn(x); }
DSLC_PURE long long llrint(double x) { return __double2ll_rn(x); }
/* The number in the text is the payload. */
DSLC_CODE unsigned long long __dslc_payload(const char *text) {
    unsigned long long bits = 0;
    while (*text >= '0' && *text <= '9') bits = 10 * bits + (*text++ - '0');
    return bits;
}
DSLC_CODE double nan(const char *text) { return __longlong_as_double(0x7ff8000000000000ll | (__dslc_payload(text) & 0x7ffffffffffffll)); }
DSLC_CODE float nanf(const char *text) { return __int_as_float(0x7fc00000 | (int)(__dslc_payload(text) & 0x3fffff)); }
#define DSLC_APPROX(name, word)                                                                                                    \
    DSLC_PURE float name(float x) { float y; __asm__(word " %0, %1;" : "=f"(y) : "f"(x)); return y; }
DSLC_APPROX(__dslc_rcp_approx, "rcp.approx.ftz.f32")
DSLC_APPROX(__dslc_rsqrt_approx, "rsqrt.approx.ftz.f32")
DSLC_APPROX(__dslc_sqrt_approx, "sqrt.approx.ftz.f32")
DSLC_APPROX(__dslc_ex2_approx, "ex2.approx.ftz.f32")
DSLC_APPROX(__dslc_lg2_approx, "lg2.approx.ftz.f32")
DSLC_APPROX(__dslc_sin_approx, "sin.approx.ftz.f32")
DSLC_APPROX(__dslc_cos_approx, "cos.approx.ftz.f32")
DSLC_APPROX(__dslc_tanh_approx, "tanh.approx.f32")
#undef DSLC_APPROX

/* Halves and bfloat16, as bits. */
DSLC_PURE float __dslc_f16_to_f32(unsigned int x) { float y; __asm__("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"((unsigned short)x)); return y; }
DSLC_PURE unsigned int __dslc_f32_to_f16(float x) { unsigned short y; __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x)); return y; }
DSLC_PURE unsigned int __dslc_f32_to_bf16(float x) { unsigned short y; __asm__("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x)); return y; }
DSLC_PURE unsigned int __dslc_fma_f16x2(unsigned int a, unsigned int b, unsigned int c) {
    unsigned int y;
    __asm__("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(a), "r"(b), "r"(c));
    return y;
}
DSLC_PURE unsigned int __dslc_fma_bf16x2(unsigned int a, unsigned int b, unsigned int c) {
    unsigned int y;
    __asm__("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(a), "r"(b), "r"(c));
    return y;
}
#define __dslc_on_device() true
#define __dslc_infinity __builtin_inf()
#define __dslc_nan __builtin_nan("")
/* Cooperative groups ask the register that has the address of what a grid shares. */
DSLC_CODE unsigned int __dslc_is_cooperative() { unsigned int x; __asm__ volatile("mov.u32 %0, %%envreg2;" : "=r"(x)); return x; }

/* C's functions and the runtime's. */
extern "C" {
DSLC_CODE void *memcpy(void *to, const void *from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
DSLC_CODE void *memset(void *to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
}
template <class T> DSLC_CODE cudaError_t cudaMalloc(T **memory, size_t bytes) {
    *memory = (T *)malloc(bytes);
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}
DSLC_CODE cudaError_t cudaFree(void *memory) {
    free(memory);
    return cudaSuccess;
}
DSLC_CODE cudaError_t cudaGetLastError() { return cudaSuccess; }
DSLC_CODE cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
DSLC_CODE cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }

#endif
