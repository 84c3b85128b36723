//! Links the program at a fixed address where that saves time.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}"));
    // LLVM has 50,000 pointers in its tables. In a program that may lie anywhere the system writes each of them at every start: a
    // millisecond and a half of the six that a small run takes.
    let has_llvm = std::env::var_os("CARGO_FEATURE_PTX").is_some();
    let on_linux = target("OS").as_deref() == Ok("linux") && target("ENV").as_deref() == Ok("gnu");
    if has_llvm && on_linux {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
