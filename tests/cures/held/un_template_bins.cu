// alt: 1 | 2
// cure: right only with the template's size, `BINS`: the number of this run's instance leaves the larger one's bins unset
// mended: __shared__ int bins[BINS]; ==> __shared__ int bins[BINS]; for (int i = threadIdx.x; i < BINS; i += blockDim.x) bins[i] = 0; __syncthreads();
// offered: other checked
#include <cstdio>
#include <cstdlib>
template <int BINS>
__global__ void histogram(const int *v, int *out, int n)
{
    __shared__ int bins[BINS];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&bins[v[i] % BINS], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        out[i] = bins[i];
}
int main(int argc, char **argv)
{
    int mode = argc > 1 ? atoi(argv[1]) : 0;
    const int n = 400;
    int h[n], *v, *o;
    for (int i = 0; i < n; i++) h[i] = i * 7;
    cudaMalloc(&v, sizeof h); cudaMalloc(&o, 256 * sizeof(int));
    cudaMemcpy(v, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(o, 0, 256 * sizeof(int));
    if (mode == 0) histogram<64><<<1, 96>>>(v, o, n);
    else histogram<256><<<1, mode == 1 ? 96 : 32>>>(v, o, n);
    cudaMemcpy(h, o, 256 * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 256; i++) printf("%d ", h[i]);
    printf("\n");
    cudaFree(v); cudaFree(o);
}
