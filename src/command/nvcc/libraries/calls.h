/* What cuBLAS's functions do, for any type of elements: what they are handed is brought to the host, `blas.h` computes, and results go
   back. */
#ifndef DSLC_LIBRARIES_CALLS_H
#define DSLC_LIBRARIES_CALLS_H

#include "blas.h"
#include <cublas_v2.h>

using blas::C32;
using blas::C64;
using blas::Op;
using dslc::Matrix;
using dslc::Scalar;

struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
    cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
};

namespace {

/* Complex numbers of the headers as C++'s. */
template <class T> struct Inner {
    typedef T type;
};
template <> struct Inner<cuComplex> {
    typedef C32 type;
};
template <> struct Inner<cuDoubleComplex> {
    typedef C64 type;
};
template <class T> using inner = typename Inner<T>::type;
template <class T> const inner<T> *in(const T *pointer) { return (const inner<T> *)pointer; }
template <class T> inner<T> *in(T *pointer) { return (inner<T> *)pointer; }

Op op_of(cublasOperation_t op) { return op == CUBLAS_OP_N ? blas::N : op == CUBLAS_OP_T ? blas::T : blas::C; }

template <class F> cublasStatus_t run(cublasHandle_t handle, F work) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    cudaError_t error = dslc::submit(handle->stream, "cuBLAS", work);
    return error ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

/* A vector, from its first element on: one with a negative step begins at its end. */
template <class S> class Vector {
  public:
    Vector(const S *pointer, long n, long step, bool reads = true)
        : memory(pointer, n <= 0 ? 0 : 1 + (n - 1) * labs(step), 1, 1 + (n > 0 ? n - 1 : 0) * labs(step), reads || labs(step) != 1), step(step),
          first(step < 0 && n > 0 ? (1 - n) * step : 0) {}
    S &operator[](long index) { return memory.data()[first + index * step]; }
    S *begin() { return memory.data() + first; }
    void store() { memory.store(); }
    cudaError_t failed() const { return memory.failed; }

  private:
    Matrix<S> memory;

  public:
    const long step;

  private:
    long first;
};

template <class S> cudaError_t first_of(S &one) { return one.failed; }
template <class S> cudaError_t first_of(Vector<S> &one) { return one.failed(); }
template <class... All> cudaError_t failed(All &...all) {
    cudaError_t found = cudaSuccess;
    ((found = found ? found : first_of(all)), ...);
    return found;
}

/* Changes x and y by elements; `make` gives what does it, once the numbers it needs are there. */
template <class S, class F> cublasStatus_t both(cublasHandle_t handle, int n, S *x, int incx, S *y, int incy, bool stores_x, F make) {
    return run(handle, [=] {
        Vector<S> from(x, n, incx), to(y, n, incy);
        auto f = make();
        for (int i = 0; i < n; i++) f(from[i], to[i]);
        if (stores_x) from.store();
        to.store();
        return failed(from, to);
    });
}

template <class S> cublasStatus_t axpy(cublasHandle_t handle, int n, const S *alpha, const S *x, int incx, S *y, int incy) {
    return both(handle, n, (S *)x, incx, y, incy, false, [alpha = Scalar<S>(alpha)] {
        return [factor = alpha.get()](S &x, S &y) { y += factor * x; };
    });
}
template <class S> cublasStatus_t rot(cublasHandle_t handle, int n, S *x, int incx, S *y, int incy, const S *c, const S *s) {
    return both(handle, n, x, incx, y, incy, true, [c = Scalar<S>(c), s = Scalar<S>(s)] {
        return [c = c.get(), s = s.get()](S &x, S &y) {
            S before = x;
            x = c * x + s * y;
            y = c * y - s * before;
        };
    });
}
template <class S> cublasStatus_t rotm(cublasHandle_t handle, int n, S *x, int incx, S *y, int incy, const S *param) {
    return run(handle, [=] {
        Vector<S> p(param, 5, 1), a(x, n, incx), b(y, n, incy);
        S flag = p[0];
        if (flag == S(-2)) return cudaSuccess;
        S h11 = flag == S(0) ? S(1) : p[1], h21 = flag == S(1) ? S(-1) : p[2];
        S h12 = flag == S(1) ? S(1) : p[3], h22 = flag == S(0) ? S(1) : p[4];
        for (int i = 0; i < n; i++) {
            S before = a[i];
            a[i] = h11 * before + h12 * b[i];
            b[i] = h21 * before + h22 * b[i];
        }
        a.store();
        b.store();
        return failed(a, b);
    });
}
template <class S> cublasStatus_t rotg(cublasHandle_t handle, S *a, S *b, S *c, S *s) {
    return run(handle, [=] {
        S x = Scalar<S>(a).get(), y = Scalar<S>(b).get();
        S larger = blas::size(x) > blas::size(y) ? x : y, scale = blas::size(x) + blas::size(y);
        S r = 0, z = 0, cosine = 1, sine = 0;
        if (scale != 0) {
            r = scale * std::sqrt((x / scale) * (x / scale) + (y / scale) * (y / scale)) * (larger < 0 ? S(-1) : S(1));
            cosine = x / r;
            sine = y / r;
            z = blas::size(x) > blas::size(y) ? sine : cosine != 0 ? 1 / cosine : S(1);
        }
        dslc::put(a, r);
        dslc::put(b, z);
        dslc::put(c, cosine);
        dslc::put(s, sine);
        return cudaSuccess;
    });
}
template <class S, class A> cublasStatus_t scal(cublasHandle_t handle, int n, const A *alpha, S *x, int incx) {
    return run(handle, [=, alpha = Scalar<A>(alpha)] {
        Vector<S> row(x, n, incx);
        A factor = alpha.get();
        for (int i = 0; i < n; i++) row[i] *= factor;
        row.store();
        return failed(row);
    });
}
template <class S> cublasStatus_t dot(cublasHandle_t handle, int n, const S *x, int incx, const S *y, int incy, S *result, bool conjugates) {
    return run(handle, [=] {
        Vector<S> a(x, n, incx), b(y, n, incy);
        S sum(0);
        for (int i = 0; i < n; i++) sum += (conjugates ? blas::conj(a[i]) : a[i]) * b[i];
        dslc::put(result, sum);
        return failed(a, b);
    });
}
template <class S> cublasStatus_t asum(cublasHandle_t handle, int n, const S *x, int incx, blas::real<S> *result) {
    return run(handle, [=] {
        Vector<S> a(x, n, incx);
        blas::real<S> sum(0);
        for (int i = 0; i < n; i++) sum += blas::size(a[i]);
        dslc::put(result, sum);
        return failed(a);
    });
}
template <class S> cublasStatus_t nrm2(cublasHandle_t handle, int n, const S *x, int incx, blas::real<S> *result) {
    return run(handle, [=] {
        Vector<S> a(x, n, incx);
        /* In extended precision nothing overflows on the way. */
        long double sum = 0;
        for (int i = 0; i < n; i++) sum += std::norm(std::complex<long double>(std::real(a[i]), std::imag(a[i])));
        dslc::put(result, (blas::real<S>)sqrtl(sum));
        return failed(a);
    });
}
/* The place of the largest or smallest element, from 1. */
template <class S> cublasStatus_t extreme(cublasHandle_t handle, int n, const S *x, int incx, int *result, bool largest) {
    return run(handle, [=] {
        Vector<S> a(x, incx > 0 ? n : 0, incx);
        int best = 0;
        for (int i = 1; i < n && incx > 0; i++)
            if (largest ? blas::size(a[i]) > blas::size(a[best]) : blas::size(a[i]) < blas::size(a[best])) best = i;
        dslc::put(result, n > 0 && incx > 0 ? best + 1 : 0);
        return failed(a);
    });
}

template <class S>
cublasStatus_t ger(cublasHandle_t handle, int m, int n, const S *alpha, const S *x, int incx, const S *y, int incy, S *a, int lda, bool conjugates) {
    return run(handle, [=, alpha = Scalar<S>(alpha)] {
        Vector<S> left(x, m, incx), right(y, n, incy);
        Matrix<S> matrix(a, m, n, lda);
        S all = alpha.get();
        for (int j = 0; j < n; j++) {
            S factor = all * (conjugates ? blas::conj(right[j]) : right[j]);
            for (int i = 0; i < m; i++) matrix.data()[i + j * matrix.step()] += left[i] * factor;
        }
        matrix.store();
        return failed(left, right, matrix);
    });
}
template <class S>
cudaError_t gemv_now(Op op, int m, int n, S alpha, const S *a, int lda, const S *x, int incx, S beta, S *y, int incy) {
    long rows = op == blas::N ? m : n, columns = op == blas::N ? n : m;
    Matrix<S> matrix(a, m, n, lda);
    Vector<S> from(x, columns, incx), to(y, rows, incy, beta != S(0));
    blas::gemv<S>(op, m, n, alpha, matrix.data(), matrix.step(), from.begin(), from.step, beta, to.begin(), to.step);
    to.store();
    return failed(matrix, from, to);
}
template <class S>
cublasStatus_t gbmv(cublasHandle_t handle, Op op, int m, int n, int kl, int ku, const S *alpha, const S *a, int lda, const S *x, int incx, const S *beta, S *y, int incy) {
    return run(handle, [=, alpha = Scalar<S>(alpha), beta = Scalar<S>(beta)] {
        long rows = op == blas::N ? m : n, columns = op == blas::N ? n : m;
        Matrix<S> band(a, kl + ku + 1, n, lda);
        std::vector<S> matrix((size_t)m * n);
        for (int j = 0; j < n; j++)
            for (int i = std::max(0, j - ku); i < std::min(m, j + kl + 1); i++) matrix[i + (size_t)j * m] = band.data()[ku + i - j + j * band.step()];
        Vector<S> from(x, columns, incx), to(y, rows, incy);
        blas::gemv<S>(op, m, n, alpha.get(), matrix.data(), m, from.begin(), from.step, beta.get(), to.begin(), to.step);
        to.store();
        return failed(band, from, to);
    });
}
template <class S>
cublasStatus_t symv(cublasHandle_t handle, bool upper, blas::Form form, int n, const S *alpha, const S *a, int lda, const S *x, int incx, const S *beta, S *y, int incy) {
    return run(handle, [=, alpha = Scalar<S>(alpha), beta = Scalar<S>(beta)] {
        Matrix<S> matrix(a, n, n, lda);
        auto all = blas::whole<S>(matrix.data(), matrix.step(), n, upper, form);
        Vector<S> from(x, n, incx), to(y, n, incy);
        blas::gemv<S>(blas::N, n, n, alpha.get(), all.data(), n, from.begin(), from.step, beta.get(), to.begin(), to.step);
        to.store();
        return failed(matrix, from, to);
    });
}
/* A += alpha x x', or alpha (x y' + y x'). */
template <class S, class A>
cublasStatus_t syr(cublasHandle_t handle, bool upper, bool conjugates, int n, const A *alpha, const S *x, int incx, const S *y, int incy, S *a, int lda) {
    return run(handle, [=, alpha = Scalar<A>(alpha)] {
        Vector<S> u(x, n, incx), v(y ? y : x, n, y ? incy : incx);
        Matrix<S> matrix(a, n, n, lda);
        A factor = alpha.get();
        auto other = [&](S value) { return conjugates ? blas::conj(value) : value; };
        for (int j = 0; j < n; j++)
            for (int i = upper ? 0 : j; i < (upper ? j + 1 : n); i++)
                matrix.data()[i + j * matrix.step()] += y ? factor * u[i] * other(v[j]) + factor * v[i] * other(u[j]) : factor * u[i] * other(u[j]);
        matrix.store();
        return failed(u, v, matrix);
    });
}
template <class S>
cublasStatus_t triangular(cublasHandle_t handle, bool upper, Op op, bool unit, int n, const S *a, int lda, S *x, int incx, bool solves) {
    return run(handle, [=] {
        Matrix<S> matrix(a, n, n, lda);
        Vector<S> to(x, n, incx);
        std::vector<S> row(n), out(n);
        for (int i = 0; i < n; i++) row[i] = to[i];
        if (solves) {
            blas::trsm<S>(true, upper, op, unit, n, 1, S(1), matrix.data(), (int)matrix.step(), row.data(), n);
            out = row;
        } else {
            auto all = blas::whole<S>(matrix.data(), matrix.step(), n, upper, unit ? blas::UnitTriangular : blas::Triangular);
            blas::gemv<S>(op, n, n, S(1), all.data(), n, row.data(), 1, S(0), out.data(), 1);
        }
        for (int i = 0; i < n; i++) to[i] = out[i];
        to.store();
        return failed(matrix, to);
    });
}

template <class S>
cudaError_t gemm_now(Op opa, Op opb, int m, int n, int k, S alpha, const S *a, int lda, const S *b, int ldb, S beta, S *c, int ldc) {
    Matrix<S> left(a, opa == blas::N ? m : k, opa == blas::N ? k : m, lda), right(b, opb == blas::N ? k : n, opb == blas::N ? n : k, ldb);
    Matrix<S> to(c, m, n, ldc, beta != S(0));
    blas::gemm<S>(opa, opb, m, n, k, alpha, left.data(), (int)left.step(), right.data(), (int)right.step(), beta, to.data(), (int)to.step());
    to.store();
    return failed(left, right, to);
}
/* BLAS's check of a product's sizes. */
bool fits(Op opa, Op opb, int m, int n, int k, int lda, int ldb, int ldc) {
    return m >= 0 && n >= 0 && k >= 0 && lda >= std::max(1, opa == blas::N ? m : k) && ldb >= std::max(1, opb == blas::N ? k : n) &&
           ldc >= std::max(1, m);
}
template <class S>
cublasStatus_t gemm(cublasHandle_t handle, Op opa, Op opb, int m, int n, int k, const S *alpha, const S *a, int lda, long long stridea, const S *b, int ldb, long long strideb, const S *beta, S *c, int ldc, long long stridec, int count) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!fits(opa, opb, m, n, k, lda, ldb, ldc) || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
    return run(handle, [=, alpha = Scalar<S>(alpha), beta = Scalar<S>(beta)] {
        cudaError_t error = cudaSuccess;
        for (int i = 0; i < count && !error; i++)
            error = gemm_now<S>(opa, opb, m, n, k, alpha.get(), a + i * stridea, lda, b + i * strideb, ldb, beta.get(), c + i * stridec, ldc);
        return error;
    });
}
/* Arrays of pointers lie in device memory. */
template <class S>
cublasStatus_t gemm(cublasHandle_t handle, Op opa, Op opb, int m, int n, int k, const S *alpha, const S *const a[], int lda, const S *const b[], int ldb, const S *beta, S *const c[], int ldc, int count) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!fits(opa, opb, m, n, k, lda, ldb, ldc) || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
    return run(handle, [=, alpha = Scalar<S>(alpha), beta = Scalar<S>(beta)] {
        dslc::Row<const S *> left((const S **)a, count), right((const S **)b, count), to((const S **)c, count);
        cudaError_t error = failed(left, right, to);
        for (int i = 0; i < count && !error; i++)
            error = gemm_now<S>(opa, opb, m, n, k, alpha.get(), left[i], lda, right[i], ldb, beta.get(), (S *)to[i], ldc);
        return error;
    });
}

template <class S>
cublasStatus_t symm(cublasHandle_t handle, bool left, bool upper, blas::Form form, int m, int n, const S *alpha, const S *a, int lda, const S *b, int ldb, const S *beta, S *c, int ldc) {
    return run(handle, [=, alpha = Scalar<S>(alpha), beta = Scalar<S>(beta)] {
        int size = left ? m : n;
        Matrix<S> triangle(a, size, size, lda), other(b, m, n, ldb), to(c, m, n, ldc);
        auto all = blas::whole<S>(triangle.data(), triangle.step(), size, upper, form);
        if (left) blas::gemm<S>(blas::N, blas::N, m, n, m, alpha.get(), all.data(), m, other.data(), (int)other.step(), beta.get(), to.data(), (int)to.step());
        else blas::gemm<S>(blas::N, blas::N, m, n, n, alpha.get(), other.data(), (int)other.step(), all.data(), n, beta.get(), to.data(), (int)to.step());
        to.store();
        return failed(triangle, other, to);
    });
}
/* C = alpha A A' + beta C, or alpha A B' + conj(alpha) B A' + beta C: one triangle of it. */
template <class S, class A, class B>
cublasStatus_t syrk(cublasHandle_t handle, bool upper, Op op, bool hermitian, int n, int k, const A *alpha, const S *a, int lda, const S *b, int ldb, const B *beta, S *c, int ldc) {
    return run(handle, [=, alpha = Scalar<A>(alpha), beta = Scalar<B>(beta)] {
        long rows = op == blas::N ? n : k, columns = op == blas::N ? k : n;
        Matrix<S> left(a, rows, columns, lda), right(b ? b : a, rows, columns, b ? ldb : lda), to(c, n, n, ldc);
        std::vector<S> sum((size_t)n * n);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) sum[i + (size_t)j * n] = to.data()[i + j * to.step()];
        Op turned = hermitian ? blas::C : blas::T, first = op == blas::N ? blas::N : turned, second = op == blas::N ? turned : blas::N;
        S factor(alpha.get());
        blas::gemm<S>(first, second, n, n, k, factor, left.data(), (int)left.step(), right.data(), (int)right.step(), S(beta.get()), sum.data(), n);
        if (b) blas::gemm<S>(first, second, n, n, k, hermitian ? blas::conj(factor) : factor, right.data(), (int)right.step(), left.data(), (int)left.step(), S(1), sum.data(), n);
        blas::put_triangle(sum, to.data(), to.step(), n, upper);
        to.store();
        return failed(left, right, to);
    });
}
template <class S>
cublasStatus_t trmm(cublasHandle_t handle, bool left, bool upper, Op op, bool unit, int m, int n, const S *alpha, const S *a, int lda, const S *b, int ldb, S *c, int ldc) {
    return run(handle, [=, alpha = Scalar<S>(alpha)] {
        int size = left ? m : n;
        Matrix<S> triangle(a, size, size, lda), other(b, m, n, ldb), to(c, m, n, ldc, false);
        auto all = blas::whole<S>(triangle.data(), triangle.step(), size, upper, unit ? blas::UnitTriangular : blas::Triangular);
        /* The result may be in B's place. */
        std::vector<S> out((size_t)m * n);
        if (left) blas::gemm<S>(op, blas::N, m, n, m, alpha.get(), all.data(), m, other.data(), (int)other.step(), S(0), out.data(), m);
        else blas::gemm<S>(blas::N, op, m, n, n, alpha.get(), other.data(), (int)other.step(), all.data(), n, S(0), out.data(), m);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) to.data()[i + j * to.step()] = out[i + (size_t)j * m];
        to.store();
        return failed(triangle, other, to);
    });
}
template <class S>
cudaError_t trsm_now(bool left, bool upper, Op op, bool unit, int m, int n, S alpha, const S *a, int lda, S *b, int ldb) {
    int size = left ? m : n;
    Matrix<S> triangle(a, size, size, lda), to(b, m, n, ldb);
    blas::trsm<S>(left, upper, op, unit, m, n, alpha, triangle.data(), (int)triangle.step(), to.data(), (int)to.step());
    to.store();
    return failed(triangle, to);
}
template <class S>
cublasStatus_t geam(cublasHandle_t handle, Op opa, Op opb, int m, int n, const S *alpha, const S *a, int lda, const S *beta, const S *b, int ldb, S *c, int ldc) {
    return run(handle, [=, alpha = Scalar<S>(alpha), beta = Scalar<S>(beta)] {
        S u = alpha.get(), v = beta.get();
        /* A matrix whose factor is 0 may be missing. */
        bool has_a = a && u != S(0), has_b = b && v != S(0);
        Matrix<S> left(a, has_a ? (opa == blas::N ? m : n) : 0, opa == blas::N ? n : m, lda), right(b, has_b ? (opb == blas::N ? m : n) : 0, opb == blas::N ? n : m, ldb);
        std::vector<S> out((size_t)m * n);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++)
                out[i + (size_t)j * m] = (has_a ? u * blas::at(left.data(), left.step(), opa, i, j) : S(0)) + (has_b ? v * blas::at(right.data(), right.step(), opb, i, j) : S(0));
        Matrix<S> to(c, m, n, ldc, false);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) to.data()[i + j * to.step()] = out[i + (size_t)j * m];
        to.store();
        return failed(left, right, to);
    });
}
template <class S>
cublasStatus_t dgmm(cublasHandle_t handle, bool left, int m, int n, const S *a, int lda, const S *x, int incx, S *c, int ldc) {
    return run(handle, [=] {
        Matrix<S> from(a, m, n, lda), to(c, m, n, ldc, false);
        Vector<S> factors(x, left ? m : n, incx);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) to.data()[i + j * to.step()] = from.data()[i + j * from.step()] * factors[left ? i : j];
        to.store();
        return failed(from, to, factors);
    });
}

/* A of each system is factored in its place. */
template <class S> cublasStatus_t getrf(cublasHandle_t handle, int n, S *const a[], int lda, int *pivots, int *info, int count) {
    return run(handle, [=] {
        dslc::Row<S *> pointers((S **)a, count);
        dslc::Row<int> rows(pivots, pivots ? (long)n * count : 0, false), infos(info, count, false);
        cudaError_t error = failed(pointers);
        for (int i = 0; i < count && !error; i++) {
            Matrix<S> matrix(pointers[i], n, n, lda);
            infos[i] = blas::getrf<S>(n, matrix.data(), matrix.step(), pivots ? &rows[(long)i * n] : nullptr);
            matrix.store();
            error = failed(matrix);
        }
        rows.store();
        infos.store();
        return error ? error : failed(rows, infos);
    });
}
template <class S>
cublasStatus_t getri(cublasHandle_t handle, int n, const S *const a[], int lda, const int *pivots, S *const c[], int ldc, int *info, int count, bool factors) {
    return run(handle, [=] {
        dslc::Row<const S *> from((const S **)a, count), to((const S **)c, count);
        dslc::Row<int> rows(pivots, pivots ? (long)n * count : 0), infos(info, count, false);
        cudaError_t error = failed(from, to, rows);
        for (int i = 0; i < count && !error; i++) {
            Matrix<S> matrix(from[i], n, n, lda), inverse(to[i], n, n, ldc, false);
            std::vector<S> lu((size_t)n * n);
            std::vector<int> own(n);
            for (int column = 0; column < n; column++)
                for (int row = 0; row < n; row++) {
                    lu[row + (size_t)column * n] = matrix.data()[row + column * matrix.step()];
                    inverse.data()[row + column * inverse.step()] = S(row == column);
                }
            infos[i] = factors ? blas::getrf<S>(n, lu.data(), n, own.data()) : 0;
            for (int row = 0; row < n && !factors; row++)
                if (lu[row + (size_t)row * n] == S(0) && !infos[i]) infos[i] = row + 1;
            const int *order = factors ? own.data() : pivots ? &rows[(long)i * n] : nullptr;
            if (!infos[i]) blas::getrs<S>(blas::N, n, n, lu.data(), n, order, inverse.data(), inverse.step());
            inverse.store();
            error = failed(matrix, inverse);
        }
        infos.store();
        return error ? error : failed(infos);
    });
}
template <class S>
cublasStatus_t getrs(cublasHandle_t handle, Op op, int n, int columns, const S *const a[], int lda, const int *pivots, S *const b[], int ldb, int *info, int count) {
    if (info) *info = 0;
    return run(handle, [=] {
        dslc::Row<const S *> from((const S **)a, count), to((const S **)b, count);
        dslc::Row<int> rows(pivots, pivots ? (long)n * count : 0);
        cudaError_t error = failed(from, to, rows);
        for (int i = 0; i < count && !error; i++) {
            Matrix<S> matrix(from[i], n, n, lda), right(to[i], n, columns, ldb);
            blas::getrs<S>(op, n, columns, matrix.data(), matrix.step(), pivots ? &rows[(long)i * n] : nullptr, right.data(), right.step());
            right.store();
            error = failed(matrix, right);
        }
        return error;
    });
}

} // namespace

#endif
