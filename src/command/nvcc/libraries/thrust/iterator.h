/* Thrust's iterators, and how an algorithm on the host sees what they lead to: ranges of the device are copied, and written back. */
#ifndef DSLC_THRUST_ITERATOR_H
#define DSLC_THRUST_ITERATOR_H

#include "memory.h"
#include <algorithm>

namespace thrust {

using std::advance;
using std::distance;
using std::make_reverse_iterator;
using std::next;
using std::prev;
using std::reverse_iterator;
struct use_default {};
template <class It> using iterator_value = std::iterator_traits<It>;
template <class It> using iterator_traits = std::iterator_traits<It>;
struct device_system_tag {};
struct host_system_tag {};

namespace detail {
/* What all iterators of this file have: `Self` has `at`, what it counts by. */
template <class Self, class Value, class Reference> struct Steps {
    typedef std::random_access_iterator_tag iterator_category;
    typedef Value value_type;
    typedef std::ptrdiff_t difference_type;
    typedef void pointer;
    typedef Reference reference;
    Self &self() { return static_cast<Self &>(*this); }
    const Self &self() const { return static_cast<const Self &>(*this); }
    Self &operator++() { return self().step(1), self(); }
    Self &operator--() { return self().step(-1), self(); }
    Self operator++(int) { Self old = self(); self().step(1); return old; }
    Self operator--(int) { Self old = self(); self().step(-1); return old; }
    Self &operator+=(difference_type n) { return self().step(n), self(); }
    Self &operator-=(difference_type n) { return self().step(-n), self(); }
    friend Self operator+(Self a, difference_type n) { return a += n; }
    friend Self operator+(difference_type n, Self a) { return a += n; }
    friend Self operator-(Self a, difference_type n) { return a -= n; }
    friend difference_type operator-(const Self &a, const Self &b) { return a.from(b); }
    friend bool operator==(const Self &a, const Self &b) { return a.from(b) == 0; }
    friend bool operator!=(const Self &a, const Self &b) { return a.from(b) != 0; }
    friend bool operator<(const Self &a, const Self &b) { return a.from(b) < 0; }
    friend bool operator>(const Self &a, const Self &b) { return a.from(b) > 0; }
    friend bool operator<=(const Self &a, const Self &b) { return a.from(b) <= 0; }
    friend bool operator>=(const Self &a, const Self &b) { return a.from(b) >= 0; }
    Reference operator[](difference_type n) const { return *(self() + n); }
};
template <class It> using Value = typename std::iterator_traits<It>::value_type;
template <class It> using Reference = typename std::iterator_traits<It>::reference;
} // namespace detail

template <class T, class = use_default, class = use_default, class = use_default> class counting_iterator : public detail::Steps<counting_iterator<T>, T, T> {
  public:
    counting_iterator() : at() {}
    explicit counting_iterator(T at) : at(at) {}
    T operator*() const { return at; }
    void step(std::ptrdiff_t n) { at = (T)(at + n); }
    std::ptrdiff_t from(const counting_iterator &other) const { return (std::ptrdiff_t)at - (std::ptrdiff_t)other.at; }

  private:
    T at;
};
template <class T> counting_iterator<T> make_counting_iterator(T at) { return counting_iterator<T>(at); }

template <class T, class = use_default, class = use_default> class constant_iterator : public detail::Steps<constant_iterator<T>, T, T> {
  public:
    constant_iterator(T value = T(), std::ptrdiff_t at = 0) : value(value), at(at) {}
    T operator*() const { return value; }
    void step(std::ptrdiff_t n) { at += n; }
    std::ptrdiff_t from(const constant_iterator &other) const { return at - other.at; }

  private:
    T value;
    std::ptrdiff_t at;
};
template <class T> constant_iterator<T> make_constant_iterator(T value) { return constant_iterator<T>(value); }

template <class = use_default> class discard_iterator : public detail::Steps<discard_iterator<>, int, const discard_iterator<> &> {
  public:
    discard_iterator(std::ptrdiff_t at = 0) : at(at) {}
    const discard_iterator &operator*() const { return *this; }
    template <class T> const discard_iterator &operator=(const T &) const { return *this; }
    void step(std::ptrdiff_t n) { at += n; }
    std::ptrdiff_t from(const discard_iterator &other) const { return at - other.at; }

  private:
    std::ptrdiff_t at;
};
inline discard_iterator<> make_discard_iterator() { return discard_iterator<>(); }

namespace detail {
template <class F, class It> using Made = typename std::decay<decltype(std::declval<F &>()(std::declval<Reference<It>>()))>::type;
}
template <class F, class It, class = use_default, class = use_default> class transform_iterator
    : public detail::Steps<transform_iterator<F, It>, detail::Made<F, It>, detail::Made<F, It>> {
  public:
    transform_iterator(It at, F f) : at(at), f(f) {}
    transform_iterator(It at = It()) : at(at), f() {}
    detail::Made<F, It> operator*() const { return const_cast<F &>(f)(*at); }
    void step(std::ptrdiff_t n) { at += n; }
    std::ptrdiff_t from(const transform_iterator &other) const { return at - other.at; }
    transform_iterator &operator=(const transform_iterator &other) { return at = other.at, *this; }
    transform_iterator(const transform_iterator &) = default;
    It base() const { return at; }
    F functor() const { return f; }

  private:
    It at;
    F f;
};
template <class F, class It> transform_iterator<F, It> make_transform_iterator(It at, F f) { return transform_iterator<F, It>(at, f); }

template <class Elements, class Indices> class permutation_iterator
    : public detail::Steps<permutation_iterator<Elements, Indices>, detail::Value<Elements>, detail::Reference<Elements>> {
  public:
    permutation_iterator() {}
    permutation_iterator(Elements elements, Indices indices) : elements(elements), indices(indices) {}
    detail::Reference<Elements> operator*() const { return elements[(std::ptrdiff_t)*indices]; }
    void step(std::ptrdiff_t n) { indices += n; }
    std::ptrdiff_t from(const permutation_iterator &other) const { return indices - other.indices; }
    Elements base() const { return elements; }
    Indices index() const { return indices; }

  private:
    Elements elements;
    Indices indices;
};
template <class E, class I> permutation_iterator<E, I> make_permutation_iterator(E elements, I indices) { return permutation_iterator<E, I>(elements, indices); }

template <class Tuple> class zip_iterator;
template <class... Its> class zip_iterator<std::tuple<Its...>>
    : public detail::Steps<zip_iterator<std::tuple<Its...>>, std::tuple<detail::Value<Its>...>, std::tuple<detail::Reference<Its>...>> {
  public:
    zip_iterator() {}
    zip_iterator(std::tuple<Its...> all) : all(all) {}
    std::tuple<detail::Reference<Its>...> operator*() const { return read(std::index_sequence_for<Its...>()); }
    void step(std::ptrdiff_t n) { move(n, std::index_sequence_for<Its...>()); }
    std::ptrdiff_t from(const zip_iterator &other) const { return std::get<0>(all) - std::get<0>(other.all); }
    const std::tuple<Its...> &get_iterator_tuple() const { return all; }

  private:
    template <size_t... i> std::tuple<detail::Reference<Its>...> read(std::index_sequence<i...>) const { return std::tuple<detail::Reference<Its>...>(*std::get<i>(all)...); }
    template <size_t... i> void move(std::ptrdiff_t n, std::index_sequence<i...>) { (void)std::initializer_list<int>{((std::get<i>(all) += n), 0)...}; }
    std::tuple<Its...> all;
};
template <class... Its> zip_iterator<std::tuple<Its...>> make_zip_iterator(std::tuple<Its...> all) { return zip_iterator<std::tuple<Its...>>(all); }
template <class A, class B, class... Its> zip_iterator<std::tuple<A, B, Its...>> make_zip_iterator(A a, B b, Its... rest) { return zip_iterator<std::tuple<A, B, Its...>>(std::make_tuple(a, b, rest...)); }

namespace detail {

/* `count` elements behind an iterator, as the host reads and writes them. Those of the host are themselves. */
template <class It> class View {
  public:
    typedef It type;
    View(It at, size_t, bool) : at(at) {}
    type begin() { return at; }

  private:
    It at;
};

template <class T> class Copied {
    typedef typename std::remove_const<T>::type Plain;

  public:
    typedef T *type;
    Copied(T *at, size_t count, bool writes) : at(at), count(count), writes(writes && !std::is_const<T>::value) {
        cudaPointerAttributes found;
        is_copy = count && cudaPointerGetAttributes(&found, at) == cudaSuccess && found.type == cudaMemoryTypeDevice;
        if (!is_copy) return;
        room.reset(new char[count * sizeof(T) + alignof(T)]);
        copy = (Plain *)(((size_t)room.get() + alignof(T) - 1) / alignof(T) * alignof(T));
        detail::move(copy, at, count * sizeof(T));
    }
    Copied(const Copied &) = delete;
    ~Copied() {
        if (is_copy && writes) cudaMemcpy((void *)at, copy, count * sizeof(T), cudaMemcpyDefault);
    }
    type begin() { return is_copy ? copy : at; }

  private:
    T *at;
    size_t count;
    bool writes, is_copy;
    std::unique_ptr<char[]> room;
    Plain *copy = nullptr;
};
template <class T> class View<T *> : public Copied<T> {
  public:
    using Copied<T>::Copied;
};
template <class T> class View<device_ptr<T>> : public Copied<T> {
  public:
    View(device_ptr<T> at, size_t count, bool writes) : Copied<T>(at.get(), count, writes) {}
};
template <class It> class View<std::reverse_iterator<It>> {
  public:
    typedef std::reverse_iterator<typename View<It>::type> type;
    View(std::reverse_iterator<It> at, size_t count, bool writes) : base(at.base() - count, count, writes), count(count) {}
    type begin() { return type(base.begin() + count); }

  private:
    View<It> base;
    size_t count;
};
template <class F, class It> class View<transform_iterator<F, It>> {
  public:
    typedef transform_iterator<F, typename View<It>::type> type;
    View(transform_iterator<F, It> at, size_t count, bool) : base(at.base(), count, false), f(at.functor()) {}
    type begin() { return type(base.begin(), f); }

  private:
    View<It> base;
    F f;
};
template <class E, class I> class View<permutation_iterator<E, I>> {
  public:
    typedef permutation_iterator<typename View<E>::type, typename View<I>::type> type;
    View(permutation_iterator<E, I> at, size_t count, bool writes)
        : indices(at.index(), count, false), elements(at.base(), end(indices.begin(), count), writes) {}
    type begin() { return type(elements.begin(), indices.begin()); }

  private:
    static size_t end(typename View<I>::type at, size_t count) {
        size_t most = 0;
        for (size_t i = 0; i < count; i++) most = std::max(most, (size_t)at[i] + 1);
        return most;
    }
    View<I> indices;
    View<E> elements;
};
template <class... Its> class View<zip_iterator<std::tuple<Its...>>> {
  public:
    typedef zip_iterator<std::tuple<typename View<Its>::type...>> type;
    View(zip_iterator<std::tuple<Its...>> at, size_t count, bool writes) { fill(at.get_iterator_tuple(), count, writes, std::index_sequence_for<Its...>()); }
    type begin() { return begin(std::index_sequence_for<Its...>()); }

  private:
    template <size_t... i> void fill(const std::tuple<Its...> &at, size_t count, bool writes, std::index_sequence<i...>) {
        (void)std::initializer_list<int>{(std::get<i>(all).reset(new View<Its>(std::get<i>(at), count, writes)), 0)...};
    }
    template <size_t... i> type begin(std::index_sequence<i...>) { return type(std::make_tuple(std::get<i>(all)->begin()...)); }
    std::tuple<std::unique_ptr<View<Its>>...> all;
};

} // namespace detail
} // namespace thrust

#endif
