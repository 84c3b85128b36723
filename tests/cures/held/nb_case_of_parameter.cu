// alt: 7 | 1
// cure: none: one case of a parameter reads what other threads wrote
#include <cstdio>
#include <cstdlib>
__global__ void pick(const float *in, float *out, int mode)
{
    __shared__ float words[256];
    int t = threadIdx.x;
    words[t] = in[t];
    __syncthreads();
    float picked;
    switch (mode) {
    case 0: picked = words[t]; break;
    case 7: picked = words[(t + 64) % 256]; break;
    default: picked = -words[t];
    }
    out[t] = picked;
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
    pick<<<1, 256>>>(in, out, mode);
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < 4096; i++)
        sum += result[i] * (i % 7 + 1);
    printf("%.0f\n", sum);
    cudaFree(in);
    cudaFree(out);
}
