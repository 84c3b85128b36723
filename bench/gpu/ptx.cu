// Runs all kernels of a PTX file on a GPU: ptx FILE.ptx     Build: nvcc -o ptx ptx.cu -lcuda
//
// Each kernel is k(in, out, n): out[i] from in[2 * i] and in[2 * i + 1], all 32-bit words. Prints a line for each kernel, in the order of the file: its
// name and a hash of its results (FNV-1a of the words). `ptx/tests/it/operations.rs` makes the same words and hashes.
#include <cuda.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

static void check(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    const char *text = nullptr;
    cuGetErrorString(result, &text);
    fprintf(stderr, "%s: %s\n", what, text ? text : "unknown");
    exit(1);
}

// Zeros, denormals, the limits of normal numbers, infinities, NaNs, limits of instructions, small integers.
static const uint32_t special[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x807fffff, 0x7f7fffff, 0x7f800000,
                                   0xff800000, 0x7fc00000, 0xffc00001, 0x3f800000, 0xbf800000, 0x7e800000, 0x7e800001, 0x7f000000, 0xc2fc0000,
                                   0xc2fe0000, 0x42fe0000, 31,         32,         33,         0xffffffff, 0x7fffffff};
static const unsigned count = sizeof special / sizeof *special, pairs = 16384;

// Splitmix64.
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static uint32_t word(unsigned i)
{
    unsigned pair = i / 2;
    if (pair < count * count)
        return special[i % 2 ? pair % count : pair / count];
    uint32_t bits = (uint32_t)mix(i);
    switch (pair % 4) {
    case 0: return (bits & 0x807fffff) | (119 + (bits >> 23) % 16) << 23;
    case 1: return bits & 0x80ffffff;
    default: return bits;
    }
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    std::ifstream file(argv[1], std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    std::vector<uint32_t> words(2 * pairs), results(pairs);
    for (unsigned i = 0; i < words.size(); i++)
        words[i] = word(i);
    unsigned n = pairs;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUdeviceptr in, out;
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "context");
    check(cuCtxSetCurrent(context), "context");
    check(cuModuleLoadData(&module, text.c_str()), "cuModuleLoadData");
    check(cuMemAlloc(&in, words.size() * 4), "cuMemAlloc");
    check(cuMemAlloc(&out, n * 4), "cuMemAlloc");
    check(cuMemcpyHtoD(in, words.data(), words.size() * 4), "copy");
    for (size_t at = 0; (at = text.find(".entry ", at)) != std::string::npos;) {
        at += 7;
        std::string name = text.substr(at, text.find('(', at) - at);
        CUfunction function;
        check(cuModuleGetFunction(&function, module, name.c_str()), name.c_str());
        void *args[] = {&in, &out, &n};
        check(cuLaunchKernel(function, n / 256, 1, 1, 256, 1, 1, 0, nullptr, args, nullptr), name.c_str());
        check(cuMemcpyDtoH(results.data(), out, n * 4), name.c_str());
        uint64_t hash = 0xcbf29ce484222325;
        for (uint32_t result : results)
            hash = (hash ^ result) * 0x100000001b3;
        printf("%s,%016llx\n", name.c_str(), (unsigned long long)hash);
    }
}
