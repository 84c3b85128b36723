//! Benchmarks the front end stage by stage on a megabyte of kernels, and on a program of 20 lines:
//! `cargo bench -p dslc-dsl --bench frontend`.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests read files"
)]

use divan::{Bencher, counter::BytesCount};
use dsl::{
    Options, compile,
    syntax::{self, parser},
};
use ir::source::{NoFiles, SourceFile, SourceMap};

fn main() {
    divan::main();
}

/// Typical kernels, repeated under different names until there is a megabyte.
fn source() -> String {
    let mut text = String::from("#define TILE 32\n#define AT(a, y, x) ((a)[(y) * n + (x)])\n");
    let mut number = 0;
    while text.len() < 1 << 20 {
        number += 1;
        text += &format!(
            "// kernel {number}: a tile, a loop, a reduction\n\
             __global__ void kernel{number}(const float *in, float *out, int n)\n\
             {{\n\
             \x20   __shared__ float tile[TILE][TILE + 1];\n\
             \x20   int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;\n\
             \x20   float sum = 0.0f;\n\
             \x20   if (x < n && y < n)\n\
             \x20       tile[threadIdx.y][threadIdx.x] = AT(in, y, x);\n\
             \x20   __syncthreads();\n\
             \x20   for (int k = 0; k < TILE; k++)\n\
             \x20       sum += tile[k][threadIdx.x] * (k % 2 ? 1.5f : -0.5f) + tile[threadIdx.y][k];\n\
             \x20   for (int half = TILE / 2; half > 0; half /= 2) {{\n\
             \x20       if (threadIdx.x < half)\n\
             \x20           tile[threadIdx.y][threadIdx.x] += tile[threadIdx.y][threadIdx.x + half];\n\
             \x20       __syncthreads();\n\
             \x20   }}\n\
             \x20   if (x < n && y < n)\n\
             \x20       AT(out, y, x) = sum + tile[threadIdx.y][0];\n\
             }}\n\n"
        );
    }
    text
}

fn map() -> (SourceMap, ir::span::FileId) {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("megabyte.k", source()));
    (map, file)
}

#[divan::bench]
fn tokens(bencher: Bencher<'_, '_>) {
    let bytes = BytesCount::of_str(&source());
    bencher
        .counter(bytes)
        .with_inputs(map)
        .bench_values(|(mut map, file)| {
            syntax::tokenize(&mut map, file, &syntax::Options::default(), &NoFiles)
                .tokens
                .len()
        });
}

#[divan::bench]
fn tree(bencher: Bencher<'_, '_>) {
    let (mut map, file) = map();
    let tokenized = syntax::tokenize(&mut map, file, &syntax::Options::default(), &NoFiles);
    let bytes = BytesCount::of_str(&source());
    bencher
        .counter(bytes)
        .bench(|| parser::parse(&tokenized.tokens, tokenized.end));
}

#[divan::bench]
fn verified_ir(bencher: Bencher<'_, '_>) {
    let bytes = BytesCount::of_str(&source());
    bencher
        .counter(bytes)
        .with_inputs(map)
        .bench_values(|(mut map, file)| {
            compile(&mut map, file, &Options::default(), &NoFiles)
                .module
                .expect("it compiles")
        });
}

/// A program from the first lesson of a course, with its host code.
const TWENTY_LINES: &str = "#include <stdio.h>
__global__ void reverse(int *data, int n)
{
    __shared__ int tile[64];
    int i = threadIdx.x;
    tile[i] = data[i];
    __syncthreads();
    data[i] = tile[n - 1 - i];
}
int main()
{
    int host[64], *device;
    for (int i = 0; i < 64; i++) host[i] = i;
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    reverse<<<1, 64>>>(device, 64);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    printf(\"%d\\n\", host[0]);
    return cudaFree(device);
}
";

#[divan::bench]
fn twenty_lines(bencher: Bencher<'_, '_>) {
    bencher
        .with_inputs(|| {
            let mut map = SourceMap::new();
            let file = map.add(SourceFile::new("small.k", TWENTY_LINES));
            (map, file)
        })
        .bench_values(|(mut map, file)| {
            compile(&mut map, file, &Options::default(), &NoFiles)
                .module
                .expect("it compiles")
        });
}
