// alt: 2
// cure: none: wider rows of the shared array suit `sums`, and `flat`, which another argument launches, walks all rows by a pointer
#include <cstdio>
#include <cstdlib>
__shared__ float tile[32][32];
__device__ float *begin(int row) { return tile[row]; }

__global__ void sums(const float *in, float *out)
{
    for (int row = 0; row < 32; row++)
        tile[row][threadIdx.x] = in[row * 32 + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int column = 0; column < 32; column++)
        sum += tile[threadIdx.x][column];
    out[threadIdx.x] = sum;
}

__global__ void flat(const float *in, float *out)
{
    for (int row = 0; row < 32; row++)
        begin(0)[row * 32 + threadIdx.x] = in[row * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][3];
}

int main(int argc, char **argv)
{
    int mode = argc > 1 ? atoi(argv[1]) : 0;
    float *in, *out;
    static float data[4096], result[4096];
    for (int i = 0; i < 4096; i++)
        data[i] = i % 97;
    cudaMalloc(&in, sizeof data);
    cudaMalloc(&out, sizeof result);
    cudaMemcpy(in, data, sizeof data, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof result);
    if (mode == 2)
        flat<<<1, 32>>>(in, out);
    else
        sums<<<1, 32>>>(in, out);
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < 4096; i++)
        sum += result[i] * (i % 7 + 1);
    printf("%.0f\n", sum);
    cudaFree(in);
    cudaFree(out);
}
