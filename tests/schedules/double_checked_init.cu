// Double-checked initialisation: the state word says "claimed", not "finished", and the others take it for finished
// depends: yes
// needs: a block looks at the state after another has claimed it and before that one has filled the table (ascending and descending to the end are both right)
#include <stdio.h>

#define BLOCKS 8
#define THREADS 64
#define TABLE 32

__global__ void look_up(int *state, volatile int *table, const int *query, int *out) {
    int t = threadIdx.x;
    int i = blockIdx.x * THREADS + t;
    if (t == 0 && *(volatile int *)state == 0) {
        if (atomicCAS(state, 0, 1) == 0) {
            for (int k = 0; k < TABLE; k++) table[k] = k * k + 7;
            __threadfence();
        }
    }
    __syncthreads();
    out[i] = table[query[i]];
}

int main() {
    int table[TABLE], query[BLOCKS * THREADS], out[BLOCKS * THREADS], state = 0;
    for (int k = 0; k < TABLE; k++) table[k] = 0;
    for (int i = 0; i < BLOCKS * THREADS; i++) {
        query[i] = (i * 19 + i / 64) % TABLE;
        out[i] = -1;
    }
    int *ds, *dt, *dq, *dout;
    cudaMalloc(&ds, sizeof state);
    cudaMalloc(&dt, sizeof table);
    cudaMalloc(&dq, sizeof query);
    cudaMalloc(&dout, sizeof out);
    cudaMemcpy(ds, &state, sizeof state, cudaMemcpyHostToDevice);
    cudaMemcpy(dt, table, sizeof table, cudaMemcpyHostToDevice);
    cudaMemcpy(dq, query, sizeof query, cudaMemcpyHostToDevice);
    cudaMemcpy(dout, out, sizeof out, cudaMemcpyHostToDevice);
    look_up<<<BLOCKS, THREADS>>>(ds, dt, dq, dout);
    cudaDeviceSynchronize();
    cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
    unsigned sum = 0;
    int ok = 1;
    for (int i = 0; i < BLOCKS * THREADS; i++) {
        sum = sum * 33u + (unsigned)out[i];
        if (out[i] != query[i] * query[i] + 7) ok = 0;
    }
    printf("checksum %u\n", sum);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
