#!/usr/bin/env bash
# Builds the wheel, with the programs `dslc` and `dslc-ptx` in it: python/build.sh [FOLDER]     (default: target/wheels)
#
#   DSLC_WITHOUT_LLVM=1   without `dslc-ptx` and GPUs: needs no LLVM, which is most of the wheel
#
# It needs Python 3.9 or later with its module venv, and what setup.sh installs.
set -euo pipefail
case ${1:-} in
-*)
    sed -n '2,6s/^# \?//p' "$0" >&2
    exit 2
    ;;
esac
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-target/wheels}")
target=${CARGO_TARGET_DIR:-target}
venv=$target/python

[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
# maturin makes wheels; zopfli packs them smaller.
[ -x "$venv/bin/maturin" ] && "$venv/bin/python" -c 'import zopfli' 2>/dev/null || "$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'maturin>=1.8,<2' 'zopfli>=0.2,<1' >&2

features=() programs=(dslc dslc-ptx)
[ "${DSLC_WITHOUT_LLVM:-0}" = 0 ] || features=(--no-default-features) programs=(dslc)
mkdir -p python/wheel.data/scripts
trap 'rm -rf python/wheel.data' EXIT
# Published programs are smaller and start faster with link-time optimisation, which takes some minutes more than README's build.
export CARGO_PROFILE_RELEASE_LTO=${CARGO_PROFILE_RELEASE_LTO:-thin}
cargo build --release --locked "${features[@]}"
for program in "${programs[@]}"; do
    cp "$target/release/$program" python/wheel.data/scripts/
    strip "python/wheel.data/scripts/$program" 2>/dev/null || true
done
"$venv/bin/maturin" build --release --locked --strip --compression-level 9 --manifest-path python/Cargo.toml --out "$out"
# This takes some two minutes and saves 3 %.
[ "${DSLC_WITHOUT_LLVM:-0}" != 0 ] || "$venv/bin/python" python/recompress.py "$(ls -t "$out"/dslc-*.whl | head -n1)"
