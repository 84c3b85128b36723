// alt: 1 | 2 | 3
// cure: right
// offered: memory proved
#include <cstdio>
#include <cstdlib>
__constant__ unsigned char gamma_lut[256];
__global__ void apply(const unsigned char *in, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = gamma_lut[in[i]];
}
int main(int argc, char **argv)
{
    int mode = argc > 1 ? atoi(argv[1]) : 0;
    const int n = 500;
    unsigned char lut[256], h[n], *a, *b;
    for (int i = 0; i < 256; i++) lut[i] = (i * i) / 255;
    for (int i = 0; i < n; i++) h[i] = mode == 0 ? i * 5 : mode == 1 ? 128 : mode == 2 ? 255 - i : 255;
    cudaMemcpyToSymbol(gamma_lut, lut, sizeof lut);
    cudaMalloc(&a, n); cudaMalloc(&b, n);
    cudaMemcpy(a, h, n, cudaMemcpyHostToDevice);
    apply<<<2, 256>>>(a, b, n);
    cudaMemcpy(h, b, n, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) printf("%02x", h[i]);
    printf("\n");
    cudaFree(a); cudaFree(b);
}
