// Product of matrices: each thread computes 8 by 8 elements; four words at a time come from global memory, a's tile is turned on the way.
//
// Arguments: n (a multiple of 128; default 256), launches (default 1). The elements are small whole numbers, so every sum is exact.
#include <stdio.h>
#include <stdlib.h>

#define REAL float
#define TILE 128
#define DEPTH 8
#define EACH 8

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

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 256, launches = argc > 2 ? atoi(argv[2]) : 1;
    size_t bytes = sizeof(REAL) * n * n;
    REAL *a = (REAL *)malloc(bytes), *b = (REAL *)malloc(bytes), *c = (REAL *)malloc(bytes);
    for (int i = 0; i < n * n; i++) {
        a[i] = (REAL)(i % 7 - 3);
        b[i] = (REAL)(i % 5 - 2);
    }
    REAL *d_a, *d_b, *d_c;
    cudaMalloc(&d_a, bytes);
    cudaMalloc(&d_b, bytes);
    cudaMalloc(&d_c, bytes);
    cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b, bytes, cudaMemcpyHostToDevice);
    for (int i = 0; i < launches; i++)
        product<<<dim3(n / TILE, n / TILE), TILE * TILE / EACH / EACH>>>(n, d_a, d_b, d_c);
    cudaMemcpy(c, d_c, bytes, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int s = 0; s < 64; s++) {
        int row = s * 37 % n, column = s * 101 % n;
        REAL sum = 0;
        for (int k = 0; k < n; k++)
            sum += a[row * n + k] * b[k * n + column];
        wrong += c[row * n + column] != sum;
    }
    printf("n=%d wrong=%d\n", n, wrong);
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
    free(a);
    free(b);
    free(c);
    return wrong != 0;
}
