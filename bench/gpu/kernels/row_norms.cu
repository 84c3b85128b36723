// dense algebra: the Euclidean norm of each row of a matrix, a block a row
// large: 65536
#include "bench.h"

#define COLS 1024

__global__ void row_norms(const float *x, float *norms, int cols)
{
    __shared__ float sums[256];
    const float *row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += row[i] * row[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) norms[blockIdx.x] = sqrtf(sums[0]);
}

int main(int argc, char **argv)
{
    int rows = bench_size(argc, argv, 16);
    float *x = device_floats((size_t)rows * COLS, 1, -2.0f, 2.0f), *norms = (float *)device_bytes(rows * 4);
    MEASURE(row_norms<<<rows, 256>>>(x, norms, COLS));
    bool ok = true;
    for (int s = 0; s < 16; s++) {
        unsigned row = (unsigned)sample(s, rows);
        double want = 0.0;
        for (int k = 0; k < COLS; k++) {
            double v = float_at(row * COLS + k, 1, -2.0f, 2.0f);
            want += v * v;
        }
        ok = ok && is_near(float_of(norms, row), sqrt(want), 1e-5);
    }
    int code = bench_end("row_norms", ok, norms, rows);
    CHECK(cudaFree(x));
    CHECK(cudaFree(norms));
    return code;
}
