// The GPU's half precision against the formulas of ir/src/half.rs: nvcc -arch=native half.cu && ./a.out
//
// All 2^16 halves go to float and all 2^32 floats to half. Of sums, products and fused multiply-adds: all 2^32 pairs, with a third operand
// from a hash and with one that nearly cancels the product.
#include <cstdint>
#include <cstdio>
#include <cstring>

struct Row {
    unsigned long long differ;
    uint32_t a, b, c, formula, gpu;
};

__device__ void compare(Row *row, uint32_t a, uint32_t b, uint32_t c, uint32_t formula, uint32_t gpu)
{
    if (formula == gpu || atomicAdd(&row->differ, 1ull) != 0) return;
    row->a = a, row->b = b, row->c = c, row->formula = formula, row->gpu = gpu;
}

__device__ uint32_t to_half(float x)
{
    uint32_t bits = __float_as_uint(x), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    uint32_t small = __float_as_uint(__fadd_rn(__uint_as_float(size), 0.5f)) - 0x3f000000u;
    uint32_t normal = (size + 0xfffu + (size >> 13 & 1u) - 0x38000000u) >> 13;
    uint32_t number = size >= 0x477ff000u ? 0x7c00u : size < 0x38800000u ? small : normal;
    return size > 0x7f800000u ? 0x7fffu : sign | number;
}

__device__ float to_float(uint32_t half)
{
    uint32_t size = half & 0x7fffu, sign = (half & 0x8000u) << 16;
    uint32_t finite = __float_as_uint(__uint_as_float(size << 13) * 0x1p112f);
    uint32_t wide = size > 0x7c00u ? 0x7fffffffu : sign | (size == 0x7c00u ? 0x7f800000u : finite);
    return __uint_as_float(wide);
}

__device__ uint32_t fma_of(uint32_t a, uint32_t b, uint32_t c)
{
    double sum = __dadd_rn(__dmul_rn(to_float(a), to_float(b)), to_float(c));
    float single = (float)sum;
    double rest = sum - (double)single;
    int bits = __float_as_int(single);
    if (rest != 0.0 && rest == rest && (bits & 1) == 0) bits += (rest > 0.0) == (sum > 0.0) ? 1 : -1;
    return to_half(__int_as_float(bits));
}

__device__ uint32_t gpu_to_half(float x)
{
    unsigned short half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
    return half;
}

__device__ uint32_t gpu_to_float(uint32_t half)
{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((unsigned short)half));
    return __float_as_uint(x);
}

__device__ uint32_t gpu_fma(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t d;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

__device__ uint32_t hash(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
    return (uint32_t)(x ^ x >> 33);
}

__global__ void test(Row *rows)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 65536) compare(rows + 0, i, 0, 0, __float_as_uint(to_float(i)), gpu_to_float(i));
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t word = i + (k << 30), a = word & 0xffff, b = word >> 16, c = hash(word) & 0xffff;
        compare(rows + 1, word, 0, 0, to_half(__uint_as_float(word)), gpu_to_half(__uint_as_float(word)));
        float x = to_float(a), y = to_float(b);
        compare(rows + 2, a, b, 0, to_half(__fadd_rn(x, y)), gpu_fma(a, 0x3c00, b) & 0xffff);
        compare(rows + 3, a, b, 0, to_half(__fsub_rn(x, y)), gpu_fma(b, 0xbc00, a) & 0xffff);
        compare(rows + 4, a, b, 0, to_half(__fmul_rn(x, y)), gpu_fma(a, b, 0x8000) & 0xffff);
        uint32_t near_product = ((gpu_fma(a, b, 0x8000) ^ 0x8000) + (c & 7) - 3) & 0xffff;
        compare(rows + 5, a, b, c, fma_of(a, b, c), gpu_fma(a, b, c) & 0xffff);
        compare(rows + 5, a, b, c, fma_of(a, b, c), gpu_fma(a << 16, b << 16, c << 16) >> 16);
        compare(rows + 5, a, b, near_product, fma_of(a, b, near_product), gpu_fma(a, b, near_product) & 0xffff);
    }
}

int main()
{
    const char *names[] = {"to float", "to half", "a + b", "a - b", "a * b", "fma"};
    Row *rows;
    cudaMallocManaged(&rows, 6 * sizeof(Row));
    memset(rows, 0, 6 * sizeof(Row));
    test<<<(1 << 30) / 256, 256>>>(rows);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    bool all = true;
    for (int r = 0; r < 6; r++) {
        const Row &row = rows[r];
        printf("%-9s %llu differ", names[r], row.differ);
        if (row.differ) printf(", one of them %x %x %x: formula %x, GPU %x", row.a, row.b, row.c, row.formula, row.gpu);
        printf("\n");
        all = all && row.differ == 0;
    }
    cudaFree(rows);
    return all ? 0 : 1;
}
