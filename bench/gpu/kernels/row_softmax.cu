// dense algebra: softmax of each row of a matrix, a block a row
// large: 65536
#include "bench.h"

#define COLS 1024

__global__ void row_softmax(const float *in, float *out, int cols)
{
    __shared__ float shared[256];
    const float *x = in + (size_t)blockIdx.x * cols;
    float *y = out + (size_t)blockIdx.x * cols;
    int tid = threadIdx.x;

    float largest = -INFINITY;
    for (int i = tid; i < cols; i += blockDim.x) largest = fmaxf(largest, x[i]);
    shared[tid] = largest;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) shared[tid] = fmaxf(shared[tid], shared[tid + s]);
        __syncthreads();
    }
    largest = shared[0];
    __syncthreads();

    float sum = 0.0f;
    for (int i = tid; i < cols; i += blockDim.x) {
        float e = expf(x[i] - largest);
        y[i] = e;
        sum += e;
    }
    shared[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) shared[tid] += shared[tid + s];
        __syncthreads();
    }
    sum = shared[0];
    for (int i = tid; i < cols; i += blockDim.x) y[i] /= sum;
}

int main(int argc, char **argv)
{
    int rows = bench_size(argc, argv, 16);
    size_t cells = (size_t)rows * COLS;
    float *x = device_floats(cells, 1, -6.0f, 6.0f), *y = (float *)device_bytes(cells * 4);
    MEASURE(row_softmax<<<rows, 256>>>(x, y, COLS));
    bool ok = true;
    for (int s = 0; s < 16; s++) {
        size_t at = sample(s, cells);
        unsigned row = (unsigned)(at / COLS);
        double sum = 0.0;
        for (int k = 0; k < COLS; k++) sum += exp((double)float_at(row * COLS + k, 1, -6.0f, 6.0f));
        double want = exp((double)float_at((unsigned)at, 1, -6.0f, 6.0f)) / sum;
        ok = ok && is_near(float_of(y, at) * 1000.0, want * 1000.0, 1e-4);
    }
    int code = bench_end("row_softmax", ok, y, cells);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return code;
}
