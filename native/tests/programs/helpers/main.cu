// The same headers in a CUDA source: both have them, and the program has one of each function.
#include "tool.h"
#include <cstdio>
#include <curand_kernel.h>
#include <helper_cuda.h>
#include <helper_string.h>
#include <helper_timer.h>

__global__ void twice(float *image) { image[threadIdx.x] *= 2; }

int main()
{
    const char *words[] = {"prog", "--count=7", "-quiet"};
    int device = findCudaDevice(3, words), count = 0;
    float ms = timed(3, (char **)words, &count);
    printf("device %d, %d, quiet %d, timed %d, %d\n", device, count, checkCmdLineFlag(3, words, "quiet"), ms >= 0, bytes_of(2) == 2 * sizeof(curandState));
    unsigned char dots[12] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110};
    sdkSavePGM("dots.pgm", dots, 4, 3);
    char *path = sdkFindFilePath("dots.pgm", words[0]);
    float *pixels = NULL, *d;
    unsigned width, height;
    sdkLoadPGM(path, &pixels, &width, &height);
    checkCudaErrors(cudaMalloc(&d, width * height * sizeof(float)));
    checkCudaErrors(cudaMemcpy(d, pixels, width * height * sizeof(float), cudaMemcpyHostToDevice));
    twice<<<1, 12>>>(d);
    getLastCudaError("twice");
    checkCudaErrors(cudaMemcpy(pixels, d, width * height * sizeof(float), cudaMemcpyDeviceToHost));
    printf("%s %ux%u: %.0f\n", path, width, height, pixels[11] * 255);
    checkCudaErrors(cudaFree(d));
    checkCudaErrors(cudaMemcpy(NULL, pixels, 4, cudaMemcpyHostToDevice));
}
