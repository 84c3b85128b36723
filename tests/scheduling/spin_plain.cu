// One spin lock, taken with a plain while loop by every lane of every warp, several rounds each.
// sm_90: ends
// sm_35: deadlock
#include <stdio.h>

#define BLOCKS 2
#define THREADS 64
#define ROUNDS 5

__global__ void count_up(int *lock, volatile int *count, volatile int *sum) {
    int me = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < ROUNDS; r++) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        *count = *count + 1;
        *sum = *sum + me * (r + 1);
        __threadfence();
        atomicExch(lock, 0);
    }
}

int main() {
    int zero[3] = {0, 0, 0}, got[3];
    int *d;
    cudaMalloc(&d, sizeof zero);
    cudaMemcpy(d, zero, sizeof zero, cudaMemcpyHostToDevice);
    count_up<<<BLOCKS, THREADS>>>(d, d + 1, d + 2);
    cudaDeviceSynchronize();
    cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost);
    int count = 0, sum = 0;
    for (int me = 0; me < BLOCKS * THREADS; me++)
        for (int r = 0; r < ROUNDS; r++) {
            count++;
            sum += me * (r + 1);
        }
    printf("lock %d count %d sum %d\n", got[0], got[1], got[2]);
    cudaFree(d);
    printf(got[0] == 0 && got[1] == count && got[2] == sum ? "OK\n" : "WRONG\n");
    return 0;
}
