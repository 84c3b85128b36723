// A captured graph, occupancy, a cooperative launch, inline PTX, calls that fail.
#include <cstdio>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void step(float *x, int n, float a) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = x[i] * a + 1; }
__global__ void coop(int *x, int *sum) { cg::grid_group g = cg::this_grid(); auto b = cg::this_thread_block(); auto tile = cg::tiled_partition<32>(b); x[g.thread_rank()] = (int)g.thread_rank(); g.sync(); int v = cg::reduce(tile, x[g.size() - 1 - g.thread_rank()], cg::plus<int>()); if (tile.thread_rank() == 0) atomicAdd(sum, v); }
__global__ void lane(unsigned *o) { unsigned l; asm volatile("mov.u32 %0, %%laneid;" : "=r"(l)); o[threadIdx.x] = l; extern __shared__ int sm[]; sm[threadIdx.x] = l; __syncthreads(); o[threadIdx.x] += sm[31 - l]; }
int main() {
  cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  float *x; cudaMalloc(&x, 256 * 4); cudaMemset(x, 0, 1024);
  cudaGraph_t g; cudaGraphExec_t e;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  for (int i = 0; i < 3; i++) step<<<2, 128, 0, s>>>(x, 256, 2.f);
  cudaStreamEndCapture(s, &g);
  cudaGraphInstantiate(&e, g, NULL, NULL, 0);
  for (int i = 0; i < 2; i++) cudaGraphLaunch(e, s);
  cudaStreamSynchronize(s);
  float h[256]; cudaMemcpy(h, x, 1024, cudaMemcpyDeviceToHost); printf("%g\n", h[255]);
  int blocks, grid, block; cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, step, 256, 0); cudaOccupancyMaxPotentialBlockSize(&grid, &block, step, 0, 0); printf("%d %d\n", blocks, block);
  int *xi, *sum; cudaMalloc(&xi, 512 * 4); cudaMallocManaged(&sum, 4); *sum = 0;
  void *args[] = {&xi, &sum}; printf("%s\n", cudaGetErrorName(cudaLaunchCooperativeKernel((void *)coop, dim3(4), dim3(128), args, 0, 0))); cudaDeviceSynchronize(); printf("%d\n", *sum);
  unsigned *o; cudaMallocManaged(&o, 128); lane<<<1, 32, 128>>>(o); cudaDeviceSynchronize(); printf("%u %u\n", o[0], o[31]);
  step<<<1, 2048>>>(x, 1, 1.f); printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  printf("%s\n", cudaGetErrorString(cudaMemcpy(h, x, 1024, cudaMemcpyHostToDevice)));
  cudaFuncAttributes a; cudaFuncGetAttributes(&a, lane); printf("%zu %d\n", a.sharedSizeBytes, a.maxThreadsPerBlock);
  cudaDeviceReset();
}
