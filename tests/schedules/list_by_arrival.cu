// Each block writes its number where a counter says: the list is in the order of arrival, and it is printed as it is
// depends: yes
// needs: another block comes first
#include <stdio.h>

#define BLOCKS 6

__global__ void arrive(int *count, int *list) {
    if (threadIdx.x != 0) return;
    list[atomicAdd(count, 1)] = blockIdx.x;
}

int main() {
    int list[BLOCKS], ok = 1, *count, *d;
    cudaMalloc(&count, sizeof(int));
    cudaMalloc(&d, sizeof list);
    cudaMemset(count, 0, sizeof(int));
    arrive<<<BLOCKS, 32>>>(count, d);
    cudaMemcpy(list, d, sizeof list, cudaMemcpyDeviceToHost);
    for (int i = 0; i < BLOCKS; i++) {
        printf("%d ", list[i]);
        if (list[i] != i) ok = 0;
    }
    cudaFree(count);
    cudaFree(d);
    printf(ok ? "\nOK\n" : "\nWRONG\n");
    return 0;
}
