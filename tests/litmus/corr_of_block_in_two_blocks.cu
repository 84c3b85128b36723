// allowed: a=1 b=0
// CoRR, atomics of the block only
// blocks: 0 1
// T0: x = relaxed.block 1
// T1: a = relaxed.block x; b = relaxed.block x
#include <stdio.h>
#include <stdlib.h>
#include <cuda/atomic>

__global__ void litmus(int *memory, int *seen, int n) {
    int test = blockIdx.x / 2 * 32 + threadIdx.x % 32;
    int *x = memory + test;
    if (blockIdx.x % 2 == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_block>(*x).store(1, cuda::memory_order_relaxed);
    } else if (blockIdx.x % 2 == 1) {
        int a = cuda::atomic_ref<int, cuda::thread_scope_block>(*x).load(cuda::memory_order_relaxed);
        int b = cuda::atomic_ref<int, cuda::thread_scope_block>(*x).load(cuda::memory_order_relaxed);
        seen[0 * n + test] = a;
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
