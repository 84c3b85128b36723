// Product of matrices: each thread computes a column of 8 elements, with one word of b's tile in a register.
#ifndef REAL
#define REAL float
#endif
#define TILE 64
#define DEPTH 8
#define EACH 8
#define THREADS (TILE * TILE / EACH)

__global__ void product(int n, const REAL *a, const REAL *b, REAL *c)
{
    __shared__ REAL as[TILE * DEPTH], bs[DEPTH * TILE];
    int column = threadIdx.x % TILE, row = threadIdx.x / TILE;
    int a_column = threadIdx.x % DEPTH, a_row = threadIdx.x / DEPTH;
    a += blockIdx.y * TILE * n;
    b += blockIdx.x * TILE;
    c += blockIdx.y * TILE * n + blockIdx.x * TILE;
    REAL sum[EACH] = {0};
    for (int step = 0; step < n; step += DEPTH) {
        as[a_row * DEPTH + a_column] = a[a_row * n + a_column];
        bs[row * TILE + column] = b[row * n + column];
        __syncthreads();
        a += DEPTH;
        b += DEPTH * n;
        for (int k = 0; k < DEPTH; k++) {
            REAL right = bs[k * TILE + column];
            for (int i = 0; i < EACH; i++)
                sum[i] += as[(row * EACH + i) * DEPTH + k] * right;
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        c[(row * EACH + i) * n + column] = sum[i];
}

#include "product.h"
