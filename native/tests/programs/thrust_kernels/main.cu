// Thrust and C++'s library inside of kernels: what the host computes with the same code is the same.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <thrust/complex.h>
#include <thrust/detail/type_traits.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/swap.h>
#include <tuple>

__host__ __device__ float drawn(unsigned seed, unsigned skip)
{
    thrust::default_random_engine engine(seed);
    engine.discard(skip);
    thrust::uniform_real_distribution<float> real(-1.0f, 1.0f);
    thrust::uniform_int_distribution<int> whole(10, 19);
    float first = real(engine);
    return first + whole(engine);
}

__host__ __device__ thrust::complex<float> square_root(thrust::complex<float> z)
{
    z *= thrust::complex<float>(0, 2);
    z = 1.0f + z / thrust::complex<float>(2, 0);
    return thrust::sqrt(z) + thrust::polar(thrust::abs(z), 0.0f);
}

__global__ void numbers(float *out)
{
    out[threadIdx.x] = drawn(threadIdx.x + 1, 5 * threadIdx.x);
    thrust::complex<float> z = square_root(thrust::complex<float>(threadIdx.x, 1));
    out[32 + threadIdx.x] = z.real() + 100 * z.imag();
}

__global__ void library(int *p)
{
    int a = 1, b = 2;
    thrust::swap(a, b);
    p[0] = 10 * a + b + thrust::maximum<int>()(a, 7);
    int mine[6] = {4, 6, 1, 5, 2, 3};
    thrust::sort(thrust::seq, mine, mine + 6);
    p[1] = 100 * mine[0] + 10 * mine[2] + mine[5];
    thrust::sort(thrust::seq, mine, mine + 6, thrust::greater<int>());
    p[2] = 10 * mine[0] + thrust::reduce(thrust::seq, mine, mine + 6);
    auto all = std::make_tuple(3, 4.5f, 'c');
    std::get<1>(all) += 1;
    int x;
    float y;
    char z;
    std::tie(x, y, z) = all;
    p[3] = x * 100 + (int)(y * 10) + (z == 'c');
    p[4] = std::clamp(p[4], 0, 5) + std::plus<int>()(a, b);
    std::tuple<int, short> two(5, 6);
    p[5] = std::get<0>(two) * 10 + std::get<1>(two);
}

int main()
{
    float *out;
    int *p;
    cudaMallocManaged(&out, 64 * sizeof(float));
    cudaMallocManaged(&p, 6 * sizeof(int));
    p[4] = 99;
    numbers<<<1, 32>>>(out);
    library<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    int differ = 0;
    for (int i = 0; i < 32; i++) {
        thrust::complex<float> z = square_root(thrust::complex<float>(i, 1));
        differ += out[i] != drawn(i + 1, 5 * i) || std::abs(out[32 + i] - (z.real() + 100 * z.imag())) > 1e-3f;
    }
    thrust::minstd_rand engine;
    engine.discard(9999);
    printf("%d differ; the 10000th number is %u\n", differ, engine());
    for (int i = 0; i < 6; i++) printf("%d ", p[i]);
    printf("\n");
}
