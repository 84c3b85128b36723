// dense algebra: the product of two matrices of doubles, 4 x 4 sums in each thread's registers
// large: 2048
#include "bench.h"

#define BLOCK 64
#define DEPTH 8
#define SUMS 4

__global__ void __launch_bounds__(256) dgemm_register(const double *__restrict__ a, const double *__restrict__ b, double *__restrict__ c, int n)
{
    __shared__ double as[DEPTH][BLOCK], bs[DEPTH][BLOCK];
    int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
    int row0 = blockIdx.y * BLOCK, col0 = blockIdx.x * BLOCK;
    double sums[SUMS][SUMS] = {};
    for (int k0 = 0; k0 < n; k0 += DEPTH) {
        for (int e = tid; e < BLOCK * DEPTH; e += 256) {
            as[e % DEPTH][e / DEPTH] = a[(row0 + e / DEPTH) * n + k0 + e % DEPTH];
            bs[e / BLOCK][e % BLOCK] = b[(k0 + e / BLOCK) * n + col0 + e % BLOCK];
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++)
            for (int i = 0; i < SUMS; i++)
                for (int j = 0; j < SUMS; j++) sums[i][j] += as[k][ty + 16 * i] * bs[k][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < SUMS; i++)
        for (int j = 0; j < SUMS; j++) c[(row0 + ty + 16 * i) * n + col0 + tx + 16 * j] = sums[i][j];
}

__global__ void fill_doubles(double *p, size_t n, unsigned seed)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += stride) p[i] = float_at((unsigned)i, seed, -1.0f, 1.0f);
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 64);
    size_t cells = (size_t)n * n;
    double *a = (double *)device_bytes(cells * 8), *b = (double *)device_bytes(cells * 8), *c = (double *)device_bytes(cells * 8);
    fill_doubles<<<bench_blocks(cells), 256>>>(a, cells, 1);
    fill_doubles<<<bench_blocks(cells), 256>>>(b, cells, 2);
    dim3 grid(n / BLOCK, n / BLOCK);
    MEASURE(dgemm_register<<<grid, 256>>>(a, b, c, n));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        size_t at = sample(s, cells);
        unsigned row = (unsigned)(at / n), col = (unsigned)(at % n);
        double want = 0.0, got;
        for (int k = 0; k < n; k++) want += (double)float_at(row * n + k, 1, -1.0f, 1.0f) * float_at(k * n + col, 2, -1.0f, 1.0f);
        CHECK(cudaMemcpy(&got, c + at, 8, cudaMemcpyDeviceToHost));
        ok = ok && is_near(got, want, 1e-11);
    }
    int code = bench_end("dgemm_register", ok, c, cells * 2);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    return code;
}
