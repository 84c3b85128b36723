// alt: 1 | 2
// cure: right by `i + i / 32` in every access; wrong by wider rows in two of the three indices: the last loop runs over the array as one line
// offered: index proved
#include <cstdio>
#include <cstdlib>
#define P 32
__global__ void column_sums(const int *in, int *out, int whole)
{
    __shared__ int m[P * P];
    int x = threadIdx.x, y = threadIdx.y, t = y * P + x;
    m[x * P + y] = in[t];
    __syncthreads();
    if (whole) {
        if (t == 0) for (int i = 0; i < P * P; i++) out[0] += m[i] * (whole + i % 3);
    } else
        out[t] = m[y * P + x];
}
int main(int argc, char **argv)
{
    int whole = argc > 1 ? atoi(argv[1]) : 0, h[P * P], *a, *b;
    for (int i = 0; i < P * P; i++) h[i] = i % 91;
    cudaMalloc(&a, sizeof h); cudaMalloc(&b, sizeof h);
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(b, 0, sizeof h);
    column_sums<<<1, dim3(P, P)>>>(a, b, whole);
    cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < P * P; i += 11) printf("%d ", h[i]);
    printf("\n");
    cudaFree(a); cudaFree(b);
}
