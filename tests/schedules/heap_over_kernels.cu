// Lists in the device's heap that one kernel makes, another reads and a third gives back: a replay begins with the heap as it was
// depends: no
#include <stdio.h>

struct Node { int key; Node *next; };

__device__ Node *heads[64];

__global__ void build() {
    for (int i = 0; i < 3; i++) {
        Node *node = new Node;
        node->key = threadIdx.x + i;
        node->next = heads[threadIdx.x];
        heads[threadIdx.x] = node;
    }
}
__global__ void sum(int *total) {
    for (Node *node = heads[threadIdx.x]; node; node = node->next) atomicAdd(total, node->key);
}
__global__ void clear() {
    for (Node *node = heads[threadIdx.x]; node;) {
        Node *next = node->next;
        delete node;
        node = next;
    }
    heads[threadIdx.x] = nullptr;
}

int main() {
    int result, *total;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    build<<<1, 32>>>();
    sum<<<1, 32>>>(total);
    clear<<<1, 32>>>();
    cudaMemcpy(&result, total, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", result);
    cudaFree(total);
}
