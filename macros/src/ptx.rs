//! PTX for the kernels, if the package's build script requested it (the crate `dslc-build`).

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use bind::PtxText;
use ir::source::fingerprint;

/// Set by the build script: the architectures, and the command `dslc`.
const ARCHS: &str = "DSLC_EMBED_PTX";
const TOOL: &str = "DSLC_EMBED_TOOL";

/// PTX of this IR for each requested architecture; compiled once, and cached in the package's output folder.
pub(crate) fn embedded(ir: &str) -> Result<Vec<PtxText>, String> {
    let (Ok(archs), Ok(tool), Some(folder)) = (
        env::var(ARCHS),
        env::var(TOOL),
        env::var_os("OUT_DIR").map(PathBuf::from),
    ) else {
        return Ok(Vec::new());
    };
    let archs = archs
        .split(',')
        .map(str::trim)
        .filter(|arch| !arch.is_empty());
    archs.map(|arch| one(ir, arch, &tool, &folder)).collect()
}

fn one(ir: &str, arch: &str, tool: &str, folder: &Path) -> Result<PtxText, String> {
    let number = arch.trim_start_matches("sm_");
    let sm = number.parse().map_err(|_| {
        format!("`{arch}` is no architecture: the build script asks for PTX as `sm_80`")
    })?;
    let name = format!("kernels-{:016x}", fingerprint(ir.as_bytes()));
    let source = folder.join(format!("{name}.ir"));
    let target = folder.join(format!("{name}.{arch}.ptx"));
    if !target.is_file() {
        // Written under another name first, so that an interrupted build leaves no partial file.
        let partial = folder.join(format!("{name}.{arch}.{}.part", std::process::id()));
        let failed =
            |why: std::io::Error| format!("cannot make PTX in `{}`: {why}", folder.display());
        fs::write(&source, ir).map_err(failed)?;
        let output = Command::new(tool)
            .arg("ptx")
            .arg(&source)
            .args(["--arch", arch, "-o"])
            .arg(&partial)
            .output()
            .map_err(|why| format!("`{tool}` does not start: {why}"))?;
        if !output.status.success() {
            let printed = String::from_utf8_lossy(&output.stderr);
            return Err(format!(
                "`{tool} ptx --arch {arch}` failed: {}",
                printed.trim()
            ));
        }
        fs::rename(&partial, &target).map_err(failed)?;
    }
    Ok(PtxText {
        sm,
        expression: format!("::core::include_str!({:?})", target.display().to_string()),
    })
}
