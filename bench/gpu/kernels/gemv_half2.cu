// half arithmetic: the product of a matrix of halves and a vector, a warp a row, two halves at a time
// large: 16384
#include <cuda_fp16.h>
#include "bench.h"

__global__ void gemv_half2(const half2 *a, const half2 *x, float *y, int rows, int pairs)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    half2 sum = __float2half2_rn(0.0f);
    for (int i = lane; i < pairs; i += 32) sum = __hfma2(a[(size_t)row * pairs + i], x[i], sum);
    float total = __low2float(sum) + __high2float(sum);
    for (int offset = 16; offset > 0; offset /= 2) total += __shfl_down_sync(0xffffffffu, total, offset);
    if (lane == 0) y[row] = total;
}

__global__ void fill_halves(half *p, size_t n, unsigned seed)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += stride)
        p[i] = __float2half(float_at((unsigned)i, seed, 0.0f, 0.125f));
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 64);
    size_t cells = (size_t)n * n;
    half *a = (half *)device_bytes(cells * 2), *x = (half *)device_bytes(n * 2);
    fill_halves<<<bench_blocks(cells), 256>>>(a, cells, 1);
    fill_halves<<<bench_blocks(n), 256>>>(x, n, 2);
    float *y = (float *)device_bytes(n * 4);
    MEASURE(gemv_half2<<<(n + 7) / 8, 256>>>((const half2 *)a, (const half2 *)x, y, n, n / 2));
    bool ok = true;
    for (int s = 0; s < 8; s++) {
        unsigned row = (unsigned)sample(s, n);
        double want = 0.0;
        for (int k = 0; k < n; k++) want += (double)float_at(row * n + k, 1, 0.0f, 0.125f) * float_at(k, 2, 0.0f, 0.125f);
        ok = ok && is_near(float_of(y, row), want, 0.01);
    }
    int code = bench_end("gemv_half2", ok, y, n);
    CHECK(cudaFree(a));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return code;
}
