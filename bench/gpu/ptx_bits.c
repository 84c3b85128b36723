/* Runs one kernel of a PTX text on a GPU, and prints a hash of each buffer: `ptx_bits FILE KERNEL GRID BLOCK SHARED ARGUMENT…`. An argument is
 * `b:BYTES:SEED` for a buffer, `i:VALUE`, `l:VALUE` or `f:VALUE`. bench/gpu/ptx_bits.py makes such lines, and the same for dslc. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(CUresult result, const char *what) {
    if (result == CUDA_SUCCESS) return;
    const char *name = "?";
    cuGetErrorName(result, &name);
    printf("%s: %s\n", what, name);
    exit(1);
}

int main(int argc, char **argv) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "context");
    check(cuCtxSetCurrent(context), "context");
    check(cuModuleLoad(&module, argv[1]), "load");
    check(cuModuleGetFunction(&kernel, module, argv[2]), "kernel");
    int n = argc - 6, buffers = 0;
    void *args[64];
    static unsigned long long values[64];
    size_t bytes[64];
    CUdeviceptr memory[64];
    for (int i = 0; i < n && i < 64; i++) {
        const char *word = argv[6 + i];
        args[i] = &values[i];
        if (word[0] == 'b') {
            unsigned seed;
            sscanf(word, "b:%zu:%u", &bytes[buffers], &seed);
            unsigned *host = malloc(bytes[buffers]);
            for (size_t at = 0; at < bytes[buffers] / 4; at++) {
                unsigned x = (unsigned)at * 2654435761u + seed;
                x ^= x >> 15;
                x *= 2246822519u;
                x ^= x >> 13;
                /* Small whole numbers, or a float between 1 and 2: both are harmless as an index or a factor. */
                host[at] = seed % 2 ? 0x3f800000u | x >> 9 : x & 15u;
            }
            check(cuMemAlloc(&memory[buffers], bytes[buffers]), "memory");
            check(cuMemcpyHtoD(memory[buffers], host, bytes[buffers]), "copy");
            values[i] = memory[buffers++];
            free(host);
        } else if (word[0] == 'f') {
            float x = strtof(word + 2, NULL);
            memcpy(&values[i], &x, 4);
        } else {
            values[i] = strtoull(word + 2, NULL, 0);
        }
    }
    check(cuLaunchKernel(kernel, atoi(argv[3]), 1, 1, atoi(argv[4]), 1, 1, atoi(argv[5]), 0, args, NULL), "launch");
    check(cuCtxSynchronize(), "run");
    for (int i = 0; i < buffers; i++) {
        unsigned char *host = malloc(bytes[i]);
        check(cuMemcpyDtoH(host, memory[i], bytes[i]), "copy");
        unsigned long long hash = 0xcbf29ce484222325ull;
        for (size_t at = 0; at < bytes[i]; at++) hash = (hash ^ host[at]) * 0x100000001b3ull;
        printf("%016llx ", hash);
        free(host);
    }
    printf("\n");
    return 0;
}
