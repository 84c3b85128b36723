// hashing: look-ups in a table of 64-bit keys and values with open addressing
// large: 16777216
#include "bench.h"

#define EMPTY 0xffffffffffffffffull

typedef unsigned long long u64;

struct Entry {
    u64 key;
    u64 value;
};

__host__ __device__ inline u64 mix(u64 k)
{
    k ^= k >> 33;
    k *= 0xff51afd7ed558ccdull;
    k ^= k >> 33;
    k *= 0xc4ceb9fe1a85ec53ull;
    return k ^ k >> 33;
}

__host__ __device__ inline u64 key_at(unsigned i) { return (u64)word_at(i, 1) << 32 | i; }

__global__ void clear(Entry *table, u64 capacity)
{
    u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (i < capacity) table[i].key = EMPTY;
}

__global__ void insert(Entry *table, u64 capacity, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 key = key_at(i), slot = mix(key) & (capacity - 1);
    while (atomicCAS(&table[slot].key, EMPTY, key) != EMPTY) slot = (slot + 1) & (capacity - 1);
    table[slot].value = key * 3;
}

// Every second key is in the table.
__host__ __device__ inline u64 query_at(unsigned i, int n) { return key_at(word_at(i, 2) % (2 * n)); }

__global__ void make_queries(u64 *queries, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) queries[i] = query_at(i, n);
}

__global__ void hash_table(const Entry *table, u64 capacity, const u64 *queries, u64 *results, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 key = queries[i], slot = mix(key) & (capacity - 1), result = 0;
    while (true) {
        u64 found = table[slot].key;
        if (found == key) {
            result = table[slot].value;
            break;
        }
        if (found == EMPTY) break;
        slot = (slot + 1) & (capacity - 1);
    }
    results[i] = result;
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 1024), blocks = (n + 255) / 256;
    u64 capacity = 2 * (u64)n;
    Entry *table = (Entry *)device_bytes(capacity * sizeof(Entry));
    u64 *queries = (u64 *)device_bytes((size_t)n * 8), *results = (u64 *)device_bytes((size_t)n * 8);
    clear<<<2 * blocks, 256>>>(table, capacity);
    insert<<<blocks, 256>>>(table, capacity, n);
    make_queries<<<blocks, 256>>>(queries, n);
    MEASURE(hash_table<<<blocks, 256>>>(table, capacity, queries, results, n));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        size_t i = sample(s, n);
        u64 got, key = query_at((unsigned)i, n);
        CHECK(cudaMemcpy(&got, results + i, 8, cudaMemcpyDeviceToHost));
        ok = ok && got == ((unsigned)key < (unsigned)n ? key * 3 : 0);
    }
    int code = bench_end("hash_table", ok, results, (size_t)n * 2);
    CHECK(cudaFree(table));
    CHECK(cudaFree(queries));
    CHECK(cudaFree(results));
    return code;
}
