// allowed: a=1 b=0 c=1 d=0
// IRIW, release and acquire
// blocks: 0 1 2 3
// T0: x = release.device 1
// T1: y = release.device 1
// T2: a = acquire.device x; b = acquire.device y
// T3: c = acquire.device y; d = acquire.device x
#include <stdio.h>
#include <stdlib.h>
#include <cuda/atomic>

__global__ void litmus(int *memory, int *seen, int n) {
    int test = blockIdx.x / 4 * 32 + threadIdx.x % 32;
    int *x = memory + test;
    int *y = memory + 1 * n + test;
    if (blockIdx.x % 4 == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device>(*x).store(1, cuda::memory_order_release);
    } else if (blockIdx.x % 4 == 1) {
        cuda::atomic_ref<int, cuda::thread_scope_device>(*y).store(1, cuda::memory_order_release);
    } else if (blockIdx.x % 4 == 2) {
        int a = cuda::atomic_ref<int, cuda::thread_scope_device>(*x).load(cuda::memory_order_acquire);
        int b = cuda::atomic_ref<int, cuda::thread_scope_device>(*y).load(cuda::memory_order_acquire);
        seen[0 * n + test] = a;
        seen[1 * n + test] = b;
    } else if (blockIdx.x % 4 == 3) {
        int c = cuda::atomic_ref<int, cuda::thread_scope_device>(*y).load(cuda::memory_order_acquire);
        int d = cuda::atomic_ref<int, cuda::thread_scope_device>(*x).load(cuda::memory_order_acquire);
        seen[2 * n + test] = c;
        seen[3 * n + test] = d;
    }
}

int main(int argc, char **argv) {
    int runs = argc > 1 ? atoi(argv[1]) : 1;
    int groups = argc > 1 ? 1024 : 1, n = groups * 32;
    int *memory, *seen;
    cudaMalloc(&memory, 2 * n * sizeof(int));
    cudaMalloc(&seen, 4 * n * sizeof(int));
    int *ends = (int *)malloc(2 * n * sizeof(int));
    int *saw = (int *)malloc(4 * n * sizeof(int));
    static int count[256];
    for (int run = 0; run < runs; run++) {
        cudaMemset(memory, 0, 2 * n * sizeof(int));
        cudaMemset(seen, 0, 4 * n * sizeof(int));
        litmus<<<groups * 4, 32>>>(memory, seen, n);
        cudaMemcpy(ends, memory, 2 * n * sizeof(int), cudaMemcpyDeviceToHost);
        cudaMemcpy(saw, seen, 4 * n * sizeof(int), cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++) {
            int kind = 0;
            kind = 4 * kind + saw[0 * n + i];
            kind = 4 * kind + saw[1 * n + i];
            kind = 4 * kind + saw[2 * n + i];
            kind = 4 * kind + saw[3 * n + i];
            count[kind]++;
        }
    }
    for (int kind = 0; kind < 256; kind++) {
        if (count[kind]) printf("a=%d b=%d c=%d d=%d: %d\n", kind >> 6 & 3, kind >> 4 & 3, kind >> 2 & 3, kind >> 0 & 3, count[kind]);
    }
    free(ends);
    free(saw);
    cudaFree(memory);
    cudaFree(seen);
    return 0;
}
