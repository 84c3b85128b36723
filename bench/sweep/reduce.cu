// Rows of a matrix are added up in blocks of TILE * 8 threads. SWAP: neighbours first, with strides that grow, instead of halves. The second
// argument moves the matrix by elements.
#include <cstdlib>
#define THREADS (TILE * 8)
__global__ void sums(float *out, const float *in, int n)
{
    __shared__ float part[THREADS * (1 + PAD)];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += THREADS)
        sum += in[blockIdx.x * n + i];
    part[threadIdx.x * (1 + PAD)] = sum;
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
        int half = SWAP ? step : THREADS / 2 / step;
        int at = SWAP ? 2 * step * threadIdx.x : threadIdx.x;
        if (SWAP ? at < THREADS : at < half)
            part[at * (1 + PAD)] += part[(at + half) * (1 + PAD)];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), shift = atoi(argv[2]);
    size_t bytes = (n * n + shift) * sizeof(float);
    float *in, *out;
    cudaMalloc(&in, bytes);
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, bytes);
    sums<<<n, THREADS>>>(out, in + shift, n);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    return 0;
}
