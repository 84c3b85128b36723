// strings: Levenshtein's distance of a word to each word of a list, a row of the table in the thread's own array
// large: 524288
#include "bench.h"

#define LENGTH 24

__constant__ char pattern[LENGTH];

__global__ void edit_distance(const char *words, const unsigned char *lengths, int *distances, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const char *word = words + (size_t)i * LENGTH;
    int row[LENGTH + 1];
    for (int j = 0; j <= LENGTH; j++) row[j] = j;
    for (int k = 0; k < lengths[i]; k++) {
        int diagonal = row[0];
        row[0] = k + 1;
        for (int j = 0; j < LENGTH; j++) {
            int above = row[j + 1];
            row[j + 1] = min(min(above, row[j]) + 1, diagonal + (word[k] != pattern[j]));
            diagonal = above;
        }
    }
    distances[i] = row[LENGTH];
}

__host__ __device__ inline char letter_at(unsigned i) { return 'a' + word_at(i, 1) % 6; }
__host__ __device__ inline int length_at(unsigned i) { return 8 + word_at(i, 2) % (LENGTH - 7); }

__global__ void write_words(char *words, unsigned char *lengths, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    lengths[i] = length_at(i);
    for (int k = 0; k < LENGTH; k++) words[i * LENGTH + k] = letter_at(i * LENGTH + k);
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 256);
    char host[LENGTH];
    for (int i = 0; i < LENGTH; i++) host[i] = 'a' + word_at(i, 3) % 6;
    CHECK(cudaMemcpyToSymbol(pattern, host, sizeof host));
    char *words = (char *)device_bytes((size_t)n * LENGTH);
    unsigned char *lengths = (unsigned char *)device_bytes(n);
    int *distances = (int *)device_bytes((size_t)n * 4);
    write_words<<<(n + 255) / 256, 256>>>(words, lengths, n);
    MEASURE(edit_distance<<<(n + 255) / 256, 256>>>(words, lengths, distances, n));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        unsigned i = (unsigned)sample(s, n);
        int table[LENGTH + 1][LENGTH + 1], length = length_at(i);
        for (int k = 0; k <= length; k++)
            for (int j = 0; j <= LENGTH; j++) {
                if (k == 0 || j == 0) {
                    table[k][j] = k + j;
                    continue;
                }
                int change = table[k - 1][j - 1] + (letter_at(i * LENGTH + k - 1) != host[j - 1]);
                int insert = table[k][j - 1] + 1, remove = table[k - 1][j] + 1, best = insert < remove ? insert : remove;
                table[k][j] = best < change ? best : change;
            }
        ok = ok && (int)word_of(distances, i) == table[length][LENGTH];
    }
    int code = bench_end("edit_distance", ok, distances, n);
    CHECK(cudaFree(words));
    CHECK(cudaFree(lengths));
    CHECK(cudaFree(distances));
    return code;
}
