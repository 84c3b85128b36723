// Last-block reduction that draws its done-ticket before its partial sum is stored, so the last block may add a partial that is not there yet
// depends: yes
// needs: the block with the last ticket sums up while a block with an earlier ticket has not stored its partial (ascending and descending to the end are both right)
#include <stdio.h>

#define BLOCKS 8
#define THREADS 64

__global__ void reduce(const int *in, volatile int *partial, int *done, int *total) {
    __shared__ int sum;
    __shared__ int last;
    int t = threadIdx.x;
    if (t == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * THREADS + t]);
    if (t == 0) last = atomicAdd(done, 1) == BLOCKS - 1;
    __syncthreads();
    if (t == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
    }
    __syncthreads();
    if (last && t == 0) {
        int all = 0;
        for (int b = 0; b < BLOCKS; b++) all += partial[b];
        *total = all;
    }
}

int main() {
    int in[BLOCKS * THREADS], zero[BLOCKS], state[2] = {0, 0}, want = 0;
    for (int i = 0; i < BLOCKS * THREADS; i++) {
        in[i] = (i * 31) % 100 + 1;
        want += in[i];
    }
    for (int b = 0; b < BLOCKS; b++) zero[b] = 0;
    int *di, *dp, *ds;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&dp, sizeof zero);
    cudaMalloc(&ds, sizeof state);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(dp, zero, sizeof zero, cudaMemcpyHostToDevice);
    cudaMemcpy(ds, state, sizeof state, cudaMemcpyHostToDevice);
    reduce<<<BLOCKS, THREADS>>>(di, dp, ds, ds + 1);
    cudaDeviceSynchronize();
    cudaMemcpy(state, ds, sizeof state, cudaMemcpyDeviceToHost);
    printf("total %d\n", state[1]);
    printf(state[1] == want ? "OK\n" : "WRONG\n");
    return 0;
}
