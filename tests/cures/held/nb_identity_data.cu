// alt: rev
// offered: none
#include <cstdio>
__global__ void permute(float *o, const float *x, const int *idx)
{
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    o[threadIdx.x] = s[idx[threadIdx.x]];
}
int main(int argc, char **argv)
{
    float *o, *x, h[64];
    int *idx, i[64];
    for (int k = 0; k < 64; k++) { h[k] = k; i[k] = argc > 1 ? 63 - k : k; } // the test data: identity
    cudaMalloc(&o, 256); cudaMalloc(&x, 256); cudaMalloc(&idx, 256);
    cudaMemcpy(x, h, 256, cudaMemcpyHostToDevice);
    cudaMemcpy(idx, i, 256, cudaMemcpyHostToDevice);
    permute<<<1, 64>>>(o, x, idx);
    cudaMemcpy(h, o, 256, cudaMemcpyDeviceToHost);
    printf("%g\n", h[3]);
    cudaFree(o); cudaFree(x); cudaFree(idx);
}
