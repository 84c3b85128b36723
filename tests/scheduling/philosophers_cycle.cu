// Thirty-two lanes at a round table: each takes its left fork, all meet, then each waits for its right fork, which its neighbour holds.
// sm_90: deadlock
// sm_35: deadlock
#include <stdio.h>

#define SEATS 32

__global__ void dine(int *fork, volatile int *eaten) {
    int lane = threadIdx.x;
    int left = lane;
    int right = (lane + 1) % SEATS;
    while (atomicCAS(&fork[left], 0, 1) != 0) {
    }
    __syncwarp();  // everybody now holds a left fork
    while (atomicCAS(&fork[right], 0, 1) != 0) {
        __nanosleep(20);
    }
    __threadfence();
    eaten[lane] = eaten[lane] + 1;
    __threadfence();
    atomicExch(&fork[right], 0);
    atomicExch(&fork[left], 0);
}

int main() {
    int zero[SEATS], eaten[SEATS];
    for (int i = 0; i < SEATS; i++) zero[i] = 0;
    int *df, *de;
    cudaMalloc(&df, sizeof zero);
    cudaMalloc(&de, sizeof zero);
    cudaMemcpy(df, zero, sizeof zero, cudaMemcpyHostToDevice);
    cudaMemcpy(de, zero, sizeof zero, cudaMemcpyHostToDevice);
    dine<<<1, SEATS>>>(df, de);
    cudaDeviceSynchronize();
    cudaMemcpy(eaten, de, sizeof eaten, cudaMemcpyDeviceToHost);
    int meals = 0;
    for (int i = 0; i < SEATS; i++) meals += eaten[i];
    printf("%d meals\n", meals);
    cudaFree(df);
    cudaFree(de);
    printf(meals == SEATS ? "OK\n" : "WRONG\n");
    return 0;
}
