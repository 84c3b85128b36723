// reductions: the sum of an array, a grid-stride loop and then shuffles
// large: 134217728
#include "bench.h"

__global__ void sum_grid_stride(const float *x, float *partial, int n)
{
    __shared__ float sums[32];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += x[i];
    for (int offset = warpSize / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / warpSize ? sums[lane] : 0.0f;
        for (int offset = warpSize / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (lane == 0) partial[blockIdx.x] = sum;
    }
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 8192), blocks = n >= 1 << 20 ? 1056 : 4;
    float *x = device_floats(n, 1, 0.0f, 1.0f), *partial = (float *)device_bytes(blocks * 4);
    MEASURE(sum_grid_stride<<<blocks, 256>>>(x, partial, n));
    double want = 0.0;
    for (unsigned t = 0; t < 256; t++)
        for (unsigned i = t; i < (unsigned)n; i += blocks * 256) want += float_at(i, 1, 0.0f, 1.0f);
    bool ok = is_near(float_of(partial, 0), want, 1e-5);
    int code = bench_end("sum_grid_stride", ok, partial, blocks);
    CHECK(cudaFree(x));
    CHECK(cudaFree(partial));
    return code;
}
