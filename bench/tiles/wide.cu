// Product of matrices: each thread computes 8 by 8 elements; four words at a time come from global memory, a's tile is turned on the way.
#define REAL float
#define TILE 128
#define DEPTH 8
#define EACH 8
#define THREADS (TILE / EACH * (TILE / EACH))

__global__ void product(int n, const float *a, const float *b, float *c)
{
    __shared__ float as[DEPTH][TILE], bs[DEPTH][TILE];
    const int column = threadIdx.x % (TILE / EACH), row = threadIdx.x / (TILE / EACH);
    const int a_row = threadIdx.x / (DEPTH / 4), a_column = threadIdx.x % (DEPTH / 4) * 4;
    const int b_row = threadIdx.x / (TILE / 4), b_column = threadIdx.x % (TILE / 4) * 4;
    a += blockIdx.y * TILE * n;
    b += blockIdx.x * TILE;
    c += blockIdx.y * TILE * n + blockIdx.x * TILE;
    float sum[EACH * EACH] = {0}, left[EACH], right[EACH];
    for (int step = 0; step < n; step += DEPTH) {
        float4 four = *(const float4 *)&a[a_row * n + a_column];
        as[a_column][a_row] = four.x;
        as[a_column + 1][a_row] = four.y;
        as[a_column + 2][a_row] = four.z;
        as[a_column + 3][a_row] = four.w;
        *(float4 *)&bs[b_row][b_column] = *(const float4 *)&b[b_row * n + b_column];
        __syncthreads();
        a += DEPTH;
        b += DEPTH * n;
        for (int k = 0; k < DEPTH; k++) {
            for (int i = 0; i < EACH; i++)
                left[i] = as[k][row * EACH + i];
            for (int j = 0; j < EACH; j++)
                right[j] = bs[k][column * EACH + j];
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    sum[i * EACH + j] += left[i] * right[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j += 4)
            *(float4 *)&c[(row * EACH + i) * n + column * EACH + j] =
                make_float4(sum[i * EACH + j], sum[i * EACH + j + 1], sum[i * EACH + j + 2], sum[i * EACH + j + 3]);
}

#include "product.h"
