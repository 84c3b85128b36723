#!/usr/bin/env bash
# Builds the wheel, with the program `dslc` in it: python/build.sh [FOLDER]     (default: target/wheels)
#
#   DSLC_WITHOUT_LLVM=1   without `dslc ptx` and GPUs: needs no LLVM, which is most of the wheel
#
# It needs Python 3.9 or later with its module venv, and what setup.sh installs.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-target/wheels}")
target=${CARGO_TARGET_DIR:-target}
venv=$target/python

[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
[ -x "$venv/bin/maturin" ] || "$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'maturin>=1.8,<2' >&2

features=()
[ "${DSLC_WITHOUT_LLVM:-0}" = 0 ] || features=(--no-default-features)
cargo build --release --locked -p dslc-cli "${features[@]}"
mkdir -p python/wheel.data/scripts
trap 'rm -rf python/wheel.data' EXIT
cp "$target/release/dslc" python/wheel.data/scripts/dslc
strip python/wheel.data/scripts/dslc 2>/dev/null || true
"$venv/bin/maturin" build --release --locked --strip --compression-level 9 --manifest-path python/Cargo.toml --out "$out"
