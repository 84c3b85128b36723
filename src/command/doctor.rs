//! `dslc doctor`: which tools this machine has, and what each is for.

use std::{env, fmt::Write, fs, process::Command};

use runtime::device::{
    DeviceInfo,
    gpu::{self, GpuError},
};

use crate::{back_end, failure::Failure, output};

/// The report's rows: for each tool, whether it was found, and its purpose.
#[derive(Default)]
struct Rows(String);

impl Rows {
    fn add(&mut self, what: &str, found: Option<String>, allows: &str) {
        let mark = if found.is_some() { "yes" } else { "no " };
        let found = found.unwrap_or_else(|| "not found".to_string());
        let _ = writeln!(self.0, "{mark}  {what:<14} {found}");
        let _ = writeln!(self.0, "     {:<14} {allows}", "");
    }
}

pub(crate) fn run() -> Result<u8, Failure> {
    let mut rows = Rows::default();
    rows.add(
        "simulator",
        Some(format!("dslc {}", env!("DSLC_VERSION"))),
        "`dslc run` works on any machine",
    );
    rows.add(
        "PTX back end",
        back_end::version(),
        "`dslc ptx` needs it, but no GPU: the program dslc-ptx beside dslc (`cargo build --release` makes it, with LLVM inside)",
    );
    add_gpus(&mut rows);
    add_host_compiler(&mut rows);
    add_cuda_tools(&mut rows);
    output::out(rows.0.as_bytes());
    Ok(0)
}

fn add_gpus(rows: &mut Rows) {
    let driver = gpu::driver_version();
    rows.add(
        "GPU driver",
        driver.as_ref().ok().map(|(major, minor)| {
            let version =
                module_version().map_or_else(String::new, |version| format!("{version}, "));
            format!("{version}for CUDA {major}.{minor}")
        }),
        match &driver {
            Ok(_) => "finds GPUs and compiles PTX for them",
            Err(GpuError::NotBuilt) => {
                "this build cannot run on a GPU (the feature `ptx` is missing)"
            }
            Err(_) => {
                "running on a GPU needs NVIDIA's driver: libcuda.so.1 in the loader's search path"
            }
        },
    );
    match gpu::list() {
        Ok(gpus) => {
            for (index, info) in gpus.iter().enumerate() {
                let allows = match index {
                    0 => "`dslc run --device gpu` and `dslc verify` use it",
                    _ => "not used: dslc uses the first GPU (set CUDA_VISIBLE_DEVICES to choose)",
                };
                rows.add(&format!("GPU {index}"), Some(describe(info)), allows);
            }
        }
        Err(error) => rows.add("GPU", None, &error.to_string()),
    }
}

/// The compiler with which `dslc nvcc` compiles and links programs.
fn add_host_compiler(rows: &mut Rows) {
    rows.add(
        "clang",
        super::nvcc::compiler().map(|path| path.display().to_string()),
        "compiles host code for `dslc nvcc`: version 20 or later (DSLC_CLANG names another one)",
    );
    rows.add(
        "libdslcrt",
        super::nvcc::library().map(|path| path.display().to_string()),
        "`dslc nvcc` links programs with it: `cargo build --release` puts it beside dslc, or DSLC_LIB names its folder",
    );
    rows.add(
        "OpenBLAS",
        shared("libopenblas.so.0").or_else(|| shared("libblas.so.3")),
        "multiplies matrices for programs with cuBLAS; without it, plain loops do (Debian: libopenblas0)",
    );
    rows.add(
        "FFTW",
        shared("libfftw3.so.3").and(shared("libfftw3f.so.3")),
        "computes transforms for programs with cuFFT; without it, a plain loop does (Debian: libfftw3-double3, libfftw3-single3)",
    );
}

/// NVIDIA's tools that tests and measurements use.
fn add_cuda_tools(rows: &mut Rows) {
    rows.add(
        "ptxas",
        tool("ptxas", "--version"),
        "assembles PTX to machine code; only tests use it",
    );
    rows.add("ncu", tool("ncu", "--version"), counters_allowed());
    rows.add(
        "compute-sanitizer",
        tool("compute-sanitizer", "--version"),
        "checks kernels on the GPU; bench/gpu/evidence.sh runs it",
    );
}

/// Name, compute capability, memory.
fn describe(info: &DeviceInfo) -> String {
    let bytes = info.global_bytes as f64 / f64::from(1 << 30);
    format!(
        "{}, compute capability {}.{}, {bytes:.0} GiB",
        info.name, info.major, info.minor
    )
}

/// The version of the driver's kernel module, where Linux tells it.
fn module_version() -> Option<String> {
    let text = fs::read_to_string("/sys/module/nvidia/version").ok()?;
    Some(text.trim().to_string())
}

/// Whether the driver lets this user read counters.
fn counters_allowed() -> &'static str {
    let params = fs::read_to_string("/proc/driver/nvidia/params").unwrap_or_default();
    if params
        .lines()
        .any(|line| line.trim() == "RmProfilingAdminOnly: 1")
    {
        "`dslc verify` reads the hardware's counters with it; this driver allows only administrators to do so"
    } else {
        "`dslc verify` reads the hardware's counters with it"
    }
}

/// The path of a shared library, in the folders that the system's loader searches.
fn shared(name: &str) -> Option<String> {
    let named = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let machine = format!("/usr/lib/{}-linux-gnu", env::consts::ARCH);
    let folders = [
        machine.as_str(),
        "/usr/lib64",
        "/usr/lib",
        "/lib64",
        "/usr/local/lib",
    ];
    let mut paths = env::split_paths(&named)
        .chain(folders.iter().map(Into::into))
        .map(|folder| folder.join(name));
    let found = paths.find(|path| path.exists())?;
    Some(found.display().to_string())
}

/// The path of a tool, with the last line of its version message.
fn tool(name: &str, flag: &str) -> Option<String> {
    let path = env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())?;
    let output = Command::new(&path).arg(flag).output().ok()?;
    let version = String::from_utf8_lossy(&output.stdout)
        .lines()
        .last()
        .unwrap_or("")
        .trim()
        .to_string();
    Some(format!("{} ({version})", path.display()))
}
