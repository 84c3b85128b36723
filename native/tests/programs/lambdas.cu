// Lambdas as arguments of kernels: of several functions, several in one, two at once.
#include <cstdio>

template <typename F> __global__ void for_all(int n, F f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}

template <typename If, typename F> __global__ void for_some(int n, If wanted, F f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && wanted(i)) f(i);
}

static void fill(int *p) {
    for_all<<<1, 32>>>(32, [=] __device__(int i) { p[i] = i; });
}

static void grow(int *p, int by) {
    for_all<<<1, 32>>>(32, [=] __device__(int i) { p[i] += by * i; });
    for_all<<<1, 32>>>(32, [=] __device__(int i) { p[i] += 1; });
    for_some<<<1, 32>>>(32, [] __device__(int i) { return i % 2 == 1; }, [=] __device__(int i) { p[i] = -p[i]; });
}

// Functions of one name, whose lambdas have numbers of their own: the second of First::run, the first of Second::run.
struct First {
    static void run(int *p) {
        auto twice = [=](int i) { return 2 * i; };
        int by = twice(5);
        for_all<<<1, 32>>>(32, [=] __device__(int i) { p[i] = by; });
    }
};

struct Second {
    static void run(int *p) {
        for_all<<<1, 32>>>(32, [=] __device__(int i) { p[i] = 77; });
    }
};

int main() {
    int *p;
    cudaMallocManaged(&p, 32 * sizeof(int));
    fill(p);
    grow(p, 2);
    for_all<<<1, 32>>>(32, [=] __device__(int i) { p[i] *= 2; });
    cudaDeviceSynchronize();
    for (int i = 0; i < 32; i += 5) printf("%d ", p[i]);
    printf("\n");
    int *q;
    cudaMallocManaged(&q, 32 * sizeof(int));
    First::run(p);
    Second::run(q);
    cudaDeviceSynchronize();
    printf("%d %d\n", p[31], q[31]);
    cudaFree(p);
    cudaFree(q);
}
