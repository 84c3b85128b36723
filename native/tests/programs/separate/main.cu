#include "kern.h"
#include <cstdio>
#include <vector>
static __global__ void k(float *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = helper(p[i]) + coef[0]; }
void host_side(const char *);
int main() {
  std::vector<float> h(100, 2.f);
  float *d; cudaMalloc(&d, 400); cudaMemcpy(d, h.data(), 400, cudaMemcpyHostToDevice);
  float c[4] = {1, 10, 0, 0};
  cudaMemcpyToSymbol(coef, c, sizeof c);
  // A variable in managed memory is on both sides.
  int three = 3, *factor;
  cudaMalloc(&factor, sizeof(int)); cudaMemcpy(factor, &three, sizeof three, cudaMemcpyHostToDevice);
  if (cudaMemcpy(&scale, factor, sizeof(int), cudaMemcpyDeviceToDevice) != cudaSuccess) return 1;
  k<<<4, 32>>>(d, 100);
  int n; cudaMemcpyFromSymbol(&n, hits, sizeof n);
  cudaMemcpy(h.data(), d, 400, cudaMemcpyDeviceToHost);
  printf("%g %g %d %s\n", h[0], h[99], n, cudaGetErrorString(cudaGetLastError()));
  host_side("bye");
}
