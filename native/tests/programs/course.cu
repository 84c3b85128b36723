// A program of a course: RAII, exceptions, maps, functions, random numbers, two kernel templates, an allocation that fails.
#include <iostream>
#include <chrono>
#include <random>
#include <stdexcept>
#include <sstream>
#include <memory>
#include <algorithm>
#include <numeric>
#include <map>
#include <functional>
#include <tuple>
#include <optional>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#define CUDA_CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { std::ostringstream s; s << __FILE__ << ":" << __LINE__ << " " << cudaGetErrorString(e); throw std::runtime_error(s.str()); } } while (0)
template <typename T> struct DeviceBuffer {
  T *ptr = nullptr; size_t n;
  explicit DeviceBuffer(size_t n) : n(n) { CUDA_CHECK(cudaMalloc(&ptr, n * sizeof(T))); }
  ~DeviceBuffer() { cudaFree(ptr); }
  DeviceBuffer(const DeviceBuffer &) = delete;
  void upload(const std::vector<T> &v) { CUDA_CHECK(cudaMemcpy(ptr, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice)); }
  std::vector<T> download() const { std::vector<T> v(n); CUDA_CHECK(cudaMemcpy(v.data(), ptr, n * sizeof(T), cudaMemcpyDeviceToHost)); return v; }
};
template <unsigned int blockSize, typename T> __global__ void reduce(const T *in, T *out, size_t n) {
  __shared__ T s[blockSize];
  T sum = 0;
  for (size_t i = blockIdx.x * blockSize + threadIdx.x; i < n; i += blockSize * gridDim.x) sum += in[i];
  s[threadIdx.x] = sum; __syncthreads();
  for (unsigned k = blockSize / 2; k > 0; k >>= 1) { if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k]; __syncthreads(); }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
struct Saxpy { float a; __host__ __device__ float operator()(float x, float y) const { return a * x + y; } };
template <class F> __global__ void transform(const float *x, const float *y, float *z, int n, F f) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = f(x[i], y[i]); }
int main(int argc, char **argv) try {
  size_t n = argc > 1 ? std::stoul(argv[1]) : 10000;
  std::mt19937 gen(42); std::uniform_int_distribution<int> dist(0, 9);
  std::vector<int> h(n); std::generate(h.begin(), h.end(), [&] { return dist(gen); });
  DeviceBuffer<int> in(n), out(16);
  in.upload(h);
  cudaEvent_t start, stop; cudaEventCreate(&start); cudaEventCreate(&stop);
  cudaEventRecord(start);
  reduce<128><<<16, 128>>>(in.ptr, out.ptr, n);
  CUDA_CHECK(cudaGetLastError());
  cudaEventRecord(stop); cudaEventSynchronize(stop);
  float ms; cudaEventElapsedTime(&ms, start, stop);
  std::cerr << ms << " ms\n";
  auto parts = out.download();
  int sum = std::accumulate(parts.begin(), parts.end(), 0), want = std::accumulate(h.begin(), h.end(), 0);
  std::cout << sum << " " << (sum == want ? "PASS" : "FAIL") << std::endl;
  std::vector<float> x(n, 1.5f), y(n); std::iota(y.begin(), y.end(), 0.f);
  DeviceBuffer<float> dx(n), dy(n), dz(n); dx.upload(x); dy.upload(y);
  transform<<<(n + 255) / 256, 256>>>(dx.ptr, dy.ptr, dz.ptr, (int)n, Saxpy{2.f});
  auto z = dz.download();
  std::map<std::string, std::function<float(int)>> m{{"last", [&](int k) { return z[n - k]; }}};
  auto [a, b] = std::make_tuple(m["last"](1), std::optional<int>(3).value_or(1));
  std::cout << a << " " << b << "\n";
  DeviceBuffer<char> too_much((size_t)1 << 50);
} catch (const std::exception &e) { std::cout << "caught " << e.what() << "\n"; return 3; }
