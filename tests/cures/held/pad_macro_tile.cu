// alt: 100 40 | 32 1 | 1 33 | 65 65 full | 128 256
// cure: right
// offered: pad proved
#include <stdio.h>
#include <stdlib.h>
#define TILE_DIM 32
#define BLOCK_ROWS 8
__global__ void transposeShared(float *odata, const float *idata, int width, int height)
{
    __shared__ float tile[TILE_DIM][TILE_DIM];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x; // transposed block offset
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
int main(int argc, char **argv)
{
    int w = argc > 1 ? atoi(argv[1]) : 64, h = argc > 2 ? atoi(argv[2]) : 64;
    size_t bytes = (size_t)w * h * sizeof(float);
    float *host = (float *)malloc(bytes), *a, *b;
    for (int i = 0; i < w * h; i++) host[i] = i;
    cudaMalloc(&a, bytes); cudaMalloc(&b, bytes);
    cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice);
    dim3 block(TILE_DIM, BLOCK_ROWS), grid((w + TILE_DIM - 1) / TILE_DIM, (h + TILE_DIM - 1) / TILE_DIM);
    transposeShared<<<grid, block>>>(b, a, w, h);
    cudaMemcpy(host, b, bytes, cudaMemcpyDeviceToHost);
    double s = 0;
    for (int i = 0; i < w * h; i++) s += host[i] * (i % 31);
    printf("%.0f\n", s);
    if (argc > 3) for (int i = 0; i < w * h; i++) printf("%g ", host[i]);
    cudaFree(a); cudaFree(b); free(host);
    return 0;
}
