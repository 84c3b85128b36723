//! Sets `each_loop_whole` in optimised builds (`OPT_LEVEL` above 1): see `machine/ops/lanes.rs`.

#![allow(
    clippy::disallowed_methods,
    reason = "cargo answers in the environment"
)]

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(each_loop_whole)");
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    if !matches!(level.as_str(), "0" | "1") {
        println!("cargo:rustc-cfg=each_loop_whole");
    }
}
