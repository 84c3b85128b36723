// cuBLAS and cuRAND on memory of the device, against loops of the host's.
#include <cublas_v2.h>
#include <curand.h>
#include <cuda_fp16.h>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

template <class T> struct Device {
    T *pointer;
    size_t count;
    Device(const std::vector<T> &from) : count(from.size()) {
        cudaMalloc(&pointer, count * sizeof(T));
        cudaMemcpy(pointer, from.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    }
    ~Device() { cudaFree(pointer); }
    operator T *() const { return pointer; }
    std::vector<T> back() const {
        std::vector<T> out(count);
        cudaMemcpy(out.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost);
        return out;
    }
};

std::vector<double> numbers(int n, int seed) {
    std::vector<double> out;
    for (int i = 0; i < n; i++) out.push_back((i * 37 + seed * 11) % 19 - 9);
    return out;
}
template <class T> std::vector<T> as(const std::vector<double> &from) { return std::vector<T>(from.begin(), from.end()); }

#define CHECK(call) if (cublasStatus_t status = call) printf("line %d: %s\n", __LINE__, cublasGetStatusName(status))

__global__ void scale(float *x, int n, const float *by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= *by;
}

template <class T, class G> void products(cublasHandle_t handle, G gemm, const char *name) {
    const int m = 5, n = 4, k = 3, lda = 7, ldb = 6, ldc = 8;
    for (cublasOperation_t opa : {CUBLAS_OP_N, CUBLAS_OP_T})
        for (cublasOperation_t opb : {CUBLAS_OP_N, CUBLAS_OP_T}) {
            auto a = as<T>(numbers(lda * 7, 1)), b = as<T>(numbers(ldb * 7, 2)), c = as<T>(numbers(ldc * n, 3));
            Device<T> da(a), db(b), dc(c);
            T alpha = 2, beta = -1;
            CHECK(gemm(handle, opa, opb, m, n, k, &alpha, da, lda, db, ldb, &beta, dc, ldc));
            auto got = dc.back();
            double worst = 0;
            for (int j = 0; j < n; j++)
                for (int i = 0; i < ldc; i++) {
                    double sum = 0;
                    for (int p = 0; p < k; p++) sum += (double)(opa ? a[p + i * lda] : a[i + p * lda]) * (double)(opb ? b[j + p * ldb] : b[p + j * ldb]);
                    double want = i < m ? 2 * sum - (double)c[i + j * ldc] : (double)c[i + j * ldc];
                    worst = fmax(worst, fabs(want - (double)got[i + j * ldc]));
                }
            printf("%s %d%d: off by %g\n", name, opa, opb, worst);
        }
}

int main() {
    cublasHandle_t handle;
    CHECK(cublasCreate(&handle));
    products<float>(handle, cublasSgemm, "Sgemm");
    products<double>(handle, cublasDgemm, "Dgemm");

    // Vectors, with steps, results on both sides.
    Device<float> x(as<float>(numbers(20, 4))), y(as<float>(numbers(20, 5)));
    float alpha = 3, result;
    int index;
    CHECK(cublasSaxpy(handle, 10, &alpha, x, 2, y, -1));
    CHECK(cublasSdot(handle, 10, x, 2, y, 1, &result));
    printf("dot %g\n", result);
    CHECK(cublasSnrm2(handle, 20, x, 1, &result));
    CHECK(cublasIsamax(handle, 20, x, 1, &index));
    printf("norm %.4f, largest %d\n", result, index);
    Device<float> on_device({0});
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
    CHECK(cublasSasum(handle, 20, x, 1, on_device));
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
    scale<<<1, 32>>>(x, 20, on_device);
    CHECK(cublasSasum(handle, 20, x, 1, &result));
    printf("sum %g, squared %g\n", on_device.back()[0], result);

    // Triangles: what trmm makes, trsm takes back.
    const int n = 6;
    std::vector<double> t = numbers(n * n, 6);
    for (int i = 0; i < n; i++) t[i + i * n] = 10 + i;
    for (int left = 0; left < 2; left++)
        for (int upper = 0; upper < 2; upper++)
            for (int op = 0; op < 2; op++) {
                Device<double> a(t), b(numbers(n * n, 7)), c(std::vector<double>(n * n));
                double one = 1;
                auto side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
                auto fill = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
                CHECK(cublasDtrmm(handle, side, fill, (cublasOperation_t)op, CUBLAS_DIAG_NON_UNIT, n, n, &one, a, n, b, n, c, n));
                CHECK(cublasDtrsm(handle, side, fill, (cublasOperation_t)op, CUBLAS_DIAG_NON_UNIT, n, n, &one, a, n, c, n));
                double worst = 0;
                auto want = b.back(), got = c.back();
                for (int i = 0; i < n * n; i++) worst = fmax(worst, fabs(want[i] - got[i]));
                printf("%d", worst < 1e-10);
            }
    puts(" triangles");

    // A factored system, inverted and solved.
    Device<double> a(t), inverse(std::vector<double>(n * n)), product(std::vector<double>(n * n));
    Device<double *> as_list({a}), inverse_list({inverse});
    Device<int> pivots({0, 0, 0, 0, 0, 0}), info({7});
    CHECK(cublasDgetrfBatched(handle, n, as_list, n, pivots, info, 1));
    CHECK(cublasDgetriBatched(handle, n, as_list, n, pivots, inverse_list, n, info, 1));
    Device<double> original(t);
    double one = 1, zero = 0;
    CHECK(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, original, n, inverse, n, &zero, product, n));
    double worst = 0;
    auto identity = product.back();
    for (int i = 0; i < n * n; i++) worst = fmax(worst, fabs(identity[i] - (i % (n + 1) == 0)));
    printf("inverse %d, info %d\n", worst < 1e-12, info.back()[0]);

    // Complex and half numbers, many products at once.
    std::vector<cuComplex> z;
    for (int i = 0; i < 16; i++) z.push_back(make_cuComplex(i % 5 - 2, i % 3 - 1));
    Device<cuComplex> u(z), v(z), w(z);
    cuComplex i1 = make_cuComplex(0, 1), zero_c = make_cuComplex(0, 0), dot;
    CHECK(cublasCgemm(handle, CUBLAS_OP_C, CUBLAS_OP_N, 4, 4, 4, &i1, u, 4, v, 4, &zero_c, w, 4));
    CHECK(cublasCdotc(handle, 16, u, 1, v, 1, &dot));
    printf("complex %g%+gi, %g%+gi\n", w.back()[1].x, w.back()[1].y, dot.x, dot.y);
    std::vector<__half> h;
    for (int i = 0; i < 32; i++) h.push_back(__float2half(i * 0.25f));
    Device<__half> ha(h), hb(h), hc(h);
    __half one_h = __float2half(1.0f), zero_h = __float2half(0.0f);
    CHECK(cublasHgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, 4, 4, 4, &one_h, ha, 4, 16, hb, 4, 16, &zero_h, hc, 4, 16, 2));
    printf("half %g %g\n", __half2float(hc.back()[5]), __half2float(hc.back()[31]));
    float one_f = 1, zero_f = 0;
    Device<float> wide(std::vector<float>(16));
    CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one_f, ha, CUDA_R_16F, 4, hb, CUDA_R_16F, 4, &zero_f, wide, CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    printf("widened %g\n", wide.back()[15]);
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one_f, wide, 2, wide, 4, &zero_f, wide, 4));

    // A graph holds a product.
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cublasSetStream(handle, stream);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    CHECK(cublasSscal(handle, 16, &alpha, wide, 1));
    cudaStreamEndCapture(stream, &graph);
    printf("captured %g", wide.back()[15]);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
    cudaGraphLaunch(exec, stream);
    printf(", launched twice %g\n", wide.back()[15]);
    cublasDestroy(handle);

    // cuRAND's numbers of these seeds.
    for (curandRngType_t type : {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_PHILOX4_32_10}) {
        curandGenerator_t generator;
        curandCreateGenerator(&generator, type);
        curandSetPseudoRandomGeneratorSeed(generator, 1234);
        Device<unsigned> bits(std::vector<unsigned>(5000));
        curandGenerate(generator, bits, 5000);
        auto got = bits.back();
        printf("%u %u %u %u\n", got[0], got[1], got[4096], got[4999]);
        Device<float> normal(std::vector<float>(10000));
        curandGenerateNormal(generator, normal, 10000, 5, 2);
        double mean = 0, variance = 0;
        for (float x : normal.back()) mean += x / 10000;
        for (float x : normal.back()) variance += (x - mean) * (x - mean) / 10000;
        printf("mean %.2f, deviation %.2f\n", mean, sqrt(variance));
        curandDestroyGenerator(generator);
    }
}
