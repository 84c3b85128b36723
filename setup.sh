#!/usr/bin/env bash
# Installs the missing tools for building dslc: a C linker, a Rust toolchain, LLVM 22; and ptxas, which tests use. Safe to run again, and
# quick if nothing is missing. DSLC_WITHOUT_CLANG=1 omits clang (which `dslc nvcc` needs), OpenBLAS and FFTW. DSLC_WITHOUT_LLVM=1 omits
# both: `cargo build --no-default-features` needs neither.
set -euo pipefail
cd "$(dirname "$0")"

say() { printf 'setup: %s\n' "$*" >&2; }
has() { command -v "$1" >/dev/null 2>&1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif has sudo; then
        sudo "$@"
    else
        say "this needs root: $*"
        exit 1
    fi
}

# Rust's own tools are found even if the shell was started before they were installed.
cargo_home=${CARGO_HOME:-$HOME/.cargo}
export PATH="$PATH:$cargo_home/bin"

# The tests look for ptxas here if it is not in PATH.
ptxas_folder=target/ptxas

packages=()
wants_llvm=1
[ "${DSLC_WITHOUT_LLVM:-0}" = 0 ] || wants_llvm=0
if [ $wants_llvm = 1 ]; then
    # The static libraries, and the libraries that they are linked with.
    llvm_config=$(command -v llvm-config-22 || true)
    [ -n "$llvm_config" ] && "$llvm_config" --link-static --libs core >/dev/null 2>&1 || packages+=(llvm-22-dev libpolly-22-dev)
    # `dslc nvcc` compiles host code with it; everything else works without.
    if [ "${DSLC_WITHOUT_CLANG:-0}" = 0 ]; then
        has clang++-22 || packages+=(clang-22 libomp-22-dev)
        # Programs with cuBLAS and cuFFT are faster with them.
        for pair in libopenblas0:libopenblas.so.0 libfftw3-double3:libfftw3.so.3 libfftw3-single3:libfftw3f.so.3; do
            find /usr/lib -name "${pair#*:}" 2>/dev/null | grep -q . || packages+=("${pair%:*}")
        done
        # For host code with -fsanitize=address.
        find /usr/lib/llvm-22/lib/clang -name 'libclang_rt.asan*' 2>/dev/null | grep -q . || packages+=(libclang-rt-22-dev)
    fi
    # Python's module is tested in a virtual environment.
    python3 -c 'import ensurepip' 2>/dev/null || packages+=(python3-venv)
    for pair in libffi-dev:ffi.h libzstd-dev:zstd.h zlib1g-dev:zlib.h; do
        find /usr/include -maxdepth 2 -name "${pair#*:}" 2>/dev/null | grep -q . || packages+=("${pair%:*}")
    done
fi
has cc || packages+=(build-essential)
if ! has cargo; then
    has curl || packages+=(curl ca-certificates)
fi

if [ ${#packages[@]} -gt 0 ]; then
    if has apt-get; then
        say "installing ${packages[*]}"
        as_root apt-get update -qq
        if [[ " ${packages[*]} " == *" llvm-22-dev "* ]] && ! apt-cache show llvm-22-dev >/dev/null 2>&1; then
            # A system older than LLVM 22 gets it from LLVM's own packages.
            codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
            say "adding LLVM's package source for $codename (https://apt.llvm.org)"
            as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ca-certificates curl
            curl --proto '=https' --tlsv1.2 -sSf https://apt.llvm.org/llvm-snapshot.gpg.key | as_root tee /etc/apt/trusted.gpg.d/apt.llvm.org.asc >/dev/null
            echo "deb https://apt.llvm.org/$codename/ llvm-toolchain-$codename-22 main" | as_root tee /etc/apt/sources.list.d/llvm-22.list >/dev/null
            as_root apt-get update -qq
        fi
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"
    else
        say "please install with your system's package manager: a C compiler and linker (cc)$(has cargo || printf ', curl')$([ $wants_llvm = 0 ] || printf ', LLVM 22 with its static libraries, libffi, libzstd and zlib (or set DSLC_WITHOUT_LLVM=1)')"
        exit 1
    fi
fi

if ! has cargo; then
    say "installing Rust with rustup (https://rustup.rs)"
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal --no-modify-path
fi

# The toolchain and components of rust-toolchain.toml, if rustup manages them; otherwise the version has to be new enough.
if has rustup; then
    rustup show active-toolchain >/dev/null 2>&1 || rustup toolchain install >/dev/null
fi
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
found=$(cargo --version | cut -d' ' -f2)
if [ "$(printf '%s\n%s\n' "$wanted" "$found" | sort -V | head -n1)" != "$wanted" ]; then
    say "cargo $found is too old, $wanted or later is needed (https://rustup.rs)"
    exit 1
fi

# NVIDIA's assembler checks the PTX in the tests; without it they are skipped with a message.
if [ $wants_llvm = 1 ] && ! has ptxas && [ -z "$(find "$ptxas_folder" -name ptxas -type f 2>/dev/null)" ]; then
    say "fetching ptxas (the Python package nvidia-cuda-nvcc)"
    if ! python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$ptxas_folder" 'nvidia-cuda-nvcc==13.*' >&2; then
        say "no ptxas: tests will not assemble the PTX (python3 with pip would fetch it)"
    fi
    find "$ptxas_folder" -name ptxas -type f -exec chmod +x {} + 2>/dev/null || true
fi

say "ready: cargo $found, $(cc --version | head -n1)"
