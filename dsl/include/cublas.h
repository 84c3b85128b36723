/* cuBLAS's first interface: no handle, scalars by value, results returned, errors asked for. It leads to the functions of cublas_v2.h, whose
   names are the same: a source may include one of the two. */
#ifndef DSLC_CUBLAS_H
#define DSLC_CUBLAS_H
#ifdef DSLC_CUBLAS_V2_H
#error "cublas.h and cublas_v2.h have functions of the same names: include one of them"
#endif
#define CUBLAS_H_

#include <stdlib.h>
#include <cuda_runtime_api.h>
#include "cuComplex.h"

typedef unsigned int cublasStatus;
typedef unsigned int cublasStatus_t;
#define CUBLAS_STATUS_SUCCESS 0
#define CUBLAS_STATUS_NOT_INITIALIZED 1
#define CUBLAS_STATUS_ALLOC_FAILED 3
#define CUBLAS_STATUS_INVALID_VALUE 7
#define CUBLAS_STATUS_ARCH_MISMATCH 8
#define CUBLAS_STATUS_MAPPING_ERROR 11
#define CUBLAS_STATUS_EXECUTION_FAILED 13
#define CUBLAS_STATUS_INTERNAL_ERROR 14
#define CUBLASAPI

#ifdef __cplusplus
extern "C" {
#endif

/* A function of cublas_v2.h under a name of its own. */
#define DSLC_V2(name, ...) cublasStatus __dslc_v2_##name(__VA_ARGS__) __asm__("cublas" #name);
DSLC_V2(Create, void **handle)
DSLC_V2(Destroy, void *handle)
DSLC_V2(SetStream, void *handle, cudaStream_t stream)
cublasStatus cublasSetVector(int n, int bytes, const void *x, int incx, void *device, int incy);
cublasStatus cublasGetVector(int n, int bytes, const void *device, int incx, void *y, int incy);
cublasStatus cublasSetMatrix(int rows, int columns, int bytes, const void *a, int lda, void *device, int ldb);
cublasStatus cublasGetMatrix(int rows, int columns, int bytes, const void *device, int lda, void *b, int ldb);

static void *__dslc_handle;
static cublasStatus __dslc_status;
static inline void *__dslc_blas(void)
{
    if (!__dslc_handle) __dslc_status = __dslc_v2_Create(&__dslc_handle);
    return __dslc_handle;
}
static inline void __dslc_done(cublasStatus status) { if (status) __dslc_status = status; }
static inline int __dslc_op(char letter) { return letter == 'n' || letter == 'N' ? 0 : letter == 't' || letter == 'T' ? 1 : 2; }
static inline int __dslc_is(char letter, char wanted) { return (letter | 32) == wanted; }

static inline cublasStatus cublasInit(void) { return __dslc_blas() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED; }
static inline cublasStatus cublasShutdown(void)
{
    cublasStatus status = __dslc_handle ? __dslc_v2_Destroy(__dslc_handle) : CUBLAS_STATUS_NOT_INITIALIZED;
    __dslc_handle = 0;
    return status;
}
static inline cublasStatus cublasGetError(void)
{
    cublasStatus status = __dslc_status;
    __dslc_status = CUBLAS_STATUS_SUCCESS;
    return status;
}
static inline cublasStatus cublasAlloc(int n, int bytes, void **pointer) { return n > 0 && cudaMalloc(pointer, (size_t)n * bytes) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED; }
static inline cublasStatus cublasFree(void *pointer) { return cudaFree(pointer) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INTERNAL_ERROR; }
static inline cublasStatus cublasSetKernelStream(cudaStream_t stream) { return __dslc_v2_SetStream(__dslc_blas(), stream); }

/* Static functions whose names in the object are not those of cublas_v2.h's. */
#define DSLC_FUNCTION(result, name, parameters, ...)                                                                                 \
    static inline result cublas##name parameters __asm__("__dslc_legacy_" #name);                                                    \
    static inline result cublas##name parameters { __VA_ARGS__ }
#define DSLC_LEGACY(t, i, T)                                                                                                         \
    DSLC_V2(t##axpy, void *, int, const T *, const T *, int, T *, int)                                                               \
    DSLC_V2(t##copy, void *, int, const T *, int, T *, int)                                                                          \
    DSLC_V2(t##swap, void *, int, T *, int, T *, int)                                                                                \
    DSLC_V2(t##scal, void *, int, const T *, T *, int)                                                                               \
    DSLC_V2(t##rot, void *, int, T *, int, T *, int, const T *, const T *)                                                           \
    DSLC_V2(t##dot, void *, int, const T *, int, const T *, int, T *)                                                                \
    DSLC_V2(t##nrm2, void *, int, const T *, int, T *)                                                                               \
    DSLC_V2(t##asum, void *, int, const T *, int, T *)                                                                               \
    DSLC_V2(I##i##amax, void *, int, const T *, int, int *)                                                                          \
    DSLC_V2(I##i##amin, void *, int, const T *, int, int *)                                                                          \
    DSLC_V2(t##gemv, void *, int, int, int, const T *, const T *, int, const T *, int, const T *, T *, int)                          \
    DSLC_V2(t##symv, void *, int, int, const T *, const T *, int, const T *, int, const T *, T *, int)                               \
    DSLC_V2(t##ger, void *, int, int, const T *, const T *, int, const T *, int, T *, int)                                           \
    DSLC_V2(t##syr, void *, int, int, const T *, const T *, int, T *, int)                                                           \
    DSLC_V2(t##trsv, void *, int, int, int, int, const T *, int, T *, int)                                                           \
    DSLC_V2(t##trmv, void *, int, int, int, int, const T *, int, T *, int)                                                           \
    DSLC_V2(t##symm, void *, int, int, int, int, const T *, const T *, int, const T *, int, const T *, T *, int)                     \
    DSLC_V2(t##syrk, void *, int, int, int, int, const T *, const T *, int, const T *, T *, int)                                     \
    DSLC_V2(t##trsm, void *, int, int, int, int, int, int, const T *, const T *, int, T *, int)                                      \
    DSLC_V2(t##trmm, void *, int, int, int, int, int, int, const T *, const T *, int, const T *, int, T *, int)                      \
    DSLC_FUNCTION(void, t##axpy, (int n, T alpha, const T *x, int incx, T *y, int incy), __dslc_done(__dslc_v2_##t##axpy(__dslc_blas(), n, &alpha, x, incx, y, incy));) \
    DSLC_FUNCTION(void, t##copy, (int n, const T *x, int incx, T *y, int incy), __dslc_done(__dslc_v2_##t##copy(__dslc_blas(), n, x, incx, y, incy));) \
    DSLC_FUNCTION(void, t##swap, (int n, T *x, int incx, T *y, int incy), __dslc_done(__dslc_v2_##t##swap(__dslc_blas(), n, x, incx, y, incy));) \
    DSLC_FUNCTION(void, t##scal, (int n, T alpha, T *x, int incx), __dslc_done(__dslc_v2_##t##scal(__dslc_blas(), n, &alpha, x, incx));) \
    DSLC_FUNCTION(void, t##rot, (int n, T *x, int incx, T *y, int incy, T c, T s), __dslc_done(__dslc_v2_##t##rot(__dslc_blas(), n, x, incx, y, incy, &c, &s));) \
    DSLC_FUNCTION(T, t##dot, (int n, const T *x, int incx, const T *y, int incy), T r = 0; __dslc_done(__dslc_v2_##t##dot(__dslc_blas(), n, x, incx, y, incy, &r)); return r;) \
    DSLC_FUNCTION(T, t##nrm2, (int n, const T *x, int incx), T r = 0; __dslc_done(__dslc_v2_##t##nrm2(__dslc_blas(), n, x, incx, &r)); return r;) \
    DSLC_FUNCTION(T, t##asum, (int n, const T *x, int incx), T r = 0; __dslc_done(__dslc_v2_##t##asum(__dslc_blas(), n, x, incx, &r)); return r;) \
    DSLC_FUNCTION(int, I##i##amax, (int n, const T *x, int incx), int r = 0; __dslc_done(__dslc_v2_I##i##amax(__dslc_blas(), n, x, incx, &r)); return r;) \
    DSLC_FUNCTION(int, I##i##amin, (int n, const T *x, int incx), int r = 0; __dslc_done(__dslc_v2_I##i##amin(__dslc_blas(), n, x, incx, &r)); return r;) \
    DSLC_FUNCTION(void, t##gemv, (char op, int m, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y, int incy), __dslc_done(__dslc_v2_##t##gemv(__dslc_blas(), __dslc_op(op), m, n, &alpha, a, lda, x, incx, &beta, y, incy));) \
    DSLC_FUNCTION(void, t##symv, (char uplo, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y, int incy), __dslc_done(__dslc_v2_##t##symv(__dslc_blas(), __dslc_is(uplo, 'u'), n, &alpha, a, lda, x, incx, &beta, y, incy));) \
    DSLC_FUNCTION(void, t##ger, (int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *a, int lda), __dslc_done(__dslc_v2_##t##ger(__dslc_blas(), m, n, &alpha, x, incx, y, incy, a, lda));) \
    DSLC_FUNCTION(void, t##syr, (char uplo, int n, T alpha, const T *x, int incx, T *a, int lda), __dslc_done(__dslc_v2_##t##syr(__dslc_blas(), __dslc_is(uplo, 'u'), n, &alpha, x, incx, a, lda));) \
    DSLC_FUNCTION(void, t##trsv, (char uplo, char op, char diag, int n, const T *a, int lda, T *x, int incx), __dslc_done(__dslc_v2_##t##trsv(__dslc_blas(), __dslc_is(uplo, 'u'), __dslc_op(op), __dslc_is(diag, 'u'), n, a, lda, x, incx));) \
    DSLC_FUNCTION(void, t##trmv, (char uplo, char op, char diag, int n, const T *a, int lda, T *x, int incx), __dslc_done(__dslc_v2_##t##trmv(__dslc_blas(), __dslc_is(uplo, 'u'), __dslc_op(op), __dslc_is(diag, 'u'), n, a, lda, x, incx));) \
    DSLC_FUNCTION(void, t##symm, (char side, char uplo, int m, int n, T alpha, const T *a, int lda, const T *b, int ldb, T beta, T *c, int ldc), __dslc_done(__dslc_v2_##t##symm(__dslc_blas(), __dslc_is(side, 'r'), __dslc_is(uplo, 'u'), m, n, &alpha, a, lda, b, ldb, &beta, c, ldc));) \
    DSLC_FUNCTION(void, t##syrk, (char uplo, char op, int n, int k, T alpha, const T *a, int lda, T beta, T *c, int ldc), __dslc_done(__dslc_v2_##t##syrk(__dslc_blas(), __dslc_is(uplo, 'u'), __dslc_op(op), n, k, &alpha, a, lda, &beta, c, ldc));) \
    DSLC_FUNCTION(void, t##trsm, (char side, char uplo, char op, char diag, int m, int n, T alpha, const T *a, int lda, T *b, int ldb), __dslc_done(__dslc_v2_##t##trsm(__dslc_blas(), __dslc_is(side, 'r'), __dslc_is(uplo, 'u'), __dslc_op(op), __dslc_is(diag, 'u'), m, n, &alpha, a, lda, b, ldb));) \
    DSLC_FUNCTION(void, t##trmm, (char side, char uplo, char op, char diag, int m, int n, T alpha, const T *a, int lda, T *b, int ldb), __dslc_done(__dslc_v2_##t##trmm(__dslc_blas(), __dslc_is(side, 'r'), __dslc_is(uplo, 'u'), __dslc_op(op), __dslc_is(diag, 'u'), m, n, &alpha, a, lda, b, ldb, b, ldb));)
DSLC_LEGACY(S, s, float)
DSLC_LEGACY(D, d, double)
#undef DSLC_LEGACY
#define DSLC_LEGACY(t, T)                                                                                                            \
    DSLC_V2(t##gemm, void *, int, int, int, int, int, const T *, const T *, int, const T *, int, const T *, T *, int)                \
    DSLC_FUNCTION(void, t##gemm, (char opa, char opb, int m, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, T beta, T *c, int ldc), __dslc_done(__dslc_v2_##t##gemm(__dslc_blas(), __dslc_op(opa), __dslc_op(opb), m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc));)
DSLC_LEGACY(S, float)
DSLC_LEGACY(D, double)
DSLC_LEGACY(C, cuComplex)
DSLC_LEGACY(Z, cuDoubleComplex)
#undef DSLC_LEGACY
#undef DSLC_V2
#undef DSLC_FUNCTION

#ifdef __cplusplus
}
#endif

#endif
