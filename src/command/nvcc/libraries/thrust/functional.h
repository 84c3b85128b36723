/* Thrust's pairs, tuples and function objects. */
#ifndef DSLC_THRUST_FUNCTIONAL_H
#define DSLC_THRUST_FUNCTIONAL_H

#include <cuda_runtime.h>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#ifdef __CUDACC__
#define DSLC_BOTH __host__ __device__
#else
#define DSLC_BOTH
#endif

#define THRUST_VERSION 200302
#define THRUST_MAJOR_VERSION 2
#define THRUST_MINOR_VERSION 3
#define THRUST_SUBMINOR_VERSION 2

namespace thrust {

using std::get;
using std::make_pair;
using std::make_tuple;
using std::pair;
using std::tie;
using std::tuple;
using std::tuple_element;
using std::tuple_size;
struct null_type {};
template <class T> DSLC_BOTH void swap(T &a, T &b) {
    T t = std::move(a);
    a = std::move(b);
    b = std::move(t);
}

template <class A, class R> struct unary_function {
    typedef A argument_type;
    typedef R result_type;
};
template <class A, class B, class R> struct binary_function {
    typedef A first_argument_type;
    typedef B second_argument_type;
    typedef R result_type;
};

/* With a type, and without one for any two. */
#define DSLC_BINARY(name, result, expression)                                                                                       \
    template <class T = void> struct name : binary_function<T, T, result> {                                                         \
        DSLC_BOTH constexpr result operator()(const T &a, const T &b) const { return expression; }                                  \
    };                                                                                                                              \
    template <> struct name<void> {                                                                                                 \
        template <class A, class B> DSLC_BOTH constexpr auto operator()(const A &a, const B &b) const -> decltype(expression) { return expression; } \
    };
DSLC_BINARY(plus, T, a + b)
DSLC_BINARY(minus, T, a - b)
DSLC_BINARY(multiplies, T, a * b)
DSLC_BINARY(divides, T, a / b)
DSLC_BINARY(modulus, T, a % b)
DSLC_BINARY(bit_and, T, a & b)
DSLC_BINARY(bit_or, T, a | b)
DSLC_BINARY(bit_xor, T, a ^ b)
DSLC_BINARY(maximum, T, a < b ? b : a)
DSLC_BINARY(minimum, T, b < a ? b : a)
DSLC_BINARY(equal_to, bool, a == b)
DSLC_BINARY(not_equal_to, bool, a != b)
DSLC_BINARY(greater, bool, a > b)
DSLC_BINARY(less, bool, a < b)
DSLC_BINARY(greater_equal, bool, a >= b)
DSLC_BINARY(less_equal, bool, a <= b)
DSLC_BINARY(logical_and, bool, a && b)
DSLC_BINARY(logical_or, bool, a || b)
#undef DSLC_BINARY

#define DSLC_UNARY(name, result, expression)                                                                                        \
    template <class T = void> struct name : unary_function<T, result> {                                                             \
        DSLC_BOTH constexpr result operator()(const T &a) const { return expression; }                                              \
    };                                                                                                                              \
    template <> struct name<void> {                                                                                                 \
        template <class A> DSLC_BOTH constexpr auto operator()(const A &a) const { return expression; }                             \
    };
DSLC_UNARY(negate, T, -a)
DSLC_UNARY(square, T, a *a)
DSLC_UNARY(logical_not, bool, !a)
DSLC_UNARY(identity, T, a)
#undef DSLC_UNARY

template <class A = void, class B = void> struct project1st {
    template <class X, class Y> DSLC_BOTH constexpr X operator()(const X &a, const Y &) const { return a; }
};
template <class A = void, class B = void> struct project2nd {
    template <class X, class Y> DSLC_BOTH constexpr Y operator()(const X &, const Y &b) const { return b; }
};
template <class F> struct unary_negate {
    F f;
    explicit DSLC_BOTH unary_negate(F f) : f(f) {}
    template <class A> DSLC_BOTH bool operator()(const A &a) const { return !f(a); }
};
template <class F> struct binary_negate {
    F f;
    explicit DSLC_BOTH binary_negate(F f) : f(f) {}
    template <class A, class B> DSLC_BOTH bool operator()(const A &a, const B &b) const { return !f(a, b); }
};
template <class F> DSLC_BOTH unary_negate<F> not1(const F &f) { return unary_negate<F>(f); }
template <class F> DSLC_BOTH binary_negate<F> not2(const F &f) { return binary_negate<F>(f); }

/* Expressions of `_1`, `_2` …: function objects that are written as what they compute. */
namespace detail {
template <int n> struct Argument {
    template <class Tuple> constexpr decltype(auto) operator()(Tuple &&all) const { return std::get<n>(all); }
};
template <class T> struct Constant {
    T value;
    template <class Tuple> constexpr const T &operator()(Tuple &&) const { return value; }
};
template <class F> struct Expression {
    F f;
    template <class... A> constexpr decltype(auto) operator()(A &&...all) const { return f(std::forward_as_tuple(std::forward<A>(all)...)); }
};
template <class F> constexpr F part(const Expression<F> &one) { return one.f; }
template <class T> constexpr Constant<T> part(const T &value) { return {value}; }
template <class T> struct IsExpression : std::false_type {};
template <class F> struct IsExpression<Expression<F>> : std::true_type {};
#define DSLC_OPERATOR(name, op)                                                                                                     \
    template <class A, class B> struct name {                                                                                       \
        A a;                                                                                                                        \
        B b;                                                                                                                        \
        template <class Tuple> constexpr auto operator()(Tuple &&all) const { return a(all) op b(all); }                            \
    };                                                                                                                              \
    template <class A, class B, class = typename std::enable_if<IsExpression<A>::value || IsExpression<B>::value>::type>            \
    constexpr auto operator op(const A &a, const B &b) {                                                                            \
        typedef name<decltype(part(a)), decltype(part(b))> Made;                                                                    \
        return Expression<Made>{Made{part(a), part(b)}};                                                                            \
    }
DSLC_OPERATOR(Plus, +)
DSLC_OPERATOR(Minus, -)
DSLC_OPERATOR(Times, *)
DSLC_OPERATOR(Over, /)
DSLC_OPERATOR(Modulo, %)
DSLC_OPERATOR(And, &)
DSLC_OPERATOR(Or, |)
DSLC_OPERATOR(Xor, ^)
DSLC_OPERATOR(Left, <<)
DSLC_OPERATOR(Right, >>)
DSLC_OPERATOR(Equal, ==)
DSLC_OPERATOR(Unequal, !=)
DSLC_OPERATOR(Less, <)
DSLC_OPERATOR(Greater, >)
DSLC_OPERATOR(AtMost, <=)
DSLC_OPERATOR(AtLeast, >=)
DSLC_OPERATOR(Both, &&)
DSLC_OPERATOR(Either, ||)
#undef DSLC_OPERATOR
#define DSLC_OPERATOR(name, op)                                                                                                     \
    template <class A> struct name {                                                                                                \
        A a;                                                                                                                        \
        template <class Tuple> constexpr auto operator()(Tuple &&all) const { return op a(all); }                                   \
    };                                                                                                                              \
    template <class F> constexpr auto operator op(const Expression<F> &a) { return Expression<name<F>>{name<F>{a.f}}; }
DSLC_OPERATOR(Negative, -)
DSLC_OPERATOR(Not, !)
DSLC_OPERATOR(Complement, ~)
#undef DSLC_OPERATOR
} // namespace detail

namespace placeholders {
static constexpr detail::Expression<detail::Argument<0>> _1{};
static constexpr detail::Expression<detail::Argument<1>> _2{};
static constexpr detail::Expression<detail::Argument<2>> _3{};
static constexpr detail::Expression<detail::Argument<3>> _4{};
static constexpr detail::Expression<detail::Argument<4>> _5{};
} // namespace placeholders

} // namespace thrust

#ifdef __CUDACC__
/* Function objects for the device run on the host: what they call of the device's functions. */
#define DSLC_HOST static inline __attribute__((host))
#define DSLC_ATOMIC(name, T, expression)                                                                                            \
    DSLC_HOST T name(T *address, T value) {                                                                                         \
        T old = *address;                                                                                                           \
        *address = expression;                                                                                                      \
        return old;                                                                                                                 \
    }
#define DSLC_ATOMICS(T)                                                                                                             \
    DSLC_ATOMIC(atomicAdd, T, old + value)                                                                                          \
    DSLC_ATOMIC(atomicExch, T, value)
#define DSLC_INTEGER_ATOMICS(T)                                                                                                     \
    DSLC_ATOMICS(T)                                                                                                                 \
    DSLC_ATOMIC(atomicMax, T, old < value ? value : old)                                                                            \
    DSLC_ATOMIC(atomicMin, T, value < old ? value : old)                                                                            \
    DSLC_ATOMIC(atomicAnd, T, old &value)                                                                                           \
    DSLC_ATOMIC(atomicOr, T, old | value)                                                                                           \
    DSLC_ATOMIC(atomicXor, T, old ^ value)                                                                                          \
    DSLC_HOST T atomicCAS(T *address, T compare, T value) {                                                                         \
        T old = *address;                                                                                                           \
        if (old == compare) *address = value;                                                                                       \
        return old;                                                                                                                 \
    }
DSLC_ATOMICS(float)
DSLC_ATOMICS(double)
DSLC_INTEGER_ATOMICS(int)
DSLC_INTEGER_ATOMICS(unsigned int)
DSLC_INTEGER_ATOMICS(unsigned long long)
DSLC_ATOMIC(atomicSub, int, old - value)
DSLC_ATOMIC(atomicSub, unsigned int, old - value)
DSLC_HOST float __fdividef(float x, float y) { return x / y; }
DSLC_HOST float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }
DSLC_HOST int __popc(unsigned int x) { return __builtin_popcount(x); }
DSLC_HOST int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
DSLC_HOST int __clz(int x) { return x ? __builtin_clz(x) : 32; }
DSLC_HOST int __ffs(int x) { return __builtin_ffs(x); }
DSLC_HOST unsigned int __umulhi(unsigned int x, unsigned int y) { return (unsigned int)((unsigned long long)x * y >> 32); }
template <class T> DSLC_HOST T __ldg(const T *address) { return *address; }
#undef DSLC_HOST
#undef DSLC_ATOMIC
#undef DSLC_ATOMICS
#undef DSLC_INTEGER_ATOMICS
#endif

#endif
