// Product of matrices: each thread computes a column of 8 elements, with one word of b's tile in a register.
//
// Arguments: n (a multiple of 64; default 256), launches (default 1). The elements are small whole numbers, so every sum is exact.
#include <stdio.h>
#include <stdlib.h>

#ifndef REAL
#define REAL float
#endif
#define TILE 64
#define DEPTH 8
#define EACH 8

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
        product<<<dim3(n / TILE, n / TILE), TILE * TILE / EACH>>>(n, d_a, d_b, d_c);
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
