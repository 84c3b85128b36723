//! Has the kernels carry PTX: with `DSLC_BENCH_WITHOUT_PTX=1` they do not, to see what is said then.

fn main() {
    println!("cargo::rerun-if-env-changed=DSLC_BENCH_WITHOUT_PTX");
    if std::env::var_os("DSLC_BENCH_WITHOUT_PTX").is_none() {
        dslc_build::embed_ptx(&["sm_75", "sm_90"]);
    }
}
