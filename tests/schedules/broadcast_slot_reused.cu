// The last warp broadcasts one value a round through a shared slot, with a barrier after the write but none before the next write
// depends: yes
// needs: an earlier warp is late and reads the slot after the last warp has gone on to the next round's write (right when warps run in ascending order from barrier to barrier, wrong in descending)
#include <stdio.h>

#define THREADS 128
#define ROUNDS 8

__global__ void broadcast(const int *seed, int *out) {
    __shared__ volatile int slot;
    int t = threadIdx.x;
    int acc = t;
    for (int r = 0; r < ROUNDS; r++) {
        if (t == THREADS - 1) slot = seed[r];
        __syncthreads();
        acc = acc * 5 + slot;
        __syncwarp();
        // a second __syncthreads() belongs here
    }
    out[t] = acc;
}

int main() {
    int seed[ROUNDS], out[THREADS], ok = 1;
    for (int r = 0; r < ROUNDS; r++) seed[r] = 3 + r * r * 7;
    for (int t = 0; t < THREADS; t++) out[t] = 0;
    int *ds, *dout;
    cudaMalloc(&ds, sizeof seed);
    cudaMalloc(&dout, sizeof out);
    cudaMemcpy(ds, seed, sizeof seed, cudaMemcpyHostToDevice);
    cudaMemcpy(dout, out, sizeof out, cudaMemcpyHostToDevice);
    broadcast<<<1, THREADS>>>(ds, dout);
    cudaDeviceSynchronize();
    cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
    unsigned sum = 0;
    for (int t = 0; t < THREADS; t++) {
        int acc = t;
        for (int r = 0; r < ROUNDS; r++) acc = acc * 5 + seed[r];
        if (out[t] != acc) ok = 0;
        sum = sum * 31u + (unsigned)out[t];
    }
    printf("checksum %u\n", sum);
    cudaFree(ds);
    cudaFree(dout);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
