// Blocks look whether the work queue still has an item and only then draw an index, which may by then be past the end
// depends: yes
// needs: two blocks both see the last item left before either draws its index (ascending and descending to the end are both right)
#include <stdio.h>

#define ITEMS 50
#define BLOCKS 8
#define POISON 1000000

__global__ void work(int *head, const int *item, int *total) {
    if (threadIdx.x != 0) return;
    int sum = 0;
    while (*(volatile int *)head < ITEMS) {
        int i = atomicAdd(head, 1);
        sum += item[i];
    }
    atomicAdd(total, sum);
}

int main() {
    // one guard item per block: drawn only when the check and the draw are torn apart
    int item[ITEMS + BLOCKS], state[2] = {0, 0}, want = 0;
    for (int i = 0; i < ITEMS; i++) {
        item[i] = (i * i) % 37 + 1;
        want += item[i];
    }
    for (int i = ITEMS; i < ITEMS + BLOCKS; i++) item[i] = POISON;
    int *di, *ds;
    cudaMalloc(&di, sizeof item);
    cudaMalloc(&ds, sizeof state);
    cudaMemcpy(di, item, sizeof item, cudaMemcpyHostToDevice);
    cudaMemcpy(ds, state, sizeof state, cudaMemcpyHostToDevice);
    work<<<BLOCKS, 32>>>(ds, di, ds + 1);
    cudaDeviceSynchronize();
    cudaMemcpy(state, ds, sizeof state, cudaMemcpyDeviceToHost);
    printf("drawn %d total %d\n", state[0], state[1]);
    cudaFree(di);
    cudaFree(ds);
    printf(state[0] == ITEMS && state[1] == want ? "OK\n" : "WRONG\n");
    return 0;
}
