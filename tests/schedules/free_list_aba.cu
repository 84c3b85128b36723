// Free list without a tag: the head goes away and comes back between another block's read of its successor and its compare-and-swap. What
// differs are four variables, of which the program reads one
// depends: yes
// needs: a block stops between the two, and another one takes two nodes and gives the first one back
#include <stdio.h>

__device__ int head, next_of[8], taken[8];

__device__ int pop() {
    for (;;) {
        int first = atomicAdd(&head, 0);
        if (first < 0) return -1;
        int second = atomicAdd(&next_of[first], 0);
        if (atomicCAS(&head, first, second) == first) return first;
    }
}
__device__ void push(int node) {
    for (;;) {
        int first = atomicAdd(&head, 0);
        atomicExch(&next_of[node], first);
        __threadfence();
        if (atomicCAS(&head, first, node) == first) return;
    }
}
__global__ void init() {
    for (int i = 0; i < 8; i++) next_of[i] = i < 7 ? i + 1 : -1;
    head = 0;
}
__global__ void work(int *twice) {
    int a = pop(), b = pop();
    if (atomicAdd(&taken[b], 1) > 0) atomicAdd(twice, 1);
    if (blockIdx.x == 0) {
        if (atomicAdd(&taken[a], 1) > 0) atomicAdd(twice, 1);
    } else {
        push(a);
    }
}

int main() {
    int result, *twice;
    cudaMalloc(&twice, sizeof(int));
    cudaMemset(twice, 0, sizeof(int));
    init<<<1, 1>>>();
    work<<<2, 1>>>(twice);
    cudaMemcpy(&result, twice, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", result);
    cudaFree(twice);
}
