// allowed: a=0 b=0
// Two atomics of the block only, on one place
// blocks: 0 1
// T0: a = add.block x 1
// T1: b = add.block x 1
#include <stdio.h>
#include <stdlib.h>

__global__ void litmus(int *memory, int *seen, int n) {
    int test = blockIdx.x / 2 * 32 + threadIdx.x % 32;
    int *x = memory + test;
    if (blockIdx.x % 2 == 0) {
        int a = atomicAdd_block(x, 1);
        seen[0 * n + test] = a;
    } else if (blockIdx.x % 2 == 1) {
        int b = atomicAdd_block(x, 1);
        seen[1 * n + test] = b;
    }
}

int main(int argc, char **argv) {
    int runs = argc > 1 ? atoi(argv[1]) : 1;
    int groups = argc > 1 ? 1024 : 1, n = groups * 32;
    int *memory, *seen;
    cudaMalloc(&memory, 1 * n * sizeof(int));
    cudaMalloc(&seen, 2 * n * sizeof(int));
    int *ends = (int *)malloc(1 * n * sizeof(int));
    int *saw = (int *)malloc(2 * n * sizeof(int));
    static int count[16];
    for (int run = 0; run < runs; run++) {
        cudaMemset(memory, 0, 1 * n * sizeof(int));
        cudaMemset(seen, 0, 2 * n * sizeof(int));
        litmus<<<groups * 2, 32>>>(memory, seen, n);
        cudaMemcpy(ends, memory, 1 * n * sizeof(int), cudaMemcpyDeviceToHost);
        cudaMemcpy(saw, seen, 2 * n * sizeof(int), cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++) {
            int kind = 0;
            kind = 4 * kind + saw[0 * n + i];
            kind = 4 * kind + saw[1 * n + i];
            count[kind]++;
        }
    }
    for (int kind = 0; kind < 16; kind++) {
        if (count[kind]) printf("a=%d b=%d: %d\n", kind >> 2 & 3, kind >> 0 & 3, count[kind]);
    }
    free(ends);
    free(saw);
    cudaFree(memory);
    cudaFree(seen);
    return 0;
}
