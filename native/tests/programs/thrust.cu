// Thrust's vectors, iterators and algorithms, with kernels that work on the same memory.
#include <cstdio>
#include <iterator>
#include <sstream>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

struct Square {
    __host__ __device__ float operator()(const float &x) const { return x * x; }
};
struct Saxpy {
    const float a;
    Saxpy(float a) : a(a) {}
    __host__ __device__ float operator()(const float &x, const float &y) const { return a * x + y; }
};
// For the device alone.
struct IsOdd {
    __device__ bool operator()(int x) const { return x % 2; }
};
struct AddFirstTwo {
    template <typename Tuple> __host__ __device__ void operator()(Tuple t) const { thrust::get<2>(t) = thrust::get<0>(t) + thrust::get<1>(t); }
};
__global__ void scale(float *x, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}
template <class V> void print(const char *name, const V &v) {
    printf("%s:", name);
    for (size_t i = 0; i < v.size(); i++) {
        double x = v[i];
        printf(" %g", x);
    }
    puts("");
}
int main() {
    thrust::host_vector<int> h(8);
    for (int i = 0; i < 8; i++) h[i] = i * 5 % 8;
    thrust::device_vector<int> d = h, keys(h.begin(), h.end());
    thrust::sort(d.begin(), d.end());
    print("sorted", d);
    thrust::device_vector<float> x(8), y(8, 1.0f), z;
    thrust::sequence(x.begin(), x.end());
    scale<<<1, 32>>>(thrust::raw_pointer_cast(x.data()), 8, 2);
    scale<<<1, 32>>>(thrust::raw_pointer_cast(&y[0]), 8, 3);
    thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), Saxpy(10));
    print("saxpy", y);
    printf("norm %g, sum %g, dot %g\n", thrust::transform_reduce(x.begin(), x.end(), Square(), 0.0f, thrust::plus<float>()), thrust::reduce(y.begin(), y.end()),
           thrust::inner_product(x.begin(), x.end(), y.begin(), 0.0f));
    thrust::sort_by_key(thrust::device, keys.begin(), keys.end(), x.begin(), thrust::greater<int>());
    print("by key", x);
    printf("%d odd, largest at %d, smallest %d\n", (int)thrust::count_if(d.begin(), d.end(), IsOdd()), (int)(thrust::max_element(h.begin(), h.end()) - h.begin()), (int)*thrust::min_element(keys.begin(), keys.end()));
    thrust::device_vector<int> scan(8);
    thrust::exclusive_scan(d.begin(), d.end(), scan.begin());
    print("exclusive", scan);
    thrust::inclusive_scan(d.begin(), d.end(), scan.begin(), thrust::maximum<int>());
    thrust::device_vector<int> odd(8);
    odd.erase(thrust::copy_if(d.begin(), d.end(), odd.begin(), IsOdd()), odd.end());
    print("odd", odd);
    int raw_keys[] = {1, 1, 2, 2, 2, 3}, raw_values[] = {1, 2, 3, 4, 5, 6};
    thrust::device_vector<int> k(raw_keys, raw_keys + 6), v(raw_values, raw_values + 6), ko(6), vo(6);
    auto end = thrust::reduce_by_key(k.begin(), k.end(), v.begin(), ko.begin(), vo.begin());
    ko.resize(end.first - ko.begin());
    vo.resize(end.second - vo.begin());
    print("keys", ko);
    print("sums", vo);
    k.erase(thrust::unique(k.begin(), k.end()), k.end());
    print("unique", k);
    thrust::for_each(thrust::make_zip_iterator(thrust::make_tuple(v.begin(), thrust::make_counting_iterator(100), vo.begin())),
                     thrust::make_zip_iterator(thrust::make_tuple(v.begin() + 3, thrust::make_counting_iterator(103), vo.end())), AddFirstTwo());
    print("zipped", vo);
    thrust::device_vector<int> map{2, 0, 1}, out(3);
    thrust::gather(map.begin(), map.end(), vo.begin(), out.begin());
    print("gathered", out);
    thrust::scatter(vo.begin(), vo.end(), map.begin(), out.begin());
    print("scattered", out);
    auto squares = thrust::make_transform_iterator(thrust::make_counting_iterator(1), Square());
    printf("squares %g, permuted %d\n", thrust::reduce(squares, squares + 4), thrust::reduce(thrust::make_permutation_iterator(v.begin(), map.begin()), thrust::make_permutation_iterator(v.begin(), map.end())));
    using namespace thrust::placeholders;
    thrust::transform(v.begin(), v.end(), v.begin(), v.begin(), _1 * 2 + _2);
    print("placeholders", v);
    v[0] = 7;
    v[1] += 3;
    v.push_back(9);
    printf("%d %d %d\n", (int)v[0], (int)v[1], (int)v.back());
    float *raw;
    cudaMalloc(&raw, 4 * sizeof(float));
    thrust::device_ptr<float> pointer(raw);
    thrust::fill(pointer, pointer + 4, 2.5f);
    thrust::sequence(thrust::cuda::par.on(0), raw, raw + 2, 1.0f);
    printf("%g %g\n", (float)pointer[1], thrust::reduce(thrust::device, raw, raw + 4));
    std::vector<float> back(4);
    thrust::copy(pointer, pointer + 4, back.begin());
    printf("%g %g\n", back[0], back[3]);
    std::vector<int> grown;
    thrust::copy(d.begin(), d.end(), std::back_inserter(grown));
    std::ostringstream text;
    thrust::copy(d.begin(), d.end(), std::ostream_iterator<int>(text, " "));
    printf("%zu grown, %s\n", grown.size(), text.str().c_str());
    int more = 10;
    thrust::transform(d.begin(), d.end(), d.begin(), [=] __device__(int x) { return x + more; });
    print("lambda", d);
}
