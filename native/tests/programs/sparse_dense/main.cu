// cuSPARSE and cuSOLVER on memory of the device, against what the definitions say.
#include <cmath>
#include <cstdio>
#include <cusolverDn.h>
#include <cusparse.h>
#include <vector>

#define CHECK(call) \
    if (int status = (int)(call)) printf("line %d: %d\n", __LINE__, status)

template <class T> T *device(const std::vector<T> &from)
{
    T *out;
    CHECK(cudaMalloc(&out, from.size() * sizeof(T)));
    CHECK(cudaMemcpy(out, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    return out;
}
template <class T> std::vector<T> host(const T *from, size_t count)
{
    std::vector<T> out(count);
    CHECK(cudaMemcpy(out.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
}
template <class T> void show(const char *name, const std::vector<T> &all)
{
    printf("%s:", name);
    for (T one : all) printf(" %g", fabs((double)one) < 1e-6 ? 0.0 : (double)one);
    printf("\n");
}

static void sparse()
{
    // 1 0 2 0
    // 0 3 0 0
    // 4 0 5 6
    std::vector<int> offsets = {0, 2, 3, 6}, rows = {1, 1, 2, 3, 3, 3}, columns = {0, 2, 1, 0, 2, 3};
    std::vector<float> values = {1, 2, 3, 4, 5, 6}, x = {1, 2, 3, 4}, y = {1, 1, 1};
    int *d_offsets = device(offsets), *d_rows = device(rows), *d_columns = device(columns);
    float *d_values = device(values), *d_x = device(x), *d_y = device(y), alpha = 2, beta = -1, one = 1, zero = 0;
    cusparseHandle_t handle;
    cusparseSpMatDescr_t csr, coo;
    cusparseDnVecDescr_t vx, vy;
    CHECK(cusparseCreate(&handle));
    CHECK(cusparseCreateCsr(&csr, 3, 4, 6, d_offsets, d_columns, d_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    CHECK(cusparseCreateDnVec(&vx, 4, d_x, CUDA_R_32F));
    CHECK(cusparseCreateDnVec(&vy, 3, d_y, CUDA_R_32F));
    size_t bytes = 1;
    CHECK(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, csr, vx, &beta, vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, csr, vx, &beta, vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr));
    show("2 A x - y", host(d_y, 3));
    CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_TRANSPOSE, &one, csr, vy, &zero, vx, CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG1, nullptr));
    show("A' y", host(d_x, 4));
    // The same by coordinates that count from 1, times a matrix by rows.
    for (int &column : columns) column++;
    CHECK(cudaMemcpy(d_columns, columns.data(), 6 * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cusparseCreateCoo(&coo, 3, 4, 6, d_rows, d_columns, d_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
    float *d_b = device(std::vector<float>{1, 0, 0, 1, 1, 1, 2, 0}), *d_c = device(std::vector<float>(6, 7));
    cusparseDnMatDescr_t b, c;
    CHECK(cusparseCreateDnMat(&b, 4, 2, 2, d_b, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    CHECK(cusparseCreateDnMat(&c, 3, 2, 3, d_c, CUDA_R_32F, CUSPARSE_ORDER_COL));
    CHECK(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, coo, b, &zero, c, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, nullptr));
    show("A B by columns", host(d_c, 6));
    // To a dense matrix, and back to fewer elements.
    float *d_dense = device(std::vector<float>(12, 9)), *d_found = device(std::vector<float>(6));
    cusparseDnMatDescr_t dense;
    CHECK(cusparseCreateDnMat(&dense, 3, 4, 4, d_dense, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    CHECK(cusparseSparseToDense(handle, coo, dense, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr));
    show("dense", host(d_dense, 12));
    CHECK(cudaMemset(d_dense, 0, sizeof(float)));
    cusparseSpMatDescr_t found;
    CHECK(cusparseCreateCsr(&found, 3, 4, 0, d_offsets, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    CHECK(cusparseDenseToSparse_analysis(handle, dense, found, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
    int64_t m, n, count;
    CHECK(cusparseSpMatGetSize(found, &m, &n, &count));
    CHECK(cusparseCsrSetPointers(found, d_offsets, d_columns, d_found));
    CHECK(cusparseDenseToSparse_convert(handle, dense, found, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
    show("values", host(d_found, count));
    show("offsets", host(d_offsets, 4));
    CHECK(cusparseXcoo2csr(handle, d_rows, 6, 3, d_offsets, CUSPARSE_INDEX_BASE_ONE));
    show("coo2csr", host(d_offsets, 4));
    cusparseStatus_t wrong = cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, csr, vy, &zero, vx, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
    printf("%s\n", cusparseGetErrorName(wrong));
    CHECK(cusparseDestroySpMat(csr));
    CHECK(cusparseDestroy(handle));
}

static void dense()
{
    const int n = 3;
    std::vector<double> a = {4, 2, -2, 2, 10, 4, -2, 4, 9}, b = {0, 16, 11};
    double *d_a = device(a), *d_b = device(b), *work, *tau, *values;
    int *info, *pivots, count = 0;
    CHECK(cudaMalloc(&info, sizeof(int)));
    CHECK(cudaMalloc(&pivots, n * sizeof(int)));
    CHECK(cudaMalloc(&tau, n * sizeof(double)));
    CHECK(cudaMalloc(&values, n * sizeof(double)));
    cusolverDnHandle_t handle;
    CHECK(cusolverDnCreate(&handle));
    CHECK(cusolverDnDpotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, n, d_a, n, &count));
    CHECK(cudaMalloc(&work, count * sizeof(double)));
    for (cublasFillMode_t uplo : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
        CHECK(cudaMemcpy(d_a, a.data(), 9 * sizeof(double), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_b, b.data(), 3 * sizeof(double), cudaMemcpyHostToDevice));
        CHECK(cusolverDnDpotrf(handle, uplo, n, d_a, n, work, count, info));
        CHECK(cusolverDnDpotrs(handle, uplo, n, 1, d_a, n, d_b, n, info));
        show("potrf", host(d_b, n));
    }
    std::vector<double> g = {0, 2, 1, 1, 1, 0, 3, -1, 2};
    CHECK(cudaMemcpy(d_a, g.data(), 9 * sizeof(double), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, std::vector<double>{11, 1, 7}.data(), 3 * sizeof(double), cudaMemcpyHostToDevice));
    CHECK(cusolverDnDgetrf(handle, n, n, d_a, n, work, pivots, info));
    CHECK(cusolverDnDgetrs(handle, CUBLAS_OP_N, n, 1, d_a, n, pivots, d_b, n, info));
    show("getrf", host(d_b, n));
    // A = Q R of 3 rows and 2 columns: Q' Q is the unit matrix, and R'R is A'A.
    std::vector<double> q = {3, 0, 4, 1, 2, -1};
    CHECK(cudaMemcpy(d_a, q.data(), 6 * sizeof(double), cudaMemcpyHostToDevice));
    CHECK(cusolverDnDgeqrf(handle, 3, 2, d_a, 3, tau, work, count, info));
    auto r = host(d_a, 6);
    printf("R: %g %g %g\n", fabs(r[0]), r[0] * r[3], fabs(r[4]));
    double *d_q = device(q);
    CHECK(cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, 3, 2, 2, d_a, 3, tau, d_q, 3, work, count, info));
    auto product = host(d_q, 6);
    for (double &one : product) one = fabs(one);
    show("|Q' A|", product);
    CHECK(cusolverDnDorgqr(handle, 3, 2, 2, d_a, 3, tau, work, count, info));
    auto basis = host(d_a, 6);
    printf("Q' Q: %.6f %.6f\n", basis[0] * basis[0] + basis[1] * basis[1] + basis[2] * basis[2], fabs(basis[0] * basis[3] + basis[1] * basis[4] + basis[2] * basis[5]));
    // 2 and 3 with (1, 1), (1, -1), and 7.
    std::vector<double> s = {2.5, -0.5, 0, -0.5, 2.5, 0, 0, 0, 7};
    CHECK(cudaMemcpy(d_a, s.data(), 9 * sizeof(double), cudaMemcpyHostToDevice));
    CHECK(cusolverDnDsyevd(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, d_a, n, values, work, count, info));
    show("eigenvalues", host(values, n));
    auto vectors = host(d_a, 9);
    printf("%.6f %.6f\n", vectors[0] / vectors[1], vectors[3] / vectors[4]);
    // 3 rows, 2 columns: singular values 3 and 2.
    double *u, *vt;
    CHECK(cudaMalloc(&u, 9 * sizeof(double)));
    CHECK(cudaMalloc(&vt, 4 * sizeof(double)));
    CHECK(cudaMemcpy(d_a, std::vector<double>{0, 0, 2, -3, 0, 0}.data(), 6 * sizeof(double), cudaMemcpyHostToDevice));
    CHECK(cusolverDnDgesvd(handle, 'A', 'A', 3, 2, d_a, 3, values, u, 3, vt, 2, work, count, nullptr, info));
    auto left = host(u, 9), right = host(vt, 4), found = host(values, 2);
    show("singular values", found);
    printf("A again: %.6f %.6f\n", left[2] * found[0] * right[0] + left[5] * found[1] * right[1], left[0] * found[0] * right[2] + left[3] * found[1] * right[3]);
    // Not positive.
    CHECK(cudaMemcpy(d_a, g.data(), 9 * sizeof(double), cudaMemcpyHostToDevice));
    CHECK(cusolverDnDpotrf(handle, CUBLAS_FILL_MODE_LOWER, n, d_a, n, work, count, info));
    printf("info %d\n", host(info, 1)[0]);
    CHECK(cusolverDnDestroy(handle));
}

void described();
extern "C" int legacy(void);

int main()
{
    sparse();
    dense();
    described();
    return legacy();
}
