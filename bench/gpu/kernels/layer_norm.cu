// neural networks: each row of a matrix brought to mean 0 and variance 1, then scaled; float4 and shuffles
// large: 65536
#include "bench.h"

#define COLS 1024
#define WARPS 8

__device__ inline float block_sum(float value, float *shared)
{
    for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_xor_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % 32 < WARPS ? shared[threadIdx.x % 32] : 0.0f;
    for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_xor_sync(0xffffffffu, value, offset);
    __syncthreads();
    return value;
}

__global__ void layer_norm(const float4 *in, float4 *out, const float4 *gamma, const float4 *beta, float epsilon)
{
    __shared__ float shared[WARPS];
    size_t at = blockIdx.x * (size_t)(COLS / 4) + threadIdx.x;
    float4 x = in[at], g = gamma[threadIdx.x], b = beta[threadIdx.x];
    float mean = block_sum(x.x + x.y + x.z + x.w, shared) / COLS;
    float4 d = make_float4(x.x - mean, x.y - mean, x.z - mean, x.w - mean);
    float variance = block_sum(d.x * d.x + d.y * d.y + d.z * d.z + d.w * d.w, shared) / COLS;
    float scale = rsqrtf(variance + epsilon);
    out[at] = make_float4(d.x * scale * g.x + b.x, d.y * scale * g.y + b.y, d.z * scale * g.z + b.z, d.w * scale * g.w + b.w);
}

int main(int argc, char **argv)
{
    int rows = bench_size(argc, argv, 16);
    size_t cells = (size_t)rows * COLS;
    float *in = device_floats(cells, 1, -3.0f, 5.0f), *gamma = device_floats(COLS, 2, 0.5f, 1.5f), *beta = device_floats(COLS, 3, -1.0f, 1.0f);
    float *out = (float *)device_bytes(cells * 4);
    MEASURE(layer_norm<<<rows, COLS / 4>>>((const float4 *)in, (float4 *)out, (const float4 *)gamma, (const float4 *)beta, 1e-5f));
    bool ok = true;
    for (int s = 0; s < 16; s++) {
        size_t at = sample(s, cells);
        unsigned first = (unsigned)(at / COLS * COLS), col = (unsigned)(at % COLS);
        double mean = 0.0, variance = 0.0;
        for (int k = 0; k < COLS; k++) mean += (double)float_at(first + k, 1, -3.0f, 5.0f) / COLS;
        for (int k = 0; k < COLS; k++) {
            double d = float_at(first + k, 1, -3.0f, 5.0f) - mean;
            variance += d * d / COLS;
        }
        double want = (float_at((unsigned)at, 1, -3.0f, 5.0f) - mean) / sqrt(variance + 1e-5) * float_at(col, 2, 0.5f, 1.5f) +
                      float_at(col, 3, -1.0f, 1.0f);
        ok = ok && is_near(float_of(out, at), want, 1e-4);
    }
    int code = bench_end("layer_norm", ok, out, cells);
    float *all[] = {in, gamma, beta, out};
    for (int i = 0; i < 4; i++) CHECK(cudaFree(all[i]));
    return code;
}
