// bfloat16: the host's and the device's results are the same bits, for every bfloat16 and for pairs from a hash.
#include <cuda_bf16.h>
#include <stdio.h>
#include <string.h>

#define PAIRS 65536

struct Results {
    unsigned short back[65536];
    unsigned int sums[PAIRS], differences[PAIRS], products[PAIRS], fused[PAIRS];
    float values[65536];
};

__host__ __device__ unsigned int hash(unsigned int x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

__host__ __device__ __nv_bfloat162 pair(unsigned int bits)
{
    __nv_bfloat162_raw raw;
    raw.x = (unsigned short)bits;
    raw.y = (unsigned short)(bits >> 16);
    return raw;
}

__host__ __device__ unsigned int bits(__nv_bfloat162 v)
{
    return __bfloat16_as_ushort(__low2bfloat16(v)) | (unsigned int)__bfloat16_as_ushort(__high2bfloat16(v)) << 16;
}

__host__ __device__ void compute(Results *r, unsigned int i)
{
    float x = __bfloat162float(__ushort_as_bfloat16((unsigned short)i));
    r->values[i] = x;
    // Half a place further, too: of two as near the even one.
    r->back[i] = __bfloat16_as_ushort(__float2bfloat16(x + x * 0x1p-8f));
    __nv_bfloat162 a = pair(hash(3 * i)), b = pair(hash(3 * i + 1)), c = pair(hash(3 * i + 2));
    r->sums[i] = bits(__hadd2(a, b));
    r->differences[i] = bits(__hsub2(a, b));
    r->products[i] = bits(__hmul2(a, b));
    r->fused[i] = bits(__hfma2(a, b, c));
}

__global__ void all(Results *r)
{
    compute(r, blockIdx.x * blockDim.x + threadIdx.x);
}

int main()
{
    static Results host;
    for (unsigned int i = 0; i < PAIRS; i++) compute(&host, i);
    Results *device;
    cudaMallocManaged(&device, sizeof(Results));
    all<<<PAIRS / 256, 256>>>(device);
    cudaDeviceSynchronize();
    int differ = memcmp(&host, device, sizeof(Results)) != 0;
    printf("differ %d, %g %08x %08x\n", differ, host.values[0x3eab], host.sums[7], host.fused[9]);
    cudaFree(device);
    return differ;
}
