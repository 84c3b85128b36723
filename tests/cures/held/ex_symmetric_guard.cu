// alt: 50 50 | 50 20 | 32 64 | 1 33
// cure: right for threadIdx alone, if the index lines are exchanged as a whole; the block is 16 x 16
// offered: index checked
#include <cstdio>
#include <cstdlib>
__global__ void __launch_bounds__(256) threshold(const short *in, short *out, int rows, int cols, short limit)
{
    const int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
    if (i >= rows || j >= cols) return;
    const int at = i * cols + j;
    out[at] = in[at] > limit ? in[at] : short(0);
}
int main(int argc, char **argv)
{
    int rows = argc > 1 ? atoi(argv[1]) : 48, cols = argc > 2 ? atoi(argv[2]) : 48, n = rows * cols;
    short *h = new short[n], *a, *b;
    for (int i = 0; i < n; i++) h[i] = i * 7 % 300 - 150;
    cudaMalloc(&a, n * sizeof(short)); cudaMalloc(&b, n * sizeof(short));
    cudaMemcpy(a, h, n * sizeof(short), cudaMemcpyHostToDevice);
    threshold<<<dim3((rows + 15) / 16, (cols + 15) / 16), dim3(16, 16)>>>(a, b, rows, cols, 20);
    cudaMemcpy(h, b, n * sizeof(short), cudaMemcpyDeviceToHost);
    long sum = 0;
    for (int i = 0; i < n; i++) sum += h[i] * (i % 100);
    printf("%ld\n", sum);
    cudaFree(a); cudaFree(b);
    delete[] h;
}
