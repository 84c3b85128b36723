// warp-level code: each block keeps the numbers of its part that pass, in order, by votes and counts of bits
// large: 67108864
#include "bench.h"

#define BLOCK 256

__global__ void compact_ballot(const unsigned *in, unsigned *out, int *counts, int n, unsigned limit)
{
    __shared__ int starts[BLOCK / 32];
    int i = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned value = i < n ? in[i] : 0xffffffffu;
    bool keep = i < n && value < limit;
    unsigned votes = __ballot_sync(0xffffffffu, keep);
    if (lane == 0) starts[warp] = __popc(votes);
    __syncthreads();
    if (warp == 0) {
        int count = lane < BLOCK / 32 ? starts[lane] : 0, sum = count;
        for (int d = 1; d < BLOCK / 32; d *= 2) {
            int below = __shfl_up_sync(0xffffffffu, sum, d);
            if (lane >= d) sum += below;
        }
        if (lane < BLOCK / 32) starts[lane] = sum - count;
        if (lane == BLOCK / 32 - 1) counts[blockIdx.x] = sum;
    }
    __syncthreads();
    if (keep) out[blockIdx.x * BLOCK + starts[warp] + __popc(votes & ((1u << lane) - 1))] = value;
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 2048), blocks = (n + BLOCK - 1) / BLOCK;
    unsigned limit = 0x60000000u, *in = device_words(n, 1), *out = (unsigned *)device_bytes((size_t)n * 4);
    int *counts = (int *)device_bytes((size_t)blocks * 4);
    MEASURE(compact_ballot<<<blocks, BLOCK>>>(in, out, counts, n, limit));
    bool ok = true;
    for (int s = 0; s < 8; s++) {
        size_t block = sample(s, blocks);
        unsigned host[BLOCK], kept = 0;
        CHECK(cudaMemcpy(host, out + block * BLOCK, sizeof host, cudaMemcpyDeviceToHost));
        for (int k = 0; k < BLOCK; k++) {
            unsigned value = word_at((unsigned)(block * BLOCK + k), 1);
            if (value < limit) ok = ok && host[kept++] == value;
        }
        ok = ok && word_of(counts, block) == kept && (kept == BLOCK || host[kept] == 0);
    }
    int code = bench_end("compact_ballot", ok, out, n);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(counts));
    return code;
}
