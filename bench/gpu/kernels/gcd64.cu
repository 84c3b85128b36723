// integer arithmetic: Euclid's algorithm on numbers of 64 bits
// large: 1048576
#include "bench.h"

typedef unsigned long long u64;

__global__ void gcd64(const u64 *a, const u64 *b, u64 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 x = a[i], y = b[i];
    while (y != 0) {
        u64 rest = x % y;
        x = y;
        y = rest;
    }
    out[i] = x;
}

static u64 wide_at(size_t i, unsigned seed) { return (u64)word_at(2 * i + 1, seed) << 32 | word_at(2 * i, seed); }

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 512);
    u64 *a = (u64 *)device_words((size_t)n * 2, 1), *b = (u64 *)device_words((size_t)n * 2, 2), *out = (u64 *)device_bytes((size_t)n * 8);
    MEASURE(gcd64<<<(n + 255) / 256, 256>>>(a, b, out, n));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        size_t i = sample(s, n);
        u64 x = wide_at(i, 1), y = wide_at(i, 2), got;
        while (y != 0) {
            u64 rest = x % y;
            x = y;
            y = rest;
        }
        CHECK(cudaMemcpy(&got, out + i, 8, cudaMemcpyDeviceToHost));
        ok = ok && got == x;
    }
    int code = bench_end("gcd64", ok, out, (size_t)n * 2);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(out));
    return code;
}
