// A producer warp and two consumer warps share two buffers; a full and an empty named barrier per buffer, bar.arrive on the side that need not wait.
// sm_90: ends
// sm_35: ends
#include <stdio.h>

#define STAGES 9
#define TILE 64
#define ALL 96

__device__ void wait_at(int id) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(ALL) : "memory"); }
__device__ void arrive_at(int id) {
    __threadfence_block();
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(ALL) : "memory");
}

#define FULL(b) (1 + (b))
#define EMPTY(b) (3 + (b))

__global__ void pipeline(const int *in, int *out) {
    __shared__ int buf[2][TILE];
    int t = threadIdx.x;
    if (t < 32) {
        for (int k = 0; k < STAGES; k++) {
            int b = k & 1;
            if (k >= 2) wait_at(EMPTY(b));
            buf[b][t] = in[k * TILE + t] + k;
            buf[b][t + 32] = in[k * TILE + t + 32] - k;
            arrive_at(FULL(b));
        }
    } else {
        int c = t - 32;
        int acc = 0;
        for (int k = 0; k < STAGES; k++) {
            int b = k & 1;
            wait_at(FULL(b));
            acc = acc * 3 + buf[b][TILE - 1 - c];
            if (k + 2 < STAGES) arrive_at(EMPTY(b));
        }
        out[c] = acc;
    }
}

int main() {
    int in[STAGES * TILE], out[TILE], ok = 1;
    for (int i = 0; i < STAGES * TILE; i++) in[i] = (i * 53) % 127;
    for (int i = 0; i < TILE; i++) out[i] = 0;
    int *di, *dout;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&dout, sizeof out);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(dout, out, sizeof out, cudaMemcpyHostToDevice);
    pipeline<<<1, ALL>>>(di, dout);
    cudaDeviceSynchronize();
    cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
    for (int c = 0; c < TILE; c++) {
        int acc = 0, j = TILE - 1 - c;
        for (int k = 0; k < STAGES; k++) acc = acc * 3 + in[k * TILE + j] + (j < 32 ? k : -k);
        if (out[c] != acc) ok = 0;
    }
    cudaFree(di);
    cudaFree(dout);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
