#include <cuda_runtime.h>
#include <iostream>
void host_side(const char *s) { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); int n; cudaGetDeviceCount(&n); std::cout << s << " " << n << "\n"; }
