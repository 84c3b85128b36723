#!/usr/bin/env bash
# Installs what building dslc needs and is not there yet: a C linker and a Rust toolchain. Safe to run again; quick when all is there.
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

packages=()
has cc || packages+=(build-essential)
if ! has cargo; then
    has curl || packages+=(curl ca-certificates)
fi

if [ ${#packages[@]} -gt 0 ]; then
    if has apt-get; then
        say "installing ${packages[*]}"
        as_root apt-get update -qq
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"
    else
        say "please install with your system's package manager: a C compiler and linker (cc)$(has cargo || printf ', curl')"
        exit 1
    fi
fi

if ! has cargo; then
    say "installing Rust with rustup (https://rustup.rs)"
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal --no-modify-path
fi

# The toolchain and components of rust-toolchain.toml, where rustup manages them; elsewhere the version has to be new enough.
if has rustup; then
    rustup show active-toolchain >/dev/null 2>&1 || rustup toolchain install >/dev/null
fi
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
found=$(cargo --version | cut -d' ' -f2)
if [ "$(printf '%s\n%s\n' "$wanted" "$found" | sort -V | head -n1)" != "$wanted" ]; then
    say "cargo $found is too old, $wanted or later is needed (https://rustup.rs)"
    exit 1
fi

say "ready: cargo $found, $(cc --version | head -n1)"
