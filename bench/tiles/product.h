// What the programs of this folder share: the data, the launches, and the check.
//
// A program gives `TILE`, `THREADS` and `product`, all of it for square matrices of n rows.
//
// Arguments: n (a multiple of TILE; default 256), launches (default 1). The elements are small whole numbers, so every sum is exact.
#pragma once
#include <stdio.h>
#include <stdlib.h>

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
        product<<<dim3(n / TILE, n / TILE), THREADS>>>(n, d_a, d_b, d_c);
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
