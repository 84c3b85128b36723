// alt: 64 | 16 | 32
// cure: right
// mended: for (int e = 0; e < TILE; ++e) ==> for (int e = 0; e < TILE; __syncthreads(), ++e)
// offered: barrier proved
#include <cstdio>
#include <cstdlib>
#define TILE 16
// the barrier at the end of each round is missing
__global__ void MatMul(const float *A, const float *B, float *C, int N)
{
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int m = 0; m < N / TILE; ++m) {
        As[threadIdx.y][threadIdx.x] = A[row * N + m * TILE + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(m * TILE + threadIdx.y) * N + col];
        __syncthreads();
        for (int e = 0; e < TILE; ++e)
            sum += As[threadIdx.y][e] * Bs[e][threadIdx.x];
    }
    C[row * N + col] = sum;
}
int main(int argc, char **argv)
{
    int N = argc > 1 ? atoi(argv[1]) : 48;
    size_t bytes = N * N * sizeof(float);
    float *h = (float *)malloc(bytes), *a, *b, *c;
    for (int i = 0; i < N * N; i++) h[i] = i % 7 - 3;
    cudaMalloc(&a, bytes); cudaMalloc(&b, bytes); cudaMalloc(&c, bytes);
    cudaMemcpy(a, h, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(b, h, bytes, cudaMemcpyHostToDevice);
    MatMul<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(a, b, c, N);
    cudaMemcpy(h, c, bytes, cudaMemcpyDeviceToHost);
    double s = 0;
    for (int i = 0; i < N * N; i++) s += h[i] * (i % 3);
    printf("%.0f\n", s);
    cudaFree(a); cudaFree(b); cudaFree(c); free(h);
}
