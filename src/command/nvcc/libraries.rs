//! CUDA's libraries. Their sources are part of dslc. When a program first needs a library, it is compiled against dslc's headers, with the
//! clang that compiles programs.
//!
//! The libraries are archives, so that a program contains what it uses of them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::failure::Failure;

/// A source or header: its name and text.
type Text = (&'static str, &'static str);

/// A library: its name in `-l`, and its sources.
pub(super) type Source = (&'static str, &'static [Text]);

macro_rules! text {
    ($name:literal) => {
        ($name, include_str!(concat!("libraries/", $name)))
    };
}

/// All libraries.
pub(super) const SOURCES: &[Source] = &[
    (
        "cublas",
        &[
            text!("cublas.cpp"),
            text!("cublaslt.cpp"),
            text!("gemm_ex.cpp"),
            text!("elements.h"),
            text!("calls.h"),
            text!("blas.h"),
            text!("common.h"),
        ],
    ),
    ("cufft", &[text!("cufft.cpp"), text!("common.h")]),
    ("curand", &[text!("curand.cpp"), text!("common.h")]),
    ("cuda", &[text!("driver.cpp")]),
    ("cusparse", &[text!("cusparse.cpp"), text!("common.h")]),
    (
        "cusolver",
        &[text!("cusolver.cpp"), text!("blas.h"), text!("common.h")],
    ),
];

/// Thrust: only headers.
const THRUST: &[Text] = &[
    text!("thrust/functional.h"),
    text!("thrust/memory.h"),
    text!("thrust/iterator.h"),
    text!("thrust/algorithm.h"),
    text!("thrust/cub_device.h"),
];

/// The names under which programs include it; each of them includes all of it.
const THRUST_NAMES: &str = "adjacent_difference advance binary_search complex copy count detail/config detail/type_traits device_allocator device_free device_malloc \
    device_malloc_allocator device_new device_ptr device_reference device_vector distance equal execution_policy extrema fill find \
    for_each functional gather generate host_vector inner_product iterator/constant_iterator iterator/counting_iterator \
    iterator/discard_iterator iterator/iterator_traits iterator/permutation_iterator iterator/reverse_iterator \
    iterator/transform_iterator iterator/zip_iterator logical memory merge pair partition random random/linear_congruential_engine random/normal_distribution random/uniform_int_distribution \
    random/uniform_real_distribution reduce remove replace reverse scan scatter \
    sequence set_operations sort swap system/cuda/execution_policy system/cuda/vector \
    system/system_error system_error tabulate transform transform_reduce transform_scan tuple unique universal_vector version";

/// The headers that belong only to the libraries: their paths and texts.
pub(super) fn headers() -> Vec<(String, String)> {
    let own = THRUST.iter();
    let own = own.map(|&(name, text)| (format!("dslc/{name}"), text.to_string()));
    let names = THRUST_NAMES.split_whitespace().map(|name| {
        let text = "#include <dslc/thrust/algorithm.h>\n".to_string();
        (format!("thrust/{name}.h"), text)
    });
    let of_cub = CUB_NAMES.split_whitespace().map(|name| {
        let text = "#include <cub/cub.cuh>\n".to_string();
        (format!("cub/device/device_{name}.cuh"), text)
    });
    let driver = ("dslc/driver.h".to_string(), DRIVER_TEXT.to_string());
    own.chain(names).chain(of_cub).chain([driver]).collect()
}

/// CUB's algorithms over device memory: each header includes all of them.
const CUB_NAMES: &str = "histogram radix_sort reduce run_length_encode scan select";

/// The driver's functions.
const DRIVER_TEXT: &str = include_str!("libraries/driver.h");

/// Headers that include more than their own text: their paths, and what follows their text.
pub(super) const CONTINUED: &[Text] = &[
    (
        "cub/cub.cuh",
        "#include <dslc/cub_block.h>\n#include <dslc/thrust/cub_device.h>\n",
    ),
    ("cuda.h", "#include <dslc/driver.h>\n"),
];

/// The name of the library that `-l` with this name means.
pub(super) fn source(name: &str) -> Option<&'static str> {
    let mut sources = SOURCES.iter();
    sources
        .find(|(known, _)| *known == name)
        .map(|(known, _)| *known)
}

/// Writes empty archives until a program needs a library, because build systems look for the files.
pub(super) fn announce(toolkit: &Path) -> std::io::Result<()> {
    for (name, _) in SOURCES {
        fs::write(place(toolkit, name), EMPTY)?;
    }
    // Its functions are in cuBLAS's archive.
    fs::write(place(toolkit, "cublasLt"), EMPTY)?;
    Ok(())
}

/// An empty archive.
const EMPTY: &str = "!<arch>\n";

/// The archive of a library; it is compiled if necessary.
pub(super) fn archive(toolkit: &Path, clang: &Path, name: &str) -> Result<PathBuf, Failure> {
    let path = place(toolkit, name);
    let is_made = || fs::metadata(&path).is_ok_and(|file| file.len() > EMPTY.len() as u64);
    if is_made() {
        return Ok(path);
    }
    // If several processes need it, one compiles it.
    let lock = fs::File::create(toolkit.join(format!("{name}.lock")))?;
    lock.lock()?;
    if !is_made() {
        compile(toolkit, clang, name)?;
    }
    Ok(path)
}

/// The libraries whose headers a text includes.
pub(crate) fn named(text: &str) -> impl Iterator<Item = &'static str> + use<'_> {
    const HEADERS: [(&str, &str); 8] = [
        ("cuda", "<cuda.h>"),
        ("cublas", "cublas_v2.h"),
        ("cublas", "cublas.h"),
        ("cublas", "cublasLt.h"),
        ("cufft", "cufft"),
        ("curand", "curand.h"),
        ("cusparse", "cusparse.h"),
        ("cusolver", "cusolver"),
    ];
    let found = HEADERS
        .iter()
        .filter(move |(_, header)| text.contains(header));
    found.map(|&(name, _)| name)
}

/// Compiles the libraries that a source includes, so that a later link finds them.
pub(super) fn prepare(toolkit: &Path, clang: &Path, source: &Path) -> Result<(), Failure> {
    let text = fs::read(source).unwrap_or_default();
    for name in named(&String::from_utf8_lossy(&text)) {
        archive(toolkit, clang, name)?;
    }
    Ok(())
}

fn place(toolkit: &Path, name: &str) -> PathBuf {
    toolkit.join("lib64").join(format!("lib{name}.a"))
}

/// Compiles a library into the toolkit.
fn compile(toolkit: &Path, clang: &Path, name: &str) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let mut running = Vec::new();
    let found = SOURCES.iter().find(|(known, _)| *known == name);
    for (file, text) in found.map_or(&[][..], |(_, texts)| texts) {
        let path = folder.path().join(file);
        fs::write(&path, text)?;
        if file.ends_with(".cpp") {
            running.push((path.with_extension("o"), path));
        }
    }
    let children: Result<Vec<Child>, std::io::Error> = running
        .iter()
        .map(|(object, path)| start(toolkit, clang, path, object))
        .collect();
    for child in children? {
        let output = child.wait_with_output()?;
        if !output.status.success() {
            return Err(Failure::new(format!(
                "nvcc: cannot compile dslc's library {name}; is the C++ standard library installed?\n{}",
                String::from_utf8_lossy(&output.stderr)
            )));
        }
    }
    let made = folder.path().join("made.a");
    let mut command = Command::new("ar");
    command.arg("rcs").arg(&made);
    command.args(running.iter().map(|(object, _)| object));
    if super::clang::status(&mut command)? != 0 {
        return Err(Failure::new(format!(
            "nvcc: `ar` cannot make the library {name}"
        )));
    }
    // It is renamed when it is complete, so that no process sees a half-written archive.
    let beside = place(toolkit, name).with_extension("new");
    fs::copy(&made, &beside)?;
    fs::rename(&beside, place(toolkit, name))?;
    Ok(())
}

fn start(toolkit: &Path, clang: &Path, source: &Path, object: &Path) -> std::io::Result<Child> {
    Command::new(clang)
        .args(["-std=c++17", "-O1", "-fPIC", "-w", "-c", "-I"])
        .arg(toolkit.join("include"))
        .arg(source)
        .arg("-o")
        .arg(object)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
}
