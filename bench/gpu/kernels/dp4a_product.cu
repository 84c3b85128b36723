// integer arithmetic: the product of two matrices of bytes, four at a time by __dp4a
// large: 2048
#include "bench.h"

#define TILE 16

// `b` is given by columns.
__global__ void dp4a_product(const int *a, const int *b, int *c, int n, int words)
{
    __shared__ int as[TILE][TILE + 1], bs[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x, sum = 0;
    for (int k = 0; k < words; k += TILE) {
        as[threadIdx.y][threadIdx.x] = a[row * words + k + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(blockIdx.x * TILE + threadIdx.y) * words + k + threadIdx.x];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++) sum = __dp4a(as[threadIdx.y][i], bs[threadIdx.x][i], sum);
        __syncthreads();
    }
    c[row * n + col] = sum;
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 64), words = n / 4;
    size_t cells = (size_t)n * n;
    int *a = (int *)device_words(cells / 4, 1), *b = (int *)device_words(cells / 4, 2), *c = (int *)device_bytes(cells * 4);
    dim3 grid(n / TILE, n / TILE), block(TILE, TILE);
    MEASURE(dp4a_product<<<grid, block>>>(a, b, c, n, words));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        size_t at = sample(s, cells);
        unsigned row = (unsigned)(at / n), col = (unsigned)(at % n);
        int want = 0;
        for (int k = 0; k < words; k++)
            for (int i = 0; i < 4; i++)
                want += (signed char)(word_at(row * words + k, 1) >> 8 * i) * (signed char)(word_at(col * words + k, 2) >> 8 * i);
        ok = ok && (int)word_of(c, at) == want;
    }
    int code = bench_end("dp4a_product", ok, c, cells);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    return code;
}
