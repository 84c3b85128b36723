// Work queue of pairs: a block draws two arrival numbers one after the other and multiplies those two items, trusting them to be neighbours
// depends: yes
// needs: any draw by another block between the two draws of a block (ascending and descending to the end are both right)
#include <stdio.h>

#define BLOCKS 16
#define PAIRS 3
#define ITEMS (BLOCKS * PAIRS * 2)

__global__ void multiply_pairs(int *queue, const unsigned *item, unsigned *total) {
    if (threadIdx.x != 0) return;
    unsigned sum = 0;
    for (int p = 0; p < PAIRS; p++) {
        int first = atomicAdd(queue, 1);
        unsigned x = item[first];
        int second = atomicAdd(queue, 1);
        unsigned y = item[second];
        sum += x * y;
    }
    atomicAdd(total, sum);
}

int main() {
    unsigned item[ITEMS], total = 0, want = 0;
    int queue = 0;
    for (int i = 0; i < ITEMS; i++) item[i] = (unsigned)(i * 97 + i * i * 5) % 1009u;
    for (int i = 0; i < ITEMS; i += 2) want += item[i] * item[i + 1];
    int *dq;
    unsigned *di, *dt;
    cudaMalloc(&dq, sizeof queue);
    cudaMalloc(&di, sizeof item);
    cudaMalloc(&dt, sizeof total);
    cudaMemcpy(dq, &queue, sizeof queue, cudaMemcpyHostToDevice);
    cudaMemcpy(di, item, sizeof item, cudaMemcpyHostToDevice);
    cudaMemcpy(dt, &total, sizeof total, cudaMemcpyHostToDevice);
    multiply_pairs<<<BLOCKS, 32>>>(dq, di, dt);
    cudaDeviceSynchronize();
    cudaMemcpy(&total, dt, sizeof total, cudaMemcpyDeviceToHost);
    printf("total %u\n", total);
    cudaFree(dq);
    cudaFree(di);
    cudaFree(dt);
    printf(total == want ? "OK\n" : "WRONG\n");
    return 0;
}
