//! Links a release's programs with one copy of identical functions. Sets the commit that a release is made from.

use std::{env, path::Path, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if is_release() && has_own_linker() {
        // Many functions of LLVM, and of generic code, have identical code: keep one copy.
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    }
    println!("cargo:rustc-env=DSLC_VERSION={}", version());
}

fn is_release() -> bool {
    env::var("PROFILE").as_deref() == Ok("release")
}

/// Whether programs are linked with the lld that comes with Rust: the rule for x86-64 Linux since 1.90, unless flags say otherwise.
fn has_own_linker() -> bool {
    const TARGET: &str = "x86_64-unknown-linux-gnu";
    println!("cargo:rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    if env::var("TARGET").as_deref() != Ok(TARGET) || flags.contains("link") {
        return false;
    }
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let sysroot = Command::new(rustc).args(["--print", "sysroot"]).output();
    let sysroot = sysroot
        .ok()
        .and_then(|out| String::from_utf8(out.stdout).ok());
    sysroot.is_some_and(|sysroot| {
        Path::new(sysroot.trim())
            .join(format!("lib/rustlib/{TARGET}/bin/gcc-ld/ld.lld"))
            .is_file()
    })
}

/// The version, with the commit in a release build. Other builds omit it: otherwise every commit would compile them again, and builds in
/// between have changes that are in no commit.
fn version() -> String {
    let plain = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    match is_release().then(commit).flatten() {
        Some(commit) => format!("{plain} ({commit})"),
        None => plain,
    }
}

/// The short hash and the date of the commit, if this folder is a repository's root. A package from a registry, or one that is unpacked
/// inside another repository, has none.
fn commit() -> Option<String> {
    let root = env::var("CARGO_MANIFEST_DIR").ok()?;
    let found = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&found).canonicalize().ok()? != Path::new(&root).canonicalize().ok()? {
        return None;
    }
    // HEAD changes at a checkout, the branch's file at a commit. A branch without one is in `packed-refs`, and its next commit is
    // seen in HEAD's log.
    let is_watched = |name: &str| {
        let path = git(&["rev-parse", "--git-path", name]);
        let path = path.filter(|path| Path::new(path).is_file());
        if let Some(path) = &path {
            println!("cargo:rerun-if-changed={path}");
        }
        path.is_some()
    };
    is_watched("HEAD");
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    if branch.is_some_and(|branch| !is_watched(&branch)) {
        is_watched("logs/HEAD");
    }
    git(&["log", "-1", "--format=%h %cs", "--abbrev=10"])
}

/// The output of git, if git is installed and succeeds.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_string())
}
