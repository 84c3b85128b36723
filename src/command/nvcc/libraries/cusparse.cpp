/* cuSPARSE's commonest functions. A sparse matrix is read as a list of its elements, whatever its format, and loops compute with that. */
#include "common.h"
#include <cusparse.h>

#include <complex>

using dslc::Scalar;

struct cusparseContext {
    cudaStream_t stream = nullptr;
    cusparsePointerMode_t pointers = CUSPARSE_POINTER_MODE_HOST;
};
struct cusparseMatDescr {
    cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
    cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
    cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
};
struct cusparseSpMatDescr {
    cusparseFormat_t format;
    long rows, columns, count;
    /* Of CSR: offsets of rows, and columns. Of CSC: offsets of columns, and rows. Of COO: rows and columns. */
    void *first, *second, *values;
    cusparseIndexType_t first_type, second_type;
    long base;
    cudaDataType type;
};
struct cusparseDnVecDescr {
    long size;
    void *values;
    cudaDataType type;
};
struct cusparseSpVecDescr {
    long size, count;
    void *indices, *values;
    cusparseIndexType_t index_type;
    long base;
    cudaDataType type;
};
struct cusparseDnMatDescr {
    long rows, columns, ld;
    void *values;
    cudaDataType type;
    cusparseOrder_t order;
};

namespace {

typedef std::complex<float> C32;
typedef std::complex<double> C64;

template <class T> std::vector<T> fetched(const void *from, long count) {
    std::vector<T> out(count);
    if (count > 0) cudaMemcpy(out.data(), from, count * sizeof(T), cudaMemcpyDefault);
    return out;
}
template <class T> cudaError_t stored(void *to, const std::vector<T> &from) { return from.empty() ? cudaSuccess : cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyDefault); }

/* Indices of either width. */
std::vector<long> indices(const void *from, long count, cusparseIndexType_t type) {
    if (type == CUSPARSE_INDEX_64I) return fetched<long>(from, count);
    auto narrow = fetched<int>(from, count);
    return std::vector<long>(narrow.begin(), narrow.end());
}
cudaError_t put_indices(void *to, const std::vector<long> &from, cusparseIndexType_t type) {
    if (type == CUSPARSE_INDEX_64I) return stored(to, from);
    return stored(to, std::vector<int>(from.begin(), from.end()));
}

template <class T> T conjugate(T x) { return x; }
template <class T> std::complex<T> conjugate(std::complex<T> x) { return std::conj(x); }

/* Where the elements are, from 0. */
struct Places {
    std::vector<long> rows, columns;
};
Places places(const cusparseSpMatDescr &of) {
    Places out;
    auto second = indices(of.second, of.count, of.second_type);
    for (long &index : second) index -= of.base;
    if (of.format == CUSPARSE_FORMAT_COO) {
        out.rows = indices(of.first, of.count, of.first_type);
        for (long &index : out.rows) index -= of.base;
        out.columns = second;
        return out;
    }
    long lines = of.format == CUSPARSE_FORMAT_CSR ? of.rows : of.columns;
    auto offsets = indices(of.first, lines + 1, of.first_type);
    std::vector<long> first(of.count);
    for (long line = 0; line < lines; line++)
        for (long at = offsets[line] - of.base; at < offsets[line + 1] - of.base; at++) first[at] = line;
    bool is_csr = of.format == CUSPARSE_FORMAT_CSR;
    out.rows = is_csr ? first : second;
    out.columns = is_csr ? second : first;
    return out;
}

/* `f(value of the type)`, for the types of elements that are there. */
template <class F> cusparseStatus_t with(cudaDataType type, F f) {
    switch (type) {
    case CUDA_R_32F: return f(0.0f);
    case CUDA_R_64F: return f(0.0);
    case CUDA_C_32F: return f(C32());
    case CUDA_C_64F: return f(C64());
    default:
        fprintf(stderr, "dslc: cuSPARSE: elements of type %d are not there: float, double and both complex ones are\n", (int)type);
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    }
}
template <class F> cusparseStatus_t run(cusparseHandle_t handle, F work) {
    if (!handle) return CUSPARSE_STATUS_NOT_INITIALIZED;
    return dslc::submit(handle->stream, "cuSPARSE", work) ? CUSPARSE_STATUS_EXECUTION_FAILED : CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t made(bool is_right) { return is_right ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE; }

/* The place of an element in a dense matrix's memory. */
long at(const cusparseDnMatDescr &of, long row, long column) { return of.order == CUSPARSE_ORDER_ROW ? row * of.ld + column : row + column * of.ld; }
long room(const cusparseDnMatDescr &of) { return of.ld * (of.order == CUSPARSE_ORDER_ROW ? of.rows : of.columns); }

} // namespace

extern "C" {

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle) { return *handle = new cusparseContext(), CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) { return delete handle, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseGetVersion(cusparseHandle_t, int *version) { return *version = CUSPARSE_VERSION, CUSPARSE_STATUS_SUCCESS; }
#define KEPT(Name, Type, field)                                                                                                      \
    cusparseStatus_t cusparseSet##Name(cusparseHandle_t handle, Type value) { return handle ? (handle->field = value, CUSPARSE_STATUS_SUCCESS) : CUSPARSE_STATUS_NOT_INITIALIZED; } \
    cusparseStatus_t cusparseGet##Name(cusparseHandle_t handle, Type *value) { return handle ? (*value = handle->field, CUSPARSE_STATUS_SUCCESS) : CUSPARSE_STATUS_NOT_INITIALIZED; }
KEPT(Stream, cudaStream_t, stream)
KEPT(PointerMode, cusparsePointerMode_t, pointers)
const char *cusparseGetErrorName(cusparseStatus_t status) {
    static const char *names[] = {"CUSPARSE_STATUS_SUCCESS", "CUSPARSE_STATUS_NOT_INITIALIZED", "CUSPARSE_STATUS_ALLOC_FAILED", "CUSPARSE_STATUS_INVALID_VALUE", "CUSPARSE_STATUS_ARCH_MISMATCH", "CUSPARSE_STATUS_MAPPING_ERROR", "CUSPARSE_STATUS_EXECUTION_FAILED", "CUSPARSE_STATUS_INTERNAL_ERROR", "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "CUSPARSE_STATUS_ZERO_PIVOT", "CUSPARSE_STATUS_NOT_SUPPORTED", "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"};
    return status >= 0 && status <= CUSPARSE_STATUS_INSUFFICIENT_RESOURCES ? names[status] : "unrecognized error code";
}
const char *cusparseGetErrorString(cusparseStatus_t status) {
    static const char *texts[] = {"success", "library not initialized", "resource allocation failed", "invalid value", "architecture mismatch", "mapping error", "execution failed", "internal error", "matrix type not supported", "zero pivot", "operation not supported", "insufficient resources"};
    return status >= 0 && status <= CUSPARSE_STATUS_INSUFFICIENT_RESOURCES ? texts[status] : "unrecognized error code";
}

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t *descr) { return *descr = new cusparseMatDescr(), CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descr) { return delete descr, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t descr, cusparseMatrixType_t type) { return descr->type = type, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t descr, cusparseIndexBase_t base) { return descr->base = base, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t descr, cusparseFillMode_t mode) { return descr->fill = mode, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t descr, cusparseDiagType_t type) { return descr->diagonal = type, CUSPARSE_STATUS_SUCCESS; }

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *matrix, int64_t rows, int64_t columns, int64_t count, void *offsets, void *inner, void *values, cusparseIndexType_t offset_type, cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) {
    *matrix = new cusparseSpMatDescr{CUSPARSE_FORMAT_CSR, rows, columns, count, offsets, inner, values, offset_type, index_type, base, type};
    return made(rows >= 0 && columns >= 0 && count >= 0);
}
cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t *matrix, int64_t rows, int64_t columns, int64_t count, void *offsets, void *inner, void *values, cusparseIndexType_t offset_type, cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) {
    *matrix = new cusparseSpMatDescr{CUSPARSE_FORMAT_CSC, rows, columns, count, offsets, inner, values, offset_type, index_type, base, type};
    return made(rows >= 0 && columns >= 0 && count >= 0);
}
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t *matrix, int64_t rows, int64_t columns, int64_t count, void *row_indices, void *column_indices, void *values, cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) {
    *matrix = new cusparseSpMatDescr{CUSPARSE_FORMAT_COO, rows, columns, count, row_indices, column_indices, values, index_type, index_type, base, type};
    return made(rows >= 0 && columns >= 0 && count >= 0);
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) { return delete matrix, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, int64_t *rows, int64_t *columns, int64_t *count) { return *rows = matrix->rows, *columns = matrix->columns, *count = matrix->count, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t matrix, cusparseFormat_t *format) { return *format = matrix->format, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t matrix, void *values) { return matrix->values = values, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t matrix, void *offsets, void *inner, void *values) { return matrix->first = offsets, matrix->second = inner, matrix->values = values, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t matrix, void *rows, void *columns, void *values) { return cusparseCsrSetPointers(matrix, rows, columns, values); }
cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *vector, int64_t size, void *values, cudaDataType type) { return *vector = new cusparseDnVecDescr{size, values, type}, made(size >= 0); }
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) { return delete vector, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void *values) { return vector->values = values, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t vector, void **values) { return *values = vector->values, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t *vector, int64_t size, int64_t count, void *inner, void *values, cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) { return *vector = new cusparseSpVecDescr{size, count, inner, values, index_type, base, type}, made(size >= count); }
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t vector) { return delete vector, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *matrix, int64_t rows, int64_t columns, int64_t ld, void *values, cudaDataType type, cusparseOrder_t order) {
    *matrix = new cusparseDnMatDescr{rows, columns, ld, values, type, order};
    return made(ld >= (order == CUSPARSE_ORDER_ROW ? columns : rows));
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) { return delete matrix, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t matrix, void *values) { return matrix->values = values, CUSPARSE_STATUS_SUCCESS; }

/* y = alpha op(A) x + beta y. */
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void *beta, cusparseDnVecDescr_t y, cudaDataType, cusparseSpMVAlg_t, void *) {
    bool is_plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
    if (x->size != (is_plain ? a->columns : a->rows) || y->size != (is_plain ? a->rows : a->columns)) return CUSPARSE_STATUS_INVALID_VALUE;
    if (x->type != a->type || y->type != a->type) {
        fputs("dslc: cuSPARSE: the matrix and the vectors have to be of one type\n", stderr);
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    }
    return with(a->type, [=](auto zero) {
        typedef decltype(zero) T;
        return run(handle, [=, a = *a, x = *x, y = *y, alpha = Scalar<T>((const T *)alpha), beta = Scalar<T>((const T *)beta)] {
            Places where = places(a);
            auto values = fetched<T>(a.values, a.count), from = fetched<T>(x.values, x.size), to = fetched<T>(y.values, y.size);
            T u = alpha.get(), v = beta.get();
            for (T &one : to) one = v == T(0) ? T(0) : v * one;
            std::vector<T> sums(to.size());
            for (long i = 0; i < a.count; i++) {
                T value = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugate(values[i]) : values[i];
                long row = is_plain ? where.rows[i] : where.columns[i], column = is_plain ? where.columns[i] : where.rows[i];
                sums[row] += value * from[column];
            }
            for (size_t i = 0; i < to.size(); i++) to[i] += u * sums[i];
            return stored(y.values, to);
        });
    });
}
cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t, const void *, cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t, size_t *bytes) { return *bytes = 0, handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED; }
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t, const void *, cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t, void *) { return handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED; }

/* C = alpha op(A) op(B) + beta C. */
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t opa, cusparseOperation_t opb, const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseDnMatDescr_t c, cudaDataType, cusparseSpMMAlg_t, void *) {
    bool is_plain = opa == CUSPARSE_OPERATION_NON_TRANSPOSE, b_is_plain = opb == CUSPARSE_OPERATION_NON_TRANSPOSE;
    long m = is_plain ? a->rows : a->columns, k = is_plain ? a->columns : a->rows;
    if (c->rows != m || (b_is_plain ? b->rows : b->columns) != k || c->columns != (b_is_plain ? b->columns : b->rows)) return CUSPARSE_STATUS_INVALID_VALUE;
    if (b->type != a->type || c->type != a->type) {
        fputs("dslc: cuSPARSE: the matrices have to be of one type\n", stderr);
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    }
    return with(a->type, [=](auto zero) {
        typedef decltype(zero) T;
        return run(handle, [=, a = *a, b = *b, c = *c, alpha = Scalar<T>((const T *)alpha), beta = Scalar<T>((const T *)beta)] {
            Places where = places(a);
            auto values = fetched<T>(a.values, a.count), from = fetched<T>(b.values, room(b)), to = fetched<T>(c.values, room(c));
            T u = alpha.get(), v = beta.get();
            std::vector<T> sums(to.size());
            for (long i = 0; i < a.count; i++) {
                T value = opa == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugate(values[i]) : values[i];
                long row = is_plain ? where.rows[i] : where.columns[i], inner = is_plain ? where.columns[i] : where.rows[i];
                for (long column = 0; column < c.columns; column++) {
                    T other = from[b_is_plain ? at(b, inner, column) : at(b, column, inner)];
                    if (opb == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) other = conjugate(other);
                    sums[at(c, row, column)] += value * other;
                }
            }
            for (long row = 0; row < c.rows; row++)
                for (long column = 0; column < c.columns; column++) {
                    T &one = to[at(c, row, column)];
                    one = u * sums[at(c, row, column)] + (v == T(0) ? T(0) : v * one);
                }
            return stored(c.values, to);
        });
    });
}
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, const void *, cusparseDnMatDescr_t, cudaDataType, cusparseSpMMAlg_t, size_t *bytes) { return *bytes = 0, handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED; }
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, const void *, cusparseDnMatDescr_t, cudaDataType, cusparseSpMMAlg_t, void *) { return handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED; }

/* `f(y's elements, x's elements, where these are)`, then either is stored. */
} // extern "C"
template <class F> cusparseStatus_t sparse_vector(cusparseHandle_t handle, cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y, bool stores_x, F f) {
    if (x->size != y->size || x->type != y->type) return CUSPARSE_STATUS_INVALID_VALUE;
    return with(x->type, [=](auto zero) {
        typedef decltype(zero) T;
        return run(handle, [=, x = *x, y = *y] {
            auto where = indices(x.indices, x.count, x.index_type);
            for (long &index : where) index -= x.base;
            auto sparse = fetched<T>(x.values, x.count), dense = fetched<T>(y.values, y.size);
            f(dense, sparse, where);
            return stores_x ? stored(x.values, sparse) : stored(y.values, dense);
        });
    });
}
extern "C" {
cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void *alpha, cusparseConstSpVecDescr_t x, const void *beta, cusparseDnVecDescr_t y) {
    return sparse_vector(handle, x, y, false, [=](auto &dense, auto &sparse, auto &where) {
        typedef typename std::decay<decltype(dense[0])>::type T;
        T u = Scalar<T>((const T *)alpha).get(), v = Scalar<T>((const T *)beta).get();
        for (auto &one : dense) one = v * one;
        for (size_t i = 0; i < where.size(); i++) dense[where[i]] += u * sparse[i];
    });
}
cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y, cusparseSpVecDescr_t x) {
    return sparse_vector(handle, x, y, true, [](auto &dense, auto &sparse, auto &where) {
        for (size_t i = 0; i < where.size(); i++) sparse[i] = dense[where[i]];
    });
}
cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x, cusparseDnVecDescr_t y) {
    return sparse_vector(handle, x, y, false, [](auto &dense, auto &sparse, auto &where) {
        for (size_t i = 0; i < where.size(); i++) dense[where[i]] = sparse[i];
    });
}
cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseConstSpVecDescr_t, cusparseConstDnVecDescr_t, const void *, cudaDataType, size_t *bytes) { return *bytes = 0, handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED; }
cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t op, cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y, void *result, cudaDataType, void *) {
    return sparse_vector(handle, x, y, false, [=](auto &dense, auto &sparse, auto &where) {
        typename std::decay<decltype(dense[0])>::type sum{};
        for (size_t i = 0; i < where.size(); i++) sum += (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugate(sparse[i]) : sparse[i]) * dense[where[i]];
        cudaMemcpy(result, &sum, sizeof sum, cudaMemcpyDefault);
    });
}

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t, cusparseConstSpMatDescr_t, cusparseDnMatDescr_t, cusparseSparseToDenseAlg_t, size_t *bytes) { return *bytes = 0, CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t, void *) {
    if (a->rows != b->rows || a->columns != b->columns || a->type != b->type) return CUSPARSE_STATUS_INVALID_VALUE;
    return with(a->type, [=](auto zero) {
        typedef decltype(zero) T;
        return run(handle, [=, a = *a, b = *b] {
            Places where = places(a);
            auto values = fetched<T>(a.values, a.count), to = fetched<T>(b.values, room(b));
            for (long row = 0; row < b.rows; row++)
                for (long column = 0; column < b.columns; column++) to[at(b, row, column)] = T(0);
            for (long i = 0; i < a.count; i++) to[at(b, where.rows[i], where.columns[i])] = values[i];
            return stored(b.values, to);
        });
    });
}
cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t, cusparseConstDnMatDescr_t, cusparseSpMatDescr_t, cusparseDenseToSparseAlg_t, size_t *bytes) { return *bytes = 0, CUSPARSE_STATUS_SUCCESS; }

/* The elements of a dense matrix that are not 0, line by line of the sparse one. */
} // extern "C"
template <class T> Places nonzero(const cusparseDnMatDescr &a, const cusparseSpMatDescr &b, const std::vector<T> &from) {
    Places found;
    bool by_columns = b.format == CUSPARSE_FORMAT_CSC;
    for (long line = 0; line < (by_columns ? a.columns : a.rows); line++)
        for (long i = 0; i < (by_columns ? a.rows : a.columns); i++) {
            long row = by_columns ? i : line, column = by_columns ? line : i;
            if (from[at(a, row, column)] == T(0)) continue;
            found.rows.push_back(row);
            found.columns.push_back(column);
        }
    return found;
}
extern "C" {
/* Counts them: offsets are written now, and the program asks how many there are. */
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, void *) {
    return with(a->type, [=](auto zero) {
        typedef decltype(zero) T;
        return run(handle, [=, a = *a] {
            Places found = nonzero(a, *b, fetched<T>(a.values, room(a)));
            b->count = (long)found.rows.size();
            if (b->format == CUSPARSE_FORMAT_COO) return cudaSuccess;
            const auto &lines = b->format == CUSPARSE_FORMAT_CSR ? found.rows : found.columns;
            std::vector<long> offsets((b->format == CUSPARSE_FORMAT_CSR ? b->rows : b->columns) + 1, b->base);
            for (long line : lines) offsets[line + 1]++;
            for (size_t i = 1; i < offsets.size(); i++) offsets[i] += offsets[i - 1] - b->base;
            return put_indices(b->first, offsets, b->first_type);
        });
    });
}
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, void *) {
    return with(a->type, [=](auto zero) {
        typedef decltype(zero) T;
        return run(handle, [=, a = *a, b = *b] {
            auto from = fetched<T>(a.values, room(a));
            Places found = nonzero(a, b, from);
            std::vector<T> values;
            for (size_t i = 0; i < found.rows.size(); i++) values.push_back(from[at(a, found.rows[i], found.columns[i])]);
            for (auto *list : {&found.rows, &found.columns})
                for (long &index : *list) index += b.base;
            cudaError_t error = put_indices(b.second, b.format == CUSPARSE_FORMAT_CSC ? found.rows : found.columns, b.second_type);
            if (b.format == CUSPARSE_FORMAT_COO && !error) error = put_indices(b.first, found.rows, b.first_type);
            return error ? error : stored(b.values, values);
        });
    });
}
cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int *rows, int count, int n, int *offsets, cusparseIndexBase_t base) {
    return run(handle, [=] {
        std::vector<int> out(n + 1, base);
        for (int row : fetched<int>(rows, count)) out[row - base + 1]++;
        for (int i = 1; i <= n; i++) out[i] += out[i - 1] - base;
        return stored(offsets, out);
    });
}
cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int *offsets, int count, int n, int *rows, cusparseIndexBase_t base) {
    return run(handle, [=] {
        auto from = fetched<int>(offsets, n + 1);
        std::vector<int> out(count);
        for (int row = 0; row < n; row++)
            for (int at = from[row] - base; at < from[row + 1] - base; at++) out[at] = row + base;
        return stored(rows, out);
    });
}

} // extern "C"
