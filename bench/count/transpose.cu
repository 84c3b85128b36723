#ifndef N
#define N 32768
#endif
#ifndef PAD
#define PAD 0
#endif
__global__ void transpose(const float *in, float *out, int n)
{
    __shared__ float tile[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(size_t)(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) out[(size_t)(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}
int main()
{
    float *in, *out;
    cudaMalloc(&in, sizeof(float) * N * N);
    cudaMalloc(&out, sizeof(float) * N * N);
    transpose<<<dim3(N / 32, N / 32), dim3(32, 8)>>>(in, out, N);
    cudaDeviceSynchronize();
    return 0;
}
