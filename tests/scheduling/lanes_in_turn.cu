// The lanes of a warp take turns: lane i waits until lane i-1 has folded its value into a running hash, for several laps.
// sm_90: ends
// sm_35: deadlock
#include <stdio.h>

#define WARPS 3
#define LAPS 3

__global__ void fold(const unsigned *in, unsigned *out) {
    __shared__ volatile int turn[WARPS];
    __shared__ volatile unsigned hash[WARPS];
    int w = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (lane == 0) {
        turn[w] = 0;
        hash[w] = 17u + w;
    }
    __syncthreads();
    for (int lap = 0; lap < LAPS; lap++) {
        int mine = lap * 32 + lane;
        while (turn[w] != mine) {
        }
        __threadfence_block();
        hash[w] = hash[w] * 31u + in[threadIdx.x] + lap;
        __threadfence_block();
        turn[w] = mine + 1;
    }
    __syncthreads();
    if (lane == 0) out[w] = hash[w];
}

int main() {
    unsigned in[WARPS * 32], out[WARPS];
    for (int i = 0; i < WARPS * 32; i++) in[i] = (unsigned)(i * 7919) ^ 0x55u;
    for (int w = 0; w < WARPS; w++) out[w] = 0;
    unsigned *di, *dout;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&dout, sizeof out);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(dout, out, sizeof out, cudaMemcpyHostToDevice);
    fold<<<1, WARPS * 32>>>(di, dout);
    cudaDeviceSynchronize();
    cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
    int ok = 1;
    for (int w = 0; w < WARPS; w++) {
        unsigned h = 17u + w;
        for (int lap = 0; lap < LAPS; lap++)
            for (int l = 0; l < 32; l++) h = h * 31u + in[w * 32 + l] + lap;
        if (out[w] != h) ok = 0;
        printf("warp %d hash %u\n", w, out[w]);
    }
    cudaFree(di);
    cudaFree(dout);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
