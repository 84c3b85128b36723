// Ten loops of host code, timed one by one: a line each with a name, milliseconds (the least of five runs) and a checksum.
// bench/host.sh builds this file with g++ and, as CUDA, with dslc nvcc.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#ifdef __CUDACC__
__global__ void touch(int *p) { p[threadIdx.x] = threadIdx.x; }
#endif

static uint32_t state = 12345;
static uint32_t next() { return state = state * 1664525u + 1013904223u; }

static double product() {
    const int n = 320;
    std::vector<float> a(n * n), b(n * n), c(n * n);
    for (int i = 0; i < n * n; i++) { a[i] = next() % 7; b[i] = next() % 5; }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
    double t = 0;
    for (float x : c) t += x;
    return t;
}

static double sort_ints() {
    std::vector<int> v(600000);
    for (int &x : v) x = next() >> 4;
    std::sort(v.begin(), v.end());
    return v[1000] + v[v.size() / 2];
}

static double hash_bytes() {
    std::vector<unsigned char> bytes(8 << 20);
    for (auto &b : bytes) b = next() >> 24;
    uint64_t h = 1469598103934665603ull;
    for (auto b : bytes) h = (h ^ b) * 1099511628211ull;
    return h % 1000003;
}

static double histogram() {
    std::vector<unsigned> bins(256);
    std::vector<unsigned char> data(6 << 20);
    for (auto &d : data) d = next() >> 24;
    for (int r = 0; r < 3; r++)
        for (auto d : data) bins[d]++;
    double t = 0;
    for (int i = 0; i < 256; i++) t += (double)bins[i] * i;
    return t;
}

static double sieve() {
    const int n = 6000000;
    std::vector<char> composite(n + 1);
    int primes = 0;
    for (int i = 2; i <= n; i++) {
        if (composite[i]) continue;
        primes++;
        for (int64_t j = (int64_t)i * i; j <= n; j += i) composite[j] = 1;
    }
    return primes;
}

static double lcg() {
    uint64_t s = 42, sum = 0;
    for (int i = 0; i < 30000000; i++) {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        sum += s >> 33;
    }
    return sum % 1000003;
}

static double strings() {
    std::unordered_map<std::string, int> words;
    for (int i = 0; i < 200000; i++) words["word" + std::to_string(next() % 5000)]++;
    int most = 0;
    for (auto &w : words) most = std::max(most, w.second);
    return most;
}

struct Particle { float x, y, z, vx, vy, vz, mass; };

static double particles() {
    std::vector<Particle> p(200000);
    for (auto &q : p) q = {(float)(next() % 100), 1, 2, (float)(next() % 3), 0.5f, 0.25f, 1};
    for (int step = 0; step < 40; step++)
        for (auto &q : p) {
            q.x += q.vx * 0.01f;
            q.y += q.vy * 0.01f;
            q.z += q.vz * 0.01f;
            if (q.x > 50) q.vx = -q.vx;
        }
    double t = 0;
    for (auto &q : p) t += q.x + q.y + q.z;
    return t;
}

static double stencil() {
    const int n = 1024;
    std::vector<double> a(n * n), b(n * n);
    for (auto &x : a) x = next() % 10;
    for (int step = 0; step < 10; step++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i * n + j] = 0.2 * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j]);
        std::swap(a, b);
    }
    double t = 0;
    for (double x : a) t += x;
    return t;
}

static double scan() {
    std::vector<int64_t> v(4000000);
    for (auto &x : v) x = next() % 100;
    for (int r = 0; r < 4; r++)
        for (size_t i = 1; i < v.size(); i++) v[i] = (v[i] + v[i - 1]) & 0xffff;
    return v.back();
}

int main(int argc, char **argv) {
#ifdef __CUDACC__
    if (argc > 2) touch<<<1, 32>>>(nullptr);
#endif
    const std::pair<const char *, double (*)()> loops[] = {
        {"product", product}, {"sort", sort_ints}, {"hash", hash_bytes}, {"histogram", histogram}, {"sieve", sieve},
        {"lcg", lcg}, {"strings", strings}, {"particles", particles}, {"stencil", stencil}, {"scan", scan},
    };
    for (auto &[name, loop] : loops) {
        double least = 1e9, sum = 0;
        for (int round = 0; round < 5; round++) {
            state = 12345;
            auto start = std::chrono::steady_clock::now();
            sum = loop();
            least = std::min(least, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
        }
        std::printf("%s %.3f %.6g\n", name, least, sum);
    }
    return argc < 1;
}
