// forbidden: a=0
// MP, the two meet at `__syncwarp()`
// lanes of one warp
// T0: x = 1; syncwarp
// T1: syncwarp; a = x
#include <stdio.h>
#include <stdlib.h>

__global__ void litmus(int *memory, int *seen, int n) {
    int test = blockIdx.x * 16 + threadIdx.x / 2;
    int *x = memory + test;
    if (threadIdx.x % 2 == 0) {
        *x = 1;
        __syncwarp();
    } else if (threadIdx.x % 2 == 1) {
        __syncwarp();
        int a = *x;
        seen[0 * n + test] = a;
    }
}

int main(int argc, char **argv) {
    int runs = argc > 1 ? atoi(argv[1]) : 1;
    int groups = argc > 1 ? 1024 : 1, n = groups * 16;
    int *memory, *seen;
    cudaMalloc(&memory, 1 * n * sizeof(int));
    cudaMalloc(&seen, 1 * n * sizeof(int));
    int *ends = (int *)malloc(1 * n * sizeof(int));
    int *saw = (int *)malloc(1 * n * sizeof(int));
    static int count[4];
    for (int run = 0; run < runs; run++) {
        cudaMemset(memory, 0, 1 * n * sizeof(int));
        cudaMemset(seen, 0, 1 * n * sizeof(int));
        litmus<<<groups * 1, 32>>>(memory, seen, n);
        cudaMemcpy(ends, memory, 1 * n * sizeof(int), cudaMemcpyDeviceToHost);
        cudaMemcpy(saw, seen, 1 * n * sizeof(int), cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++) {
            int kind = 0;
            kind = 4 * kind + saw[0 * n + i];
            count[kind]++;
        }
    }
    for (int kind = 0; kind < 4; kind++) {
        if (count[kind]) printf("a=%d: %d\n", kind >> 0 & 3, count[kind]);
    }
    free(ends);
    free(saw);
    cudaFree(memory);
    cudaFree(seen);
    return 0;
}
