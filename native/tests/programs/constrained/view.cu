#include "view.hpp"
template <Number T> Vec<T>::Vec(std::size_t n) : n_(n) { cudaMallocManaged(&p_, n * sizeof(T)); }
template <Number T> Vec<T>::~Vec() { cudaFree(p_); }
template <typename T> __global__ void axpb_kernel(T *p, std::size_t n, T a, T b)
{
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (std::size_t)gridDim.x * blockDim.x) p[i] = a * p[i] + b;
}
template <Number T> void axpb(Vec<T> &v, T a, T b, const Config &c)
{
    axpb_kernel<T><<<c.blocks, c.threads>>>(v.data(), v.host().size(), a, b);
    cudaDeviceSynchronize();
}
template class Vec<float>;
template class Vec<int>;
template void axpb<float>(Vec<float> &, float, float, const Config &);
template void axpb<int>(Vec<int> &, int, int, const Config &);
