// Last-block reduction done right: partial stored, fence, ticket; whichever block is last adds the partials in index order and resets the counter
// depends: no
#include <stdio.h>

#define BLOCKS 12
#define THREADS 64
#define LAUNCHES 2

__global__ void reduce(const float *in, volatile float *partial, unsigned *done, float *result) {
    __shared__ float s[THREADS];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(done, BLOCKS - 1) == BLOCKS - 1;  // wraps to 0 for the next launch
        __threadfence();
    }
    __syncthreads();
    if (last && t == 0) {
        float all = 0.0f;
        for (int b = 0; b < BLOCKS; b++) all = all * 0.5f + partial[b];
        *result = all;
    }
}

int main() {
    static float in[BLOCKS * THREADS], zero[BLOCKS];
    float result[LAUNCHES], want = 0.0f;
    unsigned done = 0;
    for (int i = 0; i < BLOCKS * THREADS; i++) in[i] = (float)((i * 13) % 32);
    for (int b = 0; b < BLOCKS; b++) zero[b] = 0.0f;
    for (int l = 0; l < LAUNCHES; l++) result[l] = -1.0f;
    float *di, *dp, *dr;
    unsigned *dd;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&dp, sizeof zero);
    cudaMalloc(&dr, sizeof result);
    cudaMalloc(&dd, sizeof done);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(dp, zero, sizeof zero, cudaMemcpyHostToDevice);
    cudaMemcpy(dr, result, sizeof result, cudaMemcpyHostToDevice);
    cudaMemcpy(dd, &done, sizeof done, cudaMemcpyHostToDevice);
    for (int l = 0; l < LAUNCHES; l++) reduce<<<BLOCKS, THREADS>>>(di, dp, dd, dr + l);
    cudaDeviceSynchronize();
    cudaMemcpy(result, dr, sizeof result, cudaMemcpyDeviceToHost);
    cudaMemcpy(&done, dd, sizeof done, cudaMemcpyDeviceToHost);
    // whole numbers and halvings: every step is exact enough to fit a float without rounding
    for (int b = 0; b < BLOCKS; b++) {
        float sum = 0.0f;
        for (int t = 0; t < THREADS; t++) sum += in[b * THREADS + t];
        want = want * 0.5f + sum;
    }
    int ok = done == 0;
    for (int l = 0; l < LAUNCHES; l++)
        if (result[l] != want) ok = 0;
    printf("results %.6f %.6f\n", result[0], result[1]);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
