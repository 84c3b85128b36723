// What a kernel may do besides computing: launch kernels, take memory from the device's heap. And a variable that no kernel names.
#include <cstdio>

__device__ int table[3] = {3, 5, 7};

__global__ void child(int *p, int by) { p[threadIdx.x] += by; }

__global__ void parent(int *p) {
    int *own = new int[2];
    own[0] = threadIdx.x;
    own[1] = 100;
    p[threadIdx.x] = own[0] + own[1];
    delete[] own;
    __syncthreads();
    if (threadIdx.x == 0) {
        child<<<1, 32>>>(p, 1000);
        child<<<1, 16>>>(p, 10000);
    }
}

int main() {
    int host[3], *p;
    cudaMemcpyFromSymbol(host, table, sizeof host);
    cudaMallocManaged(&p, 32 * sizeof(int));
    parent<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    printf("%d %d %d: %d %d %d\n", host[0], host[1], host[2], p[0], p[15], p[31]);
    cudaFree(p);
}
