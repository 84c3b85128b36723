#!/bin/sh
# Runs the kernels that `ptx_bits.py draw` wrote into a folder on this machine's GPU, and writes got.txt there: `ptx_bits.sh FOLDER OUT`.
set -eu
here=$(dirname "$0")
nvcc -o "$2/ptx_bits" "$here/ptx_bits.c" -lcuda
: > "$2/got.txt"
while read -r line; do
    # shellcheck disable=SC2086
    (cd "$1" && timeout 20 "$2/ptx_bits" $line) >> "$2/got.txt" || echo "failed" >> "$2/got.txt"
done < "$1/jobs.txt"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
