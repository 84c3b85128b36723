// A value of 8 bytes whose halves are equal, exchanged by one block and read by others: late, perhaps, but never one half of each
// depends: no
// memory: weak
#include <stdio.h>

#define BLOCKS 6
#define ROUNDS 6

__global__ void pass(unsigned long long *value, int *torn) {
    if (threadIdx.x != 0) return;
    for (unsigned long long k = 1; k <= ROUNDS; k++) {
        if (blockIdx.x == 0) {
            atomicExch(value, k << 32 | k);
        } else {
            unsigned long long seen = *(volatile unsigned long long *)value;
            if (seen >> 32 != (seen & 0xffffffffu)) atomicAdd(torn, 1);
        }
    }
}

int main() {
    unsigned long long *value;
    int *dtorn, torn = 0;
    cudaMalloc(&value, sizeof *value);
    cudaMalloc(&dtorn, sizeof torn);
    cudaMemset(value, 0, sizeof *value);
    cudaMemset(dtorn, 0, sizeof torn);
    pass<<<BLOCKS, 32>>>(value, dtorn);
    cudaMemcpy(&torn, dtorn, sizeof torn, cudaMemcpyDeviceToHost);
    printf("torn %d\n", torn);
    cudaFree(value);
    cudaFree(dtorn);
    printf(torn == 0 ? "OK\n" : "WRONG\n");
    return 0;
}
