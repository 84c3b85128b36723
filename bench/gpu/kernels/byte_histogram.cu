// histograms: how often each byte occurs, with a histogram of each warp in shared memory
// large: 134217728
#include "bench.h"

#define WARPS 8

__global__ void byte_histogram(const unsigned *data, unsigned words, unsigned *partial)
{
    __shared__ unsigned bins[WARPS][256];
    for (int i = threadIdx.x; i < WARPS * 256; i += blockDim.x) bins[i / 256][i % 256] = 0;
    __syncthreads();
    unsigned *mine = bins[threadIdx.x / 32];
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += blockDim.x * gridDim.x) {
        unsigned word = data[i];
        atomicAdd(&mine[word & 0xff], 1);
        atomicAdd(&mine[word >> 8 & 0xff], 1);
        atomicAdd(&mine[word >> 16 & 0xff], 1);
        atomicAdd(&mine[word >> 24], 1);
    }
    __syncthreads();
    unsigned sum = 0;
    for (int w = 0; w < WARPS; w++) sum += bins[w][threadIdx.x];
    partial[blockIdx.x * 256 + threadIdx.x] = sum;
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 16384), blocks = n >= 1 << 20 ? 1056 : 4;
    unsigned words = n / 4, *data = device_words(words, 1), *partial = (unsigned *)device_bytes((size_t)blocks * 1024);
    MEASURE(byte_histogram<<<blocks, WARPS * 32>>>(data, words, partial));
    // One block's part, whole, and the sum of all.
    unsigned first[256], stride = blocks * WARPS * 32;
    memset(first, 0, sizeof first);
    for (unsigned t = 0; t < WARPS * 32; t++)
        for (unsigned i = t; i < words; i += stride)
            for (int b = 0; b < 4; b++) first[word_at(i, 1) >> 8 * b & 255]++;
    unsigned *host = (unsigned *)malloc((size_t)blocks * 1024);
    CHECK(cudaMemcpy(host, partial, (size_t)blocks * 1024, cudaMemcpyDeviceToHost));
    bool ok = true;
    unsigned total = 0;
    for (int i = 0; i < 256; i++) ok = ok && host[i] == first[i];
    for (int i = 0; i < blocks * 256; i++) total += host[i];
    int code = bench_end("byte_histogram", ok && total == words * 4, partial, (size_t)blocks * 256);
    free(host);
    CHECK(cudaFree(data));
    CHECK(cudaFree(partial));
    return code;
}
