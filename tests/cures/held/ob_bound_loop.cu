// alt: 128 | 1 | 33 | 1000
// cure: right: `<` in the loop over the row
// mended: c <= cols ==> c < cols
// offered: bound checked
#include <stdio.h>
#include <stdlib.h>
__global__ void row_dot(const float *m, const float *v, float *r, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float s = 0;
        for (int c = 0; c <= cols; c++) s += m[row * cols + c] * v[c];
        r[row] = s;
    }
}
int main(int argc, char **argv)
{
    int rows = argc > 1 ? atoi(argv[1]) : 96, cols = 20;
    float *h = (float *)malloc(rows * cols * sizeof(float)), *m, *v, *r;
    for (int i = 0; i < rows * cols; i++) h[i] = i % 6;
    cudaMalloc(&m, rows * cols * sizeof(float)); cudaMalloc(&v, cols * sizeof(float)); cudaMalloc(&r, rows * sizeof(float));
    cudaMemcpy(m, h, rows * cols * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(v, h, cols * sizeof(float), cudaMemcpyHostToDevice);
    row_dot<<<(rows + 63) / 64, 64>>>(m, v, r, rows, cols);
    cudaMemcpy(h, r, rows * sizeof(float), cudaMemcpyDeviceToHost);
    double s = 0;
    for (int i = 0; i < rows; i++) s += h[i];
    printf("%.0f\n", s);
    cudaFree(m); cudaFree(v); cudaFree(r); free(h);
}
