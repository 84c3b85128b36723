// Names of the program beside CUDA's own: overloads of make_float4, atomicMax and fminf, a class cuComplex; T x{y}; constants of headers.
#include <cstdio>
#include <cstdint>
#include <limits>
inline __device__ __host__ float4 make_float4(float s) { return make_float4(s, s, s, s); }
inline __host__ __device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
inline __host__ __device__ void operator+=(float4 &a, float4 b) { a = a + b; }
__device__ __forceinline__ float atomicMax(float *addr, float value) { float old = *addr, assumed; while (value > old) { assumed = old; old = __int_as_float(atomicCAS((int *)addr, __float_as_int(assumed), __float_as_int(value))); if (old == assumed) break; } return old; }
inline __host__ __device__ float2 fminf(float2 a, float2 b) { return make_float2(fminf(a.x, b.x), fminf(a.y, b.y)); }
struct cuComplex { float r, i; __host__ __device__ cuComplex(float a, float b) : r(a), i(b) {} __device__ float magnitude2() { return r * r + i * i; } __device__ cuComplex operator*(const cuComplex &a) { return cuComplex(r * a.r - i * a.i, i * a.r + r * a.i); } __device__ cuComplex operator+(const cuComplex &a) { return cuComplex(r + a.r, i + a.i); } };

__device__ int julia(int x, int y) { cuComplex c(-0.8f, 0.156f), a((float)x / 8 - 1, (float)y / 8 - 1); for (int i = 0; i < 50; i++) { a = a * a + c; if (a.magnitude2() > 1000) return 0; } return 1; }
constexpr int M = 4; static const int N = M * 8;
int setup(int x) { return x + 1; }
int G = setup(4);
__global__ void k(float4 *v, float *m, int *f, int *mi) {
  int4 q{*reinterpret_cast<int4 const *>(mi)};
  float4 a = make_float4(1.f); a += make_float4(2.f, 3.f, 4.f, 5.f); v[threadIdx.x] = a;
  atomicMax(m, (float)threadIdx.x * 1.5f); __syncwarp(); atomicMax(mi, (int)threadIdx.x);
  float2 t = fminf(make_float2(1, 5), make_float2(3, 2));
  if (threadIdx.x == 0) { f[0] = 55; f[1] = julia(8, 8) + julia(2, 3); f[2] = (int)(t.x * 10 + t.y); f[3] = q.y; f[4] = std::numeric_limits<int>::max(); f[5] = (int)(UINT64_C(1) << 20); f[6] = 6; }
}
int main() {
  float4 *v; float *m; int *f, *mi; cudaMallocManaged(&v, 32 * sizeof(float4)); cudaMallocManaged(&m, 4); cudaMallocManaged(&f, 64); cudaMallocManaged(&mi, 64);
  *m = 0; for (int i = 0; i < 16; i++) mi[i] = i + 100;
  mi[0] = 0;
  k<<<1, N>>>(v, m, f, mi); cudaError_t e = cudaDeviceSynchronize();
  printf("%s %g %g %d %d %d %d %d %d %d %d %d G=%d\n", cudaGetErrorString(e), v[3].w, *m, mi[0], f[0], f[1], f[2], f[3], f[4], f[5], f[6], N, G);
}
