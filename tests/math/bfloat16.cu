// The GPU's bfloat16 against the formulas of ir/src/bfloat16.rs: nvcc -arch=native bfloat16.cu && ./a.out, on sm_80 or newer.
//
// All 2^32 floats go to bfloat16. Of sums, differences, products and fused multiply-adds: all 2^32 pairs, with a third operand from a hash, with
// one that nearly cancels the product, and with one so far below the product that it only decides between two neighbours. On sm_90 or newer
// also the instructions `add`, `sub` and `mul`, which CUDA's header uses there.
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

__device__ uint32_t to_bfloat16(uint32_t bits)
{
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}

__device__ float to_float(uint32_t bfloat) { return __uint_as_float(bfloat << 16); }

__device__ uint32_t fma_of(uint32_t a, uint32_t b, uint32_t c)
{
    double product = __dmul_rn(to_float(a), to_float(b)), term = to_float(c), sum = __dadd_rn(product, term);
    double part = __dsub_rn(sum, product);
    double lost = __dadd_rn(__dsub_rn(product, __dsub_rn(sum, part)), __dsub_rn(term, part));
    float single = __double2float_rn(sum);
    double rest = __dadd_rn(__dsub_rn(sum, (double)single), lost);
    int bits = __float_as_int(single);
    if (rest != 0.0 && rest == rest && (bits & 1) == 0) bits += (rest > 0.0) == (bits >= 0) ? 1 : -1;
    return to_bfloat16(bits);
}

__device__ uint32_t gpu_to_bfloat16(float x)
{
    unsigned short bfloat;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bfloat) : "f"(x));
    return bfloat;
}

__device__ uint32_t gpu_fma(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t d;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

#if __CUDA_ARCH__ >= 900
#define OPERATION(name)                                                                            \
    __device__ uint32_t gpu_##name(uint32_t a, uint32_t b)                                         \
    {                                                                                              \
        uint32_t d;                                                                                \
        asm(#name ".rn.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));                            \
        return d & 0xffff;                                                                         \
    }
OPERATION(add)
OPERATION(sub)
OPERATION(mul)
#endif

__device__ uint32_t hash(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
    return (uint32_t)(x ^ x >> 33);
}

__device__ void compare_fma(Row *row, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t formula = fma_of(a, b, c);
    compare(row, a, b, c, formula, gpu_fma(a, b, c) & 0xffff);
    compare(row, a, b, c, formula, gpu_fma(a << 16, b << 16, c << 16) >> 16);
}

__global__ void test(Row *rows)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t word = i + (k << 30), a = word & 0xffff, b = word >> 16, c = hash(word) & 0xffff;
        compare(rows + 0, word, 0, 0, to_bfloat16(word), gpu_to_bfloat16(__uint_as_float(word)));
        // The sum of two floats that are bfloat16 is innocuous to round twice; their product is no float if it is small.
        float x = to_float(a), y = to_float(b);
        uint32_t sum = to_bfloat16(__float_as_uint(__fadd_rn(x, y))), difference = to_bfloat16(__float_as_uint(__fsub_rn(x, y)));
        uint32_t product = fma_of(a, b, 0x8000);
        compare(rows + 1, a, b, 0, sum, gpu_fma(a, 0x3f80, b) & 0xffff);
        compare(rows + 1, a, b, 0, sum, fma_of(a, 0x3f80, b));
        compare(rows + 2, a, b, 0, difference, gpu_fma(b, 0xbf80, a) & 0xffff);
        compare(rows + 2, a, b, 0, difference, fma_of(b, 0xbf80, a));
        compare(rows + 3, a, b, 0, product, gpu_fma(a, b, 0x8000) & 0xffff);
#if __CUDA_ARCH__ >= 900
        compare(rows + 1, a, b, 1, sum, gpu_add(a, b));
        compare(rows + 2, a, b, 1, difference, gpu_sub(a, b));
        compare(rows + 3, a, b, 1, product, gpu_mul(a, b));
#endif
        compare_fma(rows + 4, a, b, c);
        compare_fma(rows + 4, a, b, ((product ^ 0x8000) + (c & 7) - 3) & 0xffff);
        // The product's exponent less 16 to 79: the term is below the product's last bit.
        uint32_t exponent = product >> 7 & 0xff, below = 16 + (c & 63);
        uint32_t term = (c & 0x8000) | (exponent > below ? exponent - below : 0) << 7 | (c >> 6 & 0x7f);
        compare_fma(rows + 4, a, b, term);
    }
}

int main()
{
    const char *names[] = {"to bfloat16", "a + b", "a - b", "a * b", "fma"};
    const int n_rows = sizeof names / sizeof *names;
    Row *rows;
    cudaMallocManaged(&rows, n_rows * sizeof(Row));
    memset(rows, 0, n_rows * sizeof(Row));
    test<<<(1 << 30) / 256, 256>>>(rows);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    bool all = true;
    for (int r = 0; r < n_rows; r++) {
        const Row &row = rows[r];
        printf("%-11s %llu differ", names[r], row.differ);
        if (row.differ) printf(", one of them %x %x %x: formula %x, GPU %x", row.a, row.b, row.c, row.formula, row.gpu);
        printf("\n");
        all = all && row.differ == 0;
    }
    cudaFree(rows);
    return all ? 0 : 1;
}
