// A product of an n x 32 and a 32 x n matrix through tiles. SWAP: the second tile is stored transposed. The second argument moves the matrices by
// elements.
#include <cstdlib>
#define K 32
__global__ void matmul(float *c, const float *a, const float *b, int n)
{
    __shared__ float left[TILE][TILE + PAD], right[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < K; k += TILE) {
        left[threadIdx.y][threadIdx.x] = a[y * K + k + threadIdx.x];
        float value = b[(k + threadIdx.y) * n + x];
        if (SWAP)
            right[threadIdx.x][threadIdx.y] = value;
        else
            right[threadIdx.y][threadIdx.x] = value;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += left[threadIdx.y][i] * (SWAP ? right[threadIdx.x][i] : right[i][threadIdx.x]);
        __syncthreads();
    }
    c[y * n + x] = sum;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), shift = atoi(argv[2]);
    size_t bytes = (n * K + shift) * sizeof(float), result = (n * n + shift) * sizeof(float);
    float *a, *b, *c;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&c, result);
    cudaMemset(a, 0, bytes);
    cudaMemset(b, 0, bytes);
    matmul<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(c + shift, a + shift, b + shift, n);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return 0;
}
