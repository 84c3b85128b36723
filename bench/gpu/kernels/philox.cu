// random numbers: Philox 4x32-10, four words for each thread
// large: 16777216
#include "bench.h"

__global__ void philox(uint4 *out, unsigned n, unsigned seed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint4 c = make_uint4(i, 0, 0, 0);
    unsigned k0 = seed, k1 = 0;
    for (int round = 0; round < 10; round++) {
        unsigned high0 = __umulhi(0xd2511f53u, c.x), low0 = 0xd2511f53u * c.x;
        unsigned high1 = __umulhi(0xcd9e8d57u, c.z), low1 = 0xcd9e8d57u * c.z;
        c = make_uint4(high1 ^ c.y ^ k0, low1, high0 ^ c.w ^ k1, low0);
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    out[i] = c;
}

static void philox_of(unsigned *c, unsigned k0, unsigned k1)
{
    for (int round = 0; round < 10; round++) {
        unsigned long long a = 0xd2511f53ull * c[0], b = 0xcd9e8d57ull * c[2];
        unsigned next[4] = {(unsigned)(b >> 32) ^ c[1] ^ k0, (unsigned)b, (unsigned)(a >> 32) ^ c[3] ^ k1, (unsigned)a};
        for (int i = 0; i < 4; i++) c[i] = next[i];
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 1024);
    uint4 *out = (uint4 *)device_bytes((size_t)n * 16);
    MEASURE(philox<<<(n + 255) / 256, 256>>>(out, n, 2026u));
    // The first known answer of Random123: counter and key zero.
    unsigned zero[4] = {0, 0, 0, 0};
    philox_of(zero, 0, 0);
    bool ok = zero[0] == 0x6627e8d5u && zero[1] == 0xe169c58du && zero[2] == 0xbc57ac4cu && zero[3] == 0x9b00dbd8u;
    for (int s = 0; s < SAMPLES; s++) {
        size_t i = sample(s, n);
        unsigned want[4] = {(unsigned)i, 0, 0, 0};
        philox_of(want, 2026u, 0);
        for (int k = 0; k < 4; k++) ok = ok && word_of(out, 4 * i + k) == want[k];
    }
    int code = bench_end("philox", ok, out, (size_t)n * 4);
    CHECK(cudaFree(out));
    return code;
}
