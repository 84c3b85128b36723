//! `kernel!` and `include_kernel!`: CUDA kernels as Rust modules, checked while the Rust program is compiled.
//!
//! [`bind`] generates the module. This crate turns a macro's input into a request, and messages into `rustc` errors on the tokens that they
//! are about. The documentation for users is in the crate `dslc`.

mod expand;
mod files;
mod input;
mod place;
mod ptx;

use proc_macro::TokenStream;

/// Kernels written in the Rust file: `kernel! { mod blas { __global__ void saxpy(…) { … } } }`.
///
/// Makes the module `blas` with a function `load(&Device) -> Result<Kernels>` and one method of `Kernels` per kernel. Visibility and
/// attributes before `mod` apply to the module; options follow its name:
///
/// ```text
/// kernel! { pub mod fills(instances = [fill<float, 2>, fill<int, 3> as fill_int], defines = [TILE = 16]) {
///     template <typename T, int N> __global__ void fill(T *out, T value) { … }
/// } }
/// ```
///
/// | option | what it is |
/// |---|---|
/// | `instances = [k<float>, k<int> as k_int]` | instances of kernel templates; a method's name after `as` |
/// | `defines = [NAME, NAME = text]` | macros, as with `-D` |
/// | `include = ["folder"]` | folders of the package to look for `#include "…"` in, after the source's own |
/// | `fmad = false` | no fused multiply-add, as nvcc's `--fmad=false` |
/// | `arch = sm_80` | the value of `__CUDA_ARCH__`; 900 without it |
/// | `library = crate::gpu` | where the crate `dslc` is found, if not at `::dslc` |
///
/// C that Rust cannot read as tokens (`'\a'`, `##`, `0x1.8p3`, a `\` at the end of a line) needs the form with a string,
/// `kernel!(mod m = r##"…"##)`, or a file and [`include_kernel!`]. With a string, messages point to the string and name the line.
#[proc_macro]
pub fn kernel(input: TokenStream) -> TokenStream {
    expand::kernel(input)
}

/// Kernels of a file that nvcc accepts, too: `include_kernel!(pub mod transpose = "kernels/transpose.k")`.
///
/// The path is relative to the Rust file, as with `include_str!`. The file may contain host code: it is only read for the instances of
/// kernel templates that it launches. Options follow the path: those of [`kernel!`]. A change of the file, or of one that it includes,
/// causes a rebuild.
#[proc_macro]
pub fn include_kernel(input: TokenStream) -> TokenStream {
    expand::include_kernel(input)
}
