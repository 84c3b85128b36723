//! `dslc doctor`: which tools are here, and what that allows.

use std::{env, fmt::Write, path::PathBuf, process::Command};

use crate::{failure::Failure, output};

pub(crate) fn run() -> Result<u8, Failure> {
    let mut text = String::new();
    let mut row = |what: &str, found: Option<String>, allows: &str| {
        let mark = if found.is_some() { "yes" } else { "no " };
        let _ = writeln!(
            text,
            "{mark}  {what:<14} {}",
            found.unwrap_or_else(|| "not found".to_string())
        );
        let _ = writeln!(text, "     {:<14} {allows}", "");
    };
    row(
        "simulator",
        Some(format!("dslc {}", env!("CARGO_PKG_VERSION"))),
        "`dslc run` works on any machine",
    );
    row("PTX back end", back_end(), back_end_allows());
    row(
        "GPU driver",
        driver(),
        "running on a GPU is not part of this version",
    );
    row(
        "ptxas",
        tool("ptxas", "--version"),
        "would assemble PTX to machine code; tests use it",
    );
    row(
        "ncu",
        tool("ncu", "--version"),
        "would read the hardware's own counters",
    );
    output::out(text.as_bytes());
    Ok(0)
}

/// LLVM, which is part of the program or not.
fn back_end() -> Option<String> {
    #[cfg(feature = "ptx")]
    return Some(format!("LLVM {}", codegen_ptx::llvm_version()));
    #[cfg(not(feature = "ptx"))]
    None
}

fn back_end_allows() -> &'static str {
    if cfg!(feature = "ptx") {
        "`dslc ptx` works; it needs no GPU"
    } else {
        "`dslc ptx` is left out of this build (the feature `ptx`)"
    }
}

/// The driver's library, where the system's loader looks for it.
fn driver() -> Option<String> {
    let folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/local/nvidia/lib64",
        "/usr/lib/wsl/lib",
    ];
    let paths = folders
        .iter()
        .map(|folder| PathBuf::from(folder).join("libcuda.so.1"));
    paths
        .into_iter()
        .find(|path| path.exists())
        .map(|path| path.display().to_string())
}

/// Where a tool is, with the last line of what it says of its version.
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
