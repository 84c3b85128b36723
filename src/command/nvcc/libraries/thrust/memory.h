/* Thrust's memory: pointers to the device's, references through which the host reads and writes single elements, vectors. */
#ifndef DSLC_THRUST_MEMORY_H
#define DSLC_THRUST_MEMORY_H

#include "functional.h"
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace thrust {

/* An error of CUDA's as an exception. */
class system_error : public std::runtime_error {
  public:
    system_error(cudaError_t error, const char *what) : std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error)) {}
};
namespace system {
using thrust::system_error;
}

namespace detail {
inline void check(cudaError_t error, const char *what) {
    if (error == cudaErrorMemoryAllocation) throw std::bad_alloc();
    if (error != cudaSuccess) throw system_error(error, what);
}
inline void move(void *to, const void *from, size_t bytes) {
    if (bytes) check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "a copy of Thrust's");
}
} // namespace detail

template <class T> class device_reference;

template <class T> class device_ptr {
  public:
    typedef std::random_access_iterator_tag iterator_category;
    typedef typename std::remove_const<T>::type value_type;
    typedef std::ptrdiff_t difference_type;
    typedef device_ptr pointer;
    typedef device_reference<T> reference;

    DSLC_BOTH device_ptr() : at(nullptr) {}
    DSLC_BOTH device_ptr(std::nullptr_t) : at(nullptr) {}
    DSLC_BOTH explicit device_ptr(T *at) : at(at) {}
    template <class U, class = typename std::enable_if<std::is_convertible<U *, T *>::value>::type>
    DSLC_BOTH device_ptr(const device_ptr<U> &other) : at(other.get()) {}
    DSLC_BOTH T *get() const { return at; }
    DSLC_BOTH device_ptr base() const { return *this; }
    DSLC_BOTH explicit operator bool() const { return at != nullptr; }
    reference operator*() const { return reference(*this); }
    reference operator[](difference_type index) const { return reference(*this + index); }
    DSLC_BOTH device_ptr &operator++() { return ++at, *this; }
    DSLC_BOTH device_ptr &operator--() { return --at, *this; }
    DSLC_BOTH device_ptr operator++(int) { return device_ptr(at++); }
    DSLC_BOTH device_ptr operator--(int) { return device_ptr(at--); }
    DSLC_BOTH device_ptr &operator+=(difference_type n) { return at += n, *this; }
    DSLC_BOTH device_ptr &operator-=(difference_type n) { return at -= n, *this; }
    DSLC_BOTH friend device_ptr operator+(device_ptr a, difference_type n) { return device_ptr(a.at + n); }
    DSLC_BOTH friend device_ptr operator+(difference_type n, device_ptr a) { return device_ptr(a.at + n); }
    DSLC_BOTH friend device_ptr operator-(device_ptr a, difference_type n) { return device_ptr(a.at - n); }

  private:
    T *at;
};
template <> class device_ptr<void> {
  public:
    DSLC_BOTH explicit device_ptr(void *at = nullptr) : at(at) {}
    DSLC_BOTH void *get() const { return at; }

  private:
    void *at;
};
template <class A, class B> DSLC_BOTH std::ptrdiff_t operator-(const device_ptr<A> &a, const device_ptr<B> &b) { return a.get() - b.get(); }
#define DSLC_COMPARES(op)                                                                                                           \
    template <class A, class B> DSLC_BOTH bool operator op(const device_ptr<A> &a, const device_ptr<B> &b) { return a.get() op b.get(); }
DSLC_COMPARES(==)
DSLC_COMPARES(!=)
DSLC_COMPARES(<)
DSLC_COMPARES(>)
DSLC_COMPARES(<=)
DSLC_COMPARES(>=)
#undef DSLC_COMPARES

/* An element of the device's: reading and writing it are copies. */
template <class T> class device_reference {
  public:
    typedef typename std::remove_const<T>::type value_type;
    typedef device_ptr<T> pointer;
    explicit device_reference(const pointer &at) : at(at) {}
    device_reference(const device_reference &other) = default;
    operator value_type() const {
        alignas(value_type) char room[sizeof(value_type)];
        detail::move(room, at.get(), sizeof room);
        return *reinterpret_cast<value_type *>(room);
    }
    pointer operator&() const { return at; }
    const device_reference &operator=(const value_type &value) const {
        detail::move(const_cast<value_type *>(at.get()), std::addressof(value), sizeof value);
        return *this;
    }
    device_reference &operator=(const device_reference &other) {
        static_cast<const device_reference &>(*this) = value_type(other);
        return *this;
    }
    template <class U> device_reference &operator=(const device_reference<U> &other) {
        static_cast<const device_reference &>(*this) = value_type(typename device_reference<U>::value_type(other));
        return *this;
    }
#define DSLC_CHANGES(op)                                                                                                            \
    template <class U> const device_reference &operator op(const U &by) const {                                                     \
        value_type value = *this;                                                                                                   \
        value op by;                                                                                                                \
        return *this = value;                                                                                                       \
    }
    DSLC_CHANGES(+=)
    DSLC_CHANGES(-=)
    DSLC_CHANGES(*=)
    DSLC_CHANGES(/=)
    DSLC_CHANGES(%=)
    DSLC_CHANGES(&=)
    DSLC_CHANGES(|=)
    DSLC_CHANGES(^=)
#undef DSLC_CHANGES
    const device_reference &operator++() const { return *this += 1; }
    const device_reference &operator--() const { return *this -= 1; }
    value_type operator++(int) const {
        value_type old = *this;
        *this += 1;
        return old;
    }
    friend void swap(device_reference a, device_reference b) {
        value_type x = a, y = b;
        a = y;
        b = x;
    }
    template <class Stream> friend Stream &operator<<(Stream &stream, const device_reference &one) { return stream << value_type(one), stream; }

  private:
    pointer at;
};
#define DSLC_COMPARES(op)                                                                                                           \
    template <class A, class B> bool operator op(const device_reference<A> &a, const device_reference<B> &b) { return typename device_reference<A>::value_type(a) op typename device_reference<B>::value_type(b); } \
    template <class A, class B, class = typename std::enable_if<std::is_convertible<B, A>::value>::type> bool operator op(const device_reference<A> &a, const B &b) { return typename device_reference<A>::value_type(a) op b; } \
    template <class A, class B, class = typename std::enable_if<std::is_convertible<A, B>::value>::type> bool operator op(const A &a, const device_reference<B> &b) { return a op typename device_reference<B>::value_type(b); }
DSLC_COMPARES(==)
DSLC_COMPARES(!=)
DSLC_COMPARES(<)
DSLC_COMPARES(>)
DSLC_COMPARES(<=)
DSLC_COMPARES(>=)
#undef DSLC_COMPARES

template <class T> DSLC_BOTH T *raw_pointer_cast(T *pointer) { return pointer; }
template <class T> DSLC_BOTH T *raw_pointer_cast(const device_ptr<T> &pointer) { return pointer.get(); }
template <class T> T &raw_reference_cast(T &reference) { return reference; }
template <class T> DSLC_BOTH device_ptr<T> device_pointer_cast(T *pointer) { return device_ptr<T>(pointer); }
template <class T> DSLC_BOTH device_ptr<T> device_pointer_cast(const device_ptr<T> &pointer) { return pointer; }

template <class T> device_ptr<T> device_malloc(size_t count) {
    T *made = nullptr;
    detail::check(cudaMalloc((void **)&made, count * sizeof(T)), "device_malloc");
    return device_ptr<T>(made);
}
inline device_ptr<void> device_malloc(size_t bytes) {
    void *made = nullptr;
    detail::check(cudaMalloc(&made, bytes), "device_malloc");
    return device_ptr<void>(made);
}
template <class T> void device_free(device_ptr<T> pointer) { cudaFree((void *)pointer.get()); }
template <class T> device_ptr<T> device_new(size_t count = 1) {
    device_ptr<T> made = device_malloc<T>(count);
    std::vector<T> values(count);
    detail::move(made.get(), values.data(), count * sizeof(T));
    return made;
}
template <class T> void device_delete(device_ptr<T> pointer, size_t = 0) { device_free(pointer); }

template <class T> class device_allocator {
  public:
    typedef T value_type;
    typedef device_ptr<T> pointer;
    pointer allocate(size_t count) { return device_malloc<T>(count); }
    void deallocate(pointer pointer, size_t) { device_free(pointer); }
};
template <class T> using device_malloc_allocator = device_allocator<T>;

template <class T, class A = device_allocator<T>> class device_vector;

/* A vector of the host's: C++'s own, which a device's can be copied to. */
template <class T, class A = std::allocator<T>> class host_vector : public std::vector<T, A> {
    typedef std::vector<T, A> Base;

  public:
    using Base::Base;
    using Base::operator=;
    using Base::assign;
    host_vector() {}
    host_vector(const Base &other) : Base(other) {}
    template <class U, class B> host_vector(const std::vector<U, B> &other) : Base(other.begin(), other.end()) {}
    template <class U, class B> host_vector(const device_vector<U, B> &other) { assign(other.begin(), other.end()); }
    template <class U> host_vector(device_ptr<U> first, device_ptr<U> last) { assign(first, last); }
    template <class U, class B> host_vector &operator=(const device_vector<U, B> &other) { return assign(other.begin(), other.end()), *this; }
    template <class U> void assign(device_ptr<U> first, device_ptr<U> last) {
        std::unique_ptr<typename device_ptr<U>::value_type[]> values(new typename device_ptr<U>::value_type[last - first]);
        detail::move(values.get(), first.get(), (last - first) * sizeof(U));
        Base::assign(values.get(), values.get() + (last - first));
    }
};

/* A vector in device memory. */
template <class T, class A> class device_vector {
  public:
    typedef T value_type;
    typedef size_t size_type;
    typedef std::ptrdiff_t difference_type;
    typedef device_ptr<T> pointer;
    typedef device_ptr<T> iterator;
    typedef device_ptr<const T> const_pointer;
    typedef device_ptr<const T> const_iterator;
    typedef std::reverse_iterator<iterator> reverse_iterator;
    typedef device_reference<T> reference;
    typedef device_reference<const T> const_reference;

    device_vector() {}
    explicit device_vector(size_t count) { resize(count); }
    device_vector(size_t count, const T &value) { assign(count, value); }
    device_vector(const device_vector &other) { assign(other.begin(), other.end()); }
    device_vector(device_vector &&other) noexcept { swap(other); }
    device_vector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
    template <class U, class B> device_vector(const device_vector<U, B> &other) { *this = other; }
    template <class U, class B> device_vector(const std::vector<U, B> &other) { assign(other.begin(), other.end()); }
    template <class It, class = typename std::iterator_traits<It>::iterator_category> device_vector(It first, It last) { assign(first, last); }
    ~device_vector() { release(); }
    device_vector &operator=(const device_vector &other) {
        if (this != &other) assign(other.begin(), other.end());
        return *this;
    }
    device_vector &operator=(device_vector &&other) noexcept { return swap(other), *this; }
    template <class U, class B> device_vector &operator=(const device_vector<U, B> &other) {
        host_vector<U> values(other);
        return assign(values.begin(), values.end()), *this;
    }
    template <class U, class B> device_vector &operator=(const std::vector<U, B> &other) { return assign(other.begin(), other.end()), *this; }

    void assign(size_t count, const T &value) {
        std::unique_ptr<T[]> values(new T[count]);
        for (size_t i = 0; i < count; i++) values[i] = value;
        take(values.get(), count);
    }
    void assign(device_ptr<T> first, device_ptr<T> last) { take(first.get(), last - first); }
    void assign(device_ptr<const T> first, device_ptr<const T> last) { take(first.get(), last - first); }
    template <class It, class = typename std::iterator_traits<It>::iterator_category> void assign(It first, It last) {
        size_t count = std::distance(first, last);
        std::unique_ptr<T[]> values(new T[count]);
        for (size_t i = 0; i < count; ++i, ++first) values[i] = static_cast<T>(*first);
        take(values.get(), count);
    }
    size_t size() const { return count; }
    size_t capacity() const { return room; }
    size_t max_size() const { return SIZE_MAX / sizeof(T); }
    bool empty() const { return count == 0; }
    iterator begin() { return iterator(at); }
    iterator end() { return iterator(at + count); }
    const_iterator begin() const { return const_iterator(at); }
    const_iterator end() const { return const_iterator(at + count); }
    const_iterator cbegin() const { return begin(); }
    const_iterator cend() const { return end(); }
    reverse_iterator rbegin() { return reverse_iterator(end()); }
    reverse_iterator rend() { return reverse_iterator(begin()); }
    pointer data() { return begin(); }
    const_pointer data() const { return begin(); }
    reference operator[](size_t index) { return begin()[index]; }
    const_reference operator[](size_t index) const { return begin()[index]; }
    reference front() { return (*this)[0]; }
    reference back() { return (*this)[count - 1]; }
    const_reference front() const { return (*this)[0]; }
    const_reference back() const { return (*this)[count - 1]; }
    void clear() { count = 0; }
    void shrink_to_fit() {
        if (count < room) move_to(count);
    }
    void reserve(size_t wanted) {
        if (wanted > room) move_to(wanted);
    }
    /* New elements are T's default, 0 for numbers. */
    void resize(size_t wanted, const T &value = T()) {
        if (wanted > room) move_to(wanted);
        if (wanted > count) {
            std::unique_ptr<T[]> values(new T[wanted - count]);
            for (size_t i = 0; i < wanted - count; i++) values[i] = value;
            detail::move(at + count, values.get(), (wanted - count) * sizeof(T));
        }
        count = wanted;
    }
    void push_back(const T &value) {
        if (count == room) move_to(room ? 2 * room : 8);
        detail::move(at + count++, &value, sizeof(T));
    }
    void pop_back() { count--; }
    iterator erase(iterator from) { return erase(from, from + 1); }
    iterator erase(iterator from, iterator to) {
        host_vector<T> rest(to, end());
        detail::move(from.get(), rest.data(), rest.size() * sizeof(T));
        count -= to - from;
        return from;
    }
    iterator insert(iterator before, const T &value) { return insert(before, &value, &value + 1), begin() + 0; }
    template <class It> void insert(iterator before, It first, It last) {
        host_vector<T> all(*this), more(first, last);
        all.insert(all.begin() + (before - begin()), more.begin(), more.end());
        take(all.data(), all.size());
    }
    void swap(device_vector &other) noexcept {
        std::swap(at, other.at);
        std::swap(count, other.count);
        std::swap(room, other.room);
    }

  private:
    void release() {
        if (at) cudaFree((void *)at);
        at = nullptr;
        count = room = 0;
    }
    void move_to(size_t wanted) {
        T *made = wanted ? device_malloc<T>(wanted).get() : nullptr;
        if (count) detail::move(made, at, count * sizeof(T));
        size_t kept = count;
        release();
        at = made;
        count = kept;
        room = wanted;
    }
    void take(const T *from, size_t wanted) {
        if (wanted > room) {
            count = 0;
            move_to(wanted);
        }
        count = wanted;
        detail::move(at, from, wanted * sizeof(T));
    }
    T *at = nullptr;
    size_t count = 0, room = 0;
};
template <class T> using universal_vector = device_vector<T>;
template <class T, class A> void swap(device_vector<T, A> &a, device_vector<T, A> &b) { a.swap(b); }
template <class T, class A> bool operator==(const device_vector<T, A> &a, const device_vector<T, A> &b) {
    return static_cast<std::vector<T>>(host_vector<T>(a)) == static_cast<std::vector<T>>(host_vector<T>(b));
}
template <class T, class A> bool operator!=(const device_vector<T, A> &a, const device_vector<T, A> &b) { return !(a == b); }
template <class T, class A, class B> bool operator==(const device_vector<T, A> &a, const host_vector<T, B> &b) { return host_vector<T, B>(a) == b; }
template <class T, class A, class B> bool operator==(const host_vector<T, B> &a, const device_vector<T, A> &b) { return a == host_vector<T, B>(b); }

} // namespace thrust

#endif
