/* What the libraries share: device memory as the host's, work in the order of a stream, libraries of the system that may be missing.
   They are compiled against dslc's own headers and use nothing of libdslcrt but CUDA's calls and the count of library calls. */
#ifndef DSLC_LIBRARIES_COMMON_H
#define DSLC_LIBRARIES_COMMON_H

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <vector>



namespace dslc {

/* Whether the host may not touch the address. */
inline bool on_device(const void *pointer) {
    cudaPointerAttributes found;
    return pointer && cudaPointerGetAttributes(&found, pointer) == cudaSuccess && found.type == cudaMemoryTypeDevice;
}

/* Columns of `rows` elements each, `pitch` elements apart, as the host reads and writes them: the memory itself, or a copy without gaps.
   What was changed in a copy is written back by `store`. */
template <class T> class Matrix {
  public:
    Matrix(const T *pointer, long rows, long columns, long pitch, bool reads = true)
        : place(const_cast<T *>(pointer)), rows(rows), columns(columns), pitch(pitch), is_copy(on_device(pointer)) {
        if (rows <= 0 || columns <= 0) return;
        if (!is_copy) {
            // A kernel before it may still work on managed memory.
            cudaDeviceSynchronize();
            return;
        }
        copy.resize((size_t)rows * columns);
        if (reads) failed = cudaMemcpy2D(copy.data(), bytes(rows), place, bytes(pitch), bytes(rows), columns, cudaMemcpyDeviceToHost);
    }
    T *data() { return is_copy ? copy.data() : place; }
    /* Elements from a column to the next. */
    long step() const { return is_copy ? rows : pitch; }
    void store() {
        if (!is_copy || copy.empty()) return;
        cudaError_t error = cudaMemcpy2D(place, bytes(pitch), copy.data(), bytes(rows), bytes(rows), columns, cudaMemcpyHostToDevice);
        if (error) failed = error;
    }
    cudaError_t failed = cudaSuccess;

  private:
    static size_t bytes(long elements) { return (size_t)elements * sizeof(T); }
    T *place;
    long rows, columns, pitch;
    bool is_copy;
    std::vector<T> copy;
};

/* `count` elements in a row. */
template <class T> class Row : public Matrix<T> {
  public:
    Row(const T *pointer, long count, bool reads = true) : Matrix<T>(pointer, count, 1, count, reads) {}
    T &operator[](long index) { return this->data()[index]; }
};

/* A number that the host has, or the device. The host's is read when the call is made. */
template <class T> class Scalar {
  public:
    Scalar(const T *pointer) : pointer(pointer), is_device(on_device(pointer)) {
        if (pointer && !is_device) value = *pointer;
    }
    T get() const {
        T found = value;
        if (is_device) cudaMemcpy(&found, pointer, sizeof(T), cudaMemcpyDeviceToHost);
        return found;
    }

  private:
    const T *pointer;
    bool is_device;
    T value{};
};

/* A result, on either side. */
template <class T> void put(T *pointer, T value) { cudaMemcpy(pointer, &value, sizeof(T), cudaMemcpyDefault); }

/* Does the work now, or keeps it for the graph that the stream is captured into. A graph may be launched again, so it is never freed. */
inline cudaError_t submit(cudaStream_t stream, const char *library, std::function<cudaError_t()> work) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cudaError_t error = cudaStreamIsCapturing(stream, &status)) return error;
    auto counted = [work, library] {
        __dslcLibraryCall(library);
        return work();
    };
    if (status == cudaStreamCaptureStatusNone) return counted();
    auto *kept = new std::function<cudaError_t()>(counted);
    return cudaLaunchHostFunc(
        stream, [](void *data) { (*(std::function<cudaError_t()> *)data)(); }, kept);
}

/* A library of the system, under the first of the names that is there. */
inline void *open(std::initializer_list<const char *> names) {
    for (const char *name : names)
        if (void *found = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
    return nullptr;
}

template <class F> F *function(void *library, const char *name) { return library ? (F *)dlsym(library, name) : nullptr; }

} // namespace dslc

#endif
