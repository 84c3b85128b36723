// alt: 1 | 64 | 127 | -32
// cure: wrong because the shift is a parameter: only 0 reads the own element
// offered: none
#include <cstdio>
#include <cstdlib>
const int B = 128;
__device__ int wrapped(int i) { return (i % B + B) % B; }
__global__ void delay_line(float *signal, int shift, float mix)
{
    __shared__ float line[B];
    int base = blockIdx.x * B;
    line[threadIdx.x] = signal[base + threadIdx.x];
    __syncthreads();
    float late = line[wrapped(threadIdx.x - shift)];
    signal[base + threadIdx.x] = (1.0f - mix) * line[threadIdx.x] + mix * late;
}
int main(int argc, char **argv)
{
    int shift = argc > 1 ? atoi(argv[1]) : 0;
    float h[4 * B], *d;
    for (int i = 0; i < 4 * B; i++) h[i] = (float)(i * 11 % 64);
    cudaMalloc(&d, sizeof(h));
    cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);
    delay_line<<<4, B>>>(d, shift, 0.25f);
    cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 4 * B; i++) printf("%g%c", h[i], i % 16 == 15 ? '\n' : ' ');
    cudaFree(d);
}
