// sorting: each block sorts 512 keys by eight bits, one bit after the other, and counts its digits
// large: 16777216
#include "bench.h"

#define BLOCK 512
#define BITS 8

__global__ void radix_split(const unsigned *in, unsigned *out, unsigned *counts, int shift)
{
    __shared__ unsigned keys[BLOCK];
    __shared__ unsigned zeros[BLOCK / 32 + 1];
    __shared__ unsigned digits[1 << BITS];
    unsigned tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    if (tid < 1 << BITS) digits[tid] = 0;
    unsigned key = in[blockIdx.x * BLOCK + tid];
    for (int bit = shift; bit < shift + BITS; bit++) {
        bool one = key >> bit & 1;
        unsigned votes = __ballot_sync(0xffffffffu, !one);
        if (lane == 0) zeros[warp] = __popc(votes);
        __syncthreads();
        if (tid == 0) {
            unsigned sum = 0;
            for (int w = 0; w < BLOCK / 32; w++) {
                unsigned count = zeros[w];
                zeros[w] = sum;
                sum += count;
            }
            zeros[BLOCK / 32] = sum;
        }
        __syncthreads();
        unsigned before = zeros[warp] + __popc(votes & ((1u << lane) - 1));
        unsigned to = one ? zeros[BLOCK / 32] + tid - before : before;
        keys[to] = key;
        __syncthreads();
        key = keys[tid];
        __syncthreads();
    }
    out[blockIdx.x * BLOCK + tid] = key;
    atomicAdd(&digits[key >> shift & ((1 << BITS) - 1)], 1u);
    __syncthreads();
    if (tid < 1 << BITS) counts[blockIdx.x * (1 << BITS) + tid] = digits[tid];
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 2048), blocks = n / BLOCK, shift = 8;
    unsigned *in = device_words(n, 1), *out = (unsigned *)device_bytes((size_t)n * 4), *counts = (unsigned *)device_bytes((size_t)blocks * 1024);
    MEASURE(radix_split<<<blocks, BLOCK>>>(in, out, counts, shift));
    bool ok = true;
    for (int s = 0; s < 4; s++) {
        size_t block = sample(s, blocks);
        unsigned keys[BLOCK], digits[256], sum = 0, found[256];
        CHECK(cudaMemcpy(keys, out + block * BLOCK, sizeof keys, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(found, counts + block * 256, sizeof found, cudaMemcpyDeviceToHost));
        memset(digits, 0, sizeof digits);
        for (int i = 0; i < BLOCK; i++) {
            unsigned key = word_at((unsigned)(block * BLOCK + i), 1);
            digits[key >> shift & 255]++;
            sum += keys[i] * 3 - key * 3;
            if (i > 0) ok = ok && (keys[i - 1] >> shift & 255) <= (keys[i] >> shift & 255);
        }
        for (int d = 0; d < 256; d++) ok = ok && digits[d] == found[d];
        ok = ok && sum == 0;
    }
    int code = bench_end("radix_split", ok, out, n);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(counts));
    return code;
}
