//! Embeds PTX in the kernels. With `DSLC_BENCH_WITHOUT_PTX=1` it does not, to test the message about missing PTX.

fn main() {
    println!("cargo::rerun-if-env-changed=DSLC_BENCH_WITHOUT_PTX");
    if std::env::var_os("DSLC_BENCH_WITHOUT_PTX").is_none() {
        dslc_build::embed_ptx(&["sm_75", "sm_90"]);
    }
}
