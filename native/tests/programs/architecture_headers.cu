// Headers of one architecture's intrinsics, as old samples include them.
#include <cstdio>
#include <sm_61_intrinsics.h>
#include <sm_35_intrinsics.h>
#include <channel_descriptor.h>

__global__ void dots(int *out, const int *in, int a, int b)
{
    out[threadIdx.x] = __dp4a(a, b, (int)threadIdx.x) + __ldg(in + threadIdx.x);
}

int main()
{
    int *out, *in;
    cudaMallocManaged(&out, 4 * sizeof(int));
    cudaMallocManaged(&in, 4 * sizeof(int));
    for (int i = 0; i < 4; i++)
        in[i] = 100 * i;
    // 4 * 2 + 3 * 1 + 2 * -1 + 1 * 1 is 10.
    dots<<<1, 4>>>(out, in, 0x01020304, 0x01ff0102);
    cudaDeviceSynchronize();
    printf("%d %d %d %d\n", out[0], out[1], out[2], out[3]);
    cudaFree(out);
    cudaFree(in);
}
