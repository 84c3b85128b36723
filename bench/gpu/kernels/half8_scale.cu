// half arithmetic: y = a x + y on eight halves at a time, as one access of 16 bytes
// large: 134217728
#include <cuda_fp16.h>
#include "bench.h"

__global__ void half8_scale(const half *x, const half *y, half *out, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 8 >= n) return;
    half2 factor = __float2half2_rn(a);
    uint4 xs = reinterpret_cast<const uint4 *>(x)[i], ys = reinterpret_cast<const uint4 *>(y)[i], result;
    const half2 *xh = reinterpret_cast<const half2 *>(&xs), *yh = reinterpret_cast<const half2 *>(&ys);
    half2 *rh = reinterpret_cast<half2 *>(&result);
#pragma unroll
    for (int k = 0; k < 4; k++) rh[k] = __hfma2(factor, xh[k], yh[k]);
    reinterpret_cast<uint4 *>(out)[i] = result;
}

__global__ void fill_halves(half *p, size_t n, unsigned seed)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += stride)
        p[i] = __float2half(float_at((unsigned)i, seed, -4.0f, 4.0f));
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 8192);
    size_t bytes = (size_t)n * 2;
    half *x = (half *)device_bytes(bytes), *y = (half *)device_bytes(bytes), *out = (half *)device_bytes(bytes);
    fill_halves<<<bench_blocks(n), 256>>>(x, n, 1);
    fill_halves<<<bench_blocks(n), 256>>>(y, n, 2);
    MEASURE(half8_scale<<<(n / 8 + 255) / 256, 256>>>(x, y, out, 1.5f, n));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        size_t i = sample(s, n);
        half got;
        CHECK(cudaMemcpy(&got, out + i, 2, cudaMemcpyDeviceToHost));
        double want = 1.5 * float_at((unsigned)i, 1, -4.0f, 4.0f) + float_at((unsigned)i, 2, -4.0f, 4.0f);
        ok = ok && is_near(__half2float(got), want, 5e-3);
    }
    int code = bench_end("half8_scale", ok, out, bytes / 4);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFree(out));
    return code;
}
