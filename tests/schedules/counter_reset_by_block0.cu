// Block 0 resets the finished-blocks counter at its own start, although other blocks of the same launch may have counted already
// depends: yes
// needs: some other block counts itself before block 0 has reset the counter (right in ascending order, wrong in descending)
#include <stdio.h>

#define BLOCKS 6
#define LAUNCHES 3

__global__ void sum_blocks(const int *in, volatile int *partial, int *done, int *result, int launch) {
    if (threadIdx.x != 0) return;
    int b = blockIdx.x;
    if (b == 0) {
        atomicExch(done, 0);
        __threadfence();
    }
    partial[b] = in[b] * (launch + 1);
    __threadfence();
    if (atomicAdd(done, 1) == BLOCKS - 1) {
        __threadfence();
        int all = 0;
        for (int k = 0; k < BLOCKS; k++) all += partial[k];
        result[launch] = all;
    }
}

int main() {
    int in[BLOCKS], zero[BLOCKS], result[LAUNCHES], done = 0, base = 0, ok = 1;
    for (int b = 0; b < BLOCKS; b++) {
        in[b] = 10 + b * b;
        zero[b] = 0;
        base += in[b];
    }
    for (int l = 0; l < LAUNCHES; l++) result[l] = 0;
    int *di, *dp, *dd, *dr;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&dp, sizeof zero);
    cudaMalloc(&dd, sizeof done);
    cudaMalloc(&dr, sizeof result);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(dp, zero, sizeof zero, cudaMemcpyHostToDevice);
    cudaMemcpy(dd, &done, sizeof done, cudaMemcpyHostToDevice);
    cudaMemcpy(dr, result, sizeof result, cudaMemcpyHostToDevice);
    for (int l = 0; l < LAUNCHES; l++) sum_blocks<<<BLOCKS, 32>>>(di, dp, dd, dr, l);
    cudaDeviceSynchronize();
    cudaMemcpy(result, dr, sizeof result, cudaMemcpyDeviceToHost);
    for (int l = 0; l < LAUNCHES; l++)
        if (result[l] != base * (l + 1)) ok = 0;
    printf("results %d %d %d\n", result[0], result[1], result[2]);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
