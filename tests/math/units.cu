// What the GPU's units for approximate functions give: a hash of every 65,536 results, over all 2^32 arguments.
//
//     nvcc -O2 -arch=native units.cu -o units
//     ./units hash DIR                         DIR/NAME.hash: 65,536 numbers of 32 bits for each function
//     ./units dump NAME FIRST COUNT STEP FILE  the results themselves, 32 bits each
//     ./units list                             the names
//
// The device, the driver and the results that are NaN go to standard output. A NaN counts as 0x7fffffff in a hash, whatever its bits.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// One unit: PTX's instruction as nvcc passes it on.
#define UNIT(name, ptx)                                              \
    struct name {                                                    \
        static constexpr const char *text = #name;                   \
        static constexpr uint64_t count = 1ull << 32;                \
        __device__ static uint32_t of(uint64_t i) {                  \
            float r;                                                 \
            asm(ptx " %0, %1;" : "=f"(r) : "f"(__uint_as_float((uint32_t)i))); \
            return __float_as_uint(r);                               \
        }                                                            \
    };
// The same for the high words of doubles.
#define HIGH(name, ptx)                                              \
    struct name {                                                    \
        static constexpr const char *text = #name;                   \
        static constexpr uint64_t count = 1ull << 32;                \
        __device__ static uint32_t of(uint64_t i) {                  \
            double r;                                                \
            asm(ptx " %0, %1;" : "=d"(r) : "d"(__hiloint2double((int)i, 0))); \
            return (uint32_t)__double2hiint(r);                      \
        }                                                            \
    };
#define HALF(name, ptx)                                              \
    struct name {                                                    \
        static constexpr const char *text = #name;                   \
        static constexpr uint64_t count = 1ull << 16;                \
        __device__ static uint32_t of(uint64_t i) {                  \
            unsigned short r;                                        \
            asm(ptx " %0, %1;" : "=h"(r) : "h"((unsigned short)i));  \
            return r;                                                \
        }                                                            \
    };
// An intrinsic as nvcc compiles it.
#define CALL(name, expression)                                       \
    struct name {                                                    \
        static constexpr const char *text = #name;                   \
        static constexpr uint64_t count = 1ull << 32;                \
        __device__ static uint32_t of(uint64_t i) {                  \
            float x = __uint_as_float((uint32_t)i);                  \
            return __float_as_uint(expression);                      \
        }                                                            \
    };
// Two arguments: 2^30 pairs. In turn, 65,536 each: any bits; both from 2^-8 to 2^8; x so, above 0, and y of any bits; the reverse.
#define PAIR(name, expression)                                       \
    struct name {                                                    \
        static constexpr const char *text = #name;                   \
        static constexpr uint64_t count = 1ull << 30;                \
        __device__ static uint32_t of(uint64_t i) {                  \
            uint64_t s = scramble(i);                                \
            uint32_t a = (uint32_t)(s >> 32), b = (uint32_t)s;       \
            uint32_t near_a = (a & 0x807fffff) | ((119 + (a >> 23 & 15)) << 23); \
            uint32_t near_b = (b & 0x807fffff) | ((119 + (b >> 23 & 15)) << 23); \
            switch (i >> 16 & 3) {                                   \
            case 1: a = near_a, b = near_b; break;                   \
            case 2: a = near_a & 0x7fffffff; break;                  \
            case 3: b = near_b; break;                               \
            }                                                        \
            float x = __uint_as_float(a), y = __uint_as_float(b);    \
            return __float_as_uint(expression);                      \
        }                                                            \
    };

__host__ __device__ inline uint64_t scramble(uint64_t v) {
    v *= 0x9e3779b97f4a7c15;
    v ^= v >> 32;
    v *= 0xd6e8feb86659fd93;
    return v ^ v >> 32;
}

UNIT(ex2_approx_f32, "ex2.approx.f32")
UNIT(ex2_approx_ftz_f32, "ex2.approx.ftz.f32")
UNIT(lg2_approx_f32, "lg2.approx.f32")
UNIT(lg2_approx_ftz_f32, "lg2.approx.ftz.f32")
UNIT(rcp_approx_f32, "rcp.approx.f32")
UNIT(rcp_approx_ftz_f32, "rcp.approx.ftz.f32")
UNIT(rsqrt_approx_f32, "rsqrt.approx.f32")
UNIT(rsqrt_approx_ftz_f32, "rsqrt.approx.ftz.f32")
UNIT(sqrt_approx_f32, "sqrt.approx.f32")
UNIT(sqrt_approx_ftz_f32, "sqrt.approx.ftz.f32")
UNIT(sin_approx_f32, "sin.approx.f32")
UNIT(sin_approx_ftz_f32, "sin.approx.ftz.f32")
UNIT(cos_approx_f32, "cos.approx.f32")
UNIT(cos_approx_ftz_f32, "cos.approx.ftz.f32")
UNIT(tanh_approx_f32, "tanh.approx.f32")
HIGH(rcp_approx_ftz_f64, "rcp.approx.ftz.f64")
HIGH(rsqrt_approx_ftz_f64, "rsqrt.approx.ftz.f64")
HALF(ex2_approx_f16, "ex2.approx.f16")
HALF(tanh_approx_f16, "tanh.approx.f16")
HALF(ex2_approx_ftz_bf16, "ex2.approx.ftz.bf16")
HALF(tanh_approx_bf16, "tanh.approx.bf16")
CALL(expf_, __expf(x))
CALL(exp10f_, __exp10f(x))
CALL(logf_, __logf(x))
CALL(log2f_, __log2f(x))
CALL(log10f_, __log10f(x))
CALL(sinf_, __sinf(x))
CALL(cosf_, __cosf(x))
CALL(tanf_, __tanf(x))
CALL(tanhf_, __tanhf(x))
CALL(rsqrtf_, rsqrtf(x))
CALL(frsqrt_rn_, __frsqrt_rn(x))
PAIR(powf_, __powf(x, y))
PAIR(fdividef_, __fdividef(x, y))
PAIR(fdividef2_, fdividef(x, y))

#define CHECK(call)                                                                              \
    do {                                                                                         \
        cudaError_t error = (call);                                                              \
        if (error != cudaSuccess) fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)), exit(1); \
    } while (0)

template <class F> __device__ bool is_nan(uint32_t bits) {
    if (F::count == 1 << 16) return false;
    bits &= 0x7fffffff;
    return bits > 0x7f800000;
}

// Sums are of any order. The high word is the hash.
template <class F> __global__ void hash(uint32_t *hashes, uint64_t *nans) {
    __shared__ unsigned long long sum, other;
    if (threadIdx.x == 0) sum = other = 0;
    __syncthreads();
    unsigned long long mine = 0, odd = 0;
    for (uint64_t k = threadIdx.x; k < 65536; k += blockDim.x) {
        uint64_t i = (uint64_t)blockIdx.x << 16 | k;
        uint32_t r = F::of(i);
        if (is_nan<F>(r)) odd += r != 0x7fffffff, r = 0x7fffffff;
        mine += scramble((i << 32) | r);
    }
    atomicAdd(&sum, mine);
    atomicAdd(&other, odd);
    __syncthreads();
    if (threadIdx.x == 0) hashes[blockIdx.x] = (uint32_t)(sum >> 32), nans[blockIdx.x] = other;
}

template <class F> __global__ void results(uint32_t *out, uint64_t first, uint64_t count, uint64_t step) {
    for (uint64_t k = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; k < count; k += (uint64_t)gridDim.x * blockDim.x)
        out[k] = F::of(first + k * step);
}

static void write(const std::string &path, const std::vector<uint32_t> &words) {
    FILE *file = fopen(path.c_str(), "wb");
    if (!file || fwrite(words.data(), 4, words.size(), file) != words.size() || fclose(file)) perror(path.c_str()), exit(1);
}

template <class F> void hash_all(const char *folder) {
    const unsigned blocks = F::count >> 16;
    uint32_t *hashes;
    uint64_t *nans;
    CHECK(cudaMalloc(&hashes, blocks * 4ull));
    CHECK(cudaMalloc(&nans, blocks * 8ull));
    hash<F><<<blocks, 512>>>(hashes, nans);
    CHECK(cudaDeviceSynchronize());
    std::vector<uint32_t> host(blocks);
    std::vector<uint64_t> odd(blocks);
    CHECK(cudaMemcpy(host.data(), hashes, blocks * 4ull, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(odd.data(), nans, blocks * 8ull, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(hashes));
    CHECK(cudaFree(nans));
    write(std::string(folder) + "/" + F::text + ".hash", host);
    uint64_t all = 0, total = 0;
    for (unsigned i = 0; i < blocks; i++) all = scramble(all ^ host[i]), total += odd[i];
    printf("%-22s %016llx  other NaN: %llu\n", F::text, (unsigned long long)all, (unsigned long long)total);
}

template <class F> void dump(const char *name, uint64_t first, uint64_t count, uint64_t step, const char *path) {
    if (strcmp(name, F::text)) return;
    uint32_t *out;
    CHECK(cudaMalloc(&out, count * 4));
    results<F><<<1024, 256>>>(out, first, count, step);
    std::vector<uint32_t> host(count);
    CHECK(cudaMemcpy(host.data(), out, count * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(out));
    write(path, host);
}

template <class... F> struct All {
    static void hash(const char *folder) { (hash_all<F>(folder), ...); }
    static void list() { (puts(F::text), ...); }
    static void dump_one(char **v) {
        (dump<F>(v[2], strtoull(v[3], 0, 0), strtoull(v[4], 0, 0), strtoull(v[5], 0, 0), v[6]), ...);
    }
};
using Functions = All<ex2_approx_f32, ex2_approx_ftz_f32, lg2_approx_f32, lg2_approx_ftz_f32, rcp_approx_f32, rcp_approx_ftz_f32,
                      rsqrt_approx_f32, rsqrt_approx_ftz_f32, sqrt_approx_f32, sqrt_approx_ftz_f32, sin_approx_f32, sin_approx_ftz_f32,
                      cos_approx_f32, cos_approx_ftz_f32, tanh_approx_f32, rcp_approx_ftz_f64, rsqrt_approx_ftz_f64, ex2_approx_f16,
                      tanh_approx_f16, ex2_approx_ftz_bf16, tanh_approx_bf16, expf_, exp10f_, logf_, log2f_, log10f_, sinf_, cosf_, tanf_,
                      tanhf_, rsqrtf_, frsqrt_rn_, powf_, fdividef_, fdividef2_>;

int main(int argc, char **argv) {
    std::string command = argc > 1 ? argv[1] : "";
    if (command == "list") return Functions::list(), 0;
    if (command == "dump" && argc == 7) return Functions::dump_one(argv), 0;
    if (command != "hash" || argc != 3) return fprintf(stderr, "units hash DIR | dump NAME FIRST COUNT STEP FILE | list\n"), 2;
    cudaDeviceProp device;
    int driver;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDriverGetVersion(&driver));
    printf("%s, sm_%d%d, CUDA %d.%d\n", device.name, device.major, device.minor, driver / 1000, driver % 1000 / 10);
    Functions::hash(argv[2]);
}
