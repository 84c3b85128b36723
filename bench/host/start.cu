// The least program that launches a kernel; without CUDA (-DPLAIN) it does the same work on the host.
#include <cstdio>
#ifdef PLAIN
int main() {
    int x[32];
    for (int i = 0; i < 32; i++) x[i] = 3 * i;
    std::printf("%d\n", x[31]);
}
#else
__global__ void triple(int *x) { x[threadIdx.x] = 3 * threadIdx.x; }
int main() {
    int *d, x[32];
    cudaMalloc(&d, sizeof x);
    triple<<<1, 32>>>(d);
    cudaMemcpy(x, d, sizeof x, cudaMemcpyDeviceToHost);
    std::printf("%d\n", x[31]);
    cudaFree(d);
}
#endif
