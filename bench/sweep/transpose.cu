// A square matrix is transposed through a tile. SWAP: the tile's store takes the column. The second argument moves the matrices by elements.
#include <cstdlib>
__global__ void transpose(float *out, const float *in, int n)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float value = in[y * n + x];
    if (SWAP)
        tile[threadIdx.x][threadIdx.y] = value;
    else
        tile[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    out[y * n + x] = SWAP ? tile[threadIdx.y][threadIdx.x] : tile[threadIdx.x][threadIdx.y];
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), shift = atoi(argv[2]);
    size_t bytes = (n * n + shift) * sizeof(float);
    float *in, *out;
    cudaMalloc(&in, bytes);
    cudaMalloc(&out, bytes);
    cudaMemset(in, 0, bytes);
    transpose<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(out + shift, in + shift, n);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    return 0;
}
