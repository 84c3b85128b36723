#include "kernels.h"
#include <stdio.h>
#include <stdlib.h>
#define CHECK(call)                                                                                        \
    {                                                                                                      \
        const cudaError_t error = call;                                                                    \
        if (error != cudaSuccess) {                                                                        \
            printf("Error: %s:%d, %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                   \
            exit(1);                                                                                       \
        }                                                                                                  \
    }
__global__ void tiled(const float *__restrict__ a, const float *__restrict__ b, float *c, int n) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n / TILE; t++) {
        as[threadIdx.y][threadIdx.x] = a[row * n + t * TILE + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(t * TILE + threadIdx.y) * n + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
extern "C" void multiply(const float *a, const float *b, float *c, int n) {
    float *da, *db, *dc;
    size_t bytes = (size_t)n * n * sizeof(float);
    CHECK(cudaMalloc((void **)&da, bytes));
    CHECK(cudaMalloc((void **)&db, bytes));
    CHECK(cudaMalloc((void **)&dc, bytes));
    CHECK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));
    dim3 block(TILE, TILE), grid(n / TILE, n / TILE);
    tiled<<<grid, block>>>(da, db, dc, n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
}
