/* cuRAND's host side: the generators of <curand.h>, computed on the CPU.

   XORWOW and Philox give cuRAND's numbers. XORWOW has 4096 sequences, 2^67 numbers apart, which give one number each in turn; Philox has
   65536, which give four. A distribution takes what it needs from the sequence whose turn it is. The Sobol generators give cuRAND's
   points in up to 10 dimensions. MRG32k3a, MTGP32 and MT19937 give numbers of Philox under another key: good ones, but not cuRAND's. */
#include "common.h"
#include <curand.h>

#include <cmath>
#include <memory>

namespace {

typedef unsigned int u32;
typedef unsigned long long u64;

float uniform_float(u32 x) { return x * 0x1p-32f + 0x1p-33f; }
double uniform_double(u32 x, u32 y) { return (x ^ (u64)y << 21) * 0x1p-53 + 0x1p-54; }

/* The transformation of Box and Muller: two uniform numbers make two normal ones, of which `second` chooses. */
float normal_float(u32 x, u32 y, bool second) {
    float angle = y * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f;
    float length = sqrtf(-2.0f * logf(uniform_float(x)));
    return length * (second ? cosf(angle) : sinf(angle));
}
double normal_double(const u32 x[4], bool second) {
    double angle = uniform_double(x[2], x[3]) * 2 * M_PI;
    double length = sqrt(-2.0 * log(uniform_double(x[0], x[1])));
    return length * (second ? cos(angle) : sin(angle));
}

/* Numbers by their place in what the generator gives. */
class Engine {
  public:
    virtual ~Engine() {}
    virtual u32 bits(u64 at) = 0;
    virtual u64 long_bits(u64 at) { return bits(2 * at) | (u64)bits(2 * at + 1) << 32; }
    virtual float uniform(u64 at) { return uniform_float(bits(at)); }
    virtual double uniform64(u64 at) = 0;
    virtual float normal(u64 at) = 0;
    virtual double normal64(u64 at) = 0;
    /* Dimensions come one after the other. */
    virtual void dimensions(u64) {}
    bool is_quasi = false;
};

/* A polynomial over GF(2) of a degree below 160, the lowest coefficients first: a number of steps of XORWOW. */
struct Polynomial {
    u32 word[5];
};

Polynomial product(Polynomial a, Polynomial b) {
    /* XORWOW's characteristic polynomial without its highest power. */
    const u32 modulus[5] = {0x00060001, 0x08610030, 0x00062121, 0x0f3c0035, 0x00000f0e};
    Polynomial result = {};
    for (int bit = 159; bit >= 0; bit--) {
        bool over = result.word[4] >> 31;
        for (int i = 4; i > 0; i--) result.word[i] = result.word[i] << 1 | result.word[i - 1] >> 31;
        result.word[0] <<= 1;
        for (int i = 0; i < 5; i++) {
            if (over) result.word[i] ^= modulus[i];
            if (b.word[bit / 32] >> bit % 32 & 1) result.word[i] ^= a.word[i];
        }
    }
    return result;
}

/* x to the power of n. */
Polynomial steps(u64 n) {
    Polynomial result = {{1}}, power = {{2}};
    for (; n; n >>= 1) {
        if (n & 1) result = product(result, power);
        power = product(power, power);
    }
    return result;
}

struct Xorwow {
    u32 d, v[5];
    u32 next() {
        u32 t = v[0] ^ v[0] >> 2;
        for (int i = 0; i < 4; i++) v[i] = v[i + 1];
        v[4] = v[4] ^ v[4] << 4 ^ t ^ t << 1;
        d += 362437;
        return v[4] + d;
    }
    void skip(const Polynomial &by) {
        Xorwow state = *this, sum = {d, {}};
        for (int bit = 0; bit < 160; bit++, state.next())
            if (by.word[bit / 32] >> bit % 32 & 1)
                for (int i = 0; i < 5; i++) sum.v[i] ^= state.v[i];
        *this = sum;
    }
};

class XorwowEngine : public Engine {
    static constexpr u64 sequences = 4096;

  public:
    XorwowEngine(u64 seed) {
        u32 t0 = 1099087573u * ((u32)seed ^ 0xaad26b49u), t1 = 2591861531u * ((u32)(seed >> 32) ^ 0xf7dcefddu);
        Xorwow state = {6615241u + t1 + t0, {123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1, 5783321u + t0}};
        Polynomial stride = {{2}};
        for (int i = 0; i < 67; i++) stride = product(stride, stride);
        for (u64 i = 0; i < sequences; i++) {
            first.push_back(state);
            state.skip(stride);
        }
        states = first;
    }
    u32 bits(u64 at) override { return number(at / sequences, at % sequences); }
    double uniform64(u64 at) override {
        u64 round = at / sequences * 2, of = at % sequences;
        u32 x = number(round, of);
        return uniform_double(x, number(round + 1, of));
    }
    float normal(u64 at) override {
        u64 round = at / 2 / sequences * 2, of = at / 2 % sequences;
        u32 x = number(round, of);
        return normal_float(x, number(round + 1, of), at & 1);
    }
    double normal64(u64 at) override {
        u64 round = at / 2 / sequences * 4, of = at / 2 % sequences;
        u32 x[4];
        for (int i = 0; i < 4; i++) x[i] = number(round + i, of);
        return normal_double(x, at & 1);
    }

  private:
    static constexpr u64 kept = 4;
    /* What the sequences give in a round. The last ones are kept, since a distribution takes up to four of a sequence. */
    u32 number(u64 round, u64 of) {
        if (round >= made + 64 || round + kept < made) {
            states = first;
            Polynomial by = steps(round);
            for (Xorwow &state : states) {
                state.skip(by);
                state.d += 362437u * (u32)round;
            }
            made = round;
        }
        for (; made <= round; made++) {
            std::vector<u32> &row = rows[made % kept];
            row.clear();
            for (Xorwow &state : states) row.push_back(state.next());
        }
        return rows[round % kept][of];
    }
    std::vector<Xorwow> first, states;
    std::vector<u32> rows[kept];
    /* Rounds that were made; the last ones are in `rows`. */
    u64 made = 0;
};

class PhiloxEngine : public Engine {
    static constexpr u64 sequences = 65536;

  public:
    PhiloxEngine(u64 seed) : seed(seed) {}
    u32 bits(u64 at) override { return numbers(at / 4 / sequences, at / 4 % sequences)[at % 4]; }
    double uniform64(u64 at) override {
        const u32 *x = numbers(at / 4 / sequences * 2 + at % 4 / 2, at / 4 % sequences) + at % 2 * 2;
        return uniform_double(x[0], x[1]);
    }
    float normal(u64 at) override {
        const u32 *x = numbers(at / 4 / sequences, at / 4 % sequences) + at % 4 / 2 * 2;
        return normal_float(x[0], x[1], at & 1);
    }
    double normal64(u64 at) override {
        return normal_double(numbers(at / 4 / sequences * 2 + at % 4 / 2, at / 4 % sequences), at & 1);
    }

  private:
    const u32 *numbers(u64 counter, u64 sequence) {
        if (has_last && counter == last_counter && sequence == last_sequence) return last;
        u32 c[4] = {(u32)counter, (u32)(counter >> 32), (u32)sequence, (u32)(sequence >> 32)};
        u32 key[2] = {(u32)seed, (u32)(seed >> 32)};
        for (int i = 0; i < 10; i++) {
            u64 a = (u64)0xd2511f53u * c[0], b = (u64)0xcd9e8d57u * c[2];
            u32 next[4] = {(u32)(b >> 32) ^ c[1] ^ key[0], (u32)b, (u32)(a >> 32) ^ c[3] ^ key[1], (u32)a};
            memcpy(c, next, sizeof c);
            key[0] += 0x9e3779b9u;
            key[1] += 0xbb67ae85u;
        }
        memcpy(last, c, sizeof c);
        has_last = true;
        last_counter = counter;
        last_sequence = sequence;
        return last;
    }
    u64 seed, last_counter = 0, last_sequence = 0;
    u32 last[4];
    bool has_last = false;
};

/* Primitive polynomials and first direction numbers of dimensions 2 to 10, as Joe and Kuo published them (2008). */
struct Direction {
    int degree;
    u32 coefficients, first[5];
};
const Direction directions[] = {{1, 0, {1}},          {2, 1, {1, 3}},        {3, 1, {1, 3, 1}},        {3, 2, {1, 1, 1}},       {4, 1, {1, 1, 3, 3}},
                                {4, 4, {1, 3, 5, 13}}, {5, 2, {1, 1, 5, 5, 17}}, {5, 4, {1, 1, 5, 5, 5}}, {5, 7, {1, 1, 7, 11, 19}}};
const u64 most_dimensions = 1 + sizeof directions / sizeof *directions;

/* The dimensions of a call come one after the other, each with as many points: `at` is a point of the dimension that is set. */
class SobolEngine : public Engine {
  public:
    SobolEngine() {
        is_quasi = true;
        dimensions(0);
    }
    void dimensions(u64 dimension) override {
        for (int i = 0; i < 64; i++) vectors[i] = 1ull << (63 - i);
        if (dimension == 0) return;
        const Direction &of = directions[dimension - 1];
        for (int i = 0; i < 64; i++) {
            if (i < of.degree) {
                vectors[i] = (u64)of.first[i] << (63 - i);
                continue;
            }
            vectors[i] = vectors[i - of.degree] ^ vectors[i - of.degree] >> of.degree;
            for (int k = 1; k < of.degree; k++)
                if (of.coefficients >> (of.degree - 1 - k) & 1) vectors[i] ^= vectors[i - k];
        }
    }
    u64 long_bits(u64 at) override {
        u64 gray = at ^ at >> 1, sum = 0;
        for (int i = 0; gray; i++, gray >>= 1)
            if (gray & 1) sum ^= vectors[i];
        return sum;
    }
    u32 bits(u64 at) override { return (u32)(long_bits(at) >> 32); }
    double uniform64(u64 at) override { return bits(at) * 0x1p-32 + 0x1p-32; }
    /* A point makes one normal number: by the inverse of the distribution's function. */
    float normal(u64 at) override { return (float)normal64(at); }
    double normal64(u64 at) override {
        double p = uniform64(at), low = -40, high = 40;
        for (int i = 0; i < 80; i++) {
            double middle = (low + high) / 2;
            (0.5 * erfc(-middle * M_SQRT1_2) < p ? low : high) = middle;
        }
        return low;
    }

  private:
    u64 vectors[64];
};

} // namespace

struct curandGenerator_st {
    curandRngType_t type;
    bool on_host;
    cudaStream_t stream = nullptr;
    u64 seed = 0, at = 0;
    unsigned dimensions = 1;
    std::unique_ptr<Engine> engine;

    Engine &made() {
        if (engine) return *engine;
        switch (type) {
        case CURAND_RNG_PSEUDO_DEFAULT:
        case CURAND_RNG_PSEUDO_XORWOW: engine.reset(new XorwowEngine(seed)); break;
        case CURAND_RNG_PSEUDO_PHILOX4_32_10: engine.reset(new PhiloxEngine(seed)); break;
        case CURAND_RNG_PSEUDO_MRG32K3A:
        case CURAND_RNG_PSEUDO_MTGP32:
        case CURAND_RNG_PSEUDO_MT19937: engine.reset(new PhiloxEngine(seed ^ (u64)type << 32)); break;
        default: engine.reset(new SobolEngine());
        }
        return *engine;
    }
};

namespace {

/* Fills `count` elements; `width` is how many 32-bit numbers an element takes. */
template <class T, class F> curandStatus_t fill(curandGenerator_t generator, T *to, size_t count, u64 width, F number) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (!to && count) return CURAND_STATUS_LAUNCH_FAILURE;
    if (generator->dimensions > 1 && count % generator->dimensions) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    auto work = [=] {
        Engine &engine = generator->made();
        dslc::Row<T> row(to, (long)count, false);
        u64 points = count / generator->dimensions, place = 0;
        u64 start = engine.is_quasi ? generator->at : (generator->at + width - 1) / width;
        for (u64 dimension = 0; dimension < generator->dimensions; dimension++) {
            engine.dimensions(dimension);
            for (u64 i = 0; i < points; i++) row[place++] = number(engine, start + i);
        }
        generator->at = engine.is_quasi ? start + points : (start + count) * width;
        row.store();
        return row.failed;
    };
    cudaError_t error = generator->on_host ? work() : dslc::submit(generator->stream, "cuRAND", work);
    return error ? CURAND_STATUS_LAUNCH_FAILURE : CURAND_STATUS_SUCCESS;
}

/* The number of events whose probability is at least that of `u`. */
u32 poisson(double lambda, double u, double normal) {
    if (lambda > 700) return (u32)fmax(0.0, floor(lambda + sqrt(lambda) * normal + 0.5));
    double p = exp(-lambda), sum = p;
    u32 events = 0;
    while (sum < u && p > 0) sum += p *= lambda / ++events;
    return events;
}

} // namespace

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type) {
    switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64: break;
    default: return CURAND_STATUS_TYPE_ERROR;
    }
    if (type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 || type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64) {
        fputs("dslc: cuRAND: the scrambled Sobol generators are not there; CURAND_RNG_QUASI_SOBOL32 is\n", stderr);
        return CURAND_STATUS_TYPE_ERROR;
    }
    *generator = new curandGenerator_st{type, false};
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type) {
    curandStatus_t status = curandCreateGenerator(generator, type);
    if (status == CURAND_STATUS_SUCCESS) (*generator)->on_host = true;
    return status;
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    delete generator;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetVersion(int *version) {
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetProperty(libraryPropertyType kind, int *value) {
    *value = kind == MAJOR_VERSION ? CURAND_VER_MAJOR : kind == MINOR_VERSION ? CURAND_VER_MINOR : CURAND_VER_PATCH;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (generator->type >= CURAND_RNG_QUASI_DEFAULT) return CURAND_STATUS_TYPE_ERROR;
    generator->seed = seed;
    generator->at = 0;
    generator->engine.reset();
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    generator->at = offset;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t) {
    return generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned int dimensions) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (generator->type < CURAND_RNG_QUASI_DEFAULT) return CURAND_STATUS_TYPE_ERROR;
    if (dimensions == 0 || dimensions > 20000) return CURAND_STATUS_OUT_OF_RANGE;
    if (dimensions > most_dimensions) {
        fprintf(stderr, "dslc: cuRAND: Sobol points have at most %llu dimensions here, not %u\n", most_dimensions, dimensions);
        return CURAND_STATUS_OUT_OF_RANGE;
    }
    generator->dimensions = dimensions;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    generator->made();
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int *to, size_t count) {
    return fill(generator, to, count, 1, [](Engine &engine, u64 at) { return engine.bits(at); });
}
curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long *to, size_t count) {
    if (generator && generator->type != CURAND_RNG_QUASI_SOBOL64) return CURAND_STATUS_TYPE_ERROR;
    return fill(generator, to, count, 2, [](Engine &engine, u64 at) { return engine.long_bits(at); });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *to, size_t count) {
    return fill(generator, to, count, 1, [](Engine &engine, u64 at) { return engine.uniform(at); });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *to, size_t count) {
    return fill(generator, to, count, 2, [](Engine &engine, u64 at) { return engine.uniform64(at); });
}
/* Pseudorandom normal numbers come in pairs. */
static bool is_odd(curandGenerator_t generator, size_t count) {
    return generator && generator->type < CURAND_RNG_QUASI_DEFAULT && count % 2;
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *to, size_t count, float mean, float deviation) {
    if (is_odd(generator, count)) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    return fill(generator, to, count, 1, [=](Engine &engine, u64 at) { return mean + deviation * engine.normal(at); });
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *to, size_t count, double mean, double deviation) {
    if (is_odd(generator, count)) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    return fill(generator, to, count, 2, [=](Engine &engine, u64 at) { return mean + deviation * engine.normal64(at); });
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float *to, size_t count, float mean, float deviation) {
    if (is_odd(generator, count)) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    return fill(generator, to, count, 1, [=](Engine &engine, u64 at) { return expf(mean + deviation * engine.normal(at)); });
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double *to, size_t count, double mean, double deviation) {
    if (is_odd(generator, count)) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    return fill(generator, to, count, 2, [=](Engine &engine, u64 at) { return exp(mean + deviation * engine.normal64(at)); });
}
curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int *to, size_t count, double lambda) {
    if (!(lambda > 0)) return CURAND_STATUS_OUT_OF_RANGE;
    return fill(generator, to, count, 1, [=](Engine &engine, u64 at) {
        return poisson(lambda, engine.uniform(at), lambda > 700 ? (double)engine.normal(at) : 0.0);
    });
}

} // extern "C"
