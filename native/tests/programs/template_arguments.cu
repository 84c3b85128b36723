// Kernels by template arguments of every kind: functions, constants, enumerators, templates, packs.
#include <cstdio>
template <typename T> __device__ T sq(T x) { return x * x; }
__device__ float cube(float x) { return x * x * x; }
template <typename T, T (*f)(T)> __global__ void app(T *p) { p[threadIdx.x] = f(p[threadIdx.x]); }
template <int N, bool B = (N > 3)> __global__ void nn(float *p) { if (B) p[threadIdx.x] += N; }
enum Kind { A, Bk }; enum class K2 { X, Y };
template <Kind k, K2 q> __global__ void en(float *p) { if (k == Bk && q == K2::Y) p[threadIdx.x] += 100; }
template <typename T, template <typename> class Op> __global__ void tt(T *p) { p[threadIdx.x] = Op<T>()(p[threadIdx.x]); }
template <typename T> struct Inc { __host__ __device__ T operator()(T x) const { return x + 1; } };
template <char c, unsigned u, long long ll, size_t s> __global__ void ints(float *p) { p[threadIdx.x] += c + u + ll + s; }
template <typename F> __global__ void fn(float *p, F f) { p[threadIdx.x] = f(p[threadIdx.x]); }
namespace ns { template <class T> struct Box { T v; }; template <class T> __global__ void bx(Box<T> b, T *p) { p[threadIdx.x] += b.v; } }
template <typename... Ts> __global__ void pack(float *p, Ts... ts) { p[threadIdx.x] += (0 + ... + ts); }
struct V { float x; template <typename T> static __device__ T g(T a) { return a; } };
template <float (*f)(float)> __global__ void app1(float *p) { p[threadIdx.x] = f(p[threadIdx.x]); }
int main() { float *p; cudaMallocManaged(&p, 128); for (int i = 0; i < 32; i++) p[i] = i;
 app<float, sq<float>><<<1,32>>>(p); app<float, cube><<<1,32>>>(p); app1<cube><<<1,2>>>(p); app1<V::g<float>><<<1,2>>>(p); nn<5><<<1,32>>>(p); nn<2><<<1,32>>>(p); en<Bk, K2::Y><<<1,32>>>(p); tt<float, Inc><<<1,32>>>(p);
 ints<'a', 7u, 1ll << 3, sizeof(int)><<<1,32>>>(p); fn<<<1,32>>>(p, Inc<float>()); ns::bx<<<1,32>>>(ns::Box<float>{2.f}, p); pack<<<1,32>>>(p, 1, 2.f, 'a'); pack<><<<1,32>>>(p);
 cudaDeviceSynchronize(); printf("%g %g\n", p[1], p[3]); }
