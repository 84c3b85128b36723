// alt: 64 | 100 | 33 | 1 | 256
// cure: right: `t * sizeof(double)`
// mended: t, t>>> ==> t, t * sizeof(double)>>>
// offered: other checked
#include <cstdio>
#include <cstdlib>
__global__ void prefix_of_last(const double *x, double *y)
{
    extern __shared__ double s[];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    y[t] = s[blockDim.x - 1] - s[t];
}
int main(int argc, char **argv)
{
    int t = argc > 1 ? atoi(argv[1]) : 128;
    double h[256], *x, *y;
    for (int i = 0; i < t; i++) h[i] = i * i;
    cudaMalloc(&x, sizeof h); cudaMalloc(&y, sizeof h);
    cudaMemcpy(x, h, t * sizeof(double), cudaMemcpyHostToDevice);
    prefix_of_last<<<1, t, t>>>(x, y);
    cudaMemcpy(h, y, t * sizeof(double), cudaMemcpyDeviceToHost);
    for (int i = 0; i < t; i++) printf("%g ", h[i]);
    printf("\n");
    cudaFree(x); cudaFree(y);
}
