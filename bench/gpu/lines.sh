#!/usr/bin/env bash
# What compiled kernels cost, line by line, in the simulator and by this machine's GPU.
#
#   bench/gpu/lines.sh DSLC OUT PROGRAM...
#
# Writes `dslc verify`'s JSON of each program into the folder OUT. bench/gpu/lines.py sums it up; it needs no GPU. Needs ncu and dslc-ptx.
set -uo pipefail
[ $# -ge 3 ] || { sed -n '4p' "$0"; exit 2; }
dslc=$(realpath "$1") out=$(realpath -m "$2")
shift 2
mkdir -p "$out"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >"$out/device.txt"
ncu --version | tail -n 1 >>"$out/device.txt"
date -u +%F >>"$out/device.txt"
for program in "$@"; do
    name=$(basename "${program%.*}")
    timeout 60 "$dslc" verify "$program" --format json >"$out/$name.json" 2>"$out/$name.err" || true
done
