#!/usr/bin/env bash
# Builds whole programs with nvcc, runs them on this machine's GPU, and compares their output with the simulator's and with that of
# dslc's own PTX on the same GPU: bench/gpu/nvcc.sh FILE.cu [FILE.cu …]
#
#   DSLC=target/release/dslc   the program to compare
#   JOBS=8                     programs at a time
#   NVCC_FLAGS="-arch=native"  more for nvcc
#
# One line per program: same, or the difference. A `.k` file is CUDA by another name. Exit code 1 if one differs.
set -uo pipefail

dslc=${DSLC:-target/release/dslc}
export dslc flags=${NVCC_FLAGS:--arch=native}
work=$(mktemp -d)
export work
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }

one() {
    local file=$1 name out
    name=$(basename "${file%.*}")
    out=$work/$name
    # shellcheck disable=SC2086
    if ! nvcc $flags -std=c++17 -w -x cu -o "$out.exe" "$file" >"$out.log" 2>&1; then
        echo "$name: nvcc refuses it: $(grep -m1 error "$out.log")"
        return
    fi
    timeout 120 "$out.exe" >"$out.nvcc" 2>/dev/null
    local code=$?
    timeout 120 "$dslc" run -q "$file" >"$out.sim" 2>/dev/null
    local sim=$?
    timeout 120 "$dslc" run -q --device gpu "$file" >"$out.gpu" 2>/dev/null
    local gpu=$?
    local said=""
    cmp -s "$out.nvcc" "$out.sim" && [ $code = $sim ] || said+=" simulator differs (exit $code, $sim);"
    cmp -s "$out.nvcc" "$out.gpu" && [ $code = $gpu ] || said+=" dslc on the GPU differs (exit $code, $gpu);"
    if [ -n "$said" ]; then
        echo "$name:$said $(diff "$out.nvcc" "$out.sim" | head -3 | tr '\n' ' ')"
    else
        echo "$name: same"
    fi
}
export -f one

printf '%s\0' "$@" | xargs -0 -n1 -P "${JOBS:-8}" bash -c 'one "$1"' _ | sort | tee "$work/all"
same=$(grep -c ': same$' "$work/all")
echo "$same of $# the same"
[ "$same" = $# ]
