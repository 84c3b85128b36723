// Index of the minimum: the value is found with atomicMin, and among equal values the first thread to come names its index
// depends: yes
// needs: a block that holds a later copy of the minimum runs before the block with the first copy (right in ascending order, wrong in descending)
#include <stdio.h>

#define BLOCKS 8
#define THREADS 64
#define N (BLOCKS * THREADS)

__global__ void find_min(const int *in, int *best) {
    atomicMin(best, in[blockIdx.x * THREADS + threadIdx.x]);
}

__global__ void name_index(const int *in, const int *best, int *index) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (in[i] == *best) atomicCAS(index, -1, i);
}

int main() {
    int in[N], best = 1 << 30, index = -1, want = 0;
    for (int i = 0; i < N; i++) in[i] = 100 + (i * 41) % 300;
    in[1 * THREADS + 22] = 3;
    in[4 * THREADS + 50] = 3;
    in[6 * THREADS + 7] = 3;
    for (int i = 1; i < N; i++)
        if (in[i] < in[want]) want = i;
    int *di, *db, *dx;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&db, sizeof best);
    cudaMalloc(&dx, sizeof index);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(db, &best, sizeof best, cudaMemcpyHostToDevice);
    cudaMemcpy(dx, &index, sizeof index, cudaMemcpyHostToDevice);
    find_min<<<BLOCKS, THREADS>>>(di, db);
    name_index<<<BLOCKS, THREADS>>>(di, db, dx);
    cudaDeviceSynchronize();
    cudaMemcpy(&best, db, sizeof best, cudaMemcpyDeviceToHost);
    cudaMemcpy(&index, dx, sizeof index, cudaMemcpyDeviceToHost);
    printf("minimum %d at %d\n", best, index);
    cudaFree(di);
    cudaFree(db);
    cudaFree(dx);
    printf(best == in[want] && index == want ? "OK\n" : "WRONG\n");
    return 0;
}
