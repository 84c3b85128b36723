#include <cstdio>
#include <cstdlib>
__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; }
int main(int argc, char **argv) {
    int *device, *host = (int *)malloc(31 * sizeof(int));
    cudaMalloc(&device, 32 * sizeof(int));
    fill<<<1, 32>>>(device);
    cudaMemcpy(host, device, 31 * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", host[30]);
    fflush(stdout);
    if (argc > 1) printf("%d\n", host[argc + 29]);
    free(host);
    cudaFree(device);
}
