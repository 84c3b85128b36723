// Each of two blocks looks whether the other has begun, and fences before it says so itself
// depends: no
// memory: weak
#include <stdio.h>

// Two blocks say that they have begun, and each looks whether the other one has. One of them comes first and cannot see that.
__global__ void begin(int *begun, volatile int *saw, int *done, int *both) {
    if (threadIdx.x != 0) return;
    int other = *(volatile int *)&begun[1 - blockIdx.x];
    __threadfence();
    atomicExch(&begun[blockIdx.x], 1);
    saw[blockIdx.x] = other;
    __threadfence();
    if (atomicAdd(done, 1) == 1) {
        __threadfence();
        *both = saw[0] + saw[1] == 2;
    }
}

int main() {
    int *begun, *saw, *done, *both, h = -1;
    cudaMalloc(&begun, 2 * sizeof(int));
    cudaMalloc(&saw, 2 * sizeof(int));
    cudaMalloc(&done, sizeof(int));
    cudaMalloc(&both, sizeof(int));
    cudaMemset(begun, 0, 2 * sizeof(int));
    cudaMemset(saw, 0, 2 * sizeof(int));
    cudaMemset(done, 0, sizeof(int));
    begin<<<2, 32>>>(begun, saw, done, both);
    cudaMemcpy(&h, both, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(begun);
    cudaFree(saw);
    cudaFree(done);
    cudaFree(both);
    printf(h == 0 ? "OK\n" : "WRONG\n");
    return 0;
}
