// Lane 0 produces and lane 1 of the same warp consumes through a ring of 4 entries, waiting for each other when full or empty.
// sm_90: ends
// sm_35: deadlock
#include <stdio.h>

#define WARPS 2
#define SLOTS 4
#define ITEMS 100

__global__ void stream(const int *in, int *out) {
    __shared__ volatile int ring[WARPS][SLOTS];
    __shared__ volatile int put[WARPS];
    __shared__ volatile int taken[WARPS];
    int w = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (lane < SLOTS) ring[w][lane] = -1;
    if (lane == 0) {
        put[w] = 0;
        taken[w] = 0;
    }
    __syncthreads();
    if (lane == 0) {
        for (int i = 0; i < ITEMS; i++) {
            while (i - taken[w] >= SLOTS) {
            }
            __threadfence_block();
            ring[w][i % SLOTS] = in[w * ITEMS + i];
            __threadfence_block();
            put[w] = i + 1;
        }
    } else if (lane == 1) {
        for (int i = 0; i < ITEMS; i++) {
            while (put[w] <= i) {
            }
            __threadfence_block();
            out[w * ITEMS + i] = ring[w][i % SLOTS] * 2 + i;
            __threadfence_block();
            taken[w] = i + 1;
        }
    }
}

int main() {
    int in[WARPS * ITEMS], out[WARPS * ITEMS];
    for (int i = 0; i < WARPS * ITEMS; i++) {
        in[i] = (i * 29) % 101;
        out[i] = -7;
    }
    int *di, *dout;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&dout, sizeof out);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(dout, out, sizeof out, cudaMemcpyHostToDevice);
    stream<<<1, WARPS * 32>>>(di, dout);
    cudaDeviceSynchronize();
    cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
    int ok = 1;
    for (int i = 0; i < WARPS * ITEMS; i++)
        if (out[i] != in[i] * 2 + i % ITEMS) ok = 0;
    cudaFree(di);
    cudaFree(dout);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
