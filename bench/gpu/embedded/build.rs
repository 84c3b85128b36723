//! Adds PTX to the kernels. With `DSLC_BENCH_WITHOUT_PTX=1` it does not, to show the resulting message.

fn main() {
    println!("cargo::rerun-if-env-changed=DSLC_BENCH_WITHOUT_PTX");
    if std::env::var_os("DSLC_BENCH_WITHOUT_PTX").is_none() {
        dslc_build::embed_ptx(&["sm_75", "sm_90"]);
    }
}
