/* CUB's algorithms over device memory: the first call asks for the size of a temporary, the second does the work, on the host. */
#ifndef DSLC_CUB_DEVICE_H
#define DSLC_CUB_DEVICE_H

#include "algorithm.h"

namespace cub {

/* Two buffers, of which one holds the data. */
template <class T> struct DoubleBuffer {
    T *d_buffers[2] = {nullptr, nullptr};
    int selector = 0;
    DoubleBuffer() {}
    DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate} {}
    T *Current() const { return d_buffers[selector]; }
    T *Alternate() const { return d_buffers[selector ^ 1]; }
};

namespace dslc {
/* Says how much room is needed, or does the work. */
template <class F> cudaError_t two_phases(void *temporary, size_t &bytes, F work) {
    if (!temporary) return bytes = 1, cudaSuccess;
    __dslcLibraryCall("CUB");
    work();
    return cudaPeekAtLastError();
}
template <class T> typename std::make_unsigned<T>::type bits_of(T value, std::true_type) {
    return (typename std::make_unsigned<T>::type)value ^ (std::is_signed<T>::value ? (typename std::make_unsigned<T>::type)1 << (8 * sizeof(T) - 1) : 0);
}
inline unsigned int bits_of(float value, std::false_type) {
    unsigned int word;
    memcpy(&word, &value, sizeof word);
    return word >> 31 ? ~word : word | 0x80000000u;
}
inline unsigned long long bits_of(double value, std::false_type) {
    unsigned long long word;
    memcpy(&word, &value, sizeof word);
    return word >> 63 ? ~word : word | 1ull << 63;
}
/* The bits of a key that a sort compares, in the order of its values. */
template <class K> unsigned long long digits(K key, int begin, int end) {
    unsigned long long word = bits_of(key, std::is_integral<K>());
    int width = end - begin;
    return (word >> begin) & (width >= 64 ? ~0ull : (1ull << width) - 1);
}
template <class K> std::vector<size_t> order(const K *keys, size_t count, int begin, int end, bool descending) {
    auto all = thrust::detail::values(keys, count);
    return thrust::detail::order(count, [&](size_t a, size_t b) {
        auto x = digits(all[a], begin, end), y = digits(all[b], begin, end);
        return descending ? y < x : x < y;
    });
}
} // namespace dslc

struct DeviceReduce {
    template <class I, class O, class N, class F, class T> static cudaError_t Reduce(void *temporary, size_t &bytes, I in, O out, N count, F f, T start, cudaStream_t = 0) {
        return dslc::two_phases(temporary, bytes, [&] {
            T sum = thrust::reduce(in, in + count, start, f);
            thrust::detail::store(out, &sum, 1);
        });
    }
    template <class I, class O, class N> static cudaError_t Sum(void *temporary, size_t &bytes, I in, O out, N count, cudaStream_t stream = 0) {
        return Reduce(temporary, bytes, in, out, count, thrust::plus<>(), thrust::detail::Value<I>(), stream);
    }
    template <class I, class O, class N> static cudaError_t Min(void *temporary, size_t &bytes, I in, O out, N count, cudaStream_t stream = 0) {
        typedef std::numeric_limits<thrust::detail::Value<I>> Limits;
        return Reduce(temporary, bytes, in, out, count, thrust::minimum<>(), Limits::max(), stream);
    }
    template <class I, class O, class N> static cudaError_t Max(void *temporary, size_t &bytes, I in, O out, N count, cudaStream_t stream = 0) {
        typedef std::numeric_limits<thrust::detail::Value<I>> Limits;
        return Reduce(temporary, bytes, in, out, count, thrust::maximum<>(), Limits::lowest(), stream);
    }
    template <class I, class O, class N> static cudaError_t ArgMin(void *temporary, size_t &bytes, I in, O out, N count, cudaStream_t = 0) {
        return dslc::two_phases(temporary, bytes, [&] { arg(thrust::min_element(in, in + count), in, out); });
    }
    template <class I, class O, class N> static cudaError_t ArgMax(void *temporary, size_t &bytes, I in, O out, N count, cudaStream_t = 0) {
        return dslc::two_phases(temporary, bytes, [&] { arg(thrust::max_element(in, in + count), in, out); });
    }
    template <class K, class KO, class I, class O, class C, class F, class N>
    static cudaError_t ReduceByKey(void *temporary, size_t &bytes, K keys, KO unique, I in, O out, C runs, F f, N count, cudaStream_t = 0) {
        return dslc::two_phases(temporary, bytes, [&] {
            int found = (int)(thrust::reduce_by_key(keys, keys + count, in, unique, out, thrust::equal_to<>(), f).first - unique);
            thrust::detail::store(runs, &found, 1);
        });
    }

  private:
    template <class I, class O> static void arg(I best, I in, O out) {
        KeyValuePair<int, thrust::detail::Value<I>> found((int)(best - in), thrust::detail::values(best, 1)[0]);
        thrust::detail::store(out, &found, 1);
    }
};

struct DeviceScan {
    template <class I, class O, class N> static cudaError_t ExclusiveSum(void *temporary, size_t &bytes, I in, O out, N count, cudaStream_t = 0) {
        return dslc::two_phases(temporary, bytes, [&] { thrust::exclusive_scan(in, in + count, out); });
    }
    template <class I, class O, class N> static cudaError_t InclusiveSum(void *temporary, size_t &bytes, I in, O out, N count, cudaStream_t = 0) {
        return dslc::two_phases(temporary, bytes, [&] { thrust::inclusive_scan(in, in + count, out); });
    }
    template <class I, class O, class F, class T, class N> static cudaError_t ExclusiveScan(void *temporary, size_t &bytes, I in, O out, F f, T start, N count, cudaStream_t = 0) {
        return dslc::two_phases(temporary, bytes, [&] { thrust::exclusive_scan(in, in + count, out, start, f); });
    }
    template <class I, class O, class F, class N> static cudaError_t InclusiveScan(void *temporary, size_t &bytes, I in, O out, F f, N count, cudaStream_t = 0) {
        return dslc::two_phases(temporary, bytes, [&] { thrust::inclusive_scan(in, in + count, out, f); });
    }
};

struct DeviceRadixSort {
#define DSLC_SORTS(Keys, Pairs, descending)                                                                                         \
    template <class K, class N> static cudaError_t Keys(void *temporary, size_t &bytes, const K *in, K *out, N count, int begin = 0, int end = sizeof(K) * 8, cudaStream_t = 0) { \
        return dslc::two_phases(temporary, bytes, [&] { thrust::detail::pick(in, count, dslc::order(in, count, begin, end, descending), out); }); \
    }                                                                                                                               \
    template <class K, class N> static cudaError_t Keys(void *temporary, size_t &bytes, DoubleBuffer<K> &keys, N count, int begin = 0, int end = sizeof(K) * 8, cudaStream_t stream = 0) { \
        cudaError_t error = Keys(temporary, bytes, (const K *)keys.Current(), keys.Alternate(), count, begin, end, stream);         \
        if (temporary) keys.selector ^= 1;                                                                                          \
        return error;                                                                                                               \
    }                                                                                                                               \
    template <class K, class V, class N> static cudaError_t Pairs(void *temporary, size_t &bytes, const K *in, K *out, const V *values, V *values_out, N count, int begin = 0, int end = sizeof(K) * 8, cudaStream_t = 0) { \
        return dslc::two_phases(temporary, bytes, [&] {                                                                             \
            auto places = dslc::order(in, count, begin, end, descending);                                                           \
            thrust::detail::pick(in, count, places, out);                                                                           \
            thrust::detail::pick(values, count, places, values_out);                                                                \
        });                                                                                                                         \
    }                                                                                                                               \
    template <class K, class V, class N> static cudaError_t Pairs(void *temporary, size_t &bytes, DoubleBuffer<K> &keys, DoubleBuffer<V> &values, N count, int begin = 0, int end = sizeof(K) * 8, cudaStream_t stream = 0) { \
        cudaError_t error = Pairs(temporary, bytes, (const K *)keys.Current(), keys.Alternate(), (const V *)values.Current(), values.Alternate(), count, begin, end, stream); \
        if (temporary) keys.selector ^= 1, values.selector ^= 1;                                                                    \
        return error;                                                                                                               \
    }
    DSLC_SORTS(SortKeys, SortPairs, false)
    DSLC_SORTS(SortKeysDescending, SortPairsDescending, true)
#undef DSLC_SORTS
};

struct DeviceSelect {
    template <class I, class O, class C, class N, class F> static cudaError_t If(void *temporary, size_t &bytes, I in, O out, C selected, N count, F f, cudaStream_t = 0) {
        return dslc::two_phases(temporary, bytes, [&] { tell(selected, thrust::copy_if(in, in + count, out, f) - out); });
    }
    template <class I, class S, class O, class C, class N> static cudaError_t Flagged(void *temporary, size_t &bytes, I in, S flags, O out, C selected, N count, cudaStream_t = 0) {
        return dslc::two_phases(temporary, bytes, [&] { tell(selected, thrust::copy_if(in, in + count, flags, out, thrust::identity<>()) - out); });
    }
    template <class I, class O, class C, class N> static cudaError_t Unique(void *temporary, size_t &bytes, I in, O out, C selected, N count, cudaStream_t = 0) {
        return dslc::two_phases(temporary, bytes, [&] { tell(selected, thrust::unique_copy(in, in + count, out) - out); });
    }

  private:
    template <class C> static void tell(C selected, std::ptrdiff_t count) { thrust::detail::store(selected, &count, 1); }
};

struct DeviceRunLengthEncode {
    template <class I, class O, class L, class C, class N> static cudaError_t Encode(void *temporary, size_t &bytes, I in, O unique, L lengths, C runs, N count, cudaStream_t stream = 0) {
        return DeviceReduce::ReduceByKey(temporary, bytes, in, unique, thrust::make_constant_iterator(1), lengths, runs, thrust::plus<>(), count, stream);
    }
};

struct DeviceHistogram {
    template <class I, class C, class B, class N> static cudaError_t HistogramEven(void *temporary, size_t &bytes, I in, C *bins, int levels, B lower, B upper, N count, cudaStream_t = 0) {
        return dslc::two_phases(temporary, bytes, [&] {
            auto samples = thrust::detail::values(in, count);
            std::vector<C> found(levels - 1);
            for (N i = 0; i < count; i++)
                if (samples[i] >= lower && samples[i] < upper) found[(size_t)((double)(samples[i] - lower) * (levels - 1) / (double)(upper - lower))]++;
            thrust::detail::store(bins, found.begin(), found.size());
        });
    }
};

} // namespace cub

#endif
