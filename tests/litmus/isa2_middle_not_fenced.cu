// allowed: a=1 b=1 c=0
// ISA2, the thread between is not fenced
// blocks: 0 1 2
// T0: x = volatile 1; fence.device; y = volatile 1
// T1: a = volatile y; z = volatile 1
// T2: b = volatile z; fence.device; c = volatile x
#include <stdio.h>
#include <stdlib.h>

__global__ void litmus(int *memory, int *seen, int n) {
    int test = blockIdx.x / 3 * 32 + threadIdx.x % 32;
    int *x = memory + test;
    int *y = memory + 1 * n + test;
    int *z = memory + 2 * n + test;
    if (blockIdx.x % 3 == 0) {
        *(volatile int *)x = 1;
        __threadfence();
        *(volatile int *)y = 1;
    } else if (blockIdx.x % 3 == 1) {
        int a = *(volatile int *)y;
        *(volatile int *)z = 1;
        seen[0 * n + test] = a;
    } else if (blockIdx.x % 3 == 2) {
        int b = *(volatile int *)z;
        __threadfence();
        int c = *(volatile int *)x;
        seen[1 * n + test] = b;
        seen[2 * n + test] = c;
    }
}

int main(int argc, char **argv) {
    int runs = argc > 1 ? atoi(argv[1]) : 1;
    int groups = argc > 1 ? 1024 : 1, n = groups * 32;
    int *memory, *seen;
    cudaMalloc(&memory, 3 * n * sizeof(int));
    cudaMalloc(&seen, 3 * n * sizeof(int));
    int *ends = (int *)malloc(3 * n * sizeof(int));
    int *saw = (int *)malloc(3 * n * sizeof(int));
    static int count[64];
    for (int run = 0; run < runs; run++) {
        cudaMemset(memory, 0, 3 * n * sizeof(int));
        cudaMemset(seen, 0, 3 * n * sizeof(int));
        litmus<<<groups * 3, 32>>>(memory, seen, n);
        cudaMemcpy(ends, memory, 3 * n * sizeof(int), cudaMemcpyDeviceToHost);
        cudaMemcpy(saw, seen, 3 * n * sizeof(int), cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++) {
            int kind = 0;
            kind = 4 * kind + saw[0 * n + i];
            kind = 4 * kind + saw[1 * n + i];
            kind = 4 * kind + saw[2 * n + i];
            count[kind]++;
        }
    }
    for (int kind = 0; kind < 64; kind++) {
        if (count[kind]) printf("a=%d b=%d c=%d: %d\n", kind >> 4 & 3, kind >> 2 & 3, kind >> 0 & 3, count[kind]);
    }
    free(ends);
    free(saw);
    cudaFree(memory);
    cudaFree(seen);
    return 0;
}
