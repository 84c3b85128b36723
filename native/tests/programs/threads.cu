// Host threads that launch, a kernel template of a lambda, pinned and managed memory, getopt, an array of variable length.
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
#include <getopt.h>
#include <unistd.h>
#include <thread>
#include <atomic>
#include <mutex>
#include <vector>
template <class F> __global__ void for_each(int n, F f) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i); }
__global__ void add(int *p, int v, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&p[i], v); }
struct Work { int *d; int id; cudaStream_t s; };
static void *worker(void *arg) { Work *w = (Work *)arg; for (int r = 0; r < 10; r++) add<<<2, 64, 0, w->s>>>(w->d, w->id, 128); cudaStreamSynchronize(w->s); return NULL; }
static std::atomic<int> calls{0};
static void CUDART_CB host_fn(void *p) { calls += *(int *)p; }
int main(int argc, char **argv) {
  int c, n = 128;
  while ((c = getopt(argc, argv, "n:")) != -1) if (c == 'n') n = atoi(optarg);
  int *d; cudaMalloc((void **)&d, 128 * sizeof(int)); cudaMemset(d, 0, 128 * sizeof(int));
  pthread_t t[4]; Work w[4];
  for (int i = 0; i < 4; i++) { w[i].d = d; w[i].id = i + 1; cudaStreamCreate(&w[i].s); pthread_create(&t[i], NULL, worker, &w[i]); }
  for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
  int *h; posix_memalign((void **)&h, 64, 128 * sizeof(int));
  cudaMemcpy(h, d, 128 * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d %d\n", h[0], h[127]);
  int vla[n]; for (int i = 0; i < n; i++) vla[i] = i; printf("%d\n", vla[n - 1]);
  int *pinned; cudaHostAlloc(&pinned, 64 * sizeof(int), cudaHostAllocMapped);
  int *dev; cudaHostGetDevicePointer(&dev, pinned, 0);
  int k = 5;
  for_each<<<1, 64>>>(64, [=] __device__(int i) { dev[i] = i * k; });
  int one = 7; cudaLaunchHostFunc(0, host_fn, &one);
  cudaDeviceSynchronize();
  printf("%d %d calls %d\n", pinned[3], pinned[63], calls.load());
  std::vector<std::thread> ts; std::mutex m; int total = 0;
  for (int i = 0; i < 3; i++) ts.emplace_back([&, i] { int *p; cudaMallocManaged(&p, 4); *p = i; add<<<1, 1>>>(p, 10, 1); cudaDeviceSynchronize(); std::lock_guard<std::mutex> g(m); total += *p; cudaFree(p); });
  for (auto &x : ts) x.join();
  printf("total %d\n", total);
  cudaFreeHost(pinned); free(h); cudaFree(d);
  return 0;
}
