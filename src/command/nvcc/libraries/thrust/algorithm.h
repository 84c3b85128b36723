/* Thrust's algorithms. They run on the host, one element after the other: ranges of the device are copied to it and back. */
#ifndef DSLC_THRUST_ALGORITHM_H
#define DSLC_THRUST_ALGORITHM_H

#include "iterator.h"
#include "numbers.h"
#include <numeric>

namespace thrust {

/* Where an algorithm runs makes no difference here. */
struct execution_policy_base {};
template <class Derived> struct execution_policy : execution_policy_base {};
namespace detail {
struct Policy : execution_policy<Policy> {
    Policy on(cudaStream_t) const { return Policy(); }
    template <class Allocator> Policy operator()(Allocator &&) const { return Policy(); }
};
template <class P> using IfPolicy = typename std::enable_if<std::is_base_of<execution_policy_base, typename std::decay<P>::type>::value, int>::type;

inline void count_call() { __dslcLibraryCall("Thrust"); }
/* The values of a range, on the host. */
template <class It> std::unique_ptr<Value<It>[]> values(It first, size_t count) {
    View<It> view(first, count, false);
    auto from = view.begin();
    std::unique_ptr<Value<It>[]> out(new Value<It>[count]);
    for (size_t i = 0; i < count; i++) out[i] = from[i];
    return out;
}
/* Whether an iterator is written to, one element after another, and nothing else: std::ostream_iterator, std::back_inserter. */
template <class It> using OnlyWritten = std::is_same<typename std::iterator_traits<It>::iterator_category, std::output_iterator_tag>;
template <class It, class F> It make_each(It to, size_t count, F f, std::true_type) {
    for (size_t i = 0; i < count; i++, ++to) *to = f(i);
    return to;
}
template <class It, class F> It make_each(It to, size_t count, F f, std::false_type) {
    View<It> view(to, count, true);
    auto out = view.begin();
    for (size_t i = 0; i < count; i++) out[i] = f(i);
    return to + count;
}
/* `f(i)` for what becomes the i-th element behind `to`; gives the end. */
template <class It, class F> It make(It to, size_t count, F f) { return make_each(to, count, f, OnlyWritten<It>()); }
/* Writes `count` values behind an iterator; gives the end. */
template <class It, class From> It store(It to, From from, size_t count) {
    return make(to, count, [&](size_t i) -> decltype(auto) { return from[i]; });
}
inline std::vector<size_t> numbers(size_t count) {
    std::vector<size_t> out(count);
    std::iota(out.begin(), out.end(), (size_t)0);
    return out;
}
/* The places of the elements in the order of a stable sort. C++'s own takes memory by a function that is deprecated, which clang tells. */
template <class F> std::vector<size_t> order(size_t count, F less) {
    std::vector<size_t> places = numbers(count);
    std::sort(places.begin(), places.end(), [&](size_t a, size_t b) { return less(a, b) || (!less(b, a) && a < b); });
    return places;
}
/* The elements of those places, behind `to`. */
template <class In, class Out> Out pick(In from, size_t count, const std::vector<size_t> &places, Out to) {
    auto all = values(from, count);
    return make(to, places.size(), [&](size_t i) { return all[places[i]]; });
}
} // namespace detail
static const detail::Policy host, device;
/* Kernels name it, too. */
static constexpr detail::Policy seq{};
namespace cuda {
static const detail::Policy par, par_nosync;
}
namespace omp {
static const detail::Policy par;
}

#define DSLC_POLICY(name) \
    template <class P, class... A, detail::IfPolicy<P> = 0> DSLC_BOTH decltype(auto) name(const P &, A &&...all) { return thrust::name(std::forward<A>(all)...); }

template <class I, class F> I for_each_n(I first, size_t count, F f) {
    detail::count_call();
    detail::View<I> view(first, count, true);
    auto at = view.begin();
    for (size_t i = 0; i < count; i++) f(at[i]);
    return first + count;
}
template <class I, class F> I for_each(I first, I last, F f) { return thrust::for_each_n(first, last - first, f); }
template <class I, class T> I fill_n(I first, size_t count, const T &value) { return detail::count_call(), detail::make(first, count, [&](size_t) { return value; }); }
template <class I, class T> void fill(I first, I last, const T &value) { thrust::fill_n(first, last - first, value); }
template <class I, class T> void uninitialized_fill(I first, I last, const T &value) { thrust::fill(first, last, value); }
template <class I, class T> void sequence(I first, I last, T from, T step) { detail::count_call(), detail::make(first, last - first, [&](size_t i) { return (detail::Value<I>)(from + (T)i * step); }); }
template <class I, class T> void sequence(I first, I last, T from) { thrust::sequence(first, last, from, T(1)); }
template <class I> void sequence(I first, I last) { thrust::sequence(first, last, detail::Value<I>(0), detail::Value<I>(1)); }
template <class I, class F> void tabulate(I first, I last, F f) { detail::count_call(), detail::make(first, last - first, [&](size_t i) { return f(i); }); }
template <class I, class F> void generate(I first, I last, F f) { detail::count_call(), detail::make(first, last - first, [&](size_t) { return f(); }); }
template <class I, class F> I generate_n(I first, size_t count, F f) { return detail::count_call(), detail::make(first, count, [&](size_t) { return f(); }); }

template <class I, class O> O copy_n(I first, size_t count, O to) { return detail::count_call(), detail::store(to, detail::values(first, count).get(), count); }
template <class I, class O> O copy(I first, I last, O to) { return thrust::copy_n(first, (size_t)std::distance(first, last), to); }
template <class I, class O> O uninitialized_copy(I first, I last, O to) { return thrust::copy(first, last, to); }
template <class I, class J> J swap_ranges(I first, I last, J other) {
    auto a = detail::values(first, last - first);
    auto b = detail::values(other, last - first);
    detail::store(first, b.get(), last - first);
    return detail::store(other, a.get(), last - first);
}
template <class I, class S, class O, class F> O copy_if(I first, I last, S stencil, O to, F f) {
    detail::count_call();
    size_t count = last - first;
    std::vector<size_t> places;
    detail::View<S> view(stencil, count, false);
    auto at = view.begin();
    for (size_t i = 0; i < count; i++)
        if (f(at[i])) places.push_back(i);
    return detail::pick(first, count, places, to);
}
template <class I, class O, class F> O copy_if(I first, I last, O to, F f) { return thrust::copy_if(first, last, first, to, f); }
template <class I, class O, class F> O remove_copy_if(I first, I last, O to, F f) { return thrust::copy_if(first, last, first, to, [&](auto &&x) { return !f(x); }); }
template <class I, class S, class O, class F> O remove_copy_if(I first, I last, S stencil, O to, F f) { return thrust::copy_if(first, last, stencil, to, [&](auto &&x) { return !f(x); }); }
template <class I, class F> I remove_if(I first, I last, F f) { return thrust::remove_copy_if(first, last, first, first, f); }
template <class I, class S, class F> I remove_if(I first, I last, S stencil, F f) { return thrust::remove_copy_if(first, last, stencil, first, f); }
template <class I, class T> I remove(I first, I last, const T &value) { return thrust::remove_if(first, last, [&](auto &&x) { return x == value; }); }
template <class I, class O, class T> O remove_copy(I first, I last, O to, const T &value) { return thrust::remove_copy_if(first, last, first, to, [&](auto &&x) { return x == value; }); }

template <class I, class O, class F> O transform(I first, I last, O to, F f) {
    detail::count_call();
    detail::View<I> in(first, last - first, false);
    auto at = in.begin();
    return detail::make(to, last - first, [&](size_t i) { return f(at[i]); });
}
template <class I, class J, class O, class F> O transform(I first, I last, J other, O to, F f) {
    detail::count_call();
    detail::View<I> in(first, last - first, false);
    detail::View<J> second(other, last - first, false);
    auto a = in.begin();
    auto b = second.begin();
    return detail::make(to, last - first, [&](size_t i) { return f(a[i], b[i]); });
}
template <class I, class S, class O, class F, class W> O transform_if(I first, I last, S stencil, O to, F f, W when) {
    detail::count_call();
    detail::View<I> in(first, last - first, false);
    detail::View<S> which(stencil, last - first, false);
    detail::View<O> out(to, last - first, true);
    auto a = in.begin();
    auto s = which.begin();
    auto o = out.begin();
    for (std::ptrdiff_t i = 0; i < last - first; i++)
        if (when(s[i])) o[i] = f(a[i]);
    return to + (last - first);
}
template <class I, class O, class F, class W> O transform_if(I first, I last, O to, F f, W when) { return thrust::transform_if(first, last, first, to, f, when); }
template <class I, class T> void replace(I first, I last, const T &old, const T &value) { thrust::transform_if(first, last, first, [&](auto &&) { return value; }, [&](auto &&x) { return x == old; }); }
template <class I, class F, class T> void replace_if(I first, I last, F f, const T &value) { thrust::transform_if(first, last, first, [&](auto &&) { return value; }, f); }
template <class I, class S, class F, class T> void replace_if(I first, I last, S stencil, F f, const T &value) { thrust::transform_if(first, last, stencil, first, [&](auto &&) { return value; }, f); }

template <class I, class F, class T, class G> T transform_reduce(I first, I last, F f, T sum, G g) {
    detail::count_call();
    detail::View<I> in(first, last - first, false);
    auto at = in.begin();
    for (std::ptrdiff_t i = 0; i < last - first; i++) sum = g(sum, f(at[i]));
    return sum;
}
template <class I, class T, class G> T reduce(I first, I last, T sum, G g) { return thrust::transform_reduce(first, last, [](auto &&x) { return detail::Value<I>(x); }, sum, g); }
template <class I, class T> T reduce(I first, I last, T sum) { return thrust::reduce(first, last, sum, thrust::plus<>()); }
template <class I> detail::Value<I> reduce(I first, I last) { return thrust::reduce(first, last, detail::Value<I>()); }
template <class I, class J, class T, class F, class G> T inner_product(I first, I last, J other, T sum, F add, G times) {
    detail::count_call();
    detail::View<I> in(first, last - first, false);
    detail::View<J> second(other, last - first, false);
    auto a = in.begin();
    auto b = second.begin();
    for (std::ptrdiff_t i = 0; i < last - first; i++) sum = add(sum, times(a[i], b[i]));
    return sum;
}
template <class I, class J, class T> T inner_product(I first, I last, J other, T sum) { return thrust::inner_product(first, last, other, sum, thrust::plus<>(), thrust::multiplies<>()); }
template <class I, class F> std::ptrdiff_t count_if(I first, I last, F f) { return thrust::transform_reduce(first, last, [&](auto &&x) { return (std::ptrdiff_t)(f(x) ? 1 : 0); }, (std::ptrdiff_t)0, thrust::plus<>()); }
template <class I, class T> std::ptrdiff_t count(I first, I last, const T &value) { return thrust::count_if(first, last, [&](auto &&x) { return x == value; }); }
template <class I, class F> I find_if(I first, I last, F f) {
    detail::count_call();
    detail::View<I> in(first, last - first, false);
    auto at = in.begin();
    std::ptrdiff_t i = 0;
    while (i < last - first && !f(at[i])) i++;
    return first + i;
}
template <class I, class F> I find_if_not(I first, I last, F f) { return thrust::find_if(first, last, [&](auto &&x) { return !f(x); }); }
template <class I, class T> I find(I first, I last, const T &value) { return thrust::find_if(first, last, [&](auto &&x) { return x == value; }); }
template <class I, class F> bool any_of(I first, I last, F f) { return thrust::find_if(first, last, f) != last; }
template <class I, class F> bool all_of(I first, I last, F f) { return thrust::find_if_not(first, last, f) == last; }
template <class I, class F> bool none_of(I first, I last, F f) { return !thrust::any_of(first, last, f); }
template <class I, class F> I min_element(I first, I last, F less) {
    detail::count_call();
    auto all = detail::values(first, last - first);
    return first + (std::min_element(all.get(), all.get() + (last - first), less) - all.get());
}
template <class I> I min_element(I first, I last) { return thrust::min_element(first, last, thrust::less<>()); }
template <class I, class F> I max_element(I first, I last, F less) {
    detail::count_call();
    auto all = detail::values(first, last - first);
    return first + (std::max_element(all.get(), all.get() + (last - first), less) - all.get());
}
template <class I> I max_element(I first, I last) { return thrust::max_element(first, last, thrust::less<>()); }
template <class I, class F> std::pair<I, I> minmax_element(I first, I last, F less) { return std::make_pair(thrust::min_element(first, last, less), thrust::max_element(first, last, less)); }
template <class I> std::pair<I, I> minmax_element(I first, I last) { return thrust::minmax_element(first, last, thrust::less<>()); }
template <class I, class J, class F> bool equal(I first, I last, J other, F same) {
    auto a = detail::values(first, last - first);
    auto b = detail::values(other, last - first);
    return detail::count_call(), std::equal(a.get(), a.get() + (last - first), b.get(), same);
}
template <class I, class J> bool equal(I first, I last, J other) { return thrust::equal(first, last, other, thrust::equal_to<>()); }
template <class I, class F> bool is_sorted(I first, I last, F less) {
    auto a = detail::values(first, last - first);
    return detail::count_call(), std::is_sorted(a.get(), a.get() + (last - first), less);
}
template <class I> bool is_sorted(I first, I last) { return thrust::is_sorted(first, last, thrust::less<>()); }

template <class I, class O, class T, class F> O exclusive_scan(I first, I last, O to, T sum, F f) {
    detail::count_call();
    auto in = detail::values(first, last - first);
    return detail::make(to, last - first, [&](size_t i) {
        T before = sum;
        sum = f(sum, in[i]);
        return before;
    });
}
template <class I, class O, class T> O exclusive_scan(I first, I last, O to, T sum) { return thrust::exclusive_scan(first, last, to, sum, thrust::plus<>()); }
template <class I, class O> O exclusive_scan(I first, I last, O to) { return thrust::exclusive_scan(first, last, to, detail::Value<I>()); }
template <class I, class O, class F> O inclusive_scan(I first, I last, O to, F f) {
    detail::count_call();
    auto in = detail::values(first, last - first);
    detail::Value<I> sum{};
    return detail::make(to, last - first, [&](size_t i) { return sum = i ? detail::Value<I>(f(sum, in[i])) : in[i]; });
}
template <class I, class O> O inclusive_scan(I first, I last, O to) { return thrust::inclusive_scan(first, last, to, thrust::plus<>()); }
template <class I, class O, class F, class G> O transform_inclusive_scan(I first, I last, O to, F f, G g) { return thrust::inclusive_scan(thrust::make_transform_iterator(first, f), thrust::make_transform_iterator(last, f), to, g); }
template <class I, class O, class F, class T, class G> O transform_exclusive_scan(I first, I last, O to, F f, T sum, G g) { return thrust::exclusive_scan(thrust::make_transform_iterator(first, f), thrust::make_transform_iterator(last, f), to, sum, g); }
template <class K, class I, class O, class S, class F> O inclusive_scan_by_key(K first, K last, I from, O to, S same, F f) {
    detail::count_call();
    auto keys = detail::values(first, last - first);
    auto in = detail::values(from, last - first);
    detail::Value<I> sum{};
    return detail::make(to, last - first, [&](size_t i) { return sum = i && same(keys[i - 1], keys[i]) ? detail::Value<I>(f(sum, in[i])) : in[i]; });
}
template <class K, class I, class O, class S> O inclusive_scan_by_key(K first, K last, I from, O to, S same) { return thrust::inclusive_scan_by_key(first, last, from, to, same, thrust::plus<>()); }
template <class K, class I, class O> O inclusive_scan_by_key(K first, K last, I from, O to) { return thrust::inclusive_scan_by_key(first, last, from, to, thrust::equal_to<>()); }
template <class K, class I, class O, class T, class S, class F> O exclusive_scan_by_key(K first, K last, I from, O to, T start, S same, F f) {
    detail::count_call();
    auto keys = detail::values(first, last - first);
    auto in = detail::values(from, last - first);
    T sum = start;
    return detail::make(to, last - first, [&](size_t i) {
        if (i && !same(keys[i - 1], keys[i])) sum = start;
        T before = sum;
        sum = f(sum, in[i]);
        return before;
    });
}
template <class K, class I, class O, class T> O exclusive_scan_by_key(K first, K last, I from, O to, T start) { return thrust::exclusive_scan_by_key(first, last, from, to, start, thrust::equal_to<>(), thrust::plus<>()); }
template <class K, class I, class O> O exclusive_scan_by_key(K first, K last, I from, O to) { return thrust::exclusive_scan_by_key(first, last, from, to, detail::Value<I>()); }
template <class I, class O, class F> O adjacent_difference(I first, I last, O to, F f) {
    detail::count_call();
    auto in = detail::values(first, last - first);
    return detail::make(to, last - first, [&](size_t i) { return i ? detail::Value<I>(f(in[i], in[i - 1])) : in[i]; });
}
template <class I, class O> O adjacent_difference(I first, I last, O to) { return thrust::adjacent_difference(first, last, to, thrust::minus<>()); }

template <class K, class I, class KO, class O, class S, class F> std::pair<KO, O> reduce_by_key(K first, K last, I from, KO keys_to, O to, S same, F f) {
    detail::count_call();
    size_t count = last - first;
    auto keys = detail::values(first, count);
    auto in = detail::values(from, count);
    std::vector<size_t> starts;
    std::unique_ptr<detail::Value<I>[]> sums(new detail::Value<I>[count]);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !same(keys[i - 1], keys[i])) {
            sums[starts.size()] = in[i];
            starts.push_back(i);
        } else
            sums[starts.size() - 1] = f(sums[starts.size() - 1], in[i]);
    }
    KO keys_end = detail::make(keys_to, starts.size(), [&](size_t i) { return keys[starts[i]]; });
    return std::make_pair(keys_end, detail::store(to, sums.get(), starts.size()));
}
template <class K, class I, class KO, class O, class S> std::pair<KO, O> reduce_by_key(K first, K last, I from, KO keys_to, O to, S same) { return thrust::reduce_by_key(first, last, from, keys_to, to, same, thrust::plus<>()); }
template <class K, class I, class KO, class O> std::pair<KO, O> reduce_by_key(K first, K last, I from, KO keys_to, O to) { return thrust::reduce_by_key(first, last, from, keys_to, to, thrust::equal_to<>()); }

template <class I, class F> void stable_sort(I first, I last, F less) {
    detail::count_call();
    auto all = detail::values(first, last - first);
    detail::pick(first, last - first, detail::order(last - first, [&](size_t a, size_t b) { return less(all[a], all[b]); }), first);
}
template <class I> void stable_sort(I first, I last) { thrust::stable_sort(first, last, thrust::less<>()); }
template <class I, class F> void sort(I first, I last, F less) { thrust::stable_sort(first, last, less); }
template <class I> void sort(I first, I last) { thrust::stable_sort(first, last); }
template <class K, class I, class F> void stable_sort_by_key(K first, K last, I values, F less) {
    detail::count_call();
    auto keys = detail::values(first, last - first);
    auto places = detail::order(last - first, [&](size_t a, size_t b) { return less(keys[a], keys[b]); });
    detail::pick(first, last - first, places, first);
    detail::pick(values, last - first, places, values);
}
template <class K, class I> void stable_sort_by_key(K first, K last, I values) { thrust::stable_sort_by_key(first, last, values, thrust::less<>()); }
template <class K, class I, class F> void sort_by_key(K first, K last, I values, F less) { thrust::stable_sort_by_key(first, last, values, less); }
template <class K, class I> void sort_by_key(K first, K last, I values) { thrust::stable_sort_by_key(first, last, values); }

namespace detail {
/* The first places of runs of equal elements. */
template <class I, class F> std::vector<size_t> runs(I first, size_t count, F same) {
    count_call();
    auto all = values(first, count);
    std::vector<size_t> places;
    for (size_t i = 0; i < count; i++)
        if (places.empty() || !same(all[places.back()], all[i])) places.push_back(i);
    return places;
}
} // namespace detail
template <class I, class O, class F> O unique_copy(I first, I last, O to, F same) { return detail::pick(first, last - first, detail::runs(first, last - first, same), to); }
template <class I, class O> O unique_copy(I first, I last, O to) { return thrust::unique_copy(first, last, to, thrust::equal_to<>()); }
template <class I, class F> I unique(I first, I last, F same) { return thrust::unique_copy(first, last, first, same); }
template <class I> I unique(I first, I last) { return thrust::unique_copy(first, last, first); }
template <class I> std::ptrdiff_t unique_count(I first, I last) { return detail::runs(first, last - first, thrust::equal_to<>()).size(); }
template <class K, class I, class KO, class O> std::pair<KO, O> unique_by_key_copy(K first, K last, I values, KO keys_to, O to) {
    auto places = detail::runs(first, last - first, thrust::equal_to<>());
    O end = detail::pick(values, last - first, places, to);
    return std::make_pair(detail::pick(first, last - first, places, keys_to), end);
}
template <class K, class I> std::pair<K, I> unique_by_key(K first, K last, I values) { return thrust::unique_by_key_copy(first, last, values, first, values); }
template <class I, class S, class F> I stable_partition(I first, I last, S stencil, F f) {
    detail::count_call();
    auto which = detail::values(stencil, last - first);
    std::vector<size_t> places, rest;
    for (std::ptrdiff_t i = 0; i < last - first; i++) (f(which[i]) ? places : rest).push_back(i);
    size_t fitting = places.size();
    places.insert(places.end(), rest.begin(), rest.end());
    detail::pick(first, last - first, places, first);
    return first + fitting;
}
template <class I, class F> I stable_partition(I first, I last, F f) { return thrust::stable_partition(first, last, first, f); }
template <class I, class F> I partition(I first, I last, F f) { return thrust::stable_partition(first, last, first, f); }
template <class I, class S, class F> I partition(I first, I last, S stencil, F f) { return thrust::stable_partition(first, last, stencil, f); }
template <class I, class A, class B, class F> std::pair<A, B> partition_copy(I first, I last, A fitting, B others, F f) {
    A end = thrust::copy_if(first, last, fitting, f);
    return std::make_pair(end, thrust::remove_copy_if(first, last, others, f));
}
template <class I, class O> O reverse_copy(I first, I last, O to) {
    auto all = detail::values(first, last - first);
    size_t count = last - first;
    return detail::count_call(), detail::make(to, count, [&](size_t i) { return all[count - 1 - i]; });
}
template <class I> void reverse(I first, I last) { thrust::reverse_copy(first, last, first); }

template <class M, class I, class O> O gather(M first, M last, I from, O to) { return thrust::copy_n(thrust::make_permutation_iterator(from, first), last - first, to); }
template <class M, class S, class I, class O, class F> O gather_if(M first, M last, S stencil, I from, O to, F f) {
    auto at = thrust::make_permutation_iterator(from, first);
    return thrust::transform_if(at, at + (last - first), stencil, to, thrust::identity<>(), f);
}
template <class I, class M, class O> void scatter(I first, I last, M map, O to) { thrust::copy_n(first, last - first, thrust::make_permutation_iterator(to, map)); }
template <class I, class M, class S, class O, class F> void scatter_if(I first, I last, M map, S stencil, O to, F f) { thrust::transform_if(first, last, stencil, thrust::make_permutation_iterator(to, map), thrust::identity<>(), f); }
template <class I, class M, class S, class O> void scatter_if(I first, I last, M map, S stencil, O to) { thrust::scatter_if(first, last, map, stencil, to, thrust::identity<>()); }

#define DSLC_OF_TWO(name)                                                                                                           \
    template <class I, class J, class O, class F> O name(I first, I last, J other, J end, O to, F less) {                           \
        detail::count_call();                                                                                                       \
        auto a = detail::values(first, last - first);                                                                               \
        auto b = detail::values(other, end - other);                                                                                \
        std::vector<detail::Value<I>> out;                                                                                          \
        std::name(a.get(), a.get() + (last - first), b.get(), b.get() + (end - other), std::back_inserter(out), less);              \
        return detail::store(to, out.begin(), out.size());                                                                          \
    }                                                                                                                               \
    template <class I, class J, class O> O name(I first, I last, J other, J end, O to) { return thrust::name(first, last, other, end, to, thrust::less<>()); }
DSLC_OF_TWO(merge)
DSLC_OF_TWO(set_union)
DSLC_OF_TWO(set_intersection)
DSLC_OF_TWO(set_difference)
DSLC_OF_TWO(set_symmetric_difference)
#undef DSLC_OF_TWO

/* Searches in sorted ranges: of one value, or of a range of them. */
#define DSLC_BOUND(name)                                                                                                            \
    template <class I, class T, class F> I name(I first, I last, const T &value, F less) {                                          \
        auto all = detail::values(first, last - first);                                                                             \
        return detail::count_call(), first + (std::name(all.get(), all.get() + (last - first), value, less) - all.get());           \
    }                                                                                                                               \
    template <class I, class T> I name(I first, I last, const T &value) { return thrust::name(first, last, value, thrust::less<>()); } \
    template <class I, class V, class O, class F> O name(I first, I last, V from, V to, O out, F less) {                            \
        detail::count_call();                                                                                                       \
        auto all = detail::values(first, last - first);                                                                             \
        auto wanted = detail::values(from, to - from);                                                                              \
        return detail::make(out, to - from, [&](size_t i) { return std::name(all.get(), all.get() + (last - first), wanted[i], less) - all.get(); }); \
    }                                                                                                                               \
    template <class I, class V, class O> O name(I first, I last, V from, V to, O out) { return thrust::name(first, last, from, to, out, thrust::less<>()); }
DSLC_BOUND(lower_bound)
DSLC_BOUND(upper_bound)
#undef DSLC_BOUND
template <class I, class T> bool binary_search(I first, I last, const T &value) {
    auto all = detail::values(first, last - first);
    return detail::count_call(), std::binary_search(all.get(), all.get() + (last - first), value);
}

DSLC_POLICY(for_each) DSLC_POLICY(for_each_n) DSLC_POLICY(fill) DSLC_POLICY(fill_n) DSLC_POLICY(uninitialized_fill) DSLC_POLICY(sequence)
DSLC_POLICY(tabulate) DSLC_POLICY(generate) DSLC_POLICY(generate_n) DSLC_POLICY(copy) DSLC_POLICY(copy_n) DSLC_POLICY(uninitialized_copy)
DSLC_POLICY(swap_ranges) DSLC_POLICY(copy_if) DSLC_POLICY(remove) DSLC_POLICY(remove_if) DSLC_POLICY(remove_copy) DSLC_POLICY(remove_copy_if)
DSLC_POLICY(transform) DSLC_POLICY(transform_if) DSLC_POLICY(replace) DSLC_POLICY(replace_if) DSLC_POLICY(transform_reduce) DSLC_POLICY(reduce)
DSLC_POLICY(inner_product) DSLC_POLICY(count) DSLC_POLICY(count_if) DSLC_POLICY(find) DSLC_POLICY(find_if) DSLC_POLICY(find_if_not)
DSLC_POLICY(any_of) DSLC_POLICY(all_of) DSLC_POLICY(none_of) DSLC_POLICY(min_element) DSLC_POLICY(max_element) DSLC_POLICY(minmax_element)
DSLC_POLICY(equal) DSLC_POLICY(is_sorted) DSLC_POLICY(exclusive_scan) DSLC_POLICY(inclusive_scan) DSLC_POLICY(transform_inclusive_scan)
DSLC_POLICY(transform_exclusive_scan) DSLC_POLICY(inclusive_scan_by_key) DSLC_POLICY(exclusive_scan_by_key) DSLC_POLICY(adjacent_difference)
DSLC_POLICY(reduce_by_key) DSLC_POLICY(sort) DSLC_POLICY(stable_sort) DSLC_POLICY(sort_by_key) DSLC_POLICY(stable_sort_by_key)
DSLC_POLICY(unique) DSLC_POLICY(unique_copy) DSLC_POLICY(unique_count) DSLC_POLICY(unique_by_key) DSLC_POLICY(unique_by_key_copy)
DSLC_POLICY(partition) DSLC_POLICY(stable_partition) DSLC_POLICY(partition_copy) DSLC_POLICY(reverse) DSLC_POLICY(reverse_copy)
DSLC_POLICY(gather) DSLC_POLICY(gather_if) DSLC_POLICY(scatter) DSLC_POLICY(scatter_if) DSLC_POLICY(merge) DSLC_POLICY(set_union)
DSLC_POLICY(set_intersection) DSLC_POLICY(set_difference) DSLC_POLICY(set_symmetric_difference) DSLC_POLICY(lower_bound) DSLC_POLICY(upper_bound)
DSLC_POLICY(binary_search)
#undef DSLC_POLICY

} // namespace thrust

#endif
