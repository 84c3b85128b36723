/* cuBLAS's products whose elements have a type of their own: half, bfloat16 and 8-bit numbers are widened, multiplied, and narrowed. */
#include "blas.h"
#include "elements.h"
#include <cublas_v2.h>

using blas::Op;
using dslc::Matrix;
using namespace dslc::elements;

namespace {

/* The type of alpha and beta. */
cudaDataType scalar_type(cublasComputeType_t compute) {
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return CUDA_R_16F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: return CUDA_R_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: return CUDA_R_32I;
    default: return CUDA_R_32F;
    }
}

struct Operand {
    const void *pointer;
    cudaDataType type;
    int ld;
};
struct Sizes {
    Op opa, opb;
    int m, n, k;
};

/* Sums are made in S: float, or double where float could not hold the products of 32-bit integers. */
template <class S> cudaError_t multiply(const Sizes &of, double alpha, Operand a, Operand b, double beta, Operand c) {
    long arows = of.opa == blas::N ? of.m : of.k, acolumns = of.opa == blas::N ? of.k : of.m;
    long brows = of.opb == blas::N ? of.k : of.n, bcolumns = of.opb == blas::N ? of.n : of.k;
    auto load = [](Operand from, long rows, long columns, Matrix<char> &memory) {
        std::vector<S> out((size_t)rows * columns);
        for (long j = 0; j < columns; j++)
            for (long i = 0; i < rows; i++) out[i + j * rows] = (S)widened(memory.data() + j * memory.step() + i * bytes(from.type), from.type);
        return out;
    };
    auto memory = [](Operand from, long rows, long columns, bool reads) {
        long size = bytes(from.type);
        return Matrix<char>((const char *)from.pointer, rows * size, columns, (long)from.ld * size, reads);
    };
    Matrix<char> left = memory(a, arows, acolumns, true), right = memory(b, brows, bcolumns, true), to = memory(c, of.m, of.n, beta != 0);
    auto x = load(a, arows, acolumns, left), y = load(b, brows, bcolumns, right);
    std::vector<S> z((size_t)of.m * of.n);
    if (beta != 0) z = load(c, of.m, of.n, to);
    blas::gemm<S>(of.opa, of.opb, of.m, of.n, of.k, (S)alpha, x.data(), (int)arows, y.data(), (int)brows, (S)beta, z.data(), of.m);
    for (long j = 0; j < of.n; j++)
        for (long i = 0; i < of.m; i++) narrowed(to.data() + j * to.step() + i * bytes(c.type), z[i + j * of.m], c.type);
    to.store();
    return left.failed ? left.failed : right.failed ? right.failed : to.failed;
}

Op op_of(cublasOperation_t op) { return op == CUBLAS_OP_N ? blas::N : op == CUBLAS_OP_T ? blas::T : blas::C; }

double scalar(const void *pointer, cudaDataType type) {
    char value[8] = {};
    cudaMemcpy(value, pointer, bytes(type), cudaMemcpyDefault);
    return widened(value, type);
}

/* `place(i)` gives the operands of the i-th product. */
template <class F>
cublasStatus_t gemm_ex(cublasHandle_t handle, Sizes of, const void *alpha, const void *beta, cudaDataType scalars, std::initializer_list<cudaDataType> types, int count, F place) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    bool is_double = scalars == CUDA_R_64F || scalars == CUDA_R_32I;
    for (cudaDataType type : types)
        if (!bytes(type)) {
            fprintf(stderr, "dslc: cuBLAS: products of elements of type %d are not there\n", (int)type);
            return CUBLAS_STATUS_NOT_SUPPORTED;
        }
    if (of.m < 0 || of.n < 0 || of.k < 0 || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
    cudaStream_t stream = nullptr;
    cublasGetStream(handle, &stream);
    double u = scalar(alpha, scalars), v = scalar(beta, scalars);
    cudaError_t error = dslc::submit(stream, "cuBLAS", [=] {
        cudaError_t error = cudaSuccess;
        for (int i = 0; i < count && !error; i++) {
            Operand all[3];
            place(i, all);
            error = is_double ? multiply<double>(of, u, all[0], all[1], v, all[2]) : multiply<float>(of, u, all[0], all[1], v, all[2]);
        }
        return error;
    });
    return error ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

} // namespace

extern "C" {

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const void *alpha, const void *a, cudaDataType typea, int lda, long long stridea, const void *b, cudaDataType typeb, int ldb, long long strideb, const void *beta, void *c, cudaDataType typec, int ldc, long long stridec, int count, cublasComputeType_t compute, cublasGemmAlgo_t) {
    /* Complex products have one type throughout. */
    if (typea == CUDA_C_32F && typeb == typea && typec == typea)
        return cublasCgemmStridedBatched(handle, opa, opb, m, n, k, (const cuComplex *)alpha, (const cuComplex *)a, lda, stridea, (const cuComplex *)b, ldb, strideb, (const cuComplex *)beta, (cuComplex *)c, ldc, stridec, count);
    if (typea == CUDA_C_64F && typeb == typea && typec == typea)
        return cublasZgemmStridedBatched(handle, opa, opb, m, n, k, (const cuDoubleComplex *)alpha, (const cuDoubleComplex *)a, lda, stridea, (const cuDoubleComplex *)b, ldb, strideb, (const cuDoubleComplex *)beta, (cuDoubleComplex *)c, ldc, stridec, count);
    return gemm_ex(handle, {op_of(opa), op_of(opb), m, n, k}, alpha, beta, scalar_type(compute), {typea, typeb, typec}, count, [=](int i, Operand *all) {
        all[0] = {(const char *)a + i * stridea * bytes(typea), typea, lda};
        all[1] = {(const char *)b + i * strideb * bytes(typeb), typeb, ldb};
        all[2] = {(const char *)c + i * stridec * bytes(typec), typec, ldc};
    });
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const void *alpha, const void *a, cudaDataType typea, int lda, const void *b, cudaDataType typeb, int ldb, const void *beta, void *c, cudaDataType typec, int ldc, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
    return cublasGemmStridedBatchedEx(handle, opa, opb, m, n, k, alpha, a, typea, lda, 0, b, typeb, ldb, 0, beta, c, typec, ldc, 0, 1, compute, algorithm);
}
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const float *alpha, const void *a, cudaDataType typea, int lda, const void *b, cudaDataType typeb, int ldb, const float *beta, void *c, cudaDataType typec, int ldc) {
    return cublasGemmEx(handle, opa, opb, m, n, k, alpha, a, typea, lda, b, typeb, ldb, beta, c, typec, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const void *alpha, const void *const a[], cudaDataType typea, int lda, const void *const b[], cudaDataType typeb, int ldb, const void *beta, void *const c[], cudaDataType typec, int ldc, int count, cublasComputeType_t compute, cublasGemmAlgo_t) {
    auto from = [](const void *const *list, int i) {
        const void *found = nullptr;
        cudaMemcpy(&found, list + i, sizeof found, cudaMemcpyDefault);
        return found;
    };
    return gemm_ex(handle, {op_of(opa), op_of(opb), m, n, k}, alpha, beta, scalar_type(compute), {typea, typeb, typec}, count, [=](int i, Operand *all) {
        all[0] = {from(a, i), typea, lda};
        all[1] = {from(b, i), typeb, ldb};
        all[2] = {from((const void *const *)c, i), typec, ldc};
    });
}
cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const __half *alpha, const __half *a, int lda, const __half *b, int ldb, const __half *beta, __half *c, int ldc) {
    return cublasGemmEx(handle, opa, opb, m, n, k, alpha, a, CUDA_R_16F, lda, b, CUDA_R_16F, ldb, beta, c, CUDA_R_16F, ldc, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}
cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const __half *alpha, const __half *a, int lda, long long stridea, const __half *b, int ldb, long long strideb, const __half *beta, __half *c, int ldc, long long stridec, int count) {
    return cublasGemmStridedBatchedEx(handle, opa, opb, m, n, k, alpha, a, CUDA_R_16F, lda, stridea, b, CUDA_R_16F, ldb, strideb, beta, c, CUDA_R_16F, ldc, stridec, count, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}
cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const __half *alpha, const __half *const a[], int lda, const __half *const b[], int ldb, const __half *beta, __half *const c[], int ldc, int count) {
    return cublasGemmBatchedEx(handle, opa, opb, m, n, k, alpha, (const void *const *)a, CUDA_R_16F, lda, (const void *const *)b, CUDA_R_16F, ldb, beta, (void *const *)c, CUDA_R_16F, ldc, count, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}

} // extern "C"
