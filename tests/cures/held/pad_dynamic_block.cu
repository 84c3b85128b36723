// alt: 16 | 8 | 20 | 31 | 1
// cure: right as long as the room follows from the block: one element more for each row of the block
// offered: index checked
#include <cstdio>
#include <cstdlib>
__global__ void flip(const float *in, float *out, int pitch)
{
    extern __shared__ float tile[];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y * blockDim.x + x] = in[y * pitch + x];
    __syncthreads();
    out[y * pitch + x] = tile[x * blockDim.x + y];
}
int main(int argc, char **argv)
{
    int side = argc > 1 ? atoi(argv[1]) : 32, n = side * side;
    dim3 block(side, side);
    size_t bytes = block.x * block.y * sizeof(float);
    float h[1024], *a, *b;
    for (int i = 0; i < n; i++) h[i] = 2 * i + 1;
    cudaMalloc(&a, bytes); cudaMalloc(&b, bytes);
    cudaMemcpy(a, h, bytes, cudaMemcpyHostToDevice);
    flip<<<1, block, bytes>>>(a, b, side);
    cudaMemcpy(h, b, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) printf("%g ", h[i]);
    printf("\n");
    cudaFree(a); cudaFree(b);
}
