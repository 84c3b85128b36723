/* cuSOLVER's dense part. Here the CPU computes; what is not declared is not there. */
#ifndef DSLC_CUSOLVERDN_H
#define DSLC_CUSOLVERDN_H
/* What helper headers ask for. */
#define CUSOLVER_COMMON_H_

#include "cublas_v2.h"

typedef enum {
    CUSOLVER_STATUS_SUCCESS = 0, CUSOLVER_STATUS_NOT_INITIALIZED = 1, CUSOLVER_STATUS_ALLOC_FAILED = 2, CUSOLVER_STATUS_INVALID_VALUE = 3,
    CUSOLVER_STATUS_ARCH_MISMATCH = 4, CUSOLVER_STATUS_MAPPING_ERROR = 5, CUSOLVER_STATUS_EXECUTION_FAILED = 6,
    CUSOLVER_STATUS_INTERNAL_ERROR = 7, CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8, CUSOLVER_STATUS_NOT_SUPPORTED = 9,
    CUSOLVER_STATUS_ZERO_PIVOT = 10, CUSOLVER_STATUS_INVALID_LICENSE = 11
} cusolverStatus_t;
typedef enum { CUSOLVER_EIG_TYPE_1 = 1, CUSOLVER_EIG_TYPE_2 = 2, CUSOLVER_EIG_TYPE_3 = 3 } cusolverEigType_t;
typedef enum { CUSOLVER_EIG_MODE_NOVECTOR = 0, CUSOLVER_EIG_MODE_VECTOR = 1 } cusolverEigMode_t;
typedef struct cusolverDnContext *cusolverDnHandle_t;

typedef struct syevjInfo *syevjInfo_t;

#ifdef __cplusplus
extern "C" {
#endif
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t *stream);
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);

/* Factors and systems, for each of the four types. */
#define DSLC_SOLVER(t, T)                                                                                                            \
    cusolverStatus_t cusolverDn##t##potrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *a, int lda, int *count); \
    cusolverStatus_t cusolverDn##t##potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *a, int lda, T *work, int count, int *info); \
    cusolverStatus_t cusolverDn##t##potrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int columns, const T *a, int lda, T *b, int ldb, int *info); \
    cusolverStatus_t cusolverDn##t##getrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T *a, int lda, int *count);             \
    cusolverStatus_t cusolverDn##t##getrf(cusolverDnHandle_t handle, int m, int n, T *a, int lda, T *work, int *pivots, int *info);   \
    cusolverStatus_t cusolverDn##t##getrs(cusolverDnHandle_t handle, cublasOperation_t op, int n, int columns, const T *a, int lda, const int *pivots, T *b, int ldb, int *info);
DSLC_SOLVER(S, float)
DSLC_SOLVER(D, double)
DSLC_SOLVER(C, cuComplex)
DSLC_SOLVER(Z, cuDoubleComplex)
#undef DSLC_SOLVER
/* Orthogonal factors, eigenvalues and singular values of real matrices. */
#define DSLC_SOLVER(t, T)                                                                                                            \
    cusolverStatus_t cusolverDn##t##geqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T *a, int lda, int *count);             \
    cusolverStatus_t cusolverDn##t##geqrf(cusolverDnHandle_t handle, int m, int n, T *a, int lda, T *tau, T *work, int count, int *info); \
    cusolverStatus_t cusolverDn##t##orgqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k, const T *a, int lda, const T *tau, int *count); \
    cusolverStatus_t cusolverDn##t##orgqr(cusolverDnHandle_t handle, int m, int n, int k, T *a, int lda, const T *tau, T *work, int count, int *info); \
    cusolverStatus_t cusolverDn##t##ormqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, const T *a, int lda, const T *tau, const T *c, int ldc, int *count); \
    cusolverStatus_t cusolverDn##t##ormqr(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, const T *a, int lda, const T *tau, T *c, int ldc, T *work, int count, int *info); \
    cusolverStatus_t cusolverDn##t##syevd_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, const T *a, int lda, const T *values, int *count); \
    cusolverStatus_t cusolverDn##t##syevd(cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, T *a, int lda, T *values, T *work, int count, int *info); \
    cusolverStatus_t cusolverDn##t##syevj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, const T *a, int lda, const T *values, int *count, syevjInfo_t params); \
    cusolverStatus_t cusolverDn##t##syevj(cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, T *a, int lda, T *values, T *work, int count, int *info, syevjInfo_t params); \
    cusolverStatus_t cusolverDn##t##gesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int *count);                            \
    cusolverStatus_t cusolverDn##t##gesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt, int m, int n, T *a, int lda, T *values, T *u, int ldu, T *vt, int ldvt, T *work, int count, T *rwork, int *info);
DSLC_SOLVER(S, float)
DSLC_SOLVER(D, double)
#undef DSLC_SOLVER
cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t *info);
cusolverStatus_t cusolverDnDestroySyevjInfo(syevjInfo_t info);
cusolverStatus_t cusolverDnXsyevjSetTolerance(syevjInfo_t info, double tolerance);
cusolverStatus_t cusolverDnXsyevjSetMaxSweeps(syevjInfo_t info, int sweeps);
cusolverStatus_t cusolverDnXsyevjSetSortEig(syevjInfo_t info, int sorts);
#ifdef __cplusplus
}
#endif

#endif
