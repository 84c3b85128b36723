// forbidden: x=1 y=1
// 2+2W, both fenced for the block
// blocks: 0 0
// T0: x = volatile 1; fence.block; y = volatile 2
// T1: y = volatile 1; fence.block; x = volatile 2
#include <stdio.h>
#include <stdlib.h>

__global__ void litmus(int *memory, int *seen, int n) {
    int test = blockIdx.x * 32 + threadIdx.x % 32;
    int *x = memory + test;
    int *y = memory + 1 * n + test;
    if (threadIdx.x / 32 == 0) {
        *(volatile int *)x = 1;
        __threadfence_block();
        *(volatile int *)y = 2;
    } else if (threadIdx.x / 32 == 1) {
        *(volatile int *)y = 1;
        __threadfence_block();
        *(volatile int *)x = 2;
    }
}

int main(int argc, char **argv) {
    int runs = argc > 1 ? atoi(argv[1]) : 1;
    int groups = argc > 1 ? 1024 : 1, n = groups * 32;
    int *memory, *seen;
    cudaMalloc(&memory, 2 * n * sizeof(int));
    cudaMalloc(&seen, 2 * n * sizeof(int));
    int *ends = (int *)malloc(2 * n * sizeof(int));
    int *saw = (int *)malloc(2 * n * sizeof(int));
    static int count[16];
    for (int run = 0; run < runs; run++) {
        cudaMemset(memory, 0, 2 * n * sizeof(int));
        cudaMemset(seen, 0, 2 * n * sizeof(int));
        litmus<<<groups * 1, 64>>>(memory, seen, n);
        cudaMemcpy(ends, memory, 2 * n * sizeof(int), cudaMemcpyDeviceToHost);
        cudaMemcpy(saw, seen, 2 * n * sizeof(int), cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++) {
            int kind = 0;
            kind = 4 * kind + ends[0 * n + i];
            kind = 4 * kind + ends[1 * n + i];
            count[kind]++;
        }
    }
    for (int kind = 0; kind < 16; kind++) {
        if (count[kind]) printf("x=%d y=%d: %d\n", kind >> 2 & 3, kind >> 0 & 3, count[kind]);
    }
    free(ends);
    free(saw);
    cudaFree(memory);
    cudaFree(seen);
    return 0;
}
