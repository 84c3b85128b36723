// physics: gravity between all pairs of bodies, tiles of bodies in shared memory
// large: 65536
#include "bench.h"

#define BLOCK 256
#define SOFTENING 1e-3f

__global__ void nbody(const float4 *bodies, float4 *accelerations, int n)
{
    __shared__ float4 tile[BLOCK];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = bodies[i];
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int start = 0; start < n; start += BLOCK) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < BLOCK; j++) {
            float4 other = tile[j];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + SOFTENING);
            float pull = other.w * inverse * inverse * inverse;
            sum.x += dx * pull;
            sum.y += dy * pull;
            sum.z += dz * pull;
        }
        __syncthreads();
    }
    accelerations[i] = make_float4(sum.x, sum.y, sum.z, 0.0f);
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 512);
    float *bodies = device_floats((size_t)n * 4, 1, 0.0f, 1.0f), *out = (float *)device_bytes((size_t)n * 16);
    MEASURE(nbody<<<n / BLOCK, BLOCK>>>((const float4 *)bodies, (float4 *)out, n));
    bool ok = true;
    for (int s = 0; s < 4; s++) {
        unsigned i = (unsigned)sample(s, n);
        double sum = 0.0;
        for (int j = 0; j < n; j++) {
            double d[3], square = SOFTENING;
            for (int k = 0; k < 3; k++) {
                d[k] = (double)float_at(4 * j + k, 1, 0.0f, 1.0f) - float_at(4 * i + k, 1, 0.0f, 1.0f);
                square += d[k] * d[k];
            }
            sum += float_at(4 * j + 3, 1, 0.0f, 1.0f) * d[0] / (square * sqrt(square));
        }
        ok = ok && is_near(float_of(out, 4 * i), sum, 2e-3);
    }
    int code = bench_end("nbody", ok, out, (size_t)n * 4);
    CHECK(cudaFree(bodies));
    CHECK(cudaFree(out));
    return code;
}
