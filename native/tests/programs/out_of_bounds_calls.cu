// Calls that leave their memory: each is an error with the line of the call, and CUDA's error is what it gives.
#include <cstdio>
#include <vector>
__constant__ float weights[16];
__global__ void scale(float *d) { d[threadIdx.x] *= weights[threadIdx.x % 16]; }
int main() {
  std::vector<float> h(32, 1.0f);
  float *d; cudaStream_t s; cudaStreamCreate(&s);
  cudaMalloc(&d, 32 * sizeof(float));
  cudaMemcpyToSymbol(weights, h.data(), 16 * sizeof(float));
  cudaMemcpy(d, h.data(), 32 * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<1, 32>>>(d);
  printf("%d\n", cudaMemcpyToSymbol(weights, h.data(), 32 * sizeof(float)));
  printf("%d\n", cudaMemcpyToSymbol(weights, h.data(), 4, 64));
  printf("%d\n", cudaMemcpyFromSymbolAsync(h.data(), weights, 68, 0, cudaMemcpyDeviceToHost, s));
  printf("%d\n", cudaMemcpy(h.data(), d, 33 * sizeof(float), cudaMemcpyDeviceToHost));
  printf("%d\n", cudaMemset(d, 0, 129));
  printf("%d\n", cudaMemsetAsync(d + 1, 0, 128, s));
  printf("%d\n", cudaMemset(d + 31, 0, 4));
  cudaFree(d);
  cudaStreamDestroy(s);
}
