// alt: 64 1000 | 96 7 | 256 4096 | 33 500 | 32 0
// cure: right
// offered: no_barrier proved
#include <cstdio>
#include <cstdlib>
#include <algorithm>
struct Moments { float sum, squares; };
// the threads keep their running moments in shared memory, each in a separate slot
__global__ void moments(const float *x, Moments *out, int n)
{
    __shared__ float sum[256], squares[256];
    const int t = threadIdx.x;
    sum[t] = squares[t] = 0.0f;
    for (int first = blockIdx.x * blockDim.x; first < n; first += gridDim.x * blockDim.x) {
        float v = first + t < n ? x[first + t] : 0.0f;
        sum[t] += v;
        __syncthreads();
        squares[t] += v * v;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = Moments{sum[t], squares[t]};
}
int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 128, n = argc > 2 ? atoi(argv[2]) : 1024, blocks = 2;
    float *h = new float[n + 1], *x;
    Moments *m, *r = new Moments[blocks * threads];
    for (int i = 0; i < n; i++) h[i] = i % 19 - 9;
    cudaMalloc(&x, std::max(n, 1) * sizeof(float));
    cudaMalloc(&m, blocks * threads * sizeof(Moments));
    cudaMemcpy(x, h, n * sizeof(float), cudaMemcpyHostToDevice);
    moments<<<blocks, threads>>>(x, m, n);
    cudaMemcpy(r, m, blocks * threads * sizeof(Moments), cudaMemcpyDeviceToHost);
    for (int i = 0; i < blocks * threads; i++) printf("%g/%g ", r[i].sum, r[i].squares);
    printf("\n");
    cudaFree(x); cudaFree(m);
    delete[] h; delete[] r;
}
