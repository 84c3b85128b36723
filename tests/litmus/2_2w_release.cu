// allowed: x=1 y=1
// 2+2W, release
// blocks: 0 1
// T0: x = release.device 1; y = release.device 2
// T1: y = release.device 1; x = release.device 2
#include <stdio.h>
#include <stdlib.h>
#include <cuda/atomic>

__global__ void litmus(int *memory, int *seen, int n) {
    int test = blockIdx.x / 2 * 32 + threadIdx.x % 32;
    int *x = memory + test;
    int *y = memory + 1 * n + test;
    if (blockIdx.x % 2 == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device>(*x).store(1, cuda::memory_order_release);
        cuda::atomic_ref<int, cuda::thread_scope_device>(*y).store(2, cuda::memory_order_release);
    } else if (blockIdx.x % 2 == 1) {
        cuda::atomic_ref<int, cuda::thread_scope_device>(*y).store(1, cuda::memory_order_release);
        cuda::atomic_ref<int, cuda::thread_scope_device>(*x).store(2, cuda::memory_order_release);
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
        litmus<<<groups * 2, 32>>>(memory, seen, n);
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
