/* cuSOLVER's dense part: factors, systems, eigenvalues and singular values, by the textbook's methods. */
#include "blas.h"
#include <cusolverDn.h>

#include <algorithm>

using blas::C32;
using blas::C64;
using dslc::Matrix;

struct cusolverDnContext {
    cudaStream_t stream = nullptr;
};
struct syevjInfo {
    double tolerance = 0;
    int sweeps = 100;
};

namespace {

template <class F> cusolverStatus_t run(cusolverDnHandle_t handle, F work) {
    if (!handle) return CUSOLVER_STATUS_NOT_INITIALIZED;
    return dslc::submit(handle->stream, "cuSOLVER", work) ? CUSOLVER_STATUS_EXECUTION_FAILED : CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t room(cusolverDnHandle_t handle, int *count) { return *count = 1, handle ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_NOT_INITIALIZED; }
blas::Op op_of(cublasOperation_t op) { return op == CUBLAS_OP_N ? blas::N : op == CUBLAS_OP_T ? blas::T : blas::C; }

/* A = L L', or U' U, in A's triangle; gives 0, or the first minor that is not positive. */
template <class S> int potrf(bool upper, long n, S *a, long lda) {
    auto at = [&](long i, long j) -> S & { return upper ? a[j + i * lda] : a[i + j * lda]; };
    for (long j = 0; j < n; j++) {
        for (long k = 0; k < j; k++)
            for (long i = j; i < n; i++) {
                /* In the upper triangle lie the conjugated ones, and so does their product. */
                at(i, j) -= at(i, k) * blas::conj(at(j, k));
            }
        auto pivot = std::real(at(j, j));
        if (!(pivot > 0)) return (int)j + 1;
        S root = S(std::sqrt(pivot));
        at(j, j) = root;
        for (long i = j + 1; i < n; i++) at(i, j) /= root;
    }
    return 0;
}
/* P A = L U of m rows and n columns. */
template <class S> int getrf(long m, long n, S *a, long lda, int *pivots) {
    int info = 0;
    for (long j = 0; j < std::min(m, n); j++) {
        long best = j;
        if (pivots) {
            for (long i = j; i < m; i++)
                if (blas::size(a[i + j * lda]) > blas::size(a[best + j * lda])) best = i;
            pivots[j] = (int)best + 1;
            if (best != j)
                for (long k = 0; k < n; k++) std::swap(a[j + k * lda], a[best + k * lda]);
        }
        if (a[j + j * lda] == S(0)) {
            info = info ? info : (int)j + 1;
            continue;
        }
        for (long i = j + 1; i < m; i++) a[i + j * lda] /= a[j + j * lda];
        for (long k = j + 1; k < n; k++)
            for (long i = j + 1; i < m; i++) a[i + k * lda] -= a[i + j * lda] * a[j + k * lda];
    }
    return info;
}
/* Householder's reflections below the diagonal, R above. */
template <class S> void geqrf(long m, long n, S *a, long lda, S *tau) {
    for (long j = 0; j < std::min(m, n); j++) {
        S *x = a + j + j * lda, norm = 0;
        for (long i = 1; i < m - j; i++) norm += x[i] * x[i];
        if (norm == 0) {
            tau[j] = 0;
            continue;
        }
        S alpha = x[0], beta = -std::copysign(std::sqrt(alpha * alpha + norm), alpha);
        tau[j] = (beta - alpha) / beta;
        for (long i = 1; i < m - j; i++) x[i] /= alpha - beta;
        x[0] = beta;
        for (long k = j + 1; k < n; k++) {
            S *y = a + j + k * lda, sum = y[0];
            for (long i = 1; i < m - j; i++) sum += x[i] * y[i];
            y[0] -= tau[j] * sum;
            for (long i = 1; i < m - j; i++) y[i] -= tau[j] * sum * x[i];
        }
    }
}
/* C = Q C, or Q' C, of m rows; Q by k reflections. */
template <class S> void reflect(bool transposed, long m, long n, long k, const S *a, long lda, const S *tau, S *c, long ldc) {
    for (long turn = 0; turn < k; turn++) {
        long j = transposed ? turn : k - 1 - turn;
        const S *x = a + j + j * lda;
        for (long column = 0; column < n; column++) {
            S *y = c + j + column * ldc, sum = y[0];
            for (long i = 1; i < m - j; i++) sum += x[i] * y[i];
            y[0] -= tau[j] * sum;
            for (long i = 1; i < m - j; i++) y[i] -= tau[j] * sum * x[i];
        }
    }
}
/* Jacobi's rotations: the eigenvalues of a symmetric matrix, the smallest first, and its eigenvectors in columns. */
void eigen(long n, std::vector<double> &a, std::vector<double> &values, std::vector<double> &vectors) {
    vectors.assign(n * n, 0);
    for (long i = 0; i < n; i++) vectors[i + i * n] = 1;
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0, all = 0;
        for (long j = 0; j < n; j++)
            for (long i = 0; i < n; i++) (i == j ? all : off) += a[i + j * n] * a[i + j * n];
        if (off <= 1e-30 * (all + off)) break;
        for (long p = 0; p < n; p++)
            for (long q = p + 1; q < n; q++) {
                double x = a[p + q * n];
                if (x == 0) continue;
                double theta = (a[q + q * n] - a[p + p * n]) / (2 * x);
                double t = std::copysign(1.0, theta) / (std::fabs(theta) + std::sqrt(theta * theta + 1)), c = 1 / std::sqrt(t * t + 1), s = t * c;
                auto turn = [&](double &left, double &right) {
                    double before = left;
                    left = c * before - s * right;
                    right = s * before + c * right;
                };
                for (long i = 0; i < n; i++) turn(a[i + p * n], a[i + q * n]);
                for (long i = 0; i < n; i++) turn(a[p + i * n], a[q + i * n]);
                for (long i = 0; i < n; i++) turn(vectors[i + p * n], vectors[i + q * n]);
            }
    }
    std::vector<long> order;
    for (long i = 0; i < n; i++) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](long x, long y) { return a[x + x * n] < a[y + y * n]; });
    std::vector<double> sorted;
    values.clear();
    for (long i : order) {
        values.push_back(a[i + i * n]);
        sorted.insert(sorted.end(), &vectors[i * n], &vectors[i * n] + n);
    }
    vectors = sorted;
}
template <class S> cusolverStatus_t syev(cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, S *a, int lda, S *values, int *info) {
    if (n < 0 || lda < n) return CUSOLVER_STATUS_INVALID_VALUE;
    return run(handle, [=] {
        Matrix<S> matrix(a, n, n, lda), found(values, n, 1, n, false);
        auto whole = blas::whole(matrix.data(), matrix.step(), n, uplo == CUBLAS_FILL_MODE_UPPER, blas::Symmetric);
        std::vector<double> wide(whole.begin(), whole.end()), all, vectors;
        eigen(n, wide, all, vectors);
        for (long i = 0; i < n; i++) found.data()[i] = (S)all[i];
        if (mode == CUSOLVER_EIG_MODE_VECTOR) {
            for (long j = 0; j < n; j++)
                for (long i = 0; i < n; i++) matrix.data()[i + j * matrix.step()] = (S)vectors[i + j * n];
            matrix.store();
        }
        found.store();
        dslc::put(info, 0);
        return matrix.failed ? matrix.failed : found.failed;
    });
}
/* Columns that are orthogonal to those before: what is missing of a basis. */
void complete(long m, long from, long to, std::vector<double> &u) {
    for (long j = from; j < to; j++)
        for (long unit = 0; unit < m; unit++) {
            std::vector<double> x(m, 0);
            x[unit] = 1;
            for (int twice = 0; twice < 2; twice++)
                for (long k = 0; k < j; k++) {
                    double sum = 0;
                    for (long i = 0; i < m; i++) sum += u[i + k * m] * x[i];
                    for (long i = 0; i < m; i++) x[i] -= sum * u[i + k * m];
                }
            double norm = 0;
            for (double one : x) norm += one * one;
            if (norm < 0.25 / m) continue;
            for (long i = 0; i < m; i++) u[i + j * m] = x[i] / std::sqrt(norm);
            break;
        }
}
/* One-sided rotations make A's columns orthogonal: their lengths are the singular values. */
void singular(long m, long n, std::vector<double> &a, std::vector<double> &values, std::vector<double> &v) {
    v.assign(n * n, 0);
    for (long i = 0; i < n; i++) v[i + i * n] = 1;
    for (int sweep = 0; sweep < 60; sweep++) {
        bool turned = false;
        for (long p = 0; p < n; p++)
            for (long q = p + 1; q < n; q++) {
                double x = 0, y = 0, z = 0;
                for (long i = 0; i < m; i++) {
                    x += a[i + p * m] * a[i + p * m];
                    y += a[i + q * m] * a[i + q * m];
                    z += a[i + p * m] * a[i + q * m];
                }
                if (std::fabs(z) <= 1e-15 * std::sqrt(x * y)) continue;
                turned = true;
                double theta = (y - x) / (2 * z), t = std::copysign(1.0, theta) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
                double c = 1 / std::sqrt(t * t + 1), s = t * c;
                auto turn = [&](double &left, double &right) {
                    double before = left;
                    left = c * before - s * right;
                    right = s * before + c * right;
                };
                for (long i = 0; i < m; i++) turn(a[i + p * m], a[i + q * m]);
                for (long i = 0; i < n; i++) turn(v[i + p * n], v[i + q * n]);
            }
        if (!turned) break;
    }
    std::vector<double> lengths(n);
    std::vector<long> order(n);
    for (long j = 0; j < n; j++) {
        for (long i = 0; i < m; i++) lengths[j] += a[i + j * m] * a[i + j * m];
        lengths[j] = std::sqrt(lengths[j]);
        order[j] = j;
    }
    std::sort(order.begin(), order.end(), [&](long x, long y) { return lengths[x] > lengths[y]; });
    std::vector<double> u(m * m), w(n * n);
    values.clear();
    long rank = 0;
    for (long j = 0; j < n; j++) {
        long from = order[j];
        values.push_back(lengths[from]);
        for (long i = 0; i < n; i++) w[i + j * n] = v[i + from * n];
        if (lengths[from] <= 0) continue;
        for (long i = 0; i < m; i++) u[i + j * m] = a[i + from * m] / lengths[from];
        rank = j + 1;
    }
    complete(m, rank, m, u);
    a = u;
    v = w;
}
template <class S> cusolverStatus_t gesvd(cusolverDnHandle_t handle, char jobu, char jobvt, int m, int n, S *a, int lda, S *values, S *u, int ldu, S *vt, int ldvt, int *info) {
    /* As cuSOLVER documents it. */
    if (m < n) return CUSOLVER_STATUS_INVALID_VALUE;
    if (jobu == 'O' || jobvt == 'O') {
        fputs("dslc: cuSOLVER: gesvd that overwrites A (job 'O') is not there\n", stderr);
        return CUSOLVER_STATUS_NOT_SUPPORTED;
    }
    return run(handle, [=] {
        Matrix<S> matrix(a, m, n, lda), found(values, n, 1, n, false);
        std::vector<double> wide, all, v;
        for (long j = 0; j < n; j++) wide.insert(wide.end(), matrix.data() + j * matrix.step(), matrix.data() + j * matrix.step() + m);
        singular(m, n, wide, all, v);
        for (long i = 0; i < n; i++) found.data()[i] = (S)all[i];
        found.store();
        if (jobu != 'N') {
            long columns = jobu == 'A' ? m : n;
            Matrix<S> left(u, m, columns, ldu, false);
            for (long j = 0; j < columns; j++)
                for (long i = 0; i < m; i++) left.data()[i + j * left.step()] = (S)wide[i + j * m];
            left.store();
        }
        if (jobvt != 'N') {
            Matrix<S> right(vt, n, n, ldvt, false);
            for (long j = 0; j < n; j++)
                for (long i = 0; i < n; i++) right.data()[i + j * right.step()] = (S)v[j + i * n];
            right.store();
        }
        dslc::put(info, 0);
        return matrix.failed ? matrix.failed : found.failed;
    });
}

} // namespace

extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle) { return *handle = new cusolverDnContext(), CUSOLVER_STATUS_SUCCESS; }
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) { return delete handle, CUSOLVER_STATUS_SUCCESS; }
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) { return handle ? (handle->stream = stream, CUSOLVER_STATUS_SUCCESS) : CUSOLVER_STATUS_NOT_INITIALIZED; }
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t *stream) { return handle ? (*stream = handle->stream, CUSOLVER_STATUS_SUCCESS) : CUSOLVER_STATUS_NOT_INITIALIZED; }
/* The rotations go on until nothing is left to turn, whatever these say. */
cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t *info) { return *info = new syevjInfo(), CUSOLVER_STATUS_SUCCESS; }
cusolverStatus_t cusolverDnDestroySyevjInfo(syevjInfo_t info) { return delete info, CUSOLVER_STATUS_SUCCESS; }
cusolverStatus_t cusolverDnXsyevjSetTolerance(syevjInfo_t info, double tolerance) { return info->tolerance = tolerance, CUSOLVER_STATUS_SUCCESS; }
cusolverStatus_t cusolverDnXsyevjSetMaxSweeps(syevjInfo_t info, int sweeps) { return info->sweeps = sweeps, CUSOLVER_STATUS_SUCCESS; }
cusolverStatus_t cusolverDnXsyevjSetSortEig(syevjInfo_t, int) { return CUSOLVER_STATUS_SUCCESS; }

#define ST cusolverStatus_t
#define H cusolverDnHandle_t handle
#define CALLS(t, T, S)                                                                                                               \
    ST cusolverDn##t##potrf_bufferSize(H, cublasFillMode_t, int, T *, int, int *count) { return room(handle, count); }                \
    ST cusolverDn##t##potrf(H, cublasFillMode_t uplo, int n, T *a, int lda, T *, int, int *info) {                                   \
        if (n < 0 || lda < n) return CUSOLVER_STATUS_INVALID_VALUE;                                                                  \
        return run(handle, [=] {                                                                                                     \
            Matrix<S> matrix((S *)a, n, n, lda);                                                                                     \
            dslc::put(info, potrf(uplo == CUBLAS_FILL_MODE_UPPER, n, matrix.data(), matrix.step()));                                 \
            matrix.store();                                                                                                          \
            return matrix.failed;                                                                                                    \
        });                                                                                                                          \
    }                                                                                                                                \
    ST cusolverDn##t##potrs(H, cublasFillMode_t uplo, int n, int columns, const T *a, int lda, T *b, int ldb, int *info) {           \
        return run(handle, [=] {                                                                                                     \
            Matrix<S> matrix((const S *)a, n, n, lda), to((S *)b, n, columns, ldb);                                                  \
            bool upper = uplo == CUBLAS_FILL_MODE_UPPER;                                                                             \
            for (bool second : {false, true}) blas::trsm<S>(true, upper, upper == second ? blas::N : blas::C, false, n, columns, S(1), matrix.data(), (int)matrix.step(), to.data(), (int)to.step()); \
            to.store();                                                                                                              \
            dslc::put(info, 0);                                                                                                      \
            return matrix.failed ? matrix.failed : to.failed;                                                                        \
        });                                                                                                                          \
    }                                                                                                                                \
    ST cusolverDn##t##getrf_bufferSize(H, int, int, T *, int, int *count) { return room(handle, count); }                             \
    ST cusolverDn##t##getrf(H, int m, int n, T *a, int lda, T *, int *pivots, int *info) {                                           \
        if (m < 0 || n < 0 || lda < m) return CUSOLVER_STATUS_INVALID_VALUE;                                                         \
        return run(handle, [=] {                                                                                                     \
            Matrix<S> matrix((S *)a, m, n, lda);                                                                                     \
            dslc::Row<int> rows(pivots, pivots ? std::min(m, n) : 0, false);                                                         \
            dslc::put(info, getrf(m, n, matrix.data(), matrix.step(), pivots ? rows.data() : nullptr));                              \
            matrix.store();                                                                                                          \
            rows.store();                                                                                                            \
            return matrix.failed ? matrix.failed : rows.failed;                                                                      \
        });                                                                                                                          \
    }                                                                                                                                \
    ST cusolverDn##t##getrs(H, cublasOperation_t op, int n, int columns, const T *a, int lda, const int *pivots, T *b, int ldb, int *info) { \
        return run(handle, [=] {                                                                                                     \
            Matrix<S> matrix((const S *)a, n, n, lda), to((S *)b, n, columns, ldb);                                                  \
            dslc::Row<int> rows(pivots, pivots ? n : 0);                                                                             \
            blas::getrs<S>(op_of(op), n, columns, matrix.data(), matrix.step(), pivots ? rows.data() : nullptr, to.data(), to.step()); \
            to.store();                                                                                                              \
            dslc::put(info, 0);                                                                                                      \
            return matrix.failed ? matrix.failed : to.failed;                                                                        \
        });                                                                                                                          \
    }
CALLS(S, float, float)
CALLS(D, double, double)
CALLS(C, cuComplex, C32)
CALLS(Z, cuDoubleComplex, C64)
#undef CALLS
#define CALLS(t, S)                                                                                                                  \
    ST cusolverDn##t##geqrf_bufferSize(H, int, int, S *, int, int *count) { return room(handle, count); }                             \
    ST cusolverDn##t##geqrf(H, int m, int n, S *a, int lda, S *tau, S *, int, int *info) {                                           \
        return run(handle, [=] {                                                                                                     \
            Matrix<S> matrix(a, m, n, lda);                                                                                          \
            dslc::Row<S> factors(tau, std::min(m, n), false);                                                                        \
            geqrf<S>(m, n, matrix.data(), matrix.step(), factors.data());                                                            \
            matrix.store();                                                                                                          \
            factors.store();                                                                                                         \
            dslc::put(info, 0);                                                                                                      \
            return matrix.failed ? matrix.failed : factors.failed;                                                                   \
        });                                                                                                                          \
    }                                                                                                                                \
    ST cusolverDn##t##orgqr_bufferSize(H, int, int, int, const S *, int, const S *, int *count) { return room(handle, count); }       \
    ST cusolverDn##t##orgqr(H, int m, int n, int k, S *a, int lda, const S *tau, S *, int, int *info) {                              \
        return run(handle, [=] {                                                                                                     \
            Matrix<S> matrix(a, m, n, lda);                                                                                          \
            dslc::Row<S> factors(tau, k);                                                                                            \
            std::vector<S> q((size_t)m * n);                                                                                         \
            for (long i = 0; i < n; i++) q[i + i * m] = 1;                                                                           \
            reflect<S>(false, m, n, k, matrix.data(), matrix.step(), factors.data(), q.data(), m);                                   \
            for (long j = 0; j < n; j++) std::copy_n(&q[j * m], m, matrix.data() + j * matrix.step());                               \
            matrix.store();                                                                                                          \
            dslc::put(info, 0);                                                                                                      \
            return matrix.failed ? matrix.failed : factors.failed;                                                                   \
        });                                                                                                                          \
    }                                                                                                                                \
    ST cusolverDn##t##ormqr_bufferSize(H, cublasSideMode_t, cublasOperation_t, int, int, int, const S *, int, const S *, const S *, int, int *count) { return room(handle, count); } \
    ST cusolverDn##t##ormqr(H, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, const S *a, int lda, const S *tau, S *c, int ldc, S *, int, int *info) { \
        return run(handle, [=] {                                                                                                     \
            bool left = side == CUBLAS_SIDE_LEFT;                                                                                    \
            Matrix<S> matrix(a, left ? m : n, k, lda), to(c, m, n, ldc);                                                             \
            dslc::Row<S> factors(tau, k);                                                                                            \
            if (left) {                                                                                                              \
                reflect<S>(op != CUBLAS_OP_N, m, n, k, matrix.data(), matrix.step(), factors.data(), to.data(), to.step());          \
            } else {                                                                                                                 \
                /* C Q is the transposed one of Q' C'. */                                                                            \
                std::vector<S> turned((size_t)m * n);                                                                                \
                for (long j = 0; j < n; j++)                                                                                         \
                    for (long i = 0; i < m; i++) turned[j + i * n] = to.data()[i + j * to.step()];                                   \
                reflect<S>(op == CUBLAS_OP_N, n, m, k, matrix.data(), matrix.step(), factors.data(), turned.data(), n);              \
                for (long j = 0; j < n; j++)                                                                                         \
                    for (long i = 0; i < m; i++) to.data()[i + j * to.step()] = turned[j + i * n];                                   \
            }                                                                                                                        \
            to.store();                                                                                                              \
            dslc::put(info, 0);                                                                                                      \
            return matrix.failed ? matrix.failed : to.failed;                                                                        \
        });                                                                                                                          \
    }                                                                                                                                \
    ST cusolverDn##t##syevd_bufferSize(H, cusolverEigMode_t, cublasFillMode_t, int, const S *, int, const S *, int *count) { return room(handle, count); } \
    ST cusolverDn##t##syevd(H, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, S *a, int lda, S *values, S *, int, int *info) { return syev(handle, mode, uplo, n, a, lda, values, info); } \
    ST cusolverDn##t##syevj_bufferSize(H, cusolverEigMode_t, cublasFillMode_t, int, const S *, int, const S *, int *count, syevjInfo_t) { return room(handle, count); } \
    ST cusolverDn##t##syevj(H, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, S *a, int lda, S *values, S *, int, int *info, syevjInfo_t) { return syev(handle, mode, uplo, n, a, lda, values, info); } \
    ST cusolverDn##t##gesvd_bufferSize(H, int, int, int *count) { return room(handle, count); }                                       \
    ST cusolverDn##t##gesvd(H, signed char jobu, signed char jobvt, int m, int n, S *a, int lda, S *values, S *u, int ldu, S *vt, int ldvt, S *, int, S *, int *info) { return gesvd(handle, jobu, jobvt, m, n, a, lda, values, u, ldu, vt, ldvt, info); }
CALLS(S, float)
CALLS(D, double)
#undef CALLS

} // extern "C"
