// cuBLASLt: a product by rows with a bias and a ReLU behind it.
#include <cstdio>
#include <cublasLt.h>

#define CHECK(call) \
    if (int status = (int)(call)) printf("line %d: %d\n", __LINE__, status)

void described()
{
    float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, -3, 1}, bias[2] = {10, -20}, d[4], *p;
    CHECK(cudaMalloc(&p, 100));
    CHECK(cudaMemcpy(p, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(p + 6, b, sizeof b, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(p + 12, bias, sizeof bias, cudaMemcpyHostToDevice));
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t la, lb, ld;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t result;
    CHECK(cublasLtCreate(&handle));
    CHECK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
    const float *place = p + 12;
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &place, sizeof place));
    CHECK(cublasLtMatrixLayoutCreate(&la, CUDA_R_32F, 2, 3, 3));
    CHECK(cublasLtMatrixLayoutCreate(&lb, CUDA_R_32F, 3, 2, 2));
    CHECK(cublasLtMatrixLayoutCreate(&ld, CUDA_R_32F, 2, 2, 2));
    cublasLtOrder_t order = CUBLASLT_ORDER_ROW;
    for (cublasLtMatrixLayout_t one : {la, lb, ld}) CHECK(cublasLtMatrixLayoutSetAttribute(one, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
    CHECK(cublasLtMatmulPreferenceCreate(&preference));
    int count = 0;
    CHECK(cublasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, ld, ld, preference, 1, &result, &count));
    float alpha = 1, beta = 0;
    CHECK(cublasLtMatmul(handle, desc, &alpha, p, la, p + 6, lb, &beta, p + 14, ld, p + 14, ld, &result.algo, nullptr, 0, 0));
    CHECK(cudaMemcpy(d, p + 14, sizeof d, cudaMemcpyDeviceToHost));
    printf("%d algorithm: %g %g %g %g\n", count, d[0], d[1], d[2], d[3]);
    CHECK(cublasLtDestroy(handle));
}
