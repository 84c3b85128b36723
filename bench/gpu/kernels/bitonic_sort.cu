// sorting: each block sorts 1024 numbers in shared memory
// large: 8388608
#include "bench.h"

#define ITEMS 1024

__global__ void bitonic_sort(const unsigned *in, unsigned *out)
{
    __shared__ unsigned keys[ITEMS];
    unsigned base = blockIdx.x * ITEMS, tid = threadIdx.x;
    keys[tid] = in[base + tid];
    keys[tid + ITEMS / 2] = in[base + tid + ITEMS / 2];
    for (unsigned size = 2; size <= ITEMS; size <<= 1) {
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned low = 2 * tid - (tid & (stride - 1));
            bool up = (low & size) == 0;
            unsigned a = keys[low], b = keys[low + stride];
            if ((a > b) == up) {
                keys[low] = b;
                keys[low + stride] = a;
            }
        }
    }
    __syncthreads();
    out[base + tid] = keys[tid];
    out[base + tid + ITEMS / 2] = keys[tid + ITEMS / 2];
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 2048);
    unsigned *in = device_words(n, 1), *out = (unsigned *)device_bytes((size_t)n * 4);
    MEASURE(bitonic_sort<<<n / ITEMS, ITEMS / 2>>>(in, out));
    bool ok = true;
    unsigned host[ITEMS];
    for (int s = 0; s < 4; s++) {
        size_t block = sample(s, n / ITEMS);
        CHECK(cudaMemcpy(host, out + block * ITEMS, sizeof host, cudaMemcpyDeviceToHost));
        unsigned sum = 0, mixed = 0;
        for (int i = 0; i < ITEMS; i++) {
            unsigned word = word_at((unsigned)(block * ITEMS + i), 1);
            sum += host[i] - word;
            mixed += host[i] * host[i] - word * word;
            if (i > 0) ok = ok && host[i - 1] <= host[i];
        }
        ok = ok && sum == 0 && mixed == 0;
    }
    int code = bench_end("bitonic_sort", ok, out, n);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return code;
}
