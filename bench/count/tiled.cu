#ifndef N
#define N 8192
#endif
__global__ void tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float s[16][16], t[16][16];
    int i = threadIdx.y, j = threadIdx.x, y = blockIdx.y * 16 + i, x = blockIdx.x * 16 + j;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        s[i][j] = a[y * n + k + j];
        t[i][j] = b[(k + i) * n + x];
        __syncthreads();
        for (int l = 0; l < 16; l++) sum += s[i][l] * t[l][j];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
int main()
{
    float *a, *b, *c;
    cudaMalloc(&a, sizeof(float) * N * N);
    cudaMalloc(&b, sizeof(float) * N * N);
    cudaMalloc(&c, sizeof(float) * N * N);
    tiled<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(a, b, c, N);
    cudaDeviceSynchronize();
    return 0;
}
