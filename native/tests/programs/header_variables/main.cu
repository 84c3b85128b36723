#include "common.h"
namespace cg = cooperative_groups;
__global__ void change() {
    cg::sync(cg::this_thread_block());
    counter = plain(twice(1)); shared_by_both = 4; own = 70; hidden = 90; filter::weight = 1.5f; Settings::depth = thrice(1);
}
static const char *text(const char *word) {
    char *all; cudaMallocManaged(&all, 16); snprintf(all, 16, "%s", word); return all;
}
int main() {
    const int ten = 10, values[4] = {10, 20, 30, 40};
    show<<<1, 1>>>(text("main"));
    other();
    change<<<1, 1>>>();
    cudaMemcpyToSymbol(table, values, sizeof values);
    show<<<1, 1>>>(text("main"));
    other();
    cudaMemcpyToSymbol(counter, &ten, sizeof ten);
    show<<<1, 1>>>(text("main"));
    other();
    printf("%s, %d\n", cudaGetErrorString(cudaDeviceSynchronize()), shared_by_both);
}
