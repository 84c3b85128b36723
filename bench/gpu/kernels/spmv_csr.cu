// sparse algebra: the product of a matrix in compressed rows and a vector, a warp a row
// large: 1048576
#include "bench.h"

__global__ void spmv_csr(int rows, const int *offsets, const int *columns, const float *values, const float *x, float *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (row < rows) {
        float sum = 0.0f;
        for (int k = offsets[row] + lane; k < offsets[row + 1]; k += 32) sum += values[k] * x[columns[k]];
        for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (lane == 0) y[row] = sum;
    }
}

__global__ void fill_columns(int *columns, size_t n, int limit)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x; k < n; k += stride) columns[k] = word_at((unsigned)k, 3) % limit;
}

int main(int argc, char **argv)
{
    int rows = bench_size(argc, argv, 256);
    int *host = (int *)malloc((rows + 1) * sizeof(int));
    host[0] = 0;
    for (int row = 0; row < rows; row++) host[row + 1] = host[row] + 16 + word_at(row, 4) % 65;
    size_t entries = host[rows];
    int *offsets = (int *)device_bytes((rows + 1) * 4), *columns = (int *)device_bytes(entries * 4);
    CHECK(cudaMemcpy(offsets, host, (rows + 1) * 4, cudaMemcpyHostToDevice));
    fill_columns<<<bench_blocks(entries), 256>>>(columns, entries, rows);
    float *values = device_floats(entries, 1, -1.0f, 1.0f), *x = device_floats(rows, 2, -1.0f, 1.0f), *y = (float *)device_bytes(rows * 4);
    MEASURE(spmv_csr<<<(rows + 7) / 8, 256>>>(rows, offsets, columns, values, x, y));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        size_t row = sample(s, rows);
        double want = 0.0;
        for (int k = host[row]; k < host[row + 1]; k++)
            want += (double)float_at(k, 1, -1.0f, 1.0f) * float_at(word_at(k, 3) % rows, 2, -1.0f, 1.0f);
        ok = ok && is_near(float_of(y, row), want, 1e-5);
    }
    int code = bench_end("spmv_csr", ok, y, rows);
    free(host);
    CHECK(cudaFree(offsets));
    CHECK(cudaFree(columns));
    CHECK(cudaFree(values));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return code;
}
