/* The arithmetic of cuBLAS on the host's memory: matrices by columns, as BLAS has them. Products of matrices and triangular systems go
   to the system's BLAS where there is one; all else is bound by memory, and loops do. */
#ifndef DSLC_LIBRARIES_BLAS_H
#define DSLC_LIBRARIES_BLAS_H

#include "common.h"

#include <cmath>
#include <complex>
#include <cstdlib>

namespace blas {

typedef std::complex<float> C32;
typedef std::complex<double> C64;

template <class T> struct Real {
    typedef T type;
};
template <class T> struct Real<std::complex<T>> {
    typedef T type;
};
template <class T> using real = typename Real<T>::type;

inline float conj(float x) { return x; }
inline double conj(double x) { return x; }
inline C32 conj(C32 x) { return std::conj(x); }
inline C64 conj(C64 x) { return std::conj(x); }
/* What BLAS compares: of complex numbers the sum of both parts. */
inline float size(float x) { return std::fabs(x); }
inline double size(double x) { return std::fabs(x); }
template <class T> T size(std::complex<T> x) { return std::fabs(x.real()) + std::fabs(x.imag()); }

enum Op { N = 0, T = 1, C = 2 };

/* The system's BLAS, in Fortran's calling convention. */
inline void *library() {
    static void *found = [] {
        void *library = dslc::open({"libopenblas.so.0", "libblas.so.3"});
        if (!library)
            fputs("dslc: cuBLAS: there is no OpenBLAS, so that plain loops multiply matrices, which is slow. Debian's package is "
                  "libopenblas0\n",
                  stderr);
        return library;
    }();
    return found;
}

template <class S> struct Names;
template <> struct Names<float> {
    static constexpr const char *gemm = "sgemm_", *trsm = "strsm_";
};
template <> struct Names<double> {
    static constexpr const char *gemm = "dgemm_", *trsm = "dtrsm_";
};
template <> struct Names<C32> {
    static constexpr const char *gemm = "cgemm_", *trsm = "ctrsm_";
};
template <> struct Names<C64> {
    static constexpr const char *gemm = "zgemm_", *trsm = "ztrsm_";
};

/* An element of op(A). */
template <class S> S at(const S *a, long lda, Op op, long row, long column) {
    return op == N ? a[row + column * lda] : op == T ? a[column + row * lda] : conj(a[column + row * lda]);
}

/* y = beta y; a beta of 0 also clears what is no number. */
template <class S> void scale(S *y, long n, long step, S beta) {
    for (long i = 0; i < n; i++) y[i * step] = beta == S(0) ? S(0) : beta * y[i * step];
}

/* C = alpha op(A) op(B) + beta C. */
template <class S>
void gemm(Op opa, Op opb, int m, int n, int k, S alpha, const S *a, int lda, const S *b, int ldb, S beta, S *c, int ldc) {
    if (m <= 0 || n <= 0) return;
    typedef void Gemm(const char *, const char *, const int *, const int *, const int *, const S *, const S *, const int *, const S *,
                      const int *, const S *, S *, const int *, size_t, size_t);
    static Gemm *system = dslc::function<Gemm>(library(), Names<S>::gemm);
    if (system && k > 0) {
        const char *letters = "NTC";
        system(&letters[opa], &letters[opb], &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
        return;
    }
    /* A's columns are copied once, so that the inner loop runs over consecutive elements. */
    std::vector<S> columns;
    if (opa != N) {
        columns.resize((size_t)m * k);
        for (long p = 0; p < k; p++)
            for (long i = 0; i < m; i++) columns[i + p * m] = at(a, lda, opa, i, p);
        a = columns.data();
        lda = m;
    }
    for (long j = 0; j < n; j++) {
        S *to = c + j * ldc;
        scale(to, m, 1, beta);
        for (long p = 0; p < k; p++) {
            S factor = alpha * at(b, ldb, opb, p, j);
            const S *from = a + p * lda;
            for (long i = 0; i < m; i++) to[i] += factor * from[i];
        }
    }
}

/* The matrix that a triangle stands for: symmetric, Hermitian or triangular. */
enum Form { Symmetric, Hermitian, Triangular, UnitTriangular };
template <class S> std::vector<S> whole(const S *a, long lda, long n, bool upper, Form form) {
    std::vector<S> out((size_t)n * n);
    for (long j = 0; j < n; j++)
        for (long i = 0; i < n; i++) {
            bool is_there = upper ? i <= j : i >= j;
            S value = is_there ? a[i + j * lda] : form == Symmetric ? a[j + i * lda] : form == Hermitian ? conj(a[j + i * lda]) : S(0);
            if (i == j && form == UnitTriangular) value = S(1);
            if (i == j && form == Hermitian) value = S(std::real(value));
            out[i + j * n] = value;
        }
    return out;
}

/* Copies one triangle, or all. */
template <class S> void put_triangle(const std::vector<S> &from, S *to, long ld, long n, bool upper) {
    for (long j = 0; j < n; j++)
        for (long i = upper ? 0 : j; i < (upper ? j + 1 : n); i++) to[i + j * ld] = from[i + j * n];
}

/* Solves op(A) X = alpha B, or X op(A) = alpha B, in B's place. */
template <class S>
void trsm(bool left, bool upper, Op op, bool unit, int m, int n, S alpha, const S *a, int lda, S *b, int ldb) {
    if (m <= 0 || n <= 0) return;
    typedef void Trsm(const char *, const char *, const char *, const char *, const int *, const int *, const S *, const S *, const int *,
                      S *, const int *, size_t, size_t, size_t, size_t);
    static Trsm *system = dslc::function<Trsm>(library(), Names<S>::trsm);
    if (system) {
        const char *letters = "NTC";
        system(left ? "L" : "R", upper ? "U" : "L", &letters[op], unit ? "U" : "N", &m, &n, &alpha, a, &lda, b, &ldb, 1, 1, 1, 1);
        return;
    }
    for (long j = 0; j < n; j++) scale(b + j * ldb, m, 1, alpha);
    /* From the right it is the transposed system. */
    long size = left ? m : n, others = left ? n : m, step = left ? 1 : ldb, next = left ? ldb : 1;
    bool forward = (upper != (op == N)) == left;
    for (long other = 0; other < others; other++) {
        S *x = b + other * next;
        for (long turn = 0; turn < size; turn++) {
            long i = forward ? turn : size - 1 - turn;
            S sum = x[i * step];
            for (long before = 0; before < turn; before++) {
                long j = forward ? before : size - 1 - before;
                sum -= (left ? at(a, lda, op, i, j) : at(a, lda, op, j, i)) * x[j * step];
            }
            x[i * step] = unit ? sum : sum / at(a, lda, op, i, i);
        }
    }
}

/* y = alpha op(A) x + beta y; vectors begin at their first element and may run backwards. */
template <class S>
void gemv(Op op, long m, long n, S alpha, const S *a, long lda, const S *x, long incx, S beta, S *y, long incy) {
    long rows = op == N ? m : n;
    scale(y, rows, incy, beta);
    for (long j = 0; j < n; j++) {
        const S *column = a + j * lda;
        if (op == N) {
            S factor = alpha * x[j * incx];
            for (long i = 0; i < m; i++) y[i * incy] += factor * column[i];
        } else {
            S sum(0);
            for (long i = 0; i < m; i++) sum += (op == C ? conj(column[i]) : column[i]) * x[i * incx];
            y[j * incy] += alpha * sum;
        }
    }
}

/* P A = L U in A's place, with rows counted from 1; gives 0, or the first column without a pivot. No pivots if `pivots` is null. */
template <class S> int getrf(long n, S *a, long lda, int *pivots) {
    int info = 0;
    for (long j = 0; j < n; j++) {
        long best = j;
        if (pivots) {
            for (long i = j; i < n; i++)
                if (size(a[i + j * lda]) > size(a[best + j * lda])) best = i;
            pivots[j] = (int)best + 1;
            if (best != j)
                for (long k = 0; k < n; k++) std::swap(a[j + k * lda], a[best + k * lda]);
        }
        if (a[j + j * lda] == S(0)) {
            info = info ? info : (int)j + 1;
            continue;
        }
        for (long i = j + 1; i < n; i++) a[i + j * lda] /= a[j + j * lda];
        for (long k = j + 1; k < n; k++)
            for (long i = j + 1; i < n; i++) a[i + k * lda] -= a[i + j * lda] * a[j + k * lda];
    }
    return info;
}

/* Solves op(A) X = B in B's place, with what `getrf` made of A. */
template <class S> void getrs(Op op, long n, long columns, const S *lu, long lda, const int *pivots, S *b, long ldb) {
    auto exchange = [&](long i) {
        if (pivots && pivots[i] - 1 != i)
            for (long k = 0; k < columns; k++) std::swap(b[i + k * ldb], b[pivots[i] - 1 + k * ldb]);
    };
    if (op == N) {
        for (long i = 0; i < n; i++) exchange(i);
        trsm<S>(true, false, op, true, (int)n, (int)columns, S(1), lu, (int)lda, b, (int)ldb);
        trsm<S>(true, true, op, false, (int)n, (int)columns, S(1), lu, (int)lda, b, (int)ldb);
    } else {
        trsm<S>(true, true, op, false, (int)n, (int)columns, S(1), lu, (int)lda, b, (int)ldb);
        trsm<S>(true, false, op, true, (int)n, (int)columns, S(1), lu, (int)lda, b, (int)ldb);
        for (long i = n - 1; i >= 0; i--) exchange(i);
    }
}

} // namespace blas

#endif
