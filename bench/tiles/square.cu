// Product of matrices: each thread computes 4 by 4 elements, with words of both tiles in registers. `-D REAL=double`: in double precision.
#ifndef REAL
#define REAL float
#endif
#define TILE 64
#define DEPTH 8
#define EACH 4
#define THREADS (TILE / EACH * (TILE / EACH))

__global__ void product(int n, const REAL *a, const REAL *b, REAL *c)
{
    __shared__ REAL as[TILE * DEPTH], bs[DEPTH * TILE];
    const int column = threadIdx.x % (TILE / EACH), row = threadIdx.x / (TILE / EACH);
    a += blockIdx.y * TILE * n;
    b += blockIdx.x * TILE;
    c += blockIdx.y * TILE * n + blockIdx.x * TILE;
    const int a_row = threadIdx.x / DEPTH, a_column = threadIdx.x % DEPTH, a_step = THREADS / DEPTH;
    const int b_row = threadIdx.x / TILE, b_column = threadIdx.x % TILE, b_step = THREADS / TILE;
    REAL sum[EACH * EACH] = {0}, left[EACH] = {0}, right[EACH] = {0};
    for (int step = 0; step < n; step += DEPTH) {
        for (int from = 0; from < TILE; from += a_step)
            as[(a_row + from) * DEPTH + a_column] = a[(a_row + from) * n + a_column];
        for (int from = 0; from < DEPTH; from += b_step)
            bs[(b_row + from) * TILE + b_column] = b[(b_row + from) * n + b_column];
        __syncthreads();
        a += DEPTH;
        b += DEPTH * n;
        for (int k = 0; k < DEPTH; k++) {
            for (int i = 0; i < EACH; i++)
                left[i] = as[(row * EACH + i) * DEPTH + k];
            for (int j = 0; j < EACH; j++)
                right[j] = bs[k * TILE + column * EACH + j];
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    sum[i * EACH + j] += left[i] * right[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            c[(row * EACH + i) * n + column * EACH + j] = sum[i * EACH + j];
}

#include "product.h"
