//! Parses nvcc's command line. Options that have no meaning here are accepted. An unsupported option that would change what a program
//! computes is an error.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, reason};

/// What to make.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Stage {
    /// `-E`.
    Preprocess,
    /// `-c`, `-dc`.
    Object,
    /// `-lib`.
    Library,
    /// `-dlink`.
    DeviceLink,
    /// `-ptx`, `-cubin`, `-fatbin`: only the kernels.
    Kernels(KernelFile),
    #[default]
    Program,
}

/// A file of kernels that a program loads itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KernelFile {
    Ptx,
    Cubin,
    Fatbin,
}

impl KernelFile {
    /// The file name's ending.
    pub(super) fn ending(self) -> &'static str {
        match self {
            KernelFile::Ptx => "ptx",
            KernelFile::Cubin => "cubin",
            KernelFile::Fatbin => "fatbin",
        }
    }
}

/// The kind of an input file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Cuda,
    C,
    Cpp,
    /// Objects and libraries.
    Linked,
}

impl Kind {
    pub(super) fn is_source(self) -> bool {
        self != Kind::Linked
    }

    fn of(path: &Path) -> Kind {
        match path.extension().and_then(|end| end.to_str()) {
            Some("cu" | "k") => Kind::Cuda,
            Some("c") => Kind::C,
            Some("cpp" | "cc" | "cxx" | "C" | "c++") => Kind::Cpp,
            _ => Kind::Linked,
        }
    }
}

/// A file of the command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Given {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
}

/// Words that go to clang unchanged.
#[derive(Debug, Default)]
pub(super) struct ClangWords {
    /// `-D` and `-U`, in order.
    pub(super) macros: Vec<String>,
    /// Words for compiling.
    pub(super) compiling: Vec<String>,
    /// Words for linking: libraries come after the objects.
    pub(super) linking: Vec<String>,
}

/// What is done besides compiling, or instead of it.
#[derive(Debug, Default)]
pub(super) struct Mode {
    pub(super) says_version: bool,
    pub(super) is_dry: bool,
    pub(super) is_verbose: bool,
    pub(super) runs: bool,
}

/// The parsed command line.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) stage: Stage,
    pub(super) inputs: Vec<Given>,
    pub(super) output: Option<PathBuf>,
    /// The folder for objects without `-o`.
    pub(super) folder: PathBuf,
    pub(super) include: Vec<PathBuf>,
    pub(super) defines: Vec<(String, Option<String>)>,
    pub(super) clang: ClangWords,
    pub(super) language: Option<String>,
    pub(super) is_shared: bool,
    /// `-rdc=true`, `-dc`.
    pub(super) is_relocatable: bool,
    /// 80 for sm_80.
    pub(super) arch: Option<u32>,
    pub(super) contracts: bool,
    pub(super) mode: Mode,
    pub(super) is_static: bool,
    pub(super) remarks: Vec<String>,
}

/// Options with a value that have no meaning here.
const IGNORED_WITH_VALUE: &[&str] = &[
    "-Xptxas",
    "--ptxas-options",
    "-Xnvlink",
    "--nvlink-options",
    "-maxrregcount",
    "--maxrregcount",
    "-t",
    "--threads",
    "-ccbin",
    "--compiler-bindir",
    "-diag-suppress",
    "--diag-suppress",
    "-diag-error",
    "-diag-warn",
    "-Xcudafe",
    "--cudafe-options",
    "-Xfatbin",
    "-Xarchive",
    "-code",
    "--gpu-code",
    "-keep-dir",
    "--keep-dir",
    "-ldir",
    "-idp",
    "-ddp",
    "--split-compile",
    "-Xnvvm",
    "-objtemp",
    "--machine",
    "-target-dir",
    "--target-directory",
    "-default-stream",
    "--default-stream",
    "-ftz",
    "--ftz",
    "-prec-div",
    "--prec-div",
    "-prec-sqrt",
    "--prec-sqrt",
    "-nvccflags",
    "-opt-info",
    "--relocatable-ptx",
    "-brief-diagnostics",
];

/// Options without a value that have no meaning here.
const IGNORED: &[&str] = &[
    "-m64",
    "-w",
    "-keep",
    "--keep",
    "-lineinfo",
    "--generate-line-info",
    "-G",
    "--device-debug",
    "-res-usage",
    "--resource-usage",
    "--expt-relaxed-constexpr",
    "-expt-relaxed-constexpr",
    "--expt-extended-lambda",
    "-expt-extended-lambda",
    "--extended-lambda",
    "-extended-lambda",
    "-restrict",
    "--restrict",
    "-src-in-ptx",
    "-noeh",
    "--no-exceptions",
    "-dlto",
    "-dlink-time-opt",
    "-Wno-deprecated-gpu-targets",
    "-allow-unsupported-compiler",
    "--allow-unsupported-compiler",
    "-forward-unknown-to-host-compiler",
    "--forward-unknown-to-host-compiler",
    "-forward-unknown-opts",
    "-use-local-env",
    "-extra-device-vectorization",
    "-Wreorder",
    "-Wdefault-stream-launch",
    "-Wmissing-launch-bounds",
    "-Wext-lambda-captures-this",
    "-save-temps",
    "--save-temps",
    "-clean",
    "-nodlink",
    "-noprof",
    "--no-device-link",
    "-cudadevrt",
    "-no-compress",
];

impl Options {
    /// Whether no option says how to optimise or debug host code.
    pub(super) fn is_plain(&self) -> bool {
        let mut words = self.clang.compiling.iter();
        !words.any(|word| word.starts_with("-O") || word.starts_with("-g"))
    }

    /// Parses the words after `dslc nvcc`.
    pub(super) fn parse(words: &[String]) -> Result<Options, Failure> {
        let mut options = Options {
            contracts: true,
            ..Options::default()
        };
        let words = with_files(words)?;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            // `--option=value`, `-option=value`, `-option value`.
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) if name.starts_with('-') && !word.starts_with("-D") => {
                    (name, Some(value.to_string()))
                }
                _ => (word.as_str(), None),
            };
            let mut value = || {
                let next = joined.clone().or_else(|| words.next().cloned());
                next.ok_or_else(|| Failure::new(format!("nvcc: {name} needs a value")))
            };
            if IGNORED_WITH_VALUE.contains(&name) {
                value()?;
            } else if name == "-Werror" {
                if joined.is_none() {
                    words.next();
                }
            } else if !IGNORED.contains(&name)
                && !options.flag(name)?
                && !options.valued(name, &mut value)?
            {
                options.attached(word)?;
            }
        }
        if options.language.as_deref() == Some("cu") {
            for input in &mut options.inputs {
                if input.kind.is_source() {
                    input.kind = Kind::Cuda;
                }
            }
        }
        Ok(options)
    }

    /// Options without a value; `false` for others.
    fn flag(&mut self, name: &str) -> Result<bool, Failure> {
        match name {
            "-c" | "--compile" => self.stage = Stage::Object,
            "-dc" | "--device-c" => {
                self.stage = Stage::Object;
                self.is_relocatable = true;
            }
            "-dw" | "--device-w" => self.stage = Stage::Object,
            "-dlink" | "--device-link" => self.stage = Stage::DeviceLink,
            "-lib" | "--lib" => self.stage = Stage::Library,
            "-E" | "--preprocess" => self.stage = Stage::Preprocess,
            "-link" | "--link" => {}
            "-shared" | "--shared" => self.is_shared = true,
            "-use_fast_math" | "--use_fast_math" => self
                .remarks
                .push("-use_fast_math has no effect: kernels compute as without it".to_string()),
            "-M" | "-MM" | "-MD" | "-MMD" | "-MP" | "--generate-dependencies" => {
                self.clang.compiling.push(name.to_string());
            }
            "-g" | "--debug" | "-pg" => self.clang.compiling.push("-g".to_string()),
            "-V" | "--version" => self.mode.says_version = true,
            "-v" | "--verbose" => self.mode.is_verbose = true,
            "-dryrun" | "--dryrun" => {
                self.mode.is_dry = true;
                self.mode.is_verbose = true;
            }
            "-run" | "--run" => self.mode.runs = true,
            "-ptx" | "--ptx" => self.stage = Stage::Kernels(KernelFile::Ptx),
            "-cubin" | "--cubin" => self.stage = Stage::Kernels(KernelFile::Cubin),
            "-fatbin" | "--fatbin" => self.stage = Stage::Kernels(KernelFile::Fatbin),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Parses an option with a value, and asks for the value if the option has one; `false` for other options.
    fn valued(
        &mut self,
        name: &str,
        value: &mut dyn FnMut() -> Result<String, Failure>,
    ) -> Result<bool, Failure> {
        match name {
            "-rdc" | "--relocatable-device-code" => self.is_relocatable = value()? == "true",
            "-o" | "--output-file" => self.output = Some(value()?.into()),
            "-odir" | "--output-directory" => self.folder = value()?.into(),
            "-I" | "--include-path" => self.include.push(value()?.into()),
            "-isystem" | "--system-include" => {
                let folder = value()?;
                let words = ["-isystem".to_string(), folder.clone()];
                self.clang.compiling.extend(words);
                self.include.push(folder.into());
            }
            "-include" | "--pre-include" => {
                let words = ["-include".to_string(), value()?];
                self.clang.compiling.extend(words);
            }
            "-D" | "--define-macro" => self.define(&value()?),
            "-U" | "--undefine-macro" => self.undefine(&value()?),
            "-x" | "--x" => self.language = Some(value()?),
            "-std" | "--std" => self.clang.compiling.push(format!("-std={}", value()?)),
            "-arch" | "--gpu-architecture" => self.arch(&value()?),
            "-gencode" | "--generate-code" => {
                for part in value()?.split(',') {
                    self.arch(part.trim_start_matches("arch=").trim_start_matches("code="));
                }
            }
            "-fmad" | "--fmad" => self.contracts = value()? == "true",
            "-cudart" | "--cudart" => self.is_static = value()? == "static-library",
            "-Xcompiler" | "--compiler-options" => self.compiler(&value()?),
            "-Xlinker" | "--linker-options" => {
                for one in value()?.split(',') {
                    let words = ["-Xlinker".to_string(), one.to_string()];
                    self.clang.linking.extend(words);
                }
            }
            "-l" | "--library" => self.library(&value()?),
            "-L" | "--library-path" => self.clang.linking.push(format!("-L{}", value()?)),
            "-MF" | "-MT" | "-MQ" => {
                let words = [name.to_string(), value()?];
                self.clang.compiling.extend(words);
            }
            "-O" | "--optimize" => self.clang.compiling.push(format!("-O{}", value()?)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Parses an option whose value follows without a space, or a file.
    fn attached(&mut self, word: &str) -> Result<(), Failure> {
        let Some(letters) = word.strip_prefix('-') else {
            let path = PathBuf::from(word);
            let kind = match (self.language.as_deref(), Kind::of(&path)) {
                (Some("cu"), _) => Kind::Cuda,
                (Some("c"), _) => Kind::C,
                (Some("c++"), _) => Kind::Cpp,
                (_, kind) => kind,
            };
            self.inputs.push(Given { path, kind });
            return Ok(());
        };
        let (letter, rest) = letters.split_at(letters.len().min(1));
        match letter {
            "I" => self.include.push(rest.into()),
            "D" => self.define(rest),
            "U" => self.undefine(rest),
            "O" => self.clang.compiling.push(word.to_string()),
            "L" => self.clang.linking.push(word.to_string()),
            "l" => self.library(rest),
            "g" => self.clang.compiling.push("-g".to_string()),
            "W" => self.clang.compiling.push(word.to_string()),
            "f" | "m" => {
                self.clang.compiling.push(word.to_string());
                self.clang.linking.push(word.to_string());
            }
            _ if word == "-pthread" => self.clang.linking.push(word.to_string()),
            _ => return Err(Failure::new(format!("nvcc: unknown option {word}"))),
        }
        Ok(())
    }

    fn define(&mut self, text: &str) {
        self.clang.macros.push(format!("-D{text}"));
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (text, None),
        };
        self.defines.push((name.to_string(), value));
    }

    fn undefine(&mut self, name: &str) {
        self.clang.macros.push(format!("-U{name}"));
        self.defines.retain(|(known, _)| known != name);
    }

    /// `sm_80`, `compute_80`, `80`; others (`native`, `all`) leave the default.
    fn arch(&mut self, text: &str) {
        let name = text
            .trim_start_matches("sm_")
            .trim_start_matches("compute_");
        let name = name.trim_end_matches(['a', 'f']);
        if let Ok(number) = name.parse() {
            self.arch = Some(self.arch.map_or(number, |known| known.max(number)));
        }
    }

    /// `-Xcompiler -O3,-Wall`, `-Xcompiler "-O3 -Wall"`.
    fn compiler(&mut self, all: &str) {
        let words = all.split([',', ' ']).filter(|word| !word.is_empty());
        for word in words.map(|word| word.trim_matches(['"', '\''])) {
            if let Some(name) = word.strip_prefix("-D") {
                self.define(name);
            } else if let Some(name) = word.strip_prefix("-l") {
                self.library(name);
            } else if ["-Wl", "-L", "-rdynamic"]
                .iter()
                .any(|start| word.starts_with(start))
            {
                self.clang.linking.push(word.to_string());
            } else {
                self.clang.compiling.push(word.to_string());
                if word.starts_with("-f") || word.starts_with("-m") || word == "-pthread" {
                    self.clang.linking.push(word.to_string());
                }
            }
        }
    }

    /// Skips CUDA's own runtime, which dslc replaces, and GCC's OpenMP, which would conflict with clang's: clang's has GCC's functions,
    /// too.
    fn library(&mut self, name: &str) {
        let ours = [
            "cudart",
            "cudart_static",
            "cudadevrt",
            "nvToolsExt",
            "culibos",
        ];
        let name = match name {
            // dslc's cuBLAS archive has the functions of both.
            "cublas_static" | "cublasLt" | "cublasLt_static" => "cublas",
            "cufft_static" | "cufft_static_nocallback" => "cufft",
            "curand_static" => "curand",
            "cusparse_static" => "cusparse",
            "cusolver_static" => "cusolver",
            other => other,
        };
        if name == "gomp" {
            self.clang.linking.push("-fopenmp".to_string());
        } else if !ours.contains(&name) {
            self.clang.linking.push(format!("-l{name}"));
        }
    }
}

/// The words, where the content of a file replaces `--options-file FILE` and `@FILE`.
fn with_files(words: &[String]) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let file = match word.split_once('=') {
            Some(("--options-file" | "-optf", file)) => file.to_string(),
            None if word == "--options-file" || word == "-optf" => {
                words.next().cloned().unwrap_or_default()
            }
            // `@FILE`, as in other compilers.
            None if word.starts_with('@') => word[1..].to_string(),
            _ => {
                all.push(word.clone());
                continue;
            }
        };
        for file in file.split(',') {
            let text = std::fs::read_to_string(file)
                .map_err(|why| Failure::new(format!("cannot read `{file}`: {}", reason(&why))))?;
            all.extend(split(&text));
        }
    }
    Ok(all)
}

/// A text's words; quotes keep spaces.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            c if c.is_whitespace() && !is_quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Options {
        let words: Vec<String> = text.split(' ').map(str::to_string).collect();
        Options::parse(&words).unwrap()
    }

    #[test]
    fn a_line_of_a_makefile() {
        let options = parse(
            "-O3 -std=c++17 -arch=sm_80 -gencode arch=compute_90,code=sm_90 -Xcompiler -Wall,-fPIC -I../common -DN=4 -D M -lm -lcudart \
             -Xptxas -v --use_fast_math -o prog main.cu util.cpp lib.a",
        );
        assert_eq!(options.stage, Stage::Program);
        assert_eq!(options.output, Some("prog".into()));
        assert_eq!(options.arch, Some(90));
        assert_eq!(options.include, [PathBuf::from("../common")]);
        assert_eq!(options.clang.macros, ["-DN=4", "-DM"]);
        assert_eq!(
            options.clang.compiling,
            ["-O3", "-std=c++17", "-Wall", "-fPIC"]
        );
        assert_eq!(options.clang.linking, ["-fPIC", "-lm"]);
        let kinds: Vec<Kind> = options.inputs.iter().map(|input| input.kind).collect();
        assert_eq!(kinds, [Kind::Cuda, Kind::Cpp, Kind::Linked]);
        assert_eq!(options.remarks.len(), 1);
    }

    #[test]
    fn one_openmp() {
        let options = parse("-Xcompiler -fopenmp main.cu -lgomp");
        assert_eq!(options.clang.linking, ["-fopenmp", "-fopenmp"]);
        let options = parse("-Xcompiler -fopenmp,-lgomp,-lcudart main.cu");
        assert_eq!(options.clang.linking, ["-fopenmp", "-fopenmp"]);
    }

    #[test]
    fn libraries_of_cuda() {
        let options =
            parse("main.cu -lcublas -lcublasLt -lcurand_static -lculibos -lcudart -lcudadevrt -lz");
        // dslc's cuBLAS has cuBLASLt's functions, too.
        let linked = ["-lcublas", "-lcublas", "-lcurand", "-lz"];
        assert_eq!(options.clang.linking, linked);
    }

    #[test]
    fn separate_compilation() {
        let options = parse("-dc -x cu kernels.cpp -o kernels.o");
        assert_eq!(
            (options.stage, options.is_relocatable),
            (Stage::Object, true)
        );
        assert_eq!(options.inputs[0].kind, Kind::Cuda);
        assert_eq!(parse("-rdc=true a.cu").stage, Stage::Program);
        assert_eq!(parse("-dlink a.o b.o -o link.o").stage, Stage::DeviceLink);
    }

    #[test]
    fn an_unknown_option_is_an_error() {
        let words = ["--nonsense".to_string()];
        assert!(Options::parse(&words).is_err());
    }
}
