// How many calls of printf a GPU keeps of a launch: nvcc -arch=sm_90 printf.cu && ./a.out CALLS ARGUMENTS | wc -l
//
// An NVIDIA H200 (driver 580), 2026-11-28. cudaDeviceGetLimit says that cudaLimitPrintfFifoSize is 8,650,752 bytes: 64 KiB for each of 132
// multiprocessors. Lines that arrive of a launch of blocks of 256 threads, one call each:
//
//   calls     no argument to four `int`, two `double`, texts of 3 and of 36 characters
//   20,000    20,000
//   40,000    33,792, whatever the arguments: 256 bytes a call
//   100,000   31,422 to 63,480: the host empties the buffer meanwhile
//   200,000   47,765 to 96,511
//
// One thread that calls it 100,000 times loses none. Of a limit of 4,096 bytes, which the driver makes 524,288, 87,928 of 200,000 arrive.
#include <cstdio>
#include <cstdlib>

__global__ void none() { printf("x\n"); }
__global__ void two() { printf("x %d %d\n", blockIdx.x, threadIdx.x); }
__global__ void text() { printf("x %s\n", "abcdefghijklmnopqrstuvwxyz0123456789"); }

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : 40000, arguments = argc > 2 ? atoi(argv[2]) : 2;
    int blocks = (calls + 255) / 256;
    switch (arguments) {
    case 0: none<<<blocks, 256>>>(); break;
    case 2: two<<<blocks, 256>>>(); break;
    default: text<<<blocks, 256>>>(); break;
    }
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
