// graphs: one level of a breadth-first search; each vertex not yet reached looks for a neighbour in the frontier
// large: 4194304
#include "bench.h"

__global__ void bfs_pull(const int *offsets, const int *neighbours, const int *levels, int *next, int n, int depth)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int level = levels[v];
    if (level < 0) {
        for (int e = offsets[v]; e < offsets[v + 1]; e++)
            if (levels[neighbours[e]] == depth) {
                level = depth + 1;
                break;
            }
    }
    next[v] = level;
}

__host__ __device__ inline int neighbour_at(unsigned e, int n) { return word_at(e, 2) % n; }

// One vertex in 16 in the frontier, one in 16 reached before.
__host__ __device__ inline int level_at(unsigned v)
{
    unsigned pick = word_at(v, 3) % 16;
    return pick == 0 ? 3 : pick == 1 ? 2 : -1;
}

__global__ void fill_graph(int *neighbours, size_t edges, int *levels, int n)
{
    size_t stride = (size_t)gridDim.x * blockDim.x, first = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    for (size_t e = first; e < edges; e += stride) neighbours[e] = neighbour_at((unsigned)e, n);
    for (size_t v = first; v < n; v += stride) levels[v] = level_at((unsigned)v);
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 512);
    int *host = (int *)malloc((n + 1) * sizeof(int));
    host[0] = 0;
    for (int v = 0; v < n; v++) host[v + 1] = host[v] + word_at(v, 1) % 32;
    size_t edges = host[n];
    int *offsets = (int *)device_bytes((n + 1) * 4), *neighbours = (int *)device_bytes(edges * 4);
    int *levels = (int *)device_bytes((size_t)n * 4), *next = (int *)device_bytes((size_t)n * 4);
    CHECK(cudaMemcpy(offsets, host, (n + 1) * 4, cudaMemcpyHostToDevice));
    fill_graph<<<bench_blocks(edges), 256>>>(neighbours, edges, levels, n);
    MEASURE(bfs_pull<<<(n + 255) / 256, 256>>>(offsets, neighbours, levels, next, n, 3));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        unsigned v = (unsigned)sample(s, n);
        int want = level_at(v);
        for (int e = host[v]; want < 0 && e < host[v + 1]; e++)
            if (level_at(neighbour_at(e, n)) == 3) want = 4;
        ok = ok && (int)word_of(next, v) == want;
    }
    int code = bench_end("bfs_pull", ok, next, n);
    free(host);
    int *all[] = {offsets, neighbours, levels, next};
    for (int i = 0; i < 4; i++) CHECK(cudaFree(all[i]));
    return code;
}
