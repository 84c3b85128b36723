/* cuBLAS's functions: their names and types, with what `calls.h` does. */
#include "calls.h"

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t *handle) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new cublasContext();
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetVersion(cublasHandle_t, int *version) { return *version = CUBLAS_VERSION, CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasGetProperty(libraryPropertyType kind, int *value) {
    *value = kind == MAJOR_VERSION ? CUBLAS_VER_MAJOR : kind == MINOR_VERSION ? CUBLAS_VER_MINOR : CUBLAS_VER_PATCH;
    return CUBLAS_STATUS_SUCCESS;
}
size_t cublasGetCudartVersion(void) { return CUDART_VERSION; }

/* What a handle keeps. */
#define KEPT(Name, Type, field)                                                                                                      \
    cublasStatus_t cublasSet##Name(cublasHandle_t handle, Type value) {                                                              \
        if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                           \
        handle->field = value;                                                                                                       \
        return CUBLAS_STATUS_SUCCESS;                                                                                                \
    }                                                                                                                                \
    cublasStatus_t cublasGet##Name(cublasHandle_t handle, Type *value) {                                                             \
        if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                           \
        *value = handle->field;                                                                                                      \
        return CUBLAS_STATUS_SUCCESS;                                                                                                \
    }
KEPT(Stream, cudaStream_t, stream)
KEPT(PointerMode, cublasPointerMode_t, pointers)
KEPT(AtomicsMode, cublasAtomicsMode_t, atomics)
KEPT(MathMode, cublasMath_t, math)
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *, size_t) { return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED; }
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int) { return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED; }

const char *cublasGetStatusName(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR: return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR: return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR: return "CUBLAS_STATUS_LICENSE_ERROR";
    }
    return "CUBLAS_STATUS_UNKNOWN";
}
const char *cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

/* `to` and `from` in columns of elements that are `bytes` long. */
static cublasStatus_t copy(long rows, long columns, int bytes, const void *from, long from_pitch, void *to, long to_pitch, cudaStream_t stream) {
    if (rows < 0 || columns < 0 || bytes <= 0 || from_pitch <= 0 || to_pitch <= 0) return CUBLAS_STATUS_INVALID_VALUE;
    if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
    cudaError_t error = cudaMemcpy2DAsync(to, (size_t)to_pitch * bytes, from, (size_t)from_pitch * bytes, (size_t)rows * bytes, columns, cudaMemcpyDefault, stream);
    return error ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_SUCCESS;
}
#define COPIES(Name, Async, stream, ...)                                                                                             \
    cublasStatus_t cublas##Name##Vector##Async(int n, int bytes, const void *x, int incx, void *y, int incy __VA_ARGS__) {           \
        return incx == 1 && incy == 1 ? copy(n, 1, bytes, x, std::max(n, 1), y, std::max(n, 1), stream) : copy(1, n, bytes, x, incx, y, incy, stream); \
    }                                                                                                                                \
    cublasStatus_t cublas##Name##Matrix##Async(int rows, int columns, int bytes, const void *a, int lda, void *b, int ldb __VA_ARGS__) { \
        return copy(rows, columns, bytes, a, lda, b, ldb, stream);                                                                   \
    }
#define OF_STREAM , cudaStream_t stream
COPIES(Set, , nullptr)
COPIES(Get, , nullptr)
COPIES(Set, Async, stream, OF_STREAM)
COPIES(Get, Async, stream, OF_STREAM)

#define ALL(call) call(S, float, float) call(D, double, double) call(C, cuComplex, float) call(Z, cuDoubleComplex, double)
#define REAL(call) call(S, float, float) call(D, double, double)
#define COMPLEX(call) call(C, cuComplex, float) call(Z, cuDoubleComplex, double)
#define H cublasHandle_t handle
#define ST cublasStatus_t
#define UPPER (uplo == CUBLAS_FILL_MODE_UPPER)
#define UNIT (diag == CUBLAS_DIAG_UNIT)
#define LEFT (side == CUBLAS_SIDE_LEFT)
typedef cublasOperation_t OP;
typedef cublasFillMode_t FILL;
typedef cublasDiagType_t DIAG;
typedef cublasSideMode_t SIDE;

#define CALLS(t, T, R)                                                                                                               \
    ST cublas##t##axpy(H, int n, const T *alpha, const T *x, int incx, T *y, int incy) { return axpy(handle, n, in(alpha), in(x), incx, in(y), incy); } \
    ST cublas##t##copy(H, int n, const T *x, int incx, T *y, int incy) { return both(handle, n, in((T *)x), incx, in(y), incy, false, [] { return [](inner<T> &x, inner<T> &y) { y = x; }; }); } \
    ST cublas##t##swap(H, int n, T *x, int incx, T *y, int incy) { return both(handle, n, in(x), incx, in(y), incy, true, [] { return [](inner<T> &x, inner<T> &y) { std::swap(x, y); }; }); } \
    ST cublas##t##scal(H, int n, const T *alpha, T *x, int incx) { return scal(handle, n, in(alpha), in(x), incx); }                 \
    ST cublas##t##gemv(H, OP op, int m, int n, const T *alpha, const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy) { \
        return cublas##t##gemvStridedBatched(handle, op, m, n, alpha, a, lda, 0, x, incx, 0, beta, y, incy, 0, 1);                   \
    }                                                                                                                                \
    ST cublas##t##gemvStridedBatched(H, OP op, int m, int n, const T *alpha, const T *a, int lda, long long stridea, const T *x, int incx, long long stridex, const T *beta, T *y, int incy, long long stridey, int count) { \
        if (m < 0 || n < 0 || lda < std::max(1, m) || incx == 0 || incy == 0) return handle ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_NOT_INITIALIZED; \
        return run(handle, [=, alpha = Scalar<inner<T>>(in(alpha)), beta = Scalar<inner<T>>(in(beta))] {                             \
            cudaError_t error = cudaSuccess;                                                                                         \
            for (int i = 0; i < count && !error; i++) error = gemv_now<inner<T>>(op_of(op), m, n, alpha.get(), in(a + i * stridea), lda, in(x + i * stridex), incx, beta.get(), in(y + i * stridey), incy); \
            return error;                                                                                                            \
        });                                                                                                                          \
    }                                                                                                                                \
    ST cublas##t##gemvBatched(H, OP op, int m, int n, const T *alpha, const T *const a[], int lda, const T *const x[], int incx, const T *beta, T *const y[], int incy, int count) { \
        return run(handle, [=, alpha = Scalar<inner<T>>(in(alpha)), beta = Scalar<inner<T>>(in(beta))] {                             \
            dslc::Row<const T *> matrices((const T **)a, count), from((const T **)x, count), to((const T **)y, count);               \
            cudaError_t error = failed(matrices, from, to);                                                                          \
            for (int i = 0; i < count && !error; i++) error = gemv_now<inner<T>>(op_of(op), m, n, alpha.get(), in(matrices[i]), lda, in(from[i]), incx, beta.get(), (inner<T> *)to[i], incy); \
            return error;                                                                                                            \
        });                                                                                                                          \
    }                                                                                                                                \
    ST cublas##t##gbmv(H, OP op, int m, int n, int kl, int ku, const T *alpha, const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy) { return gbmv(handle, op_of(op), m, n, kl, ku, in(alpha), in(a), lda, in(x), incx, in(beta), in(y), incy); } \
    ST cublas##t##symv(H, FILL uplo, int n, const T *alpha, const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy) { return symv(handle, UPPER, blas::Symmetric, n, in(alpha), in(a), lda, in(x), incx, in(beta), in(y), incy); } \
    ST cublas##t##syr(H, FILL uplo, int n, const T *alpha, const T *x, int incx, T *a, int lda) { return syr(handle, UPPER, false, n, in(alpha), in(x), incx, (inner<T> *)nullptr, 1, in(a), lda); } \
    ST cublas##t##syr2(H, FILL uplo, int n, const T *alpha, const T *x, int incx, const T *y, int incy, T *a, int lda) { return syr(handle, UPPER, false, n, in(alpha), in(x), incx, in((T *)y), incy, in(a), lda); } \
    ST cublas##t##trmv(H, FILL uplo, OP op, DIAG diag, int n, const T *a, int lda, T *x, int incx) { return triangular(handle, UPPER, op_of(op), UNIT, n, in(a), lda, in(x), incx, false); } \
    ST cublas##t##trsv(H, FILL uplo, OP op, DIAG diag, int n, const T *a, int lda, T *x, int incx) { return triangular(handle, UPPER, op_of(op), UNIT, n, in(a), lda, in(x), incx, true); } \
    ST cublas##t##gemm(H, OP opa, OP opb, int m, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc) { return gemm<inner<T>>(handle, op_of(opa), op_of(opb), m, n, k, in(alpha), in(a), lda, 0, in(b), ldb, 0, in(beta), in(c), ldc, 0, 1); } \
    ST cublas##t##gemmStridedBatched(H, OP opa, OP opb, int m, int n, int k, const T *alpha, const T *a, int lda, long long stridea, const T *b, int ldb, long long strideb, const T *beta, T *c, int ldc, long long stridec, int count) { return gemm<inner<T>>(handle, op_of(opa), op_of(opb), m, n, k, in(alpha), in(a), lda, stridea, in(b), ldb, strideb, in(beta), in(c), ldc, stridec, count); } \
    ST cublas##t##gemmBatched(H, OP opa, OP opb, int m, int n, int k, const T *alpha, const T *const a[], int lda, const T *const b[], int ldb, const T *beta, T *const c[], int ldc, int count) { return gemm<inner<T>>(handle, op_of(opa), op_of(opb), m, n, k, in(alpha), (const inner<T> *const *)a, lda, (const inner<T> *const *)b, ldb, in(beta), (inner<T> *const *)c, ldc, count); } \
    ST cublas##t##symm(H, SIDE side, FILL uplo, int m, int n, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc) { return symm(handle, LEFT, UPPER, blas::Symmetric, m, n, in(alpha), in(a), lda, in(b), ldb, in(beta), in(c), ldc); } \
    ST cublas##t##syrk(H, FILL uplo, OP op, int n, int k, const T *alpha, const T *a, int lda, const T *beta, T *c, int ldc) { return syrk(handle, UPPER, op_of(op), false, n, k, in(alpha), in(a), lda, (const inner<T> *)nullptr, 0, in(beta), in(c), ldc); } \
    ST cublas##t##syr2k(H, FILL uplo, OP op, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc) { return syrk(handle, UPPER, op_of(op), false, n, k, in(alpha), in(a), lda, in(b), ldb, in(beta), in(c), ldc); } \
    ST cublas##t##trmm(H, SIDE side, FILL uplo, OP op, DIAG diag, int m, int n, const T *alpha, const T *a, int lda, const T *b, int ldb, T *c, int ldc) { return trmm(handle, LEFT, UPPER, op_of(op), UNIT, m, n, in(alpha), in(a), lda, in(b), ldb, in(c), ldc); } \
    ST cublas##t##trsm(H, SIDE side, FILL uplo, OP op, DIAG diag, int m, int n, const T *alpha, const T *a, int lda, T *b, int ldb) { \
        return run(handle, [=, alpha = Scalar<inner<T>>(in(alpha))] { return trsm_now<inner<T>>(LEFT, UPPER, op_of(op), UNIT, m, n, alpha.get(), in(a), lda, in(b), ldb); }); \
    }                                                                                                                                \
    ST cublas##t##trsmBatched(H, SIDE side, FILL uplo, OP op, DIAG diag, int m, int n, const T *alpha, const T *const a[], int lda, T *const b[], int ldb, int count) { \
        return run(handle, [=, alpha = Scalar<inner<T>>(in(alpha))] {                                                                \
            dslc::Row<const T *> triangles((const T **)a, count), to((const T **)b, count);                                          \
            cudaError_t error = failed(triangles, to);                                                                               \
            for (int i = 0; i < count && !error; i++) error = trsm_now<inner<T>>(LEFT, UPPER, op_of(op), UNIT, m, n, alpha.get(), in(triangles[i]), lda, (inner<T> *)to[i], ldb); \
            return error;                                                                                                            \
        });                                                                                                                          \
    }                                                                                                                                \
    ST cublas##t##geam(H, OP opa, OP opb, int m, int n, const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc) { return geam(handle, op_of(opa), op_of(opb), m, n, in(alpha), in(a), lda, in(beta), in(b), ldb, in(c), ldc); } \
    ST cublas##t##dgmm(H, SIDE side, int m, int n, const T *a, int lda, const T *x, int incx, T *c, int ldc) { return dgmm(handle, LEFT, m, n, in(a), lda, in(x), incx, in(c), ldc); } \
    ST cublas##t##getrfBatched(H, int n, T *const a[], int lda, int *pivots, int *info, int count) { return getrf(handle, n, (inner<T> *const *)a, lda, pivots, info, count); } \
    ST cublas##t##getriBatched(H, int n, const T *const a[], int lda, const int *pivots, T *const c[], int ldc, int *info, int count) { return getri(handle, n, (const inner<T> *const *)a, lda, pivots, (inner<T> *const *)c, ldc, info, count, false); } \
    ST cublas##t##matinvBatched(H, int n, const T *const a[], int lda, T *const c[], int ldc, int *info, int count) { return getri(handle, n, (const inner<T> *const *)a, lda, (const int *)nullptr, (inner<T> *const *)c, ldc, info, count, true); } \
    ST cublas##t##getrsBatched(H, OP op, int n, int columns, const T *const a[], int lda, const int *pivots, T *const b[], int ldb, int *info, int count) { return getrs(handle, op_of(op), n, columns, (const inner<T> *const *)a, lda, pivots, (inner<T> *const *)b, ldb, info, count); }
ALL(CALLS)
#undef CALLS

#define CALLS(t, T, R)                                                                                                               \
    ST cublas##t##dot(H, int n, const T *x, int incx, const T *y, int incy, T *result) { return dot(handle, n, x, incx, y, incy, result, false); } \
    ST cublas##t##rot(H, int n, T *x, int incx, T *y, int incy, const T *c, const T *s) { return rot(handle, n, x, incx, y, incy, c, s); } \
    ST cublas##t##rotm(H, int n, T *x, int incx, T *y, int incy, const T *param) { return rotm(handle, n, x, incx, y, incy, param); } \
    ST cublas##t##rotg(H, T *a, T *b, T *c, T *s) { return rotg(handle, a, b, c, s); }                                                \
    ST cublas##t##ger(H, int m, int n, const T *alpha, const T *x, int incx, const T *y, int incy, T *a, int lda) { return ger(handle, m, n, alpha, x, incx, y, incy, a, lda, false); }
REAL(CALLS)
#undef CALLS

#define CALLS(t, T, R)                                                                                                               \
    ST cublas##t##dotu(H, int n, const T *x, int incx, const T *y, int incy, T *result) { return dot(handle, n, in(x), incx, in(y), incy, in(result), false); } \
    ST cublas##t##dotc(H, int n, const T *x, int incx, const T *y, int incy, T *result) { return dot(handle, n, in(x), incx, in(y), incy, in(result), true); } \
    ST cublas##t##geru(H, int m, int n, const T *alpha, const T *x, int incx, const T *y, int incy, T *a, int lda) { return ger(handle, m, n, in(alpha), in(x), incx, in(y), incy, in(a), lda, false); } \
    ST cublas##t##gerc(H, int m, int n, const T *alpha, const T *x, int incx, const T *y, int incy, T *a, int lda) { return ger(handle, m, n, in(alpha), in(x), incx, in(y), incy, in(a), lda, true); } \
    ST cublas##t##hemv(H, FILL uplo, int n, const T *alpha, const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy) { return symv(handle, UPPER, blas::Hermitian, n, in(alpha), in(a), lda, in(x), incx, in(beta), in(y), incy); } \
    ST cublas##t##her(H, FILL uplo, int n, const R *alpha, const T *x, int incx, T *a, int lda) { return syr(handle, UPPER, true, n, alpha, in(x), incx, (inner<T> *)nullptr, 1, in(a), lda); } \
    ST cublas##t##gemm3m(H, OP opa, OP opb, int m, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc) { return cublas##t##gemm(handle, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); } \
    ST cublas##t##hemm(H, SIDE side, FILL uplo, int m, int n, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc) { return symm(handle, LEFT, UPPER, blas::Hermitian, m, n, in(alpha), in(a), lda, in(b), ldb, in(beta), in(c), ldc); } \
    ST cublas##t##herk(H, FILL uplo, OP op, int n, int k, const R *alpha, const T *a, int lda, const R *beta, T *c, int ldc) { return syrk(handle, UPPER, op_of(op), true, n, k, alpha, in(a), lda, (const inner<T> *)nullptr, 0, beta, in(c), ldc); } \
    ST cublas##t##her2k(H, FILL uplo, OP op, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const R *beta, T *c, int ldc) { return syrk(handle, UPPER, op_of(op), true, n, k, in(alpha), in(a), lda, in(b), ldb, beta, in(c), ldc); }
COMPLEX(CALLS)
#undef CALLS
ST cublasCsscal(H, int n, const float *alpha, cuComplex *x, int incx) { return scal(handle, n, alpha, in(x), incx); }
ST cublasZdscal(H, int n, const double *alpha, cuDoubleComplex *x, int incx) { return scal(handle, n, alpha, in(x), incx); }

#define CALLS(sum, index, T)                                                                                                         \
    ST cublas##sum##asum(H, int n, const T *x, int incx, blas::real<inner<T>> *result) { return asum(handle, n, in(x), incx, result); } \
    ST cublas##sum##nrm2(H, int n, const T *x, int incx, blas::real<inner<T>> *result) { return nrm2(handle, n, in(x), incx, result); } \
    ST cublasI##index##amax(H, int n, const T *x, int incx, int *result) { return extreme(handle, n, in(x), incx, result, true); }    \
    ST cublasI##index##amin(H, int n, const T *x, int incx, int *result) { return extreme(handle, n, in(x), incx, result, false); }
CALLS(S, s, float)
CALLS(D, d, double)
CALLS(Sc, c, cuComplex)
CALLS(Dz, z, cuDoubleComplex)

} // extern "C"
