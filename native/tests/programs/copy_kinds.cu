// Copies whose kind does not fit their pointers: told with their lines, though only the host's compiler has seen them. Managed and pinned
// memory is both sides'. Of a kind that is no constant the place is unknown.
#include <cstdio>
#include <thread>
__global__ void k(int *d) { d[threadIdx.x] = 1; }
#define CHECK(call) do { cudaError_t e = (call); if (e) printf("%s\n", cudaGetErrorString(e)); } while (0)
int main(int argc, char **) {
  int *d, h[32] = {}, *m, *p;
  cudaMalloc(&d, sizeof h); cudaMallocManaged(&m, sizeof h); cudaMallocHost(&p, sizeof h);
  k<<<1, 32>>>(d);
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy2D(h, 16, d, 16, 16, 4, cudaMemcpyHostToHost));
  cudaMemcpyKind kind = argc > 9 ? cudaMemcpyDefault : cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy(h, d, sizeof h, kind));
  printf("%d\n", h[31]);
  CHECK(cudaMemcpy(m, d, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(d, p, 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
  CHECK(cudaMemcpy(h, d, 0, cudaMemcpyHostToDevice));
  auto copy = cudaMemcpy;
  CHECK(copy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  std::thread other(cudaMemcpy, h, m, 4, cudaMemcpyDefault);
  other.join();
  printf("%d %d\n", h[0], h[31]);
}
