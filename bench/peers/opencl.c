// Times one benchmark kernel on the first OpenCL device there is, and checks its result against plain C.
//
//     opencl KERNELS.cl KERNEL SIZE [REPEATS]
//
// KERNEL is reduce, transpose32, transpose33, sgemm16, sgemm64, gemm_naive, gemv_half or mandel. One launch before the timed ones warms up (and compiles, where the
// device compiles late), unless REPEATS is 1. Output: kernel, size, median seconds of one launch, wrong elements, device.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_REPEATS = 1000 };

static void require(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "opencl: %s failed\n", what);
        exit(2);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    require(file != NULL, path);
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *text = calloc((size_t)length + 1, 1);
    require(fread(text, 1, (size_t)length, file) == (size_t)length, path);
    fclose(file);
    return text;
}

static unsigned state = 12345;
static unsigned next_random(void) { return state = state * 1664525u + 1013904223u; }

static int mandel_rounds(int x, int y, int n)
{
    float cr = -2.0f + 3.0f * (float)x / (float)n, ci = -1.5f + 3.0f * (float)y / (float)n, zr = 0.0f, zi = 0.0f;
    int round = 0;
    for (; round < 256; round++) {
        float r2 = zr * zr, i2 = zi * zi;
        if (r2 + i2 > 4.0f)
            break;
        zi = 2.0f * zr * zi + ci;
        zr = r2 - i2 + cr;
    }
    return round;
}

// The half of a whole number from -8 to 7.
static unsigned short half_of(int number)
{
    unsigned size = (unsigned)abs(number), exponent = 0;
    if (size == 0)
        return 0;
    while (size >> (exponent + 1))
        exponent++;
    return (unsigned short)((number < 0) << 15 | (exponent + 15) << 10 | ((size << (10 - exponent)) & 0x3ff));
}

static float number_of(unsigned short half)
{
    int exponent = half >> 10 & 31;
    float size = exponent == 0 ? 0 : (float)((half & 0x3ff) | 0x400) / (float)(1 << (25 - exponent));
    return half >> 15 ? -size : size;
}

static size_t count_wrong(const char *kernel, size_t n, const void *in1, const void *in2, const void *out)
{
    size_t wrong = 0;
    if (strcmp(kernel, "reduce") == 0) {
        for (size_t b = 0; b < n / 256; b++) {
            int sum = 0;
            for (size_t i = 256 * b; i < 256 * (b + 1); i++)
                sum += ((const int *)in1)[i];
            wrong += sum != ((const int *)out)[b];
        }
    } else if (strncmp(kernel, "sgemm", 5) == 0 || strcmp(kernel, "gemm_naive") == 0) {
        const float *a = in1, *b = in2, *c = out;
        float *row = malloc(n * sizeof *row);
        for (size_t y = 0; y < n; y++) {
            memset(row, 0, n * sizeof *row);
            for (size_t k = 0; k < n; k++)
                for (size_t x = 0; x < n; x++)
                    row[x] += a[y * n + k] * b[k * n + x];
            for (size_t x = 0; x < n; x++)
                wrong += row[x] != c[y * n + x];
        }
        free(row);
    } else if (strcmp(kernel, "gemv_half") == 0) {
        for (size_t y = 0; y < n; y++) {
            float sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += number_of(((const unsigned short *)in1)[k * n + y]) * ((const float *)in2)[k];
            wrong += sum != ((const float *)out)[y];
        }
    } else {
        for (size_t y = 0; y < n; y++)
            for (size_t x = 0; x < n; x++)
                wrong += strcmp(kernel, "mandel") == 0 ? mandel_rounds((int)x, (int)y, (int)n) != ((const int *)out)[y * n + x]
                                                       : ((const float *)out)[x * n + y] != ((const float *)in1)[y * n + x];
    }
    return wrong;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: opencl KERNELS.cl KERNEL SIZE [REPEATS]\n");
        return 2;
    }
    const char *kernel_name = argv[2];
    size_t n = strtoul(argv[3], NULL, 10);
    int repeats = argc > 4 ? atoi(argv[4]) : 5;
    require(repeats >= 1 && repeats <= MAX_REPEATS, "1 to 1000 repeats");

    // The shape of the launch and the number of elements of each buffer.
    int is_reduce = !strcmp(kernel_name, "reduce"), is_transpose = !strncmp(kernel_name, "transpose", 9);
    int is_sgemm = !strncmp(kernel_name, "sgemm", 5) || !strcmp(kernel_name, "gemm_naive"), is_mandel = !strcmp(kernel_name, "mandel");
    int is_half = !strcmp(kernel_name, "gemv_half"), in_registers = !strcmp(kernel_name, "sgemm64");
    require(is_reduce || is_transpose || is_sgemm || is_mandel || is_half, "choosing the kernel");
    cl_uint dimensions = is_reduce || is_half ? 1 : 2;
    size_t global[2] = {n, is_transpose ? n / 4 : n}, local[2] = {is_reduce ? 256 : is_transpose ? 32 : 16, is_transpose ? 8 : 16};
    if (is_half)
        local[0] = 256;
    if (in_registers)
        global[0] = global[1] = n / 8, local[0] = local[1] = 8;
    size_t out_count = is_reduce ? n / 256 : is_half ? n : n * n;
    size_t in_count[2] = {is_mandel ? 0 : is_reduce ? n : n * n, is_sgemm ? n * n : is_half ? n : 0};

    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    require(!clGetPlatformIDs(1, &platform, NULL), "finding an OpenCL platform");
    require(!clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "finding an OpenCL device");
    char device_name[256] = "";
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof device_name, device_name, NULL);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    require(!error, "creating a context");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    require(!error, "creating a queue");
    const char *text = read_text(argv[1]);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    require(!error && !clBuildProgram(program, 1, &device, "", NULL, NULL), "compiling the kernels");
    cl_kernel kernel = clCreateKernel(program, kernel_name, &error);
    require(!error, "creating the kernel");

    void *in[2] = {NULL, NULL};
    cl_uint argument = 0;
    for (int which = 0; which < 2; which++) {
        if (in_count[which] == 0)
            continue;
        size_t bytes = (is_half && which == 0 ? 2 : 4) * in_count[which];
        in[which] = malloc(bytes);
        for (size_t i = 0; i < in_count[which]; i++) {
            if (is_half && which == 0)
                ((unsigned short *)in[which])[i] = half_of((int)(next_random() >> 28) - 8);
            else if (is_reduce)
                ((int *)in[which])[i] = (int)(next_random() >> 12) - 500000;
            else
                ((float *)in[which])[i] = is_transpose ? (float)(i & 0xffffff) : (float)((int)(next_random() >> 28) - 8);
        }
        cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, in[which], &error);
        require(!error && !clSetKernelArg(kernel, argument++, sizeof buffer, &buffer), "an input buffer");
    }
    void *out = malloc(4 * out_count);
    memset(out, 0xff, 4 * out_count);
    cl_mem out_buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 4 * out_count, out, &error);
    require(!error && !clSetKernelArg(kernel, argument++, sizeof out_buffer, &out_buffer), "the output buffer");
    cl_int side = (cl_int)n;
    if (!is_reduce)
        require(!clSetKernelArg(kernel, argument++, sizeof side, &side), "the size argument");
    clFinish(queue);

    static double times[MAX_REPEATS];
    for (int i = repeats > 1 ? -1 : 0; i < repeats; i++) {
        double start = seconds();
        require(!clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, global, local, 0, NULL, NULL), "launching");
        require(!clFinish(queue), "running");
        if (i >= 0)
            times[i] = seconds() - start;
    }
    require(!clEnqueueReadBuffer(queue, out_buffer, CL_TRUE, 0, 4 * out_count, out, 0, NULL, NULL), "reading the result");
    qsort(times, (size_t)repeats, sizeof times[0], by_value);
    size_t wrong = count_wrong(kernel_name, n, in[0], in[1], out);
    printf("%s %zu %.6f %zu %s\n", kernel_name, n, times[repeats / 2], wrong, device_name);
    return wrong != 0;
}
