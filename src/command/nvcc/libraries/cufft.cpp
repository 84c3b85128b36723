/* cuFFT's functions: what they are handed is brought to the host without gaps, FFTW transforms it, and results go back. Without FFTW a
   plain transform does, which is slower. */
#include "common.h"
#include <cufft.h>

#include <complex>
#include <map>
#include <mutex>

namespace {

/* FFTW's functions, for one precision. A complex number is two of `R`. */
template <class R> struct Fftw {
    typedef std::complex<R> Complex;
    typedef void *Plan(int rank, const int *n, int count, Complex *in, const int *, int, int, Complex *out, const int *, int, int, int sign, unsigned flags);
    typedef void Use(void *plan);
    Plan *plan;
    Use *execute, *destroy;

    static Fftw &get() {
        static Fftw found;
        return found;
    }

  private:
    Fftw() {
        bool single = sizeof(R) == 4;
        void *library = single ? dslc::open({"libfftw3f.so.3"}) : dslc::open({"libfftw3.so.3"});
        if (!library)
            fprintf(stderr, "dslc: cuFFT: there is no FFTW, so that a plain transform does, which is slow. Debian's package is libfftw3-%s\n",
                    single ? "single3" : "double3");
        plan = dslc::function<Plan>(library, single ? "fftwf_plan_many_dft" : "fftw_plan_many_dft");
        execute = dslc::function<Use>(library, single ? "fftwf_execute" : "fftw_execute");
        destroy = dslc::function<Use>(library, single ? "fftwf_destroy_plan" : "fftw_destroy_plan");
    }
};

/* The transform of `n` elements `step` apart, by its smallest divisor. */
template <class R> void transform(std::complex<R> *x, long n, long step, int sign) {
    std::vector<std::complex<double>> row(n), out(n), turn(n);
    for (long i = 0; i < n; i++) {
        row[i] = x[i * step];
        turn[i] = std::polar(1.0, sign * 2 * M_PI * (double)i / (double)n);
    }
    /* Of `from`, every `by`-th element; `size * by` is n. */
    std::function<void(const std::complex<double> *, std::complex<double> *, long, long)> part = [&](auto *from, auto *to, long size, long by) {
        long radix = 2;
        while (radix * radix <= size && size % radix) radix++;
        if (size % radix) radix = size;
        if (size == 1) {
            to[0] = from[0];
            return;
        }
        long rest = size / radix;
        std::vector<std::complex<double>> parts(size);
        for (long r = 0; r < radix; r++) part(from + r * by, parts.data() + r * rest, rest, by * radix);
        for (long k = 0; k < size; k++) {
            std::complex<double> sum = 0;
            for (long r = 0; r < radix; r++) sum += parts[r * rest + k % rest] * turn[(unsigned long)r * k % size * by];
            to[k] = sum;
        }
    };
    part(row.data(), out.data(), n, 1);
    for (long i = 0; i < n; i++) x[i * step] = std::complex<R>(out[i]);
}

struct Layout {
    /* Of the array that holds a transform's elements: null in C's sense is what `basic` says. */
    bool basic = true;
    std::vector<long> embed;
    long stride = 1, distance = 0;
};

struct Plan {
    bool is_made = false;
    cufftType type = CUFFT_C2C;
    std::vector<int> n;
    Layout in, out;
    long batch = 1;
    cudaStream_t stream = nullptr;
};

std::mutex mutex;
std::map<cufftHandle, Plan> plans;
cufftHandle last = 0;

long volume(const std::vector<int> &n) {
    long all = 1;
    for (int one : n) all *= one;
    return all;
}

/* Where the elements of one side are: for each of a batch's arrays the places of its elements, in order. `sizes` are the elements that
   there are, `widths` the array that they lie in. */
struct Places {
    std::vector<long> of_one;
    long distance, end;
    Places(const std::vector<int> &sizes, const std::vector<long> &widths, long stride, long distance, long batch) : distance(distance) {
        of_one.assign(1, 0);
        for (size_t i = 0; i < sizes.size(); i++) {
            std::vector<long> next;
            for (long place : of_one)
                for (int k = 0; k < sizes[i]; k++) next.push_back((i ? place * widths[i] : 0) + k);
            of_one.swap(next);
        }
        for (long &place : of_one) place *= stride;
        end = of_one.empty() ? 0 : of_one.back() + (batch - 1) * distance + 1;
    }
};

/* The places of a side whose last dimension has `last` elements, or is padded to `padded`. */
Places places(const Plan &plan, const Layout &layout, int last, long padded) {
    std::vector<int> sizes = plan.n;
    sizes.back() = last;
    std::vector<long> widths(sizes.begin(), sizes.end());
    if (layout.basic) {
        widths.back() = padded;
        long distance = 1;
        for (long width : widths) distance *= width;
        return Places(sizes, widths, 1, distance, plan.batch);
    }
    return Places(sizes, layout.embed, layout.stride, layout.distance, plan.batch);
}

/* Transforms `batch` arrays that lie one after the other. */
template <class R> void transform(std::vector<std::complex<R>> &data, const Plan &plan, int sign) {
    long size = volume(plan.n);
    Fftw<R> &fftw = Fftw<R>::get();
    if (fftw.plan) {
        /* FFTW's planner is one thread's at a time. */
        static std::mutex planner;
        std::unique_lock<std::mutex> lock(planner);
        const unsigned estimate = 1 << 6;
        void *made = fftw.plan((int)plan.n.size(), plan.n.data(), (int)plan.batch, data.data(), nullptr, 1, (int)size, data.data(), nullptr, 1, (int)size, sign, estimate);
        lock.unlock();
        if (made) {
            fftw.execute(made);
            lock.lock();
            fftw.destroy(made);
            return;
        }
    }
    for (long one = 0; one < plan.batch; one++) {
        long step = size;
        for (int n : plan.n) {
            step /= n;
            for (long i = 0; i < size; i++)
                if (i / step % n == 0) transform(data.data() + one * size + i, n, step, sign);
        }
    }
}

/* Which element of half a spectrum is the conjugate of the one at `index` of the whole. */
long mirrored(const Plan &plan, long index, bool &is_there) {
    long out = 0, rest = index, size = volume(plan.n);
    int half = plan.n.back() / 2 + 1;
    is_there = index % plan.n.back() < half;
    for (size_t i = 0; i < plan.n.size(); i++) {
        size /= plan.n[i];
        long k = rest / size;
        rest %= size;
        if (!is_there) k = (plan.n[i] - k) % plan.n[i];
        out = out * (i + 1 == plan.n.size() ? half : plan.n[i]) + k;
    }
    return out;
}

/* `In` and `Out` are real or complex numbers. */
template <class R, class In, class Out> cudaError_t execute(const Plan &plan, In *from, Out *to, int sign) {
    typedef std::complex<R> Complex;
    const bool from_real = sizeof(In) == sizeof(R), to_real = sizeof(Out) == sizeof(R);
    const bool in_place = (void *)from == (void *)to;
    int n = plan.n.back(), half = n / 2 + 1;
    bool is_half = from_real || to_real;
    /* In place, rows of real numbers leave room for the spectrum. */
    long padded = in_place ? 2 * half : n;
    Places reads = places(plan, plan.in, to_real ? half : n, to_real ? half : from_real ? padded : n);
    Places writes = places(plan, plan.out, from_real ? half : n, from_real ? half : to_real ? padded : n);
    long size = volume(plan.n), half_size = size / n * half;
    std::vector<Complex> data((size_t)size * plan.batch);
    {
        dslc::Row<In> row(from, reads.end);
        if (row.failed) return row.failed;
        for (long one = 0; one < plan.batch; one++)
            for (long i = 0; i < size; i++) {
                bool is_there = true;
                long index = to_real ? mirrored(plan, i, is_there) : i;
                In value = row[one * reads.distance + reads.of_one[index]];
                Complex wide;
                memcpy(&wide, &value, sizeof value);
                if (from_real) wide = Complex(wide.real(), 0);
                data[one * size + i] = is_there ? wide : std::conj(wide);
            }
    }
    transform(data, plan, sign);
    dslc::Row<Out> row(to, writes.end, (long)(is_half && from_real ? half_size : size) * plan.batch != writes.end);
    for (long one = 0; one < plan.batch; one++)
        for (size_t i = 0; i < writes.of_one.size(); i++) {
            long index = from_real ? (long)i / half * n + (long)i % half : (long)i;
            memcpy(&row[one * writes.distance + writes.of_one[i]], &data[one * size + index], sizeof(Out));
        }
    row.store();
    return row.failed;
}

cufftResult with(cufftHandle handle, std::function<cufftResult(Plan &)> work) {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = plans.find(handle);
    return found == plans.end() ? CUFFT_INVALID_PLAN : work(found->second);
}

template <class R, class In, class Out> cufftResult run(cufftHandle handle, cufftType type, In *from, Out *to, int sign) {
    Plan plan;
    cufftResult found = with(handle, [&](Plan &known) {
        plan = known;
        return known.is_made ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
    });
    if (found) return found;
    if (plan.type != type) return CUFFT_INVALID_TYPE;
    if (!from || !to || (sign != CUFFT_FORWARD && sign != CUFFT_INVERSE)) return CUFFT_INVALID_VALUE;
    cudaError_t error = dslc::submit(plan.stream, "cuFFT", [=] { return execute<R>(plan, from, to, sign); });
    return error ? CUFFT_EXEC_FAILED : CUFFT_SUCCESS;
}

template <class I>
cufftResult make(cufftHandle handle, int rank, const I *n, const I *inembed, I istride, I idist, const I *onembed, I ostride, I odist, cufftType type, I batch, size_t *bytes) {
    switch (type) {
    case CUFFT_R2C:
    case CUFFT_C2R:
    case CUFFT_C2C:
    case CUFFT_D2Z:
    case CUFFT_Z2D:
    case CUFFT_Z2Z: break;
    default: return CUFFT_INVALID_TYPE;
    }
    if (rank < 1 || rank > 3 || batch < 1) return CUFFT_INVALID_VALUE;
    for (int i = 0; i < rank; i++)
        if (n[i] < 1) return CUFFT_INVALID_SIZE;
    if (bytes) *bytes = 0;
    return with(handle, [&](Plan &plan) {
        auto layout = [&](const I *embed, I stride, I distance) {
            Layout out;
            out.basic = !embed;
            if (embed) out.embed.assign(embed, embed + rank);
            out.stride = stride;
            out.distance = distance;
            return out;
        };
        plan.type = type;
        plan.n.assign(n, n + rank);
        plan.in = layout(inembed, istride, idist);
        plan.out = layout(onembed, ostride, odist);
        /* cuFFT takes both from where one is missing. */
        if (!inembed || !onembed) plan.in.basic = plan.out.basic = true;
        plan.batch = batch;
        plan.is_made = true;
        return CUFFT_SUCCESS;
    });
}

} // namespace

extern "C" {

cufftResult cufftCreate(cufftHandle *plan) {
    if (!plan) return CUFFT_INVALID_VALUE;
    std::lock_guard<std::mutex> lock(mutex);
    *plan = ++last;
    plans[*plan];
    return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle plan) {
    std::lock_guard<std::mutex> lock(mutex);
    return plans.erase(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist, cufftType type, int batch, size_t *bytes) {
    return make<int>(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, bytes);
}
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long *n, long long *inembed, long long istride, long long idist, long long *onembed, long long ostride, long long odist, cufftType type, long long batch, size_t *bytes) {
    return make<long long>(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, bytes);
}
cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t *bytes) {
    return make<int>(plan, 1, &nx, nullptr, 1, nx, nullptr, 1, nx, type, batch, bytes);
}
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t *bytes) {
    int n[] = {nx, ny};
    return make<int>(plan, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, bytes);
}
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t *bytes) {
    int n[] = {nx, ny, nz};
    return make<int>(plan, 3, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, bytes);
}

/* A plan that is made at once; none is left if that fails. */
static cufftResult made(cufftHandle *plan, std::function<cufftResult(cufftHandle)> make) {
    cufftResult result = cufftCreate(plan);
    if (result == CUFFT_SUCCESS) result = make(*plan);
    if (result != CUFFT_SUCCESS && plan) cufftDestroy(*plan);
    return result;
}
cufftResult cufftPlan1d(cufftHandle *plan, int nx, cufftType type, int batch) {
    return made(plan, [=](cufftHandle plan) { return cufftMakePlan1d(plan, nx, type, batch, nullptr); });
}
cufftResult cufftPlan2d(cufftHandle *plan, int nx, int ny, cufftType type) {
    return made(plan, [=](cufftHandle plan) { return cufftMakePlan2d(plan, nx, ny, type, nullptr); });
}
cufftResult cufftPlan3d(cufftHandle *plan, int nx, int ny, int nz, cufftType type) {
    return made(plan, [=](cufftHandle plan) { return cufftMakePlan3d(plan, nx, ny, nz, type, nullptr); });
}
cufftResult cufftPlanMany(cufftHandle *plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist, cufftType type, int batch) {
    return made(plan, [=](cufftHandle plan) { return cufftMakePlanMany(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, nullptr); });
}

/* A transform needs no memory of the device besides its own. */
cufftResult cufftEstimate1d(int, cufftType, int, size_t *bytes) { return *bytes = 0, CUFFT_SUCCESS; }
cufftResult cufftEstimate2d(int, int, cufftType, size_t *bytes) { return *bytes = 0, CUFFT_SUCCESS; }
cufftResult cufftEstimate3d(int, int, int, cufftType, size_t *bytes) { return *bytes = 0, CUFFT_SUCCESS; }
cufftResult cufftEstimateMany(int, int *, int *, int, int, int *, int, int, cufftType, int, size_t *bytes) { return *bytes = 0, CUFFT_SUCCESS; }
cufftResult cufftGetSize1d(cufftHandle, int, cufftType, int, size_t *bytes) { return *bytes = 0, CUFFT_SUCCESS; }
cufftResult cufftGetSize2d(cufftHandle, int, int, cufftType, size_t *bytes) { return *bytes = 0, CUFFT_SUCCESS; }
cufftResult cufftGetSize3d(cufftHandle, int, int, int, cufftType, size_t *bytes) { return *bytes = 0, CUFFT_SUCCESS; }
cufftResult cufftGetSize(cufftHandle, size_t *bytes) { return *bytes = 0, CUFFT_SUCCESS; }
cufftResult cufftSetWorkArea(cufftHandle plan, void *) { return with(plan, [](Plan &) { return CUFFT_SUCCESS; }); }
cufftResult cufftSetAutoAllocation(cufftHandle plan, int) { return with(plan, [](Plan &) { return CUFFT_SUCCESS; }); }
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
    return with(plan, [=](Plan &plan) { return plan.stream = stream, CUFFT_SUCCESS; });
}
cufftResult cufftGetVersion(int *version) { return *version = CUFFT_VERSION, CUFFT_SUCCESS; }
cufftResult cufftGetProperty(libraryPropertyType kind, int *value) {
    *value = kind == MAJOR_VERSION ? CUFFT_VER_MAJOR : kind == MINOR_VERSION ? CUFFT_VER_MINOR : CUFFT_VER_PATCH;
    return CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex *in, cufftComplex *out, int direction) { return run<float>(plan, CUFFT_C2C, in, out, direction); }
cufftResult cufftExecR2C(cufftHandle plan, cufftReal *in, cufftComplex *out) { return run<float>(plan, CUFFT_R2C, in, out, CUFFT_FORWARD); }
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex *in, cufftReal *out) { return run<float>(plan, CUFFT_C2R, in, out, CUFFT_INVERSE); }
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleComplex *out, int direction) { return run<double>(plan, CUFFT_Z2Z, in, out, direction); }
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal *in, cufftDoubleComplex *out) { return run<double>(plan, CUFFT_D2Z, in, out, CUFFT_FORWARD); }
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleReal *out) { return run<double>(plan, CUFFT_Z2D, in, out, CUFFT_INVERSE); }

} // extern "C"
