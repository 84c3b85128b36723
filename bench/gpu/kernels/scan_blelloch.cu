// scans: Blelloch's exclusive scan of 1024 elements in each block
// large: 33554432
#include "bench.h"

#define ITEMS 1024

__global__ void scan_blelloch(const int *in, int *out, int *totals)
{
    extern __shared__ int temp[];
    int tid = threadIdx.x, base = blockIdx.x * ITEMS, offset = 1;
    temp[2 * tid] = in[base + 2 * tid];
    temp[2 * tid + 1] = in[base + 2 * tid + 1];
    for (int d = ITEMS >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) {
            int ai = offset * (2 * tid + 1) - 1, bi = offset * (2 * tid + 2) - 1;
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (tid == 0) {
        totals[blockIdx.x] = temp[ITEMS - 1];
        temp[ITEMS - 1] = 0;
    }
    for (int d = 1; d < ITEMS; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (tid < d) {
            int ai = offset * (2 * tid + 1) - 1, bi = offset * (2 * tid + 2) - 1;
            int t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    out[base + 2 * tid] = temp[2 * tid];
    out[base + 2 * tid + 1] = temp[2 * tid + 1];
}

// So small that no sum of a block leaves `int`.
__host__ __device__ inline int item_at(unsigned i) { return word_at(i, 1) >> 16; }

__global__ void fill_items(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = item_at(i);
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 4096);
    int *in = (int *)device_bytes((size_t)n * 4), *out = (int *)device_bytes((size_t)n * 4), *totals = (int *)device_bytes(n / ITEMS * 4);
    fill_items<<<(n + 255) / 256, 256>>>(in, n);
    MEASURE(scan_blelloch<<<n / ITEMS, ITEMS / 2, ITEMS * sizeof(int)>>>(in, out, totals));
    bool ok = true;
    for (int s = 0; s < 8; s++) {
        size_t block = sample(s, n / ITEMS);
        unsigned host[ITEMS], sum = 0;
        CHECK(cudaMemcpy(host, out + block * ITEMS, sizeof host, cudaMemcpyDeviceToHost));
        for (int i = 0; i < ITEMS; i++) {
            ok = ok && host[i] == sum;
            sum += item_at((unsigned)(block * ITEMS + i));
        }
        ok = ok && word_of(totals, block) == sum;
    }
    int code = bench_end("scan_blelloch", ok, out, n);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(totals));
    return code;
}
