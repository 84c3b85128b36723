//! Embeds PTX in the kernels of a program, so that it runs on NVIDIA GPUs without LLVM.
//!
//! A build script asks for it:
//!
//! ```no_run
//! // in `main` of build.rs
//! dslc_build::embed_ptx(&["sm_80", "sm_90"]);
//! ```
//!
//! From then on `kernel!` and `include_kernel!` of the package have the command `dslc` compile their kernels, and the generated
//! modules contain the PTX. A GPU runs the newest of it that is not newer than itself, so `sm_75` alone serves every GPU since Turing. The
//! command is the one that the variable `DSLC` names, or the one in `PATH` (the package `dslc-cli`, which contains LLVM). If there is none,
//! or it has another version than this crate, the build continues with a warning, and a launch on a GPU reports what is missing.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// Environment variables of the compiler that pass the request to the macros.
const ARCHS: &str = "DSLC_EMBED_PTX";
const TOOL: &str = "DSLC_EMBED_TOOL";

/// Makes the package's kernels contain PTX for these architectures. Call it from the package's build script.
#[expect(
    clippy::print_stdout,
    reason = "a build script speaks to cargo through its output"
)]
pub fn embed_ptx(archs: &[&str]) {
    println!("cargo::rerun-if-env-changed=DSLC");
    println!("cargo::rerun-if-env-changed=PATH");
    match tool() {
        Ok(tool) => {
            println!("cargo::rustc-env={ARCHS}={}", archs.join(","));
            println!("cargo::rustc-env={TOOL}={}", tool.display());
            println!("cargo::rerun-if-changed={}", tool.display());
        }
        Err(why) => println!(
            "cargo::warning=kernels get no PTX, so that they run in the simulator only: {why}"
        ),
    }
}

/// The command to use, or why there is none.
fn tool() -> Result<PathBuf, String> {
    let named = env::var_os("DSLC").map(PathBuf::from);
    let found = named.or_else(|| in_path("dslc")).ok_or(
        "there is no command `dslc` in PATH, nor does the variable DSLC name one (it is the package `dslc-cli`)",
    )?;
    let shown = found.display();
    let output = Command::new(&found)
        .arg("--version")
        .output()
        .map_err(|why| format!("`{shown}` does not start: {why}"))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let wanted = env!("CARGO_PKG_VERSION");
    // A release prints its commit after the version.
    match printed.split_whitespace().nth(1) {
        Some(version) if version == wanted => Ok(found),
        _ => Err(format!(
            "`{shown}` is not of this version ({wanted}): it says `{}`",
            printed.trim()
        )),
    }
}

fn in_path(name: &str) -> Option<PathBuf> {
    let name = format!("{name}{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder: PathBuf| folder.join(&name))
        .find(|candidate: &PathBuf| Path::is_file(candidate))
}
