#!/usr/bin/env bash
# The Rust library on an NVIDIA GPU and on the simulator: the package's GPU tests with LLVM, and a program without LLVM whose kernels
# contain PTX (and the same without PTX, which has to say what is missing).
#
#     bench/gpu/embedded.sh            builds and runs
#     bench/gpu/embedded.sh FOLDER     only builds, and puts the programs there: for a machine that has a GPU but no Rust; FOLDER/run runs them
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
cd "$root"

cargo build --release --locked -p dslc-cli
export DSLC=$root/target/release/dslc
for test in it gpu_fault; do
    cargo test --release --locked -p dslc --features ptx --no-run --test $test --message-format json |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1 | xargs -I{} strip -o "$folder/$test" {}
done
cp Cargo.lock bench/gpu/embedded/Cargo.lock
target=$root/target/embedded
cargo build --release --manifest-path bench/gpu/embedded/Cargo.toml --target-dir "$target"
cp "$target/release/embedded" "$folder/embedded"
DSLC_BENCH_WITHOUT_PTX=1 cargo build --release --manifest-path bench/gpu/embedded/Cargo.toml --target-dir "$target"
cp "$target/release/embedded" "$folder/without_ptx"

cat > "$folder/run" <<'END'
#!/usr/bin/env bash
cd "$(dirname "$0")"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
failed=0
./embedded || failed=1
./without_ptx && failed=1
./it gpu:: || failed=1
./gpu_fault || failed=1
exit $failed
END
chmod +x "$folder/run"
[ $# -gt 0 ] || "$folder/run"
