//! Changes a command line before it is parsed.

use std::{ffi::OsString, path::PathBuf};

use clap::ValueEnum;

use super::Launches;

/// Adds the value of `--launches` where the next word is not one: in `--launches a.k` that word is the program.
pub(crate) fn with_values(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = vec![];
    for arg in args {
        let is_value = arg
            .to_str()
            .is_some_and(|arg| Launches::from_str(arg, true).is_ok());
        let is_open = all.last().is_some_and(|last| last == "--launches");
        if is_open && !is_value && !all.iter().any(|arg| arg == "--") {
            all.pop();
            all.push("--launches=folded".into());
        }
        all.push(arg);
    }
    all
}

/// Changes a command line under the name `nvcc`, which a link may give the program, to one of `dslc nvcc`.
pub(crate) fn as_dslc(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    let name = args.first().map(PathBuf::from);
    let is_nvcc = name.is_some_and(|name| name.file_name().is_some_and(|name| name == "nvcc"));
    if is_nvcc {
        args.insert(1, "nvcc".into());
    }
    args
}

/// Commands that accept programs as nvcc does.
const OF_PROGRAMS: [&str; 7] = ["run", "check", "fix", "ir", "ptx", "compare", "verify"];

/// Options of nvcc that have no meaning here and are left out, with the next word or the part after `=`.
const WITH_VALUE: [&str; 12] = [
    "--ptxas-options",
    "--compiler-options",
    "-gencode",
    "--generate-code",
    "-Xcompiler",
    "-Xptxas",
    "-Xlinker",
    "-Xcudafe",
    "-ccbin",
    "-Werror",
    "--Werror",
    "-maxrregcount",
];

/// Options of nvcc that have no meaning here and are left out.
const WITHOUT_MEANING: [&str; 22] = [
    "-g",
    "--debug",
    "-v",
    "--verbose",
    "-use_fast_math",
    "--use_fast_math",
    "-keep",
    "--keep",
    "-rdc=true",
    "-rdc=false",
    "-c",
    "-dc",
    "-lineinfo",
    "--generate-line-info",
    "-G",
    "--device-debug",
    "-m64",
    "-w",
    "--expt-relaxed-constexpr",
    "-expt-relaxed-constexpr",
    "--extended-lambda",
    "-extended-lambda",
];

/// Converts nvcc's options: `-arch=sm_90` becomes `--arch sm_90`; `-lineinfo` has no meaning here. Words after `--`
/// belong to the program.
pub(crate) fn without_nvcc(args: Vec<OsString>) -> Vec<OsString> {
    let is_of_program = |arg: &OsString| OF_PROGRAMS.iter().any(|command| arg == command);
    if !args.get(1).is_some_and(is_of_program) {
        return args;
    }
    let takes_standard = args.get(1).is_none_or(|command| command != "compare");
    let mut all: Vec<OsString> = vec![];
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            all.push(arg);
            all.extend(args);
            break;
        }
        let text = arg.to_str().unwrap_or_default();
        let architecture = ["-arch=", "--gpu-architecture="];
        if let Some(sm) = architecture
            .iter()
            .find_map(|start| text.strip_prefix(start))
        {
            all.extend(["--arch".into(), sm.into()]);
        } else if text == "-arch" {
            all.push("--arch".into());
        } else if let Some(standard) = standard(text).filter(|_| takes_standard) {
            all.extend(["--std".into(), standard.into()]);
        } else if WITH_VALUE.contains(&text) {
            args.next();
        } else if !is_without_meaning(text) {
            all.push(arg);
        }
    }
    all
}

/// `c++20` of `-std=c++20`. clang may compile parts of the program.
fn standard(text: &str) -> Option<&str> {
    let words = ["-std=", "--std="];
    words.iter().find_map(|word| text.strip_prefix(word))
}

fn is_without_meaning(text: &str) -> bool {
    let name = text.split_once('=').map(|(name, _)| name);
    matches!(name, Some("-std" | "--std"))
        || name.is_some_and(|name| WITH_VALUE.contains(&name))
        || WITHOUT_MEANING.contains(&text)
}

/// Changes `dslc help run` to `dslc run --help`.
pub(crate) fn with_help(mut args: Vec<OsString>) -> Vec<OsString> {
    if args.get(1).is_some_and(|arg| arg == "help") {
        args.remove(1);
        args.push("--help".into());
    }
    args
}

/// Whether the command line is `run --metrics list`, possibly with other words.
pub(crate) fn lists_metrics(args: impl Iterator<Item = OsString>) -> bool {
    let args: Vec<OsString> = args.skip(1).take_while(|arg| arg != "--").collect();
    let is_run = args.iter().any(|arg| arg == "run");
    let mut pairs = args.windows(2);
    is_run
        && (args.iter().any(|arg| arg == "--metrics=list")
            || pairs.any(|pair| pair[0] == "--metrics" && pair[1] == "list"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(line: &str) -> String {
        let args = line.split(' ').map(OsString::from).collect();
        let all = without_nvcc(args);
        let all: Vec<_> = all.iter().map(|arg| arg.to_string_lossy()).collect();
        all.join(" ")
    }

    #[test]
    fn options_of_nvcc_are_taken_as_it_takes_them() {
        for (given, meant) in [
            ("dslc run -arch=sm_90 a.cu", "dslc run --arch sm_90 a.cu"),
            ("dslc run -arch sm_80 a.cu", "dslc run --arch sm_80 a.cu"),
            (
                "dslc fix --gpu-architecture=compute_70 a.cu",
                "dslc fix --arch compute_70 a.cu",
            ),
            (
                "dslc run -std=c++17 -lineinfo -G a.cu",
                "dslc run --std c++17 a.cu",
            ),
            (
                "dslc compare -std=c++17 a.cu b.cu",
                "dslc compare a.cu b.cu",
            ),
            (
                "dslc run -gencode arch=compute_80,code=sm_80 -Xptxas=-v -Xcompiler -Wall --use_fast_math a.cu",
                "dslc run a.cu",
            ),
            (
                "dslc run -O3 a.cu -- -arch=x -G",
                "dslc run -O3 a.cu -- -arch=x -G",
            ),
            (
                "dslc nvcc -std=c++17 -arch=sm_90 a.cu",
                "dslc nvcc -std=c++17 -arch=sm_90 a.cu",
            ),
        ] {
            assert_eq!(here(given), meant);
        }
    }
}
