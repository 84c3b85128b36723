// dense algebra: the product of two matrices through tiles of 32 x 32 in shared memory
// large: 2048
#include "bench.h"

#define TILE 32

__global__ void gemm_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (n + TILE - 1) / TILE; t++) {
        int ac = t * TILE + threadIdx.x, br = t * TILE + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < n && ac < n ? a[row * n + ac] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = br < n && col < n ? b[br * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = sum;
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 64);
    size_t cells = (size_t)n * n;
    float *a = device_floats(cells, 1, -1.0f, 1.0f), *b = device_floats(cells, 2, -1.0f, 1.0f);
    float *c = (float *)device_bytes(cells * 4);
    dim3 grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE), block(TILE, TILE);
    MEASURE(gemm_tiled<<<grid, block>>>(a, b, c, n));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        size_t at = sample(s, cells);
        unsigned row = (unsigned)(at / n), col = (unsigned)(at % n);
        double want = 0.0;
        for (int k = 0; k < n; k++) want += (double)float_at(row * n + k, 1, -1.0f, 1.0f) * float_at(k * n + col, 2, -1.0f, 1.0f);
        ok = ok && is_near(float_of(c, at), want, 1e-4);
    }
    int code = bench_end("gemm_tiled", ok, c, cells);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    return code;
}
