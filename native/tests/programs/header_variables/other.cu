#include "common.h"
namespace cg = cooperative_groups;
__global__ void next() { cg::sync(cg::this_thread_block()); counter++; shared_by_both++; }
void other() {
    char *name;
    cudaMallocManaged(&name, 16);
    snprintf(name, 16, "other");
    show<<<1, 1>>>(name);
    next<<<1, 1>>>();
    cudaDeviceSynchronize();
}
