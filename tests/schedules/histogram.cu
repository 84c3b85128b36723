// Two-level histogram: atomics on a shared copy per block, then atomics on the global one
// depends: no
#include <stdio.h>

#define BINS 16
#define BLOCKS 6
#define THREADS 96
#define PER 4
#define N (BLOCKS * THREADS * PER)

__global__ void histogram(const unsigned *in, int *bins) {
    __shared__ int local[BINS];
    int t = threadIdx.x;
    if (t < BINS) local[t] = 0;
    __syncthreads();
    for (int k = 0; k < PER; k++) {
        unsigned v = in[(blockIdx.x * PER + k) * THREADS + t];
        atomicAdd(&local[(v >> 3) % BINS], 1);
    }
    __syncthreads();
    if (t < BINS && local[t] != 0) atomicAdd(&bins[t], local[t]);
}

int main() {
    unsigned in[N];
    int bins[BINS], want[BINS];
    unsigned x = 12345u;
    for (int b = 0; b < BINS; b++) bins[b] = want[b] = 0;
    for (int i = 0; i < N; i++) {
        x = x * 1664525u + 1013904223u;
        in[i] = x >> 12;
        want[(in[i] >> 3) % BINS]++;
    }
    unsigned *di;
    int *db;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&db, sizeof bins);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(db, bins, sizeof bins, cudaMemcpyHostToDevice);
    histogram<<<BLOCKS, THREADS>>>(di, db);
    cudaDeviceSynchronize();
    cudaMemcpy(bins, db, sizeof bins, cudaMemcpyDeviceToHost);
    int ok = 1;
    unsigned sum = 0;
    for (int b = 0; b < BINS; b++) {
        sum = sum * 131u + (unsigned)bins[b];
        if (bins[b] != want[b]) ok = 0;
    }
    printf("checksum %u\n", sum);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
