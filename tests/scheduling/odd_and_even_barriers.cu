// Odd and even lanes of every warp reach __syncthreads at different statements, one call on each side of an if, and then read across.
// sm_90: barrier_divergence (an H200 ends with the right result; see barriers_on_both_sides.cu)
// sm_35: barrier_divergence
#include <stdio.h>

#define THREADS 128
#define ROUNDS 3

__global__ void cross(const int *in, int *out) {
    __shared__ volatile int box[THREADS];
    int t = threadIdx.x;
    int v = in[t];
    for (int r = 0; r < ROUNDS; r++) {
        if (t & 1) {
            box[t] = v * 3 + r;
            __syncthreads();
        } else {
            box[t] = v - 5;
            __syncthreads();
        }
        int got = box[(t + 33) % THREADS];
        __syncthreads();
        v = (v + got) & 0xffff;
    }
    out[t] = v;
}

int main() {
    int in[THREADS], out[THREADS], v[THREADS], box[THREADS];
    for (int i = 0; i < THREADS; i++) {
        in[i] = v[i] = (i * 71) % 200;
        out[i] = -1;
    }
    int *di, *dout;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&dout, sizeof out);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(dout, out, sizeof out, cudaMemcpyHostToDevice);
    cross<<<1, THREADS>>>(di, dout);
    cudaDeviceSynchronize();
    cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < THREADS; i++) box[i] = (i & 1) ? v[i] * 3 + r : v[i] - 5;
        for (int i = 0; i < THREADS; i++) v[i] = (v[i] + box[(i + 33) % THREADS]) & 0xffff;
    }
    int ok = 1;
    for (int i = 0; i < THREADS; i++)
        if (out[i] != v[i]) ok = 0;
    cudaFree(di);
    cudaFree(dout);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
