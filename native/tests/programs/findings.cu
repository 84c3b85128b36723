// Findings in a compiled program: an index out of bounds, a race; the exit code says so.
#include <cstdio>
#include <cuda_fp16.h>
__global__ void oob(int *p) { p[threadIdx.x + 30] = 1; }
__global__ void race(int *p) { __shared__ int s[64]; s[threadIdx.x] = threadIdx.x; p[threadIdx.x] = s[63 - threadIdx.x]; }
__global__ void h(__half *p) { p[threadIdx.x] = __hadd(p[threadIdx.x], __float2half(1.5f)); }
int main() {
  int *p; cudaMalloc(&p, 32 * 4);
  __half hh[32]; for (int i = 0; i < 32; i++) hh[i] = __float2half(i * 0.5f);
  __half *dh; cudaMalloc(&dh, 64); cudaMemcpy(dh, hh, 64, cudaMemcpyHostToDevice); h<<<1, 32>>>(dh); cudaMemcpy(hh, dh, 64, cudaMemcpyDeviceToHost); printf("%g %g\n", __half2float(hh[0]), (float)hh[31]);
  oob<<<1, 32>>>(p); printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  int *q; cudaMalloc(&q, 256); race<<<1, 64>>>(q); printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));

  return 0;
}
