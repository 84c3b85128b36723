#pragma once
#include <compare>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
template <class T> concept Number = std::integral<T> || std::floating_point<T>;
struct Config { int blocks = 4; int threads = 64; bool verbose = false; auto operator<=>(const Config &) const = default; };
template <Number T> class Vec {
public:
    explicit Vec(std::size_t n);
    ~Vec();
    Vec(const Vec &) = delete;
    std::span<T> host() { return {p_, n_}; }
    T *data() { return p_; }
private:
    T *p_ = nullptr;
    std::size_t n_;
};
template <Number T> void axpb(Vec<T> &v, T a, T b, const Config &c);
consteval int square(int x) { return x * x; }
