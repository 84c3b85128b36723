// Reference count raised only after a separate look that it is not zero: an object freed in between is used, and freed a second time
// depends: yes
// needs: the owner drops the last reference between a reader's look and that reader's increment (ascending and descending to the end are both right)
#include <stdio.h>

#define BLOCKS 9
#define OWNER 4
#define ALIVE 1234

__device__ void drop(int *ref, volatile int *object, int *frees) {
    if (atomicSub(ref, 1) == 1) {
        *object = -1;  // freed
        __threadfence();
        atomicAdd(frees, 1);
    }
}

__global__ void share(int *ref, volatile int *object, int *bad, int *frees) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == OWNER) {
        drop(ref, object, frees);
        return;
    }
    if (*(volatile int *)ref > 0) {
        atomicAdd(ref, 1);
        __threadfence();
        if (*object != ALIVE) atomicAdd(bad, 1);
        drop(ref, object, frees);
    }
}

int main() {
    int h[4] = {1, ALIVE, 0, 0};  // count, object, bad uses, frees
    int *d;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    share<<<BLOCKS, 32>>>(d, d + 1, d + 2, d + 3);
    cudaDeviceSynchronize();
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("count %d object %d bad uses %d frees %d\n", h[0], h[1], h[2], h[3]);
    cudaFree(d);
    printf(h[0] == 0 && h[1] == -1 && h[2] == 0 && h[3] == 1 ? "OK\n" : "WRONG\n");
    return 0;
}
