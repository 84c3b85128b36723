//! Kernels that dslc's front end does not understand, through clang.

use std::{fs, process::Command};

use serde_json::Value;

use crate::support::{Ran, command, file, flat, has, ran, root};

/// A kernel in C++20, and host code that dslc interprets.
const PROGRAM: &str = r#"#include <cstdio>
#include <utility>
__constant__ float factors[4];
__device__ int calls;
struct Params { float *out; int n; bool flip; float2 scale; };
template <int N, class F> __device__ void each(float (&data)[N], F f) {
    [&]<int... I>(std::integer_sequence<int, I...>) { (f(data[I], I), ...); }(std::make_integer_sequence<int, N>{});
}
template <int N> __global__ void mix(Params p, const float *in) {
    __shared__ float tile[N][N];
    extern __shared__ float row[];
    int x = threadIdx.x, y = threadIdx.y;
    float data[4], sum = 0;
    each(data, [&](float &v, int i) { v = in[(x + i) % p.n] * factors[i]; });
    each(data, [&](float &v, int) { sum += v; });
    tile[y][x] = sum;
    if (y == 0) row[x] = sum;
    __syncthreads();
    p.out[y * N + x] = (p.flip ? tile[x][y] : row[x]) * p.scale.x + p.scale.y;
    unsigned lane;
    asm volatile("mov.u32 %0, %laneid;" : "=r"(lane));
    if (lane == 0) { atomicAdd(&calls, 1); printf("block %d: %.2f %s\n", blockIdx.x, sum, "through"); }
}
int main() {
    float *in, *out, host[256], given[4] = {1, 2, 3, 4};
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    for (int i = 0; i < 256; i++) host[i] = i * 0.5f;
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(factors, given, sizeof given);
    mix<16><<<1, dim3(16, 16), 16 * sizeof(float)>>>(Params{out, 256, true, {2.0f, 0.5f}}, in);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    int n;
    cudaMemcpyFromSymbol(&n, calls, sizeof n);
    printf("%d %g %g\n", n, host[1], host[255]);
    cudaFree(in);
    cudaFree(out);
}
"#;

/// Whether clang is installed; says so if not.
#[allow(
    clippy::print_stderr,
    reason = "a test that needs a tool says that it was skipped"
)]
fn is_there() -> bool {
    let names = ["clang++-22", "clang++-21", "clang++-20", "clang++"];
    let found = names
        .iter()
        .any(|name| Command::new(name).arg("--version").output().is_ok());
    if !found {
        eprintln!("skipped: there is no clang");
    }
    found
}

fn dslc(args: &[&str]) -> Ran {
    ran(command(args).env_remove("DSLC_KERNELS_BY"))
}

#[test]
fn a_kernel_in_a_newer_dialect_runs() {
    if !is_there() {
        return;
    }
    let program = file("mix0.cu", PROGRAM);
    let output = dslc(&["run", &program, "--cures", "never"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    has(&output.stderr, "compiles `mix<16>`");
    // A column x has 5x + 10, and the output has columns as rows, doubled, and a half more.
    has(&output.stdout, "block 0: 10.00 through");
    has(&output.stdout, "8 20.5 170.5");
    has(&output.stdout, "8-way bank conflict");
    has(&flat(&output.stdout), "as compiled by clang");
    let output = dslc(&["run", &program, "--format", "json", "--cures", "never"]);
    let report: Value = output.json();
    let launch = &report["launches"][0];
    assert_eq!(launch["counted_as"], "compiled");
    assert!(
        launch["compiled_by"]
            .as_str()
            .is_some_and(|by| by.starts_with("clang"))
    );
    let lines = PROGRAM.lines().collect::<Vec<_>>();
    let sites = launch["sites"].as_array().expect("sites");
    let line = |site: &Value| lines[site["line"].as_u64().unwrap_or(1) as usize - 1];
    let reads = |site: &&Value| site["space"] == "shared" && site["op"] == "load";
    assert!(
        sites
            .iter()
            .filter(reads)
            .all(|site| line(site).contains("tile[x][y]") || line(site).contains("printf"))
    );
}

#[test]
fn one_front_end_can_be_chosen() {
    let program = file("mix1.cu", PROGRAM);
    let output = dslc(&["run", &program, "--kernels-by", "dslc"]);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    has(&output.stderr, "Error");
    if !is_there() {
        return;
    }
    let output = dslc(&["check", &program]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let output = dslc(&["run", "examples/reverse.k", "--kernels-by", "clang"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    has(&flat(&output.stdout), "as compiled by clang");
}

#[test]
fn what_no_front_end_understands_is_left_out() {
    if !is_there() {
        return;
    }
    let source = "#include <missing/tensor.h>
struct Odd { __device__ void set(int v) const { this->nothing.set(v); } };
template <class T> concept Any = true;
template <Any T> __global__ void good(T *p) { p[threadIdx.x] = threadIdx.x; }
__global__ void bad(int *p) { p[0] = undeclared(p[1]); }
__global__ void depends(int *p) { Odd().set(p[0]); }
void launch(tensor::Tensor t) { good<<<1, 32>>>(t.data<float>()); }
";
    let program = file("some.cu", source);
    let output = dslc(&["check", "--kernels", &program]);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    has(&output.stdout, "ok   good:4");
    has(&output.stdout, "no   bad:5");
    has(&output.stdout, "no   depends:6");
    let launch = [
        "--launch",
        "good<float><<<1, 32>>>(p)",
        "--buffer",
        "p=float[32]",
        "--print",
        "p:3",
    ];
    let output = dslc(&[&["run", &program, "--kernels"], &launch[..]].concat());
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    has(&output.stdout, "p = 0 1 2");
}

#[test]
fn both_front_ends_say_what_is_wrong() {
    if !is_there() {
        return;
    }
    let program = file(
        "wrong.cu",
        "__global__ void k(int *p) { p[0] = undeclared(1); }\nint main() { k<<<1, 1>>>(nullptr); }\n",
    );
    let output = dslc(&["run", &program]);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    has(&output.stderr, "there is no function `undeclared`");
    has(&output.stderr, "does not compile this");
    has(&output.stderr, "use of undeclared identifier 'undeclared'");
}

#[test]
fn a_file_elsewhere_is_not_read() {
    if !is_there() {
        return;
    }
    let folder = root().join("target/tmp/elsewhere");
    let secret = folder.join("secret.txt");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(&secret, "do_not_show_this").expect("a file");
    let source = format!(
        "template <class T> concept A = true;\n__global__ void k(int *p) {{ p[0] =\n#include {secret:?}\n; }}\n"
    );
    let program = file("reads.cu", &source);
    let output = dslc(&["check", "--kernels", &program]);
    let all = format!("{}{}", output.stdout, output.stderr);
    assert!(!all.contains("do_not_show_this"), "{all}");
    assert_eq!(output.code, Some(1), "{all}");
}

#[test]
#[allow(
    clippy::print_stderr,
    reason = "a test that needs a tool says that it was skipped"
)]
fn compiled_host_code_launches_such_kernels() {
    if !is_there() || !cfg!(target_os = "linux") {
        return;
    }
    let program = file("mix2.cu", PROGRAM);
    let output = dslc(&["run", &program, "--host", "native"]);
    if output.stderr.contains("libdslcrt") {
        eprintln!("skipped: libdslcrt is not built");
        return;
    }
    has(&output.stdout, "block 0: 10.00 through");
    has(&output.stdout, "8 20.5 170.5");
}

#[test]
fn host_code_has_the_standard_that_the_kernels_need() {
    if !is_there() || !cfg!(target_os = "linux") {
        return;
    }
    let source = "#include <cstdio>
#include <span>
__global__ void fill(std::span<int> all) { all[threadIdx.x] = (int)all.size(); }
int main() {
    int *p, host[32];
    cudaMalloc(&p, sizeof host);
    fill<<<1, 32>>>(std::span<int>(p, 32));
    cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    printf(\"%d\\n\", host[31]);
    cudaFree(p);
}
";
    let program = file("span.cu", source);
    let output = dslc(&["run", &program]);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    has(&output.stderr, "dslc run --host native --std gnu++20");
    for options in [&["--host", "auto"][..], &["--host", "native", "-std=c++20"]] {
        let output = dslc(&[&["run", &program], options].concat());
        if output.stderr.contains("libdslcrt") {
            return;
        }
        has(&output.stdout, "32\n");
    }
}

#[test]
fn constraints_of_kernels_are_left_out() {
    if !is_there() {
        return;
    }
    let source = "#include <concepts>
#include <cstdint>
template <class T> concept Number = std::integral<T> || std::floating_point<T>;
template <std::integral T, int N> requires (sizeof(T) == 4) && Number<T> __global__ void sums(const T *in, T *out) {
    __shared__ T part[N];
    int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    out[t] = part[t] + part[N - 1 - t];
}
int main() {
    int *in, *out, host[64];
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    for (int i = 0; i < 64; i++) host[i] = i * i;
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    sums<int, 64><<<1, 64>>>(in, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return host[1] == 1 + 62 * 62 ? 0 : 1;
}
";
    let program = file("constraints.cu", source);
    let output = dslc(&["run", &program]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    // Without constraints the kernel is dslc's own.
    assert!(!output.stderr.contains("compiles"), "{}", output.stderr);
}

/// Constraints of device functions choose among overloads: without them another function might be called.
#[test]
fn constraints_of_device_functions_are_not_dropped() {
    if !is_there() {
        return;
    }
    let source = r#"#include <concepts>
#include <cstdio>
template <std::integral T> __device__ int kind(T x) { return 1; }
__device__ int kind(double x) { return 2; }
template <class T> __device__ int other(T x) requires std::integral<T> { return 3; }
template <class T> __device__ int other(T x) { return 4; }
__global__ void k(int *out) { out[0] = kind(1); out[1] = kind(1.0f); out[2] = other(1); out[3] = other(1.0f); }
int main() {
    int *out, host[4];
    cudaMalloc(&out, sizeof host);
    k<<<1, 1>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);
    cudaFree(out);
}
"#;
    let program = file("overloads.cu", source);
    let output = dslc(&["run", &program]);
    assert_eq!(output.code, Some(1), "{}", output.stdout);
    has(&output.stderr, "--host native");
    let launch = [
        "--launch",
        "k<<<1, 1>>>(p)",
        "--buffer",
        "p=int[4]",
        "--print",
        "p",
    ];
    let output = dslc(&[&["run", &program, "--kernels"], &launch[..]].concat());
    has(&output.stdout, "p = 1 2 3 4");
    let output = dslc(&["check", &program, "--kernels", "--kernels-by", "dslc"]);
    has(&output.stdout, "no   k:7");
}
