//! Writes CUDA's headers for a host compiler that reads a whole CUDA source: the hand-written ones in `dsl/include`, and the library's
//! device code.
//!
//! A host compiler has to know the names that kernels use, but it compiles no kernels: declarations are enough. They come from the same
//! rows and files that the front end reads, so that both agree on types. Types that host code uses as well (`__half`) come with their
//! bodies.

use std::fmt::Write;

use super::{File, files};
use crate::sema::builtin_declarations;

macro_rules! headers {
    ($($name:literal)*) => {
        /// Hand-written headers.
        const OWN: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../include/", $name))),)*];
    };
}

headers! {
    "builtin_types.h" "common_functions.h" "crt/host_defines.h" "cuda/ptx" "cublas.h" "cublasLt.h" "cublas_v2.h" "cuda.h" "cuda_device_runtime_api.h" "cudaTypedefs.h" "cuda_profiler_api.h" "cuda_runtime.h"
    "cuda_runtime_api.h" "cufft.h" "cufftXt.h" "curand.h" "cusolverDn.h" "cusparse.h" "device_atomic_functions.h" "device_functions.h" "device_launch_parameters.h" "driver_types.h"
    "dslc/arrays.h" "dslc/bits.h" "dslc/device_code.h" "dslc/device_math.h" "dslc/device_overloads.h" "dslc/graphs.h" "dslc/helper_more.h" "dslc/host_math.h" "dslc/launch_config.h" "dslc/library_scalars.h" "dslc/pools.h" "host_defines.h" "library_types.h" "math_constants.h" "math_functions.h" "mma.h" "nvtx3/nvToolsExt.h"
    "sm_30_intrinsics.h" "sm_60_atomic_functions.h" "texture_types.h" "vector_functions.h" "vector_types.h"
}

/// Files of the library that are complete headers, with the name under which programs include them.
const WHOLE: &[(&str, &str)] = &[
    ("fp16", "cuda_fp16.h"),
    ("bf16", "cuda_bf16.h"),
    ("fp8", "cuda_fp8.h"),
    ("cooperative_groups", "cooperative_groups.h"),
    ("cucomplex", "cuComplex.h"),
    ("cuda_atomic", "cuda/atomic"),
    ("cuda_barrier", "cuda/barrier"),
    ("curand", "curand_kernel.h"),
    ("cub", "cub/cub.cuh"),
    ("cub_block", "dslc/cub_block.h"),
    ("helper", "helper_cuda.h"),
    ("nv_atomic", "dslc/nv_atomic.h"),
    ("thrust", "dslc/thrust/numbers.h"),
];

/// A header of `WHOLE` that is C, and not only for CUDA sources.
const PLAIN: &str = "cuComplex.h";

/// A header of `WHOLE` for the host alone, in C++ for any compiler.
const HELPER: &str = "helper_cuda.h";

/// Headers that only include another one.
const FORWARDED: &[(&str, &str)] = &[
    ("cooperative_groups/reduce.h", "cooperative_groups.h"),
    ("cooperative_groups/scan.h", "cooperative_groups.h"),
    ("cooperative_groups/memcpy_async.h", "cooperative_groups.h"),
    ("cuda/latch", "cuda/barrier"),
    ("cuda/pipeline", "cuda/barrier"),
    ("cuda/std/atomic", "cuda/atomic"),
    ("cuda/std/barrier", "cuda/barrier"),
    ("cuda/std/latch", "cuda/barrier"),
    ("cuda_pipeline.h", "cuda/barrier"),
    ("cuda_pipeline_primitives.h", "cuda/barrier"),
    ("cub/block/block_adjacent_difference.cuh", "cub/cub.cuh"),
    ("cub/block/block_discontinuity.cuh", "cub/cub.cuh"),
    ("cub/block/block_exchange.cuh", "cub/cub.cuh"),
    ("cub/block/block_histogram.cuh", "cub/cub.cuh"),
    ("cub/block/block_load.cuh", "cub/cub.cuh"),
    ("cub/block/block_merge_sort.cuh", "cub/cub.cuh"),
    ("cub/block/block_radix_sort.cuh", "cub/cub.cuh"),
    ("cub/block/block_reduce.cuh", "cub/cub.cuh"),
    ("cub/block/block_scan.cuh", "cub/cub.cuh"),
    ("cub/block/block_shuffle.cuh", "cub/cub.cuh"),
    ("cub/block/block_store.cuh", "cub/cub.cuh"),
    ("cub/warp/warp_reduce.cuh", "cub/cub.cuh"),
    ("cub/warp/warp_scan.cuh", "cub/cub.cuh"),
    ("cuda_fp16.hpp", "cuda_fp16.h"),
    ("nvToolsExt.h", "nvtx3/nvToolsExt.h"),
    ("channel_descriptor.h", "cuda_runtime.h"),
    ("device_types.h", "cuda_runtime.h"),
    ("driver_functions.h", "cuda_runtime.h"),
    ("sm_20_atomic_functions.h", "cuda_runtime.h"),
    ("sm_20_intrinsics.h", "cuda_runtime.h"),
    ("sm_32_atomic_functions.h", "cuda_runtime.h"),
    ("sm_32_intrinsics.h", "cuda_runtime.h"),
    ("sm_35_atomic_functions.h", "cuda_runtime.h"),
    ("sm_35_intrinsics.h", "cuda_runtime.h"),
    ("sm_61_intrinsics.h", "cuda_runtime.h"),
    ("surface_types.h", "cuda_runtime.h"),
    ("surface_functions.h", "cuda_runtime.h"),
    ("surface_indirect_functions.h", "cuda_runtime.h"),
    ("texture_fetch_functions.h", "cuda_runtime.h"),
    ("texture_indirect_functions.h", "cuda_runtime.h"),
    ("cuda_surface_types.h", "cuda_runtime.h"),
    ("cuda_texture_types.h", "cuda_runtime.h"),
    ("cuda_fp8.hpp", "cuda_fp8.h"),
    ("cuda_bf16.hpp", "cuda_bf16.h"),
    ("helper_functions.h", "helper_cuda.h"),
    ("helper_string.h", "helper_cuda.h"),
    ("helper_timer.h", "helper_cuda.h"),
    ("helper_image.h", "helper_cuda.h"),
    ("exception.h", "helper_cuda.h"),
];

/// Headers from collections of public programs: a program finds them with `-I`. Without it, it gets an error that says where they come
/// from. For helper headers of the samples that are not listed here there are stand-ins.
const OF_COLLECTIONS: &[(&str, &str, &str)] = &[
    ("helper_cuda_drvapi.h", SAMPLES, SAMPLES_FOLDER),
    ("helper_cusolver.h", SAMPLES, SAMPLES_FOLDER),
    ("helper_gl.h", SAMPLES, SAMPLES_FOLDER),
    ("helper_math.h", SAMPLES, SAMPLES_FOLDER),
    ("helper_multiprocess.h", SAMPLES, SAMPLES_FOLDER),
    ("drvapi_error_string.h", SAMPLES, SAMPLES_FOLDER),
    ("nvrtc_helper.h", SAMPLES, SAMPLES_FOLDER),
    ("rendercheck_gl.h", SAMPLES, SAMPLES_FOLDER),
    ("cutil.h", SDK, SDK_FOLDER),
    ("cutil_inline.h", SDK, SDK_FOLDER),
    ("cutil_math.h", SDK, SDK_FOLDER),
    ("shrUtils.h", SDK, "-I SDK/shared/inc"),
    ("wb.h", "libwb", "-I libwb"),
];
const SAMPLES: &str = "NVIDIA's cuda-samples";
const SAMPLES_FOLDER: &str =
    "-I cuda-samples/Common (in releases before 11.6, -I cuda-samples/common/inc)";
const SDK: &str = "NVIDIA's GPU Computing SDK, which ended with CUDA 4.2";
const SDK_FOLDER: &str = "-I SDK/C/common/inc";

/// A header that says where the real one is. It stops the compilation: errors about names that it should declare would hide the message.
fn of_collection(&(name, collection, words): &(&str, &str, &str)) -> Header {
    let text = format!("{name} is missing: it belongs to {collection}. Pass its folder: {words}");
    let header = format!(
        "#ifdef __clang__\n#pragma clang diagnostic fatal \"-W#warnings\"\n#warning {text:?}\n#else\n#error {text:?}\n#endif\n"
    );
    (name.to_string(), header)
}

/// Headers of `cuda/std`, with the contents of C++'s headers of the same names.
const OF_STD: &[&str] = &[
    "array",
    "bit",
    "bitset",
    "cassert",
    "cfloat",
    "chrono",
    "climits",
    "cmath",
    "complex",
    "concepts",
    "cstddef",
    "cstdint",
    "cstdlib",
    "cstring",
    "ctime",
    "functional",
    "initializer_list",
    "iterator",
    "limits",
    "numeric",
    "optional",
    "ranges",
    "ratio",
    "span",
    "tuple",
    "type_traits",
    "utility",
    "variant",
    "version",
];

/// Files of which only the functions are visible to device code.
const DECLARED: &[&str] = &[
    "math_double",
    "math_angle",
    "math_float",
    "math_float_angle",
    "math_float_gamma",
    "math_special",
    "math_bessel",
    "math_float_bessel",
    "simd",
    "rounding",
    "graph",
];

/// Prefix of the prelude's functions that are for device code.
const PRELUDE_STOP: &str = "__dslc_";

/// A header: its path among the headers, its text.
pub type Header = (String, String);

/// Whether clang has a header of CUDA's with this name.
pub fn is_header(name: &str) -> bool {
    let own = OWN.iter().chain(FORWARDED).map(|(path, _)| *path);
    let mut all = own.chain(WHOLE.iter().map(|(_, path)| *path));
    all.any(|path| path == name)
}

/// All headers that are made from the library.
pub fn headers() -> Vec<Header> {
    let mut headers = vec![
        ("dslc/device_functions.h".to_string(), declarations()),
        ("dslc/device_library.h".to_string(), bodies()),
        ("dslc/runtime_types.h".to_string(), runtime_types()),
        ("dslc/device_properties.h".to_string(), device_properties()),
    ];
    for &(name, path) in WHOLE {
        if let Some(file) = files().iter().find(|file| file.name == name) {
            headers.push((path.to_string(), whole(path, file)));
        }
    }
    let own = OWN.iter();
    headers.extend(own.map(|&(path, text)| (path.to_string(), text.to_string())));
    let forwarded = FORWARDED.iter();
    headers.extend(forwarded.map(|(path, to)| (path.to_string(), format!("#include <{to}>\n"))));
    headers.extend(OF_COLLECTIONS.iter().map(of_collection));
    headers.extend(
        OF_STD
            .iter()
            .map(|name| (format!("cuda/std/{name}"), of_std(name))),
    );
    headers
}

/// A header of `cuda/std`.
fn of_std(name: &str) -> String {
    format!(
        "#include <{name}>\nnamespace std {{}}\nnamespace cuda {{ namespace std {{ using namespace ::std; }} }}\n"
    )
}

/// The runtime's enumerations and handles: the prelude's text before its first function. It is valid C, too.
fn runtime_types() -> String {
    let end = super::PRELUDE.find("\ncudaError_t ");
    let types = &super::PRELUDE[..end.unwrap_or(super::PRELUDE.len())];
    format!("#ifndef DSLC_RUNTIME_TYPES_H\n#define DSLC_RUNTIME_TYPES_H\n{types}\n#endif\n")
}

/// A device's properties and attributes, with the functions that query them.
fn device_properties() -> String {
    let file = files().iter().find(|file| file.name == "device");
    let text = file.map_or("", |file| file.text);
    let text = text
        .replace("\ncudaError_t ", "\nstatic inline cudaError_t ")
        .replace("__dslc_device_property(", "__dslcDeviceProperty(")
        .replace("__dslc_set_error(", "__dslcError(");
    let name = "__dslc_device_name(prop->name, sizeof(prop->name))";
    let text = text.replace(
        name,
        "__dslcDeviceName(prop->name, sizeof(prop->name), device)",
    );
    format!("#ifndef DSLC_DEVICE_PROPERTIES_H\n#define DSLC_DEVICE_PROPERTIES_H\n{text}\n#endif\n")
}

fn guard(path: &str) -> String {
    let word = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    format!("DSLC_{}", path.chars().map(word).collect::<String>())
}

/// What device code has for the types of a header, besides its own functions.
fn exchanges(path: &str) -> String {
    // The type, and the integer with its bits.
    let types: &[(&str, &str)] = match path {
        "cuda_fp16.h" => &[("__half", "unsigned short"), ("__half2", "unsigned int")],
        "cuda_bf16.h" => &[
            ("__nv_bfloat16", "unsigned short"),
            ("__nv_bfloat162", "unsigned int"),
        ],
        _ => &[],
    };
    let one = |(ty, bits): &(&str, &str)| {
        let shuffles = [
            ("__shfl_sync", "int", "idx"),
            ("__shfl_up_sync", "unsigned int", "up"),
            ("__shfl_down_sync", "unsigned int", "down"),
            ("__shfl_xor_sync", "int", "bfly"),
        ];
        let heads = shuffles.map(|(name, by, how)| {
            let head = format!(
                "__device__ {ty} {name}(unsigned int mask, {ty} x, {by} by, int width = 32)"
            );
            let word =
                format!("__dslc_{how}(mask, (unsigned int)__dslc_cast<{bits}>(x), by, width)");
            (head, format!("return __dslc_cast<{ty}>(({bits}){word});"))
        });
        let atomic = (
            format!("__device__ {ty} atomicAdd({ty} *p, {ty} x)"),
            "return __dslc_atomicAdd(p, x);".to_string(),
        );
        let all = heads.into_iter().chain([atomic]);
        let both = all.map(|(head, body)| {
            format!("#ifdef DSLC_DEVICE_CODE\n{head} {{ {body} }}\n#else\n{head};\n#endif\n")
        });
        both.collect::<String>()
    };
    types.iter().map(one).collect()
}

/// A file's functions for a header: several sources of a program may include it.
fn of_host(text: &str) -> String {
    let types = ["void ", "int ", "bool ", "float ", "const char *"];
    let is_function =
        |line: &str| types.iter().any(|ty| line.starts_with(ty)) && line.contains('(');
    let lines = text.lines().map(|line| match is_function(line) {
        true => format!("inline {line}\n"),
        false => format!("{line}\n"),
    });
    lines.collect()
}

/// A file of the library as a header. Each source has its own copy of its functions: there is no library to link them from.
fn whole(path: &str, file: &File) -> String {
    let guard = guard(path);
    let text = file.text;
    if path == PLAIN {
        return format!(
            "/* Made from dslc's own library: {path}. */\n#ifndef {guard}\n#define {guard}\n#include <cuda_runtime.h>\n{text}\n#endif\n"
        );
    }
    if path == HELPER {
        let text = of_host(text).replace("clock()", "__dslc_microseconds()");
        return format!(
            "/* Made from dslc's own library: {path}. */\n#ifndef {guard}\n#define {guard}\n#include <cuda_runtime.h>\n\
             #ifdef __cplusplus\n#include \"dslc/helper_more.h\"\n{text}\n#endif\n#endif\n"
        );
    }
    let needed = WHOLE.iter().filter(|(name, _)| file.needs.contains(name));
    // CUDA's header for kernels includes the host's, too.
    let host = (path == "curand_kernel.h").then_some("curand.h");
    let includes: String = needed
        .map(|&(_, path)| path)
        .chain(host)
        .map(|path| format!("#include <{path}>\n"))
        .collect();
    // Host code has pointers to generators, and takes their sizes.
    let is_curand = path == "curand_kernel.h";
    let types = text.find("\n__device__").filter(|_| is_curand);
    let types = types.map_or(String::new(), |end| {
        format!("#elif defined __cplusplus\n{}\n", &text[..end])
    });
    format!(
        "/* Made from dslc's own library: {path}. */\n#ifndef {guard}\n#define {guard}\n#include <cuda_runtime.h>\n{includes}\
         #ifdef __CUDACC__\n#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)\n\
         #pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))\n\
         {text}\n{}#pragma clang attribute pop\n#pragma clang attribute pop\n{types}#endif\n#endif\n",
        exchanges(path)
    )
}

/// The functions that device code may call, without bodies.
fn declarations() -> String {
    let mut out = String::from(
        "/* Made from dslc's own tables: the functions that device code may call. */\n#ifndef DSLC_DEVICE_FUNCTIONS_H\n\
         #define DSLC_DEVICE_FUNCTIONS_H\n",
    );
    for declaration in builtin_declarations() {
        let _ = writeln!(out, "{declaration}");
    }
    let texts = files().iter().filter(|file| DECLARED.contains(&file.name));
    for text in texts.map(|file| file.text).chain([super::PRELUDE]) {
        for line in text.lines() {
            if let Some(declaration) = declaration(line) {
                let _ = writeln!(out, "{declaration}");
            }
        }
    }
    out += "#endif\n";
    out
}

/// How a function begins that device code contains: its instructions belong to the line that calls it.
const BODY: &str = "__device__ inline __attribute__((nodebug))";

/// The device functions that the library defines in the language, with their bodies: for a compiler of device code.
fn bodies() -> String {
    let mut out = String::from(
        "/* Made from dslc's own library: device functions with their bodies. */\n#ifndef DSLC_DEVICE_LIBRARY_H\n\
         #define DSLC_DEVICE_LIBRARY_H\n",
    );
    for file in files().iter().filter(|file| DECLARED.contains(&file.name)) {
        for line in file.text.lines() {
            let definition = ["__host__ __device__ ", "__device__ "]
                .iter()
                .find_map(|words| line.strip_prefix(words));
            let _ = match definition {
                Some(rest) => {
                    let rest = rest.strip_prefix("inline ").unwrap_or(rest);
                    writeln!(out, "{BODY} {rest}")
                }
                None => writeln!(out, "{line}"),
            };
        }
    }
    let mut is_inside = false;
    for line in super::PRELUDE.lines() {
        let head = declaration(line);
        if let Some(head) = &head {
            let body = line.split_once('{').map_or("", |(_, body)| body);
            let head = head.trim_end_matches(';').replacen("__device__", BODY, 1);
            let _ = writeln!(out, "{head} {{{body}");
            is_inside = !line.trim_end().ends_with('}');
        } else if is_inside {
            let _ = writeln!(out, "{line}");
            is_inside = line != "}";
        }
    }
    out += "#endif\n";
    out
}

/// The declaration that the definition on this line begins with, if it defines a device function.
fn declaration(line: &str) -> Option<String> {
    let rest = line
        .strip_prefix("__host__ __device__ ")
        .or_else(|| line.strip_prefix("__device__ "))?;
    let rest = rest.strip_prefix("inline ").unwrap_or(rest);
    let (head, _) = rest.split_once('{')?;
    let name = head.split('(').next()?;
    let is_ours = name.contains(PRELUDE_STOP) || name.contains("__builtin_");
    (head.contains('(') && !is_ours).then(|| format!("__device__ {};", head.trim_end()))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashSet};

    use super::*;
    use crate::{library::defined, sema::builtin};

    /// Functions of C's and C++'s own headers, which `cuda_runtime.h` includes.
    const OF_C: &[&str] = &["isfinite", "isinf", "isnan", "signbit"];

    /// clang itself calls these in device code; no source names them.
    const OF_CLANG: &[&str] = &[
        "__assert_fail",
        "cudaGetParameterBuffer",
        "cudaLaunchDevice",
    ];

    /// Hand-written headers with functions of device code.
    const OF_DEVICE: &[&str] = &[
        "cuda_runtime.h",
        "dslc/arrays.h",
        "dslc/bits.h",
        "dslc/device_overloads.h",
    ];

    /// Arguments of declaration macros that are not names to declare.
    const TYPES: &[&str] = &[
        "char", "short", "int", "long", "float", "double", "uchar", "ushort", "uint",
    ];

    /// All names in a text.
    fn words(text: &str) -> HashSet<&str> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        text.split(|c| !is_word(c)).collect()
    }

    #[test]
    fn what_device_code_may_call_is_declared() {
        let headers = headers();
        let text: String = headers.iter().map(|(_, text)| text.as_str()).collect();
        let words = words(&text);
        // Headers generate the names of an atomic function's scopes.
        let is_scope = |name: &str| {
            let mut scopes = ["_block", "_system"].into_iter();
            let base = scopes.find_map(|scope| name.strip_suffix(scope));
            base.is_some_and(|base| base.starts_with("atomic") && words.contains(base))
        };
        let is_function = |name: &&str| {
            let is_ours = name.starts_with(PRELUDE_STOP) || name.starts_with("__builtin_");
            !is_ours && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        };
        let of_files = files().iter().filter(|file| !file.of_host);
        let missing: BTreeSet<&str> = builtin::device_names()
            .chain(of_files.flat_map(|file| defined(file.text)))
            .filter(is_function)
            .filter(|name| !words.contains(name) && !is_scope(name) && !OF_C.contains(name))
            .collect();
        assert!(missing.is_empty(), "not in any header: {missing:?}");
    }

    #[test]
    fn what_headers_declare_for_device_code_is_known() {
        let texts = files().iter().map(|file| file.text);
        let library: String = texts.chain([super::super::PRELUDE]).collect();
        let library = words(&library);
        let mut unknown = BTreeSet::new();
        let own = OWN.iter().filter(|(path, _)| OF_DEVICE.contains(path));
        let lines = own.flat_map(|(_, text)| text.lines());
        for line in lines.filter(|line| !line.starts_with('#')) {
            // A declaration, or a name that is passed to a declaration macro.
            let declared = line.split_once("__device__ ").map(|(_, rest)| rest);
            let declared = declared.filter(|rest| !rest.starts_with("__attribute__"));
            let declared = declared.and_then(|rest| rest.split('(').next());
            let given = line.strip_prefix("DSLC_");
            let given = given.and_then(|rest| rest.split(['(', ',', ')']).nth(1));
            let name = declared.or(given).unwrap_or_default();
            let name = name.rsplit([' ', '*']).next().unwrap_or_default();
            let is_made = name.contains('#') || matches!(name, "name" | "type" | "");
            let is_known = builtin::find(name).is_some() || library.contains(name);
            if !is_made && !is_known && !TYPES.contains(&name) && !OF_CLANG.contains(&name) {
                unknown.insert(name);
            }
        }
        assert!(
            unknown.is_empty(),
            "the front end knows nothing of {unknown:?}"
        );
    }

    #[test]
    fn definitions_become_declarations() {
        let line =
            "__host__ __device__ float rsqrtf(float x) { return (float)(1.0 / sqrt((double)x)); }";
        assert_eq!(
            declaration(line).as_deref(),
            Some("__device__ float rsqrtf(float x);")
        );
        assert_eq!(
            declaration("__device__ double __dslc_above64(double x) {"),
            None
        );
        assert_eq!(declaration("    return x;"), None);
    }

    #[test]
    fn rows_of_the_tables_are_declared() {
        let text = declarations();
        for wanted in [
            "__device__ int __popc(unsigned int);",
            "__device__ void __syncwarp(unsigned int = 4294967295);",
            "__device__ float __expf(float x);",
            "__device__ int __hadd(int a, int b);",
        ] {
            assert!(text.contains(wanted), "{wanted}");
        }
    }

    #[test]
    fn every_whole_header_has_its_file() {
        let made = 4 + WHOLE.len() + FORWARDED.len() + OF_STD.len() + OF_COLLECTIONS.len();
        assert_eq!(headers().len(), made + OWN.len());
    }
}
