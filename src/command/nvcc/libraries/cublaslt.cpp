/* cuBLASLt: products that are described first. They go to cuBLAS's; what follows a product (a bias, an activation) is done here. */
#include "common.h"
#include "elements.h"
#include <cublasLt.h>

using dslc::Matrix;
using namespace dslc::elements;

struct cublasLtContext {};
struct cublasLtMatmulDescOpaque {
    cublasComputeType_t compute;
    cudaDataType scale;
    cublasOperation_t opa = CUBLAS_OP_N, opb = CUBLAS_OP_N;
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    const void *bias = nullptr;
    cublasLtPointerMode_t pointers = CUBLASLT_POINTER_MODE_HOST;
};
struct cublasLtMatrixLayoutOpaque {
    cudaDataType type;
    unsigned long long rows, columns;
    long long ld;
    cublasLtOrder_t order = CUBLASLT_ORDER_COL;
    int batches = 1;
    long long stride = 0;
};
struct cublasLtMatmulPreferenceOpaque {};

namespace {

template <class T> cublasStatus_t set(T &to, const void *from, size_t bytes) {
    if (bytes < sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(&to, from, sizeof(T));
    return CUBLAS_STATUS_SUCCESS;
}
template <class T> cublasStatus_t get(const T &from, void *to, size_t bytes, size_t *written) {
    if (written) *written = sizeof(T);
    if (bytes < sizeof(T)) return bytes == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, &from, sizeof(T));
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t refuse(const char *what) {
    fprintf(stderr, "dslc: cublasLtMatmul: %s\n", what);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}
bool has_bias(cublasLtEpilogue_t kind) { return kind == CUBLASLT_EPILOGUE_BIAS || kind == CUBLASLT_EPILOGUE_RELU_BIAS || kind == CUBLASLT_EPILOGUE_GELU_BIAS; }
double activated(double x, cublasLtEpilogue_t kind) {
    if (kind == CUBLASLT_EPILOGUE_RELU || kind == CUBLASLT_EPILOGUE_RELU_BIAS) return x > 0 ? x : 0;
    /* As cuBLASLt documents it: the approximation by tanh. */
    if (kind == CUBLASLT_EPILOGUE_GELU || kind == CUBLASLT_EPILOGUE_GELU_BIAS) return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    return x;
}
/* What follows the product, on D of one batch. The bias is a vector along D's rows. */
cudaError_t finish(const cublasLtMatmulDescOpaque &of, const cublasLtMatrixLayoutOpaque &layout, void *d) {
    long size = bytes(layout.type);
    bool by_rows = layout.order == CUBLASLT_ORDER_ROW;
    long inner = by_rows ? layout.columns : layout.rows, outer = by_rows ? layout.rows : layout.columns;
    Matrix<char> to((const char *)d, inner * size, outer, (long)layout.ld * size);
    Matrix<char> bias((const char *)of.bias, has_bias(of.epilogue) ? (long)layout.rows * size : 0, 1, (long)layout.rows * size);
    for (long j = 0; j < outer; j++)
        for (long i = 0; i < inner; i++) {
            char *place = to.data() + j * to.step() + i * size;
            double x = widened(place, layout.type);
            if (has_bias(of.epilogue)) x += widened(bias.data() + (by_rows ? j : i) * size, layout.type);
            narrowed(place, activated(x, of.epilogue), layout.type);
        }
    to.store();
    return to.failed ? to.failed : bias.failed;
}
/* A beta that is read. */
bool is_zero(const void *beta, cudaDataType type) {
    char value[16] = {};
    cudaMemcpy(value, beta, type == CUDA_C_32F ? 8 : type == CUDA_C_64F ? 16 : bytes(type), cudaMemcpyDefault);
    for (char byte : value)
        if (byte) return false;
    return true;
}

} // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) { return *handle = new cublasLtContext(), CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
size_t cublasLtGetVersion(void) { return CUBLAS_VERSION; }
size_t cublasLtGetCudartVersion(void) { return CUDART_VERSION; }
const char *cublasLtGetStatusName(cublasStatus_t status) { return cublasGetStatusName(status); }
const char *cublasLtGetStatusString(cublasStatus_t status) { return cublasGetStatusString(status); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute, cudaDataType scale) {
    *desc = new cublasLtMatmulDescOpaque{compute, scale};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) { return delete desc, CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, const void *value, size_t size) {
    switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return set(desc->opa, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSB: return set(desc->opb, value, size);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return set(desc->epilogue, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return set(desc->bias, value, size);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE: return set(desc->pointers, value, size);
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: return set(desc->compute, value, size);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return set(desc->scale, value, size);
    default: return refuse("an attribute of the product is not there: operations, epilogue, bias, types and pointer mode are");
    }
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, void *value, size_t size, size_t *written) {
    switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return get(desc->opa, value, size, written);
    case CUBLASLT_MATMUL_DESC_TRANSB: return get(desc->opb, value, size, written);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return get(desc->epilogue, value, size, written);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return get(desc->bias, value, size, written);
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: return get(desc->compute, value, size, written);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return get(desc->scale, value, size, written);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows, uint64_t columns, int64_t ld) {
    *layout = new cublasLtMatrixLayoutOpaque{type, rows, columns, ld};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return delete layout, CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, const void *value, size_t size) {
    switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE: return set(layout->type, value, size);
    case CUBLASLT_MATRIX_LAYOUT_ORDER: return set(layout->order, value, size);
    case CUBLASLT_MATRIX_LAYOUT_ROWS: return set(layout->rows, value, size);
    case CUBLASLT_MATRIX_LAYOUT_COLS: return set(layout->columns, value, size);
    case CUBLASLT_MATRIX_LAYOUT_LD: return set(layout->ld, value, size);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return set(layout->batches, value, size);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return set(layout->stride, value, size);
    default: return refuse("an attribute of a matrix is not there");
    }
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) { return *preference = new cublasLtMatmulPreferenceOpaque(), CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) { return delete preference, CUBLAS_STATUS_SUCCESS; }
/* How much memory an algorithm may use: ours needs none. */
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, const void *, size_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int wanted, cublasLtMatmulHeuristicResult_t *results, int *count) {
    if (wanted < 1) return CUBLAS_STATUS_INVALID_VALUE;
    memset(results, 0, sizeof *results);
    results->wavesCount = 1;
    *count = 1;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha, const void *a, cublasLtMatrixLayout_t adesc, const void *b, cublasLtMatrixLayout_t bdesc, const void *beta, const void *c, cublasLtMatrixLayout_t cdesc, void *d, cublasLtMatrixLayout_t ddesc, const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t stream) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (desc->pointers > CUBLASLT_POINTER_MODE_DEVICE) return refuse("alpha and beta that are vectors are not there");
    bool by_rows = ddesc->order == CUBLASLT_ORDER_ROW;
    for (auto *one : {adesc, bdesc, cdesc, ddesc})
        if (one->order != ddesc->order || one->order > CUBLASLT_ORDER_ROW) return refuse("all matrices have to be stored by columns, or all by rows");
    if (cdesc->type != ddesc->type) return refuse("C and D have to be of one type");
    switch (desc->epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_BIAS: break;
    default: return refuse("of epilogues bias, relu and gelu are there");
    }
    if (has_bias(desc->epilogue) && !desc->bias) return CUBLAS_STATUS_INVALID_VALUE;
    int m = (int)ddesc->rows, n = (int)ddesc->columns, k = (int)(desc->opa == CUBLAS_OP_N ? adesc->columns : adesc->rows);
    unsigned long long arows = desc->opa == CUBLAS_OP_N ? adesc->rows : adesc->columns, bcolumns = desc->opb == CUBLAS_OP_N ? bdesc->columns : bdesc->rows;
    unsigned long long brows = desc->opb == CUBLAS_OP_N ? bdesc->rows : bdesc->columns;
    if (arows != ddesc->rows || bcolumns != ddesc->columns || brows != (unsigned long long)k || cdesc->rows != ddesc->rows || cdesc->columns != ddesc->columns) return CUBLAS_STATUS_INVALID_VALUE;
    cublasHandle_t blas;
    cublasCreate(&blas);
    cublasSetStream(blas, stream);
    long size = ddesc->type == CUDA_C_32F ? 8 : ddesc->type == CUDA_C_64F ? 16 : bytes(ddesc->type);
    if (c != d && !is_zero(beta, desc->scale)) {
        long inner = (by_rows ? n : m) * size, outer = by_rows ? m : n;
        for (int i = 0; i < ddesc->batches; i++) cudaMemcpy2DAsync((char *)d + i * ddesc->stride * size, ddesc->ld * size, (const char *)c + i * cdesc->stride * size, cdesc->ld * size, inner, outer, cudaMemcpyDefault, stream);
    }
    cublasStatus_t status;
    /* A matrix by rows is its transposed one by columns: D' = B' A'. */
    if (by_rows)
        status = cublasGemmStridedBatchedEx(blas, desc->opb, desc->opa, n, m, k, alpha, b, bdesc->type, (int)bdesc->ld, bdesc->stride, a, adesc->type, (int)adesc->ld, adesc->stride, beta, d, ddesc->type, (int)ddesc->ld, ddesc->stride, ddesc->batches, desc->compute, CUBLAS_GEMM_DEFAULT);
    else
        status = cublasGemmStridedBatchedEx(blas, desc->opa, desc->opb, m, n, k, alpha, a, adesc->type, (int)adesc->ld, adesc->stride, b, bdesc->type, (int)bdesc->ld, bdesc->stride, beta, d, ddesc->type, (int)ddesc->ld, ddesc->stride, ddesc->batches, desc->compute, CUBLAS_GEMM_DEFAULT);
    cublasDestroy(blas);
    if (status || desc->epilogue == CUBLASLT_EPILOGUE_DEFAULT) return status;
    if (!bytes(ddesc->type)) return refuse("an epilogue of complex numbers is not there");
    cudaError_t error = dslc::submit(stream, "cuBLASLt", [of = *desc, layout = *ddesc, d, size] {
        cudaError_t error = cudaSuccess;
        for (int i = 0; i < layout.batches && !error; i++) error = finish(of, layout, (char *)d + i * layout.stride * size);
        return error;
    });
    return error ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

} // extern "C"
