// Lanes on one side of an if spin on a flag that only the lanes on the other side of the same if set.
// sm_90: ends
// sm_35: deadlock
#include <stdio.h>

#define THREADS 64

__global__ void pass(const int *in, int *out) {
    __shared__ volatile int box[THREADS];
    __shared__ volatile int full[THREADS];
    int t = threadIdx.x;
    int lane = t & 31;
    box[t] = 0;
    full[t] = 0;
    __syncthreads();
    if (lane < 16) {
        // waits for lane + 16 of the same warp, which is on the other side
        while (full[t + 16] == 0) {
        }
        __threadfence_block();
        out[t] = box[t + 16] + in[t];
    } else {
        box[t] = in[t] * 3;
        __threadfence_block();
        full[t] = 1;
        out[t] = -in[t];
    }
}

int main() {
    int in[THREADS], out[THREADS];
    for (int i = 0; i < THREADS; i++) {
        in[i] = i * i + 1;
        out[i] = 0;
    }
    int *di, *dout;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&dout, sizeof out);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(dout, out, sizeof out, cudaMemcpyHostToDevice);
    pass<<<1, THREADS>>>(di, dout);
    cudaDeviceSynchronize();
    cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
    int ok = 1;
    for (int i = 0; i < THREADS; i++) {
        int want = (i & 31) < 16 ? in[i + 16] * 3 + in[i] : -in[i];
        if (out[i] != want) ok = 0;
    }
    cudaFree(di);
    cudaFree(dout);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
