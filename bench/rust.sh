#!/usr/bin/env bash
# The cost of the Rust library for its users: `cargo check` of a fresh project with one kernel (cold, and after an edit), with ten and
# with forty kernels after an edit of one, and the size of a program, release and stripped. Wall-clock seconds, in this order of builds;
# ROUNDS=3 of each edit.
#
#     bench/rust.sh [FOLDER]       the project is made in FOLDER, a temporary one without it
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$(mktemp -d)}
rounds=${ROUNDS:-3}
export CARGO_TARGET_DIR=$folder/target CARGO_TERM_QUIET=true

# A project with N different kernels in N modules. $2: a number in the first of them, the edit.
project() {
    mkdir -p "$folder/src"
    cat > "$folder/Cargo.toml" <<END
[package]
name = "cost"
version = "0.1.0"
edition = "2024"

[workspace]

[dependencies]
dslc = { path = "$root/dslc" }

[profile.release]
strip = true
END
    {
        for k in $(seq "$1"); do
            local factor=$k
            [ "$k" = 1 ] && factor=$2
            cat <<END
dslc::kernel! { mod k$k {
    __global__ void saxpy(float a, const float *x, float *y, int n)
    {
        __shared__ float tile[32][33];
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        tile[threadIdx.x % 32][threadIdx.x / 32] = x[i];
        __syncthreads();
        if (i < n) y[i] = a * $factor.0f * tile[threadIdx.x % 32][0] + expf(y[i]);
    }
} }
END
        done
        cat <<'END'
fn main() -> dslc::Result<()> {
    let device = dslc::Device::simulator(dslc::Arch::SM_90)?;
    let x = device.buffer(&[1.0f32; 1024])?;
    let mut y = device.zeroed::<f32>(1024)?;
    let run = k1::load(&device)?.saxpy(dslc::Grid::cover(1024, 256), 2.0, &x, &mut y, 1024)?;
    print!("{run}");
    Ok(())
}
END
    } > "$folder/src/main.rs"
}

seconds() {
    local start end
    start=$(date +%s.%N)
    "$@"
    end=$(date +%s.%N)
    echo "$end $start" | awk '{ printf "%.2f", $1 - $2 }'
}

check() { cargo check --manifest-path "$folder/Cargo.toml"; }

printf 'dslc %s, %s, %s cores\n' "$(git -C "$root" rev-parse --short HEAD)" "$(rustc --version)" "$(nproc)"
rm -rf "$folder/target"
project 1 1
cp "$root/Cargo.lock" "$folder/Cargo.lock"
cargo fetch --manifest-path "$folder/Cargo.toml"
printf 'cargo check, one kernel, cold: %s\n' "$(seconds check)"
edit=2
for kernels in 1 10 40; do
    project $kernels $edit
    check
    printf 'cargo check, %s kernels, one edited:' $kernels
    for _ in $(seq "$rounds"); do
        edit=$((edit + 1))
        project $kernels $edit
        printf ' %s' "$(seconds check)"
    done
    printf '\n'
done
project 1 1
printf 'cargo build --release, one kernel, cold: %s\n' "$(seconds cargo build --release --manifest-path "$folder/Cargo.toml")"
printf 'the program, release and stripped: %s bytes\n' "$(stat -c %s "$folder/target/release/cost")"
