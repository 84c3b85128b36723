// cuFFT's transforms, against the sum that defines them, and their inverses.
#include <cufft.h>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>
typedef std::complex<double> C;

template <class T> struct Device {
    T *pointer;
    size_t count;
    Device(size_t count) : count(count) { cudaMalloc(&pointer, count * sizeof(T)); }
    ~Device() { cudaFree(pointer); }
    void put(const std::vector<T> &from) { cudaMemcpy(pointer, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice); }
    std::vector<T> back() const {
        std::vector<T> out(count);
        cudaMemcpy(out.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost);
        return out;
    }
};

std::vector<C> input(int n) {
    std::vector<C> out;
    for (int i = 0; i < n; i++) out.push_back(C(i * 7 % 11 - 5, i * 5 % 13 - 6));
    return out;
}
std::vector<C> by_sum(const std::vector<C> &x, std::vector<int> n, int sign) {
    int size = x.size();
    std::vector<C> out(size);
    for (int k = 0; k < size; k++)
        for (int j = 0; j < size; j++) {
            double angle = 0;
            int step = size;
            for (int one : n) {
                step /= one;
                angle += (double)(k / step % one) * (j / step % one) / one;
            }
            out[k] += x[j] * std::polar(1.0, sign * 2 * M_PI * angle);
        }
    return out;
}
template <class A> double apart(const A &got, const std::vector<C> &want) {
    double worst = 0;
    for (size_t i = 0; i < want.size(); i++) worst = fmax(worst, std::abs(C(got[i].x, got[i].y) - want[i]));
    return worst;
}
#define CHECK(call) if (cufftResult result = call) printf("line %d: %d\n", __LINE__, result)

int main() {
    // Of one, two and three dimensions, of sizes with small and large divisors.
    for (std::vector<int> n : {std::vector<int>{16}, {15}, {13}, {8, 6}, {4, 5, 3}}) {
        int size = 1;
        for (int one : n) size *= one;
        auto x = input(size);
        std::vector<cufftDoubleComplex> z;
        for (C c : x) z.push_back(make_cuDoubleComplex(c.real(), c.imag()));
        Device<cufftDoubleComplex> data(size);
        data.put(z);
        cufftHandle plan;
        if (n.size() == 1) CHECK(cufftPlan1d(&plan, n[0], CUFFT_Z2Z, 1));
        if (n.size() == 2) CHECK(cufftPlan2d(&plan, n[0], n[1], CUFFT_Z2Z));
        if (n.size() == 3) CHECK(cufftPlan3d(&plan, n[0], n[1], n[2], CUFFT_Z2Z));
        CHECK(cufftExecZ2Z(plan, data.pointer, data.pointer, CUFFT_FORWARD));
        printf("%d elements: forward %d", size, apart(data.back(), by_sum(x, n, -1)) < 1e-9);
        CHECK(cufftExecZ2Z(plan, data.pointer, data.pointer, CUFFT_INVERSE));
        for (C &c : x) c *= size;
        printf(", back %d\n", apart(data.back(), x) < 1e-9);
        cufftDestroy(plan);
    }
    // Real ones, out of place and in place.
    {
        const int nx = 4, ny = 6, half = ny / 2 + 1;
        auto x = input(nx * ny);
        std::vector<float> real, padded;
        for (int i = 0; i < nx * ny; i++) {
            x[i] = C(x[i].real(), 0);
            real.push_back(x[i].real());
            padded.push_back(x[i].real());
            if (i % ny == ny - 1) padded.insert(padded.end(), {77, 77});
        }
        auto all = by_sum(x, {nx, ny}, -1);
        std::vector<C> want;
        for (int i = 0; i < nx; i++)
            for (int j = 0; j < half; j++) want.push_back(all[i * ny + j]);
        Device<float> in(nx * ny), back(nx * ny), both(nx * 2 * half);
        Device<cufftComplex> out(nx * half);
        in.put(real);
        both.put(padded);
        cufftHandle forward, inverse;
        CHECK(cufftPlan2d(&forward, nx, ny, CUFFT_R2C));
        CHECK(cufftPlan2d(&inverse, nx, ny, CUFFT_C2R));
        CHECK(cufftExecR2C(forward, in.pointer, out.pointer));
        printf("real: %d", apart(out.back(), want) < 1e-4);
        CHECK(cufftExecC2R(inverse, out.pointer, back.pointer));
        double worst = 0;
        for (int i = 0; i < nx * ny; i++) worst = fmax(worst, fabs(back.back()[i] / (nx * ny) - real[i]));
        printf(", back %d", worst < 1e-4);
        CHECK(cufftExecR2C(forward, both.pointer, (cufftComplex *)both.pointer));
        std::vector<cufftComplex> spectrum(nx * half);
        cudaMemcpy(spectrum.data(), both.pointer, spectrum.size() * sizeof(cufftComplex), cudaMemcpyDeviceToHost);
        printf(", in place %d", apart(spectrum, want) < 1e-4);
        CHECK(cufftExecC2R(inverse, (cufftComplex *)both.pointer, both.pointer));
        worst = 0;
        for (int i = 0; i < nx * ny; i++) worst = fmax(worst, fabs(both.back()[i / ny * 2 * half + i % ny] / (nx * ny) - real[i]));
        printf(", back %d\n", worst < 1e-4);
        printf("wrong type: %d\n", cufftExecC2C(forward, out.pointer, out.pointer, CUFFT_FORWARD));
        cufftDestroy(forward);
        cufftDestroy(inverse);
    }
    // The columns of a matrix, several at once.
    {
        const int rows = 8, columns = 3;
        auto x = input(rows * columns);
        std::vector<cufftComplex> z;
        for (C c : x) z.push_back(make_cuComplex(c.real(), c.imag()));
        Device<cufftComplex> data(rows * columns);
        data.put(z);
        cufftHandle plan;
        int n[] = {rows}, embed[] = {rows};
        CHECK(cufftPlanMany(&plan, 1, n, embed, columns, 1, embed, columns, 1, CUFFT_C2C, columns));
        CHECK(cufftExecC2C(plan, data.pointer, data.pointer, CUFFT_FORWARD));
        auto got = data.back();
        double worst = 0;
        for (int j = 0; j < columns; j++) {
            std::vector<C> column;
            std::vector<cufftComplex> out;
            for (int i = 0; i < rows; i++) {
                column.push_back(x[i * columns + j]);
                out.push_back(got[i * columns + j]);
            }
            worst = fmax(worst, apart(out, by_sum(column, {rows}, -1)));
        }
        printf("columns: %d\n", worst < 1e-3);
        cufftDestroy(plan);
    }
}
