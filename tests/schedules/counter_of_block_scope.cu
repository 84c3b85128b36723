// Two blocks count with atomics of block scope: some counts are lost
// depends: yes
// memory: weak
// needs: an atomic acts on a value that is older than another block's (right wherever all atomics act on the newest)
#include <stdio.h>

#define ROUNDS 4

__global__ void count(int *total) {
    if (threadIdx.x != 0) return;
    for (int i = 0; i < ROUNDS; i++) atomicAdd_block(total, 1);
}

int main() {
    int *total, h = -1;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    count<<<2, 32>>>(total);
    cudaMemcpy(&h, total, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(total);
    printf("counted %d\n", h);
    printf(h == 2 * ROUNDS ? "OK\n" : "WRONG\n");
    return 0;
}
