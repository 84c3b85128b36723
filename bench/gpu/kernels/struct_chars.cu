// strings: a loop over the characters of a struct in managed memory
// large: 1048576
#include "bench.h"

#define TEXT 60

struct Record {
    int length;
    char text[TEXT];
};

struct Table {
    int count;
    Record *records;
};

__global__ void struct_chars(const Table *table, unsigned *hashes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= table->count) return;
    unsigned hash = 2166136261u;
    for (int k = 0; k < table->records[i].length; k++) {
        char c = table->records[i].text[k];
        if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
        hash = (hash ^ (unsigned char)c) * 16777619u;
    }
    hashes[i] = hash;
}

__global__ void write_records(Table *table)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= table->count) return;
    Record *record = &table->records[i];
    record->length = 20 + word_at(i, 1) % (TEXT - 20);
    for (int k = 0; k < record->length; k++) record->text[k] = "etaoinshrdluETAOINSHRDLU_-09 .,!"[word_at(i * TEXT + k, 2) % 32];
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 512);
    Table *table;
    CHECK(cudaMallocManaged(&table, sizeof *table));
    table->count = n;
    CHECK(cudaMallocManaged(&table->records, n * sizeof(Record)));
    unsigned *hashes = (unsigned *)device_bytes((size_t)n * 4);
    write_records<<<(n + 255) / 256, 256>>>(table);
    MEASURE(struct_chars<<<(n + 255) / 256, 256>>>(table, hashes));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        unsigned i = (unsigned)sample(s, n), hash = 2166136261u;
        int length = 20 + word_at(i, 1) % (TEXT - 20);
        for (int k = 0; k < length; k++) {
            char c = "etaoinshrdluetaoinshrdlu_-09 .,!"[word_at(i * TEXT + k, 2) % 32];
            hash = (hash ^ (unsigned char)c) * 16777619u;
        }
        ok = ok && word_of(hashes, i) == hash;
    }
    int code = bench_end("struct_chars", ok, hashes, n);
    CHECK(cudaFree(table->records));
    CHECK(cudaFree(table));
    CHECK(cudaFree(hashes));
    return code;
}
