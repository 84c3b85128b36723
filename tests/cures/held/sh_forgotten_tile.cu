// alt: 32 | 48 | 16
// cure: right
// mended: float tile[S][S]; ==> __shared__ float tile[S][S];
// offered: shared checked
#include <cstdio>
#include <cstdlib>
constexpr int S = 16;
__global__ void transpose(const float *in, float *out, int n)
{
    float tile[S][S];
    int x = blockIdx.x * S + threadIdx.x, y = blockIdx.y * S + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[(blockIdx.x * S + threadIdx.y) * n + blockIdx.y * S + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 32;
    float *h = (float *)malloc(n * n * 4), *a, *b;
    for (int i = 0; i < n * n; i++) h[i] = i;
    cudaMalloc(&a, n * n * 4); cudaMalloc(&b, n * n * 4);
    cudaMemcpy(a, h, n * n * 4, cudaMemcpyHostToDevice);
    transpose<<<dim3(n / S, n / S), dim3(S, S)>>>(a, b, n);
    cudaMemcpy(h, b, n * n * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n * n; i += 13) printf("%g ", h[i]);
    printf("\n");
    cudaFree(a); cudaFree(b); free(h);
}
