// Index of the minimum with ties, value and index packed into one 64-bit atomicMin, beside wrapping integer sums by atomicAdd
// depends: no
#include <stdio.h>

#define BLOCKS 8
#define THREADS 64
#define N (BLOCKS * THREADS)

__global__ void scan(const unsigned *in, unsigned long long *best, unsigned *dot) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    unsigned long long mine = ((unsigned long long)in[i] << 32) | (unsigned)i;
    atomicMin(best, mine);  // equal values: the smaller index wins, whoever comes first
    unsigned x = in[i] * in[N - 1 - i] * 2654435761u;
    atomicAdd(dot, x);      // wraps around modulo 2^32, in any order alike
}

int main() {
    unsigned in[N], dot = 0, want_dot = 0;
    unsigned long long best = ~0ull;
    int want = 0;
    for (int i = 0; i < N; i++) in[i] = 50u + (unsigned)((i * 59) % 400);
    in[2 * THREADS + 40] = 7;
    in[2 * THREADS + 9] = 7;
    in[5 * THREADS + 1] = 7;
    in[7 * THREADS + 63] = 7;
    for (int i = 0; i < N; i++) {
        if (in[i] < in[want]) want = i;
        want_dot += in[i] * in[N - 1 - i] * 2654435761u;
    }
    unsigned *di, *dd;
    unsigned long long *db;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&dd, sizeof dot);
    cudaMalloc(&db, sizeof best);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(dd, &dot, sizeof dot, cudaMemcpyHostToDevice);
    cudaMemcpy(db, &best, sizeof best, cudaMemcpyHostToDevice);
    scan<<<BLOCKS, THREADS>>>(di, db, dd);
    cudaDeviceSynchronize();
    cudaMemcpy(&dot, dd, sizeof dot, cudaMemcpyDeviceToHost);
    cudaMemcpy(&best, db, sizeof best, cudaMemcpyDeviceToHost);
    int index = (int)(best & 0xffffffffull);
    unsigned value = (unsigned)(best >> 32);
    printf("minimum %u at %d, sum %u\n", value, index, dot);
    printf(index == want && value == in[want] && dot == want_dot ? "OK\n" : "WRONG\n");
    return 0;
}
