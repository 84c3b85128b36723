// hashing: SHA-1 of a block of 64 bytes for each number, as a search for a hash does it
// large: 8388608
#include "bench.h"

__device__ void sha1(const unsigned *block, unsigned *state)
{
    unsigned w[16], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int i = 0; i < 16; i++) w[i] = block[i];
#pragma unroll
    for (int t = 0; t < 80; t++) {
        if (t >= 16) {
            unsigned x = w[(t + 13) & 15] ^ w[(t + 8) & 15] ^ w[(t + 2) & 15] ^ w[t & 15];
            w[t & 15] = __funnelshift_l(x, x, 1);
        }
        unsigned f, k;
        if (t < 20) {
            f = (b & c) | (~b & d);
            k = 0x5a827999u;
        } else if (t < 40) {
            f = b ^ c ^ d;
            k = 0x6ed9eba1u;
        } else if (t < 60) {
            f = (b & c) | (b & d) | (c & d);
            k = 0x8f1bbcdcu;
        } else {
            f = b ^ c ^ d;
            k = 0xca62c1d6u;
        }
        unsigned next = __funnelshift_l(a, a, 5) + f + e + k + w[t & 15];
        e = d;
        d = c;
        c = __funnelshift_l(b, b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

__global__ void sha1_rounds(unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned block[16] = {0x68656164u, 0x65722066u, 0x6f722061u, (unsigned)i, 0x80000000u, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128};
    unsigned state[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
    sha1(block, state);
    out[i] = state[0] ^ state[4];
}

static unsigned rotate(unsigned x, int n) { return x << n | x >> (32 - n); }

// The standard's text, word for word.
static void sha1_of(const unsigned *block, unsigned *state)
{
    unsigned w[80], s[5];
    for (int t = 0; t < 80; t++) w[t] = t < 16 ? block[t] : rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (int i = 0; i < 5; i++) s[i] = state[i];
    for (int t = 0; t < 80; t++) {
        unsigned choose = (s[1] & s[2]) | (~s[1] & s[3]), parity = s[1] ^ s[2] ^ s[3];
        unsigned majority = (s[1] & s[2]) ^ (s[1] & s[3]) ^ (s[2] & s[3]);
        unsigned f = t < 20 ? choose : t < 40 || t >= 60 ? parity : majority;
        unsigned k = t < 20 ? 0x5a827999u : t < 40 ? 0x6ed9eba1u : t < 60 ? 0x8f1bbcdcu : 0xca62c1d6u;
        unsigned next = rotate(s[0], 5) + f + s[4] + k + w[t];
        s[4] = s[3];
        s[3] = s[2];
        s[2] = rotate(s[1], 30);
        s[1] = s[0];
        s[0] = next;
    }
    for (int i = 0; i < 5; i++) state[i] += s[i];
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 1024);
    unsigned *out = (unsigned *)device_bytes((size_t)n * 4);
    MEASURE(sha1_rounds<<<(n + 255) / 256, 256>>>(out, n));
    // The standard's first example: "abc".
    unsigned abc[16] = {0x61626380u, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24};
    unsigned start[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u}, state[5];
    for (int i = 0; i < 5; i++) state[i] = start[i];
    sha1_of(abc, state);
    bool ok = state[0] == 0xa9993e36u && state[4] == 0x9cd0d89du;
    for (int s = 0; s < SAMPLES; s++) {
        unsigned i = (unsigned)sample(s, n);
        unsigned block[16] = {0x68656164u, 0x65722066u, 0x6f722061u, i, 0x80000000u, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128};
        for (int k = 0; k < 5; k++) state[k] = start[k];
        sha1_of(block, state);
        ok = ok && word_of(out, i) == (state[0] ^ state[4]);
    }
    int code = bench_end("sha1_rounds", ok, out, n);
    CHECK(cudaFree(out));
    return code;
}
