//! Finds the host compiler, and makes its command lines.

use std::{
    cell::{Cell, RefCell},
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
};

use super::{
    args::{Kind, Options},
    libraries, toolkit,
};
use crate::failure::{Failure, reason};

/// Names under which clang is looked for, newest first.
const NAMES: [&str; 4] = ["clang++-22", "clang++-21", "clang++-20", "clang++"];

/// The optimisation if no option says it: host code that checks a kernel's results often takes longer than the kernel.
const OPTIMISED: &str = "-O2";

/// Options for code that g++ accepts, which nvcc uses for host code, and that clang rejects or compiles to a crash: programs are written
/// for g++. The warnings stay.
const AS_GCC: &[&str] = &[
    "-Wno-error=c++11-narrowing",
    "-Wno-error=register",
    "-Wno-error=reserved-user-defined-literal",
    "-Wno-error=non-pod-varargs",
    "-Wno-error=address-of-temporary",
    "-Wno-error=static-float-init",
    "-Wno-unknown-warning-option",
    "-Wno-writable-strings",
    "-Wno-format",
    "-Wno-return-type",
    // A function that ends without its `return` returns to its caller.
    "-fno-strict-return",
];

/// Options for every CUDA source: nvcc's dialect and headers in place of clang's own.
const OF_CUDA: &[&str] = &[
    "-nocudainc",
    "-nocudalib",
    "-Xclang",
    "-target-sdk-version=12.3",
    "-D__CUDACC__",
    "-D__NVCC__",
    "-D__CUDACC_VER_MAJOR__=12",
    "-D__CUDACC_VER_MINOR__=4",
    "-D__CUDACC_VER_BUILD__=131",
    "-D__CUDACC_EXTENDED_LAMBDA__",
    "-D__CUDACC_RELAXED_CONSTEXPR__",
    "-Wno-unknown-cuda-version",
    "-Wno-unused-command-line-argument",
    "-Wno-pass-failed",
    "-Wno-unknown-pragmas",
    "-Wno-undefined-internal",
    "-Wno-parentheses",
    "-Wno-vla-cxx-extension",
];

/// Options for device code that dslc reads back: lines, dslc's rule for products that are added, and no tables in memory that no kernel
/// names. Newer instructions than the headers' release has are clang's to know.
const OF_KERNELS: &[&str] = &[
    "--cuda-device-only",
    "-S",
    "-DDSLC_DEVICE_CODE",
    "-O3",
    "-gline-tables-only",
    "-ffp-contract=on",
    "-fno-jump-tables",
    // A heap has an end.
    "-fno-builtin-malloc",
    "--cuda-feature=+ptx83",
    "-w",
    "-fno-color-diagnostics",
    "-fno-caret-diagnostics",
    // A crash would leave the source in the folder of temporary files.
    "-fno-crash-diagnostics",
    "-Wno-invalid-constexpr",
    "-ferror-limit=0",
    "-ftemplate-backtrace-limit=0",
];

/// The clang that is used, if there is one.
pub(crate) fn compiler() -> Option<PathBuf> {
    let named = env::var_os("DSLC_CLANG").map(PathBuf::from);
    named.or_else(|| NAMES.iter().find_map(|name| in_path(name)))
}

/// A clang, and the folder that takes the place of CUDA's toolkit.
#[derive(Debug)]
pub(crate) struct Clang {
    program: PathBuf,
    toolkit: PathBuf,
    /// The folder in which each compilation lists the files it reads.
    dependencies: Option<PathBuf>,
    /// The number of such lists so far.
    listed: Cell<u32>,
    /// A file that replaces the source's text with another.
    overlay: RefCell<Option<PathBuf>>,
}

impl Clang {
    /// Finds clang and installs the toolkit folder.
    pub(crate) fn find(dependencies: Option<&Path>) -> Result<Clang, Failure> {
        let program = compiler().ok_or_else(|| {
            Failure::new(
                "clang not found: it compiles the host code; install clang 20 or later, or set DSLC_CLANG to its path",
            )
        })?;
        Ok(Clang {
            program,
            toolkit: toolkit::install(library().as_deref())?,
            dependencies: dependencies.map(Path::to_path_buf),
            listed: Cell::new(0),
            overlay: RefCell::default(),
        })
    }

    /// A compilation of kernels to PTX: `arch` is the number of an architecture, `words` are further options.
    pub(crate) fn kernels(&self, arch: u32, fmad: bool, words: &[String]) -> Command {
        let mut command = self.plain();
        command.args(["-x", "cuda"]).args(OF_CUDA).args(OF_KERNELS);
        command.arg(format!("--cuda-gpu-arch=sm_{arch}"));
        if !fmad {
            command.arg("-ffp-contract=off");
        }
        command
            .arg("-fclang-abi-compat=17")
            .args(AS_GCC)
            .args(words);
        command.arg("-isystem").arg(self.toolkit.join("include"));
        command.args(["-include", "cuda_runtime.h"]);
        command
    }

    /// Its name and number: `clang 22`.
    pub(crate) fn version(&self) -> String {
        let name = self
            .program
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        match name.rsplit_once('-') {
            Some((_, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!("clang {number}")
            }
            _ => "clang".to_string(),
        }
    }

    /// The folder of the headers that every CUDA source reads.
    pub(crate) fn toolkit(&self) -> &Path {
        &self.toolkit
    }

    /// Without any options.
    pub(super) fn plain(&self) -> Command {
        Command::new(&self.program)
    }

    /// Makes later compilations read other texts for some files.
    pub(super) fn lay_over(&self, overlay: Option<PathBuf>) {
        *self.overlay.borrow_mut() = overlay;
    }

    /// A compilation of host code.
    pub(super) fn host(&self, options: &Options, kind: Kind) -> Command {
        let mut command = self.plain();
        if kind == Kind::Cuda {
            command.args(["-x", "cuda", "--cuda-host-only", "--cuda-gpu-arch=sm_80"]);
            command.args(OF_CUDA);
            // Kernels may call `std::swap` and similar functions in any standard; dslc has its own versions.
            command.arg("-foffload-implicit-host-device-templates");
            if options.is_relocatable {
                command.arg("-fgpu-rdc").arg("-D__CUDACC_RDC__");
            }
        } else if kind == Kind::C {
            // As in gcc, a call of an undeclared function is only a warning.
            command.args([
                "-x",
                "c",
                "-Wno-error=implicit-function-declaration",
                "-Wno-error=implicit-int",
                "-Wno-error=int-conversion",
            ]);
        } else {
            command.args(["-x", "c++"]);
        }
        if kind != Kind::C {
            // All sources of a program mangle names alike, and as g++ 12 does, including constrained templates.
            command.arg("-fclang-abi-compat=17").args(AS_GCC);
        }
        let mut standards = options.clang.compiling.iter();
        if options.is_plain() {
            command.arg(OPTIMISED);
        }
        if kind == Kind::C && standards.any(|word| word.starts_with("-std=c++")) {
            let others = options.clang.compiling.iter();
            command.args(others.filter(|word| !word.starts_with("-std=c++")));
        } else {
            command.args(&options.clang.compiling);
        }
        command.args(&options.clang.macros);
        for folder in &options.include {
            command.arg("-I").arg(folder);
        }
        command.arg("-isystem").arg(self.toolkit.join("include"));
        if kind == Kind::Cuda {
            command.args(["-include", "cuda_runtime.h"]);
        }
        if let Some(overlay) = &*self.overlay.borrow() {
            command.arg("-ivfsoverlay").arg(overlay);
        }
        if let Some(folder) = &self.dependencies {
            let list = folder.join(format!("{}.d", self.listed.replace(self.listed.get() + 1)));
            command.arg("-MMD").arg("-MF").arg(list);
        }
        command
    }

    /// Prepares what a source needs besides its object.
    pub(super) fn prepare(&self, source: &Path) -> Result<(), Failure> {
        libraries::prepare(&self.toolkit, &self.program, source)
    }

    /// The link command, up to the objects.
    pub(super) fn link(&self, options: &Options) -> Result<Command, Failure> {
        let mut command = self.plain();
        if options.mode.is_verbose {
            command.arg("-v");
        }
        if options.is_shared {
            command.arg("-shared");
        }
        Ok(command)
    }

    /// Adds the link's libraries, and runs it.
    pub(super) fn finish_link(
        &self,
        options: &Options,
        mut command: Command,
    ) -> Result<u8, Failure> {
        let folder = library().ok_or_else(|| {
            Failure::new(
                "libdslcrt.so is not in the folder of dslc: build it with `cargo build --release -p dslc-native`, or set DSLC_LIB to its folder",
            )
        })?;
        for word in &options.clang.linking {
            // A folder given with `-L` may contain NVIDIA's toolkit.
            match word.strip_prefix("-l").and_then(libraries::source) {
                Some(library) => {
                    command.arg(libraries::archive(&self.toolkit, &self.program, library)?)
                }
                None => command.arg(word),
            };
        }
        if options.is_static {
            command.arg(folder.join("libdslcrt.a"));
        } else {
            let mut place = OsStr::new("-L").to_owned();
            place.push(self.toolkit.join("lib64"));
            command.arg(place).arg("-ldslcrt");
            let mut path = OsStr::new("-Wl,-rpath,").to_owned();
            path.push(&folder);
            command.arg(path);
        }
        command.args([
            "-lpthread",
            "-ldl",
            "-lm",
            "-Wno-unused-command-line-argument",
        ]);
        status(&mut command)
    }

    /// The output of `nvcc -v`: build systems read from it where the toolkit is, the default architecture, and how programs are linked.
    pub(super) fn steps(&self, options: &Options) -> String {
        let top = self.toolkit.display();
        let arch = options.arch.unwrap_or(super::device::DEFAULT_ARCH);
        format!(
            "#$ _HERE_={top}/bin\n#$ TOP={top}\n#$ PATH={top}/bin:{}\n#$ INCLUDES=\"-I{top}/include\"\n\
             #$ LIBRARIES=  \"-L{top}/lib64\"\n#$ SYSTEM_INCLUDES=\n#$ CUDAFE_FLAGS=\n#$ PTXAS_FLAGS=\n#$ host and device code\n\
             #$ cicc -arch compute_{arch} -o a.ptx\n#$ {top}/bin/nvcc \"-L{top}/lib64\" -lcudart -o a.out\n",
            env::var("PATH").unwrap_or_default()
        )
    }
}

/// The path of `libdslcrt`: next to this program, in the `lib` next to its folder, or the path in `DSLC_LIB`.
pub(crate) fn library() -> Option<PathBuf> {
    let program = env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent);
    let folders = [
        env::var_os("DSLC_LIB").map(PathBuf::from),
        beside.map(Path::to_path_buf),
        beside.map(|folder| folder.join("../lib")),
        beside.map(|folder| folder.join("deps")),
    ];
    let mut folders = folders.into_iter().flatten();
    folders.find(|folder| folder.join("libdslcrt.so").exists())
}

/// The path of the program with this name, if it is in `PATH`.
pub(super) fn in_path(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let mut found = env::split_paths(&folders).map(|folder| folder.join(name));
    found.find(|path| path.is_file())
}

/// Runs a command; returns its exit code.
pub(crate) fn status(command: &mut Command) -> Result<u8, Failure> {
    let program = command.get_program().display().to_string();
    let status = command
        .status()
        .map_err(|why| Failure::new(format!("cannot run `{program}`: {}", reason(&why))))?;
    Ok(code_of(status))
}

/// The exit code of a process, as a shell gives it.
pub(crate) fn code_of(status: ExitStatus) -> u8 {
    match status.code() {
        Some(0) => 0,
        Some(code) => u8::try_from(code).unwrap_or(1).max(1),
        // As a shell gives it for a program that a signal ended.
        #[cfg(not(unix))]
        None => 1,
        #[cfg(unix)]
        None => std::os::unix::process::ExitStatusExt::signal(&status)
            .and_then(|signal| u8::try_from(128 + signal).ok())
            .unwrap_or(1),
    }
}
