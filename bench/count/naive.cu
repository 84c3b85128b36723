#ifndef N
#define N 8192
#endif
__global__ void naive(const float *a, const float *b, float *c, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x];
    c[y * n + x] = s;
}
int main()
{
    float *a, *b, *c;
    cudaMalloc(&a, sizeof(float) * N * N);
    cudaMalloc(&b, sizeof(float) * N * N);
    cudaMalloc(&c, sizeof(float) * N * N);
    naive<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(a, b, c, N);
    cudaDeviceSynchronize();
    return 0;
}
