/* cuBLAS: linear algebra on device memory. Here the CPU computes it. */
#ifndef DSLC_CUBLAS_V2_H
#define DSLC_CUBLAS_V2_H
#define CUBLAS_V2_H_
#define CUBLAS_API_H_

#include <stdint.h>
#include <cuda_runtime_api.h>
#include "dslc/library_scalars.h"
#include "library_types.h"

#define CUBLAS_VER_MAJOR 12
#define CUBLAS_VER_MINOR 4
#define CUBLAS_VER_PATCH 5
#define CUBLAS_VERSION 120405
#define CUBLASWINAPI
#define CUBLASAPI

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11, CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15, CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef cublasStatus_t cublasStatus;

typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2, CUBLAS_OP_HERMITAN = 2, CUBLAS_OP_CONJG = 3 } cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2, CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
    CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_ALGO0 = 0, CUBLAS_GEMM_ALGO1 = 1, CUBLAS_GEMM_ALGO2 = 2,
    CUBLAS_GEMM_ALGO3 = 3, CUBLAS_GEMM_ALGO4 = 4, CUBLAS_GEMM_ALGO5 = 5, CUBLAS_GEMM_ALGO6 = 6, CUBLAS_GEMM_ALGO7 = 7,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99, CUBLAS_GEMM_DFALT_TENSOR_OP = 99, CUBLAS_GEMM_ALGO0_TENSOR_OP = 100
} cublasGemmAlgo_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_16F_PEDANTIC = 65, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_64F_PEDANTIC = 71, CUBLAS_COMPUTE_32I = 72, CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74, CUBLAS_COMPUTE_32F_FAST_16BF = 75, CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;

typedef struct cublasContext *cublasHandle_t;

#ifdef __cplusplus
extern "C" {
#endif

cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version);
cublasStatus_t cublasGetProperty(libraryPropertyType kind, int *value);
size_t cublasGetCudartVersion(void);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t *mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);

cublasStatus_t cublasSetVector(int n, int bytes, const void *x, int incx, void *device, int incy);
cublasStatus_t cublasGetVector(int n, int bytes, const void *device, int incx, void *y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int columns, int bytes, const void *a, int lda, void *device, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int columns, int bytes, const void *device, int lda, void *b, int ldb);
cublasStatus_t cublasSetVectorAsync(int n, int bytes, const void *x, int incx, void *device, int incy, cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int bytes, const void *device, int incx, void *y, int incy, cudaStream_t stream);
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int bytes, const void *a, int lda, void *device, int ldb, cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int bytes, const void *device, int lda, void *b, int ldb, cudaStream_t stream);

/* `call(name, type, real type)` for each of the four types. */
#define DSLC_BLAS_REAL(call) call(S, float, float) call(D, double, double)
#define DSLC_BLAS_COMPLEX(call) call(C, cuComplex, float) call(Z, cuDoubleComplex, double)
#define DSLC_BLAS_ALL(call) DSLC_BLAS_REAL(call) DSLC_BLAS_COMPLEX(call)

/* Vectors. */
#define DSLC_BLAS(t, T, R)                                                                                                          \
    cublasStatus_t cublas##t##axpy(cublasHandle_t handle, int n, const T *alpha, const T *x, int incx, T *y, int incy);             \
    cublasStatus_t cublas##t##copy(cublasHandle_t handle, int n, const T *x, int incx, T *y, int incy);                             \
    cublasStatus_t cublas##t##swap(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy);                                   \
    cublasStatus_t cublas##t##scal(cublasHandle_t handle, int n, const T *alpha, T *x, int incx);
DSLC_BLAS_ALL(DSLC_BLAS)
#undef DSLC_BLAS
#define DSLC_BLAS(t, T, R)                                                                                                          \
    cublasStatus_t cublas##t##dot(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy, T *result);             \
    cublasStatus_t cublas##t##rot(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy, const T *c, const T *s);            \
    cublasStatus_t cublas##t##rotg(cublasHandle_t handle, T *a, T *b, T *c, T *s);                                                  \
    cublasStatus_t cublas##t##rotm(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy, const T *param);                   \
    cublasStatus_t cublas##t##ger(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int incx, const T *y, int incy, T *a, int lda);
DSLC_BLAS_REAL(DSLC_BLAS)
#undef DSLC_BLAS
#define DSLC_BLAS(t, T, R)                                                                                                          \
    cublasStatus_t cublas##t##dotu(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy, T *result);            \
    cublasStatus_t cublas##t##dotc(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy, T *result);            \
    cublasStatus_t cublas##t##geru(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int incx, const T *y, int incy, T *a, int lda); \
    cublasStatus_t cublas##t##gerc(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int incx, const T *y, int incy, T *a, int lda); \
    cublasStatus_t cublas##t##hemv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T *alpha, const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy); \
    cublasStatus_t cublas##t##her(cublasHandle_t handle, cublasFillMode_t uplo, int n, const R *alpha, const T *x, int incx, T *a, int lda); \
    cublasStatus_t cublas##t##gemm3m(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc); \
    cublasStatus_t cublas##t##hemm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc); \
    cublasStatus_t cublas##t##herk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, int n, int k, const R *alpha, const T *a, int lda, const R *beta, T *c, int ldc); \
    cublasStatus_t cublas##t##her2k(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const R *beta, T *c, int ldc);
DSLC_BLAS_COMPLEX(DSLC_BLAS)
#undef DSLC_BLAS
cublasStatus_t cublasCsscal(cublasHandle_t handle, int n, const float *alpha, cuComplex *x, int incx);
cublasStatus_t cublasZdscal(cublasHandle_t handle, int n, const double *alpha, cuDoubleComplex *x, int incx);
#define DSLC_BLAS(sum, index, T, R)                                                                                                 \
    cublasStatus_t cublas##sum##asum(cublasHandle_t handle, int n, const T *x, int incx, R *result);                                \
    cublasStatus_t cublas##sum##nrm2(cublasHandle_t handle, int n, const T *x, int incx, R *result);                                \
    cublasStatus_t cublasI##index##amax(cublasHandle_t handle, int n, const T *x, int incx, int *result);                           \
    cublasStatus_t cublasI##index##amin(cublasHandle_t handle, int n, const T *x, int incx, int *result);
DSLC_BLAS(S, s, float, float)
DSLC_BLAS(D, d, double, double)
DSLC_BLAS(Sc, c, cuComplex, float)
DSLC_BLAS(Dz, z, cuDoubleComplex, double)
#undef DSLC_BLAS

/* A matrix and a vector. */
#define DSLC_BLAS(t, T, R)                                                                                                          \
    cublasStatus_t cublas##t##gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n, const T *alpha, const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy); \
    cublasStatus_t cublas##t##gbmv(cublasHandle_t handle, cublasOperation_t op, int m, int n, int kl, int ku, const T *alpha, const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy); \
    cublasStatus_t cublas##t##symv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T *alpha, const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy); \
    cublasStatus_t cublas##t##syr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T *alpha, const T *x, int incx, T *a, int lda); \
    cublasStatus_t cublas##t##syr2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T *alpha, const T *x, int incx, const T *y, int incy, T *a, int lda); \
    cublasStatus_t cublas##t##trmv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, cublasDiagType_t diag, int n, const T *a, int lda, T *x, int incx); \
    cublasStatus_t cublas##t##trsv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, cublasDiagType_t diag, int n, const T *a, int lda, T *x, int incx);
DSLC_BLAS_ALL(DSLC_BLAS)
#undef DSLC_BLAS

/* Matrices. */
#define DSLC_BLAS(t, T, R)                                                                                                          \
    cublasStatus_t cublas##t##gemm(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc); \
    cublasStatus_t cublas##t##gemmBatched(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const T *alpha, const T *const a[], int lda, const T *const b[], int ldb, const T *beta, T *const c[], int ldc, int count); \
    cublasStatus_t cublas##t##gemmStridedBatched(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const T *alpha, const T *a, int lda, long long stridea, const T *b, int ldb, long long strideb, const T *beta, T *c, int ldc, long long stridec, int count); \
    cublasStatus_t cublas##t##gemvBatched(cublasHandle_t handle, cublasOperation_t op, int m, int n, const T *alpha, const T *const a[], int lda, const T *const x[], int incx, const T *beta, T *const y[], int incy, int count); \
    cublasStatus_t cublas##t##gemvStridedBatched(cublasHandle_t handle, cublasOperation_t op, int m, int n, const T *alpha, const T *a, int lda, long long stridea, const T *x, int incx, long long stridex, const T *beta, T *y, int incy, long long stridey, int count); \
    cublasStatus_t cublas##t##symm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc); \
    cublasStatus_t cublas##t##syrk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, int n, int k, const T *alpha, const T *a, int lda, const T *beta, T *c, int ldc); \
    cublasStatus_t cublas##t##syr2k(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc); \
    cublasStatus_t cublas##t##trmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op, cublasDiagType_t diag, int m, int n, const T *alpha, const T *a, int lda, const T *b, int ldb, T *c, int ldc); \
    cublasStatus_t cublas##t##trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op, cublasDiagType_t diag, int m, int n, const T *alpha, const T *a, int lda, T *b, int ldb); \
    cublasStatus_t cublas##t##trsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op, cublasDiagType_t diag, int m, int n, const T *alpha, const T *const a[], int lda, T *const b[], int ldb, int count); \
    cublasStatus_t cublas##t##geam(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc); \
    cublasStatus_t cublas##t##dgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const T *a, int lda, const T *x, int incx, T *c, int ldc); \
    cublasStatus_t cublas##t##getrfBatched(cublasHandle_t handle, int n, T *const a[], int lda, int *pivots, int *info, int count); \
    cublasStatus_t cublas##t##getriBatched(cublasHandle_t handle, int n, const T *const a[], int lda, const int *pivots, T *const c[], int ldc, int *info, int count); \
    cublasStatus_t cublas##t##getrsBatched(cublasHandle_t handle, cublasOperation_t op, int n, int columns, const T *const a[], int lda, const int *pivots, T *const b[], int ldb, int *info, int count); \
    cublasStatus_t cublas##t##matinvBatched(cublasHandle_t handle, int n, const T *const a[], int lda, T *const inverse[], int ldi, int *info, int count);
DSLC_BLAS_ALL(DSLC_BLAS)
#undef DSLC_BLAS

cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const __half *alpha, const __half *a, int lda, const __half *b, int ldb, const __half *beta, __half *c, int ldc);
cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const __half *alpha, const __half *a, int lda, long long stridea, const __half *b, int ldb, long long strideb, const __half *beta, __half *c, int ldc, long long stridec, int count);
cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const __half *alpha, const __half *const a[], int lda, const __half *const b[], int ldb, const __half *beta, __half *const c[], int ldc, int count);
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const float *alpha, const void *a, cudaDataType typea, int lda, const void *b, cudaDataType typeb, int ldb, const float *beta, void *c, cudaDataType typec, int ldc);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const void *alpha, const void *a, cudaDataType typea, int lda, const void *b, cudaDataType typeb, int ldb, const void *beta, void *c, cudaDataType typec, int ldc, cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const void *alpha, const void *a, cudaDataType typea, int lda, long long stridea, const void *b, cudaDataType typeb, int ldb, long long strideb, const void *beta, void *c, cudaDataType typec, int ldc, long long stridec, int count, cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const void *alpha, const void *const a[], cudaDataType typea, int lda, const void *const b[], cudaDataType typeb, int ldb, const void *beta, void *const c[], cudaDataType typec, int ldc, int count, cublasComputeType_t compute, cublasGemmAlgo_t algorithm);

#ifdef __cplusplus
}

/* Older programs name the type of the elements where newer ones name that of the computation. */
static inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const void *alpha, const void *a, cudaDataType typea, int lda, const void *b, cudaDataType typeb, int ldb, const void *beta, void *c, cudaDataType typec, int ldc, cudaDataType compute, cublasGemmAlgo_t algorithm) {
    cublasComputeType_t type = compute == CUDA_R_16F ? CUBLAS_COMPUTE_16F : compute == CUDA_R_64F || compute == CUDA_C_64F ? CUBLAS_COMPUTE_64F : compute == CUDA_R_32I ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F;
    return cublasGemmEx(handle, opa, opb, m, n, k, alpha, a, typea, lda, b, typeb, ldb, beta, c, typec, ldc, type, algorithm);
}
#endif

#undef DSLC_BLAS_REAL
#undef DSLC_BLAS_COMPLEX
#undef DSLC_BLAS_ALL

/* The names with their version. */
#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#define cublasGetVersion_v2 cublasGetVersion
#define cublasSetStream_v2 cublasSetStream
#define cublasGetStream_v2 cublasGetStream
#define cublasSetWorkspace_v2 cublasSetWorkspace
#define cublasSetPointerMode_v2 cublasSetPointerMode
#define cublasGetPointerMode_v2 cublasGetPointerMode
#define cublasSaxpy_v2 cublasSaxpy
#define cublasDaxpy_v2 cublasDaxpy
#define cublasSdot_v2 cublasSdot
#define cublasDdot_v2 cublasDdot
#define cublasSscal_v2 cublasSscal
#define cublasDscal_v2 cublasDscal
#define cublasSnrm2_v2 cublasSnrm2
#define cublasDnrm2_v2 cublasDnrm2
#define cublasScopy_v2 cublasScopy
#define cublasDcopy_v2 cublasDcopy
#define cublasSgemv_v2 cublasSgemv
#define cublasDgemv_v2 cublasDgemv
#define cublasSgemm_v2 cublasSgemm
#define cublasDgemm_v2 cublasDgemm
#define cublasCgemm_v2 cublasCgemm
#define cublasZgemm_v2 cublasZgemm
#define cublasStrsm_v2 cublasStrsm
#define cublasDtrsm_v2 cublasDtrsm
#define cublasSsyrk_v2 cublasSsyrk
#define cublasDsyrk_v2 cublasDsyrk

#endif
