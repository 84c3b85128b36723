// alt: 3 | 9
// cure: none: rounds behind the sixth read what other threads wrote
#include <cstdio>
#include <cstdlib>
__global__ void rounds(const float *in, float *out, int n)
{
    __shared__ float words[256];
    int t = threadIdx.x;
    for (int round = 0; round < n; round++) {
        words[t] = in[t + round];
        __syncthreads();
        out[t + 256 * round] = words[t] + (round > 5 ? words[255 - t] : 0);
        __syncthreads();
    }
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
    rounds<<<1, 256>>>(in, out, 2 + mode);
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < 4096; i++)
        sum += result[i] * (i % 7 + 1);
    printf("%.0f\n", sum);
    cudaFree(in);
    cudaFree(out);
}
