// physics: forces between atoms and their neighbours by Lennard-Jones' potential, from a list of neighbours
// large: 524288
#include "bench.h"

#define NEIGHBOURS 64

__global__ void lennard_jones(float4 *forces, const float4 *positions, const int *neighbours, int count, float cutoff2, float lj1, float lj2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float4 here = positions[i];
    float4 force = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k = 0; k < NEIGHBOURS; k++) {
        float4 there = positions[neighbours[k * count + i]];
        float dx = here.x - there.x, dy = here.y - there.y, dz = here.z - there.z;
        float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < cutoff2 && r2 > 0.0f) {
            float r2inv = 1.0f / r2;
            float r6inv = r2inv * r2inv * r2inv;
            float f = r2inv * r6inv * (lj1 * r6inv - lj2);
            force.x += dx * f;
            force.y += dy * f;
            force.z += dz * f;
            force.w += r6inv * (lj1 * r6inv / 12.0f - lj2 / 6.0f);
        }
    }
    forces[i] = force;
}

// Atoms stand on a cubic grid, each a little off its place; neighbours are near in the numbering.
__host__ __device__ inline float coordinate_at(unsigned i, int axis)
{
    return (float)(i >> 5 * axis & 31) + float_at(i * 4 + axis, 1, 0.0f, 0.25f);
}

__host__ __device__ inline int neighbour_at(unsigned i, unsigned k, int count)
{
    unsigned steps[4] = {1, 31, 32, 1024};
    return (i + steps[word_at(i * NEIGHBOURS + k, 2) % 4] * (1 + word_at(i * NEIGHBOURS + k, 3) % 2)) % count;
}

__global__ void fill_atoms(float4 *positions, int *neighbours, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    positions[i] = make_float4(coordinate_at(i, 0), coordinate_at(i, 1), coordinate_at(i, 2), 0.0f);
    for (int k = 0; k < NEIGHBOURS; k++) neighbours[k * count + i] = neighbour_at(i, k, count);
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 512);
    float4 *positions = (float4 *)device_bytes((size_t)n * 16), *forces = (float4 *)device_bytes((size_t)n * 16);
    int *neighbours = (int *)device_bytes((size_t)n * NEIGHBOURS * 4);
    fill_atoms<<<(n + 255) / 256, 256>>>(positions, neighbours, n);
    float cutoff2 = 6.25f, lj1 = 48.0f, lj2 = 24.0f;
    MEASURE(lennard_jones<<<(n + 255) / 256, 256>>>(forces, positions, neighbours, n, cutoff2, lj1, lj2));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        unsigned i = (unsigned)sample(s, n);
        double force = 0.0, size = 1.0;
        for (int k = 0; k < NEIGHBOURS; k++) {
            unsigned j = neighbour_at(i, k, n);
            double d[3], r2 = 0.0;
            for (int a = 0; a < 3; a++) {
                d[a] = (double)coordinate_at(i, a) - coordinate_at(j, a);
                r2 += d[a] * d[a];
            }
            if (r2 < cutoff2 && r2 > 0.0) {
                double r6 = 1.0 / (r2 * r2 * r2), f = r6 / r2 * (lj1 * r6 - lj2);
                force += d[0] * f;
                size += fabs(d[0] * f);
            }
        }
        ok = ok && fabs(float_of((const float *)forces, 4 * i) - force) <= 1e-4 * size;
    }
    int code = bench_end("lennard_jones", ok, forces, (size_t)n * 4);
    CHECK(cudaFree(positions));
    CHECK(cudaFree(forces));
    CHECK(cudaFree(neighbours));
    return code;
}
