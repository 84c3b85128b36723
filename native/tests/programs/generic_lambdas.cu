// Kernels that take generic lambdas; several in one function, plain ones between them. Bit-fields that both sides write.
#include <cstdio>

template <typename F>
__global__ void apply(int *out, F f) { out[threadIdx.x] = f((int)threadIdx.x) + (int)f(0.5f); }

template <typename F>
__global__ void combine(int *out, F f) { f(out[threadIdx.x], (long long)threadIdx.x); }

struct Flags { unsigned a : 3; int b : 5; unsigned long long key : 40; };

__global__ void flags(Flags *all, Flags by_value)
{
    Flags &own = all[threadIdx.x];
    own.a = by_value.a + threadIdx.x;
    own.key += by_value.key;
    own.b = by_value.b;
}

int scaled(int n)
{
    int *out;
    cudaMallocManaged(&out, 32 * sizeof(int));
    apply<<<1, 32>>>(out, [n] __device__ (auto x) { return x * n; });
    apply<<<1, 32>>>(out, [n] __device__ (float x) { return x + n; });
    combine<<<1, 32>>>(out, [] __device__ (auto &x, const auto &y) { x += (int)y * 100; });
    cudaDeviceSynchronize();
    int sum = out[1] + out[31];
    apply<<<1, 32>>>(out, [n] __device__ (auto x) { return x - n; });
    cudaDeviceSynchronize();
    sum = sum * 1000 + out[31];
    cudaFree(out);
    return sum;
}

int main()
{
    printf("%d\n", scaled(3));
    Flags *all;
    cudaMallocManaged(&all, 4 * sizeof(Flags));
    for (int i = 0; i < 4; i++)
        all[i] = {0, 1, (unsigned long long)i << 30};
    flags<<<1, 4>>>(all, Flags{2, -3, 5});
    cudaDeviceSynchronize();
    for (int i = 0; i < 4; i++)
        printf("%d %d %llu\n", all[i].a, all[i].b, (unsigned long long)all[i].key);
    cudaFree(all);
}
