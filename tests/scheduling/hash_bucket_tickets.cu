// Chained hash table with one fair ticket lock per bucket; every thread draws a ticket of its own, 32 lanes on 16 buckets.
// sm_90: ends
// sm_35: deadlock
#include <stdio.h>

#define BUCKETS 16
#define BLOCKS 2
#define THREADS 64
#define PER 3
#define KEYS (BLOCKS * THREADS * PER)

__host__ __device__ unsigned key_of(int i) { return (unsigned)i * 11u + 5u; }
__host__ __device__ int bucket_of(unsigned key) { return (int)((key * 2654435761u) >> 28); }

__global__ void insert(int *draw, volatile int *serving, volatile int *head, volatile int *next) {
    int me = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < PER; r++) {
        int node = me * PER + r;
        int b = bucket_of(key_of(node));
        int ticket = atomicAdd(&draw[b], 1);
        while (serving[b] != ticket) {
        }
        __threadfence();
        next[node] = head[b];
        head[b] = node;
        __threadfence();
        serving[b] = ticket + 1;
    }
}

int main() {
    int small[BUCKETS], head[BUCKETS], next[KEYS], seen[KEYS];
    for (int b = 0; b < BUCKETS; b++) {
        small[b] = 0;
        head[b] = -1;
    }
    for (int i = 0; i < KEYS; i++) {
        next[i] = -2;
        seen[i] = 0;
    }
    int *draw, *serving, *dh, *dn;
    cudaMalloc(&draw, sizeof small);
    cudaMalloc(&serving, sizeof small);
    cudaMalloc(&dh, sizeof head);
    cudaMalloc(&dn, sizeof next);
    cudaMemcpy(draw, small, sizeof small, cudaMemcpyHostToDevice);
    cudaMemcpy(serving, small, sizeof small, cudaMemcpyHostToDevice);
    cudaMemcpy(dh, head, sizeof head, cudaMemcpyHostToDevice);
    cudaMemcpy(dn, next, sizeof next, cudaMemcpyHostToDevice);
    insert<<<BLOCKS, THREADS>>>(draw, serving, dh, dn);
    cudaDeviceSynchronize();
    cudaMemcpy(head, dh, sizeof head, cudaMemcpyDeviceToHost);
    cudaMemcpy(next, dn, sizeof next, cudaMemcpyDeviceToHost);
    int ok = 1, total = 0;
    for (int b = 0; b < BUCKETS; b++)
        for (int n = head[b]; n >= 0 && n < KEYS && total <= KEYS; n = next[n]) {
            total++;
            seen[n]++;
            if (bucket_of(key_of(n)) != b) ok = 0;
        }
    for (int i = 0; i < KEYS; i++)
        if (seen[i] != 1) ok = 0;
    printf("%d keys in %d buckets\n", total, BUCKETS);
    printf(ok && total == KEYS ? "OK\n" : "WRONG\n");
    return 0;
}
