// Inclusive scan of blocks of 256 (Hillis and Steele), two buffers.
// Argument: launches (default 1).
#include <cstdio>
#include <cstdlib>

__global__ void scan(const int *in, int *out)
{
    __shared__ int buffer[2][256];
    int t = threadIdx.x, from = 0;
    buffer[0][t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
        int x = buffer[from][t];
        if (t >= d)
            x += buffer[from][t - d];
        buffer[1 - from][t] = x;
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = buffer[from][t];
}

int main(int argc, char **argv)
{
    int launches = argc > 1 ? atoi(argv[1]) : 1, blocks = 2048, n = blocks * 256;
    int *h = (int *)malloc(4 * n), *o = (int *)malloc(4 * n), *di, *dd;
    for (int i = 0; i < n; i++)
        h[i] = i * 37 % 101 - 50;
    cudaMalloc(&di, 4 * n);
    cudaMalloc(&dd, 4 * n);
    cudaMemcpy(di, h, 4 * n, cudaMemcpyHostToDevice);
    for (int l = 0; l < launches; l++)
        scan<<<blocks, 256>>>(di, dd);
    cudaMemcpy(o, dd, 4 * n, cudaMemcpyDeviceToHost);
    int wrong = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        sum = i % 256 == 0 ? h[i] : sum + h[i];
        wrong += sum != o[i];
    }
    printf("wrong %d\n", wrong);
    cudaFree(di);
    cudaFree(dd);
    free(h);
    free(o);
    return wrong != 0;
}
