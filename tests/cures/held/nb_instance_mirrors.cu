// alt: 2
// cure: none: the instance that another argument launches reads what other threads wrote
#include <cstdio>
#include <cstdlib>
template <bool MIRRORS> __global__ void copy(const float *in, float *out)
{
    __shared__ float words[256];
    int t = threadIdx.x;
    words[t] = in[t];
    __syncthreads();
    out[t] = words[MIRRORS ? 255 - t : t];
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
        copy<true><<<1, 256>>>(in, out);
    else
        copy<false><<<1, 256>>>(in, out);
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < 4096; i++)
        sum += result[i] * (i % 7 + 1);
    printf("%.0f\n", sum);
    cudaFree(in);
    cudaFree(out);
}
