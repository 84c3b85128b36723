#!/usr/bin/env bash
# The cost of a launch, and the time of a small program's process, by nvcc and by each given dslc, on a machine with nvcc and a GPU.
#
#   bench/gpu/launches.sh DSLC…      BUILT="./old/prog ./new/prog": also these builds of launches.cu by `dslc nvcc`
#   RUNS=20                          processes of each, in turns; the table has the median
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
runs=${RUNS:-20}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
nvcc -std=c++17 -O3 -arch=native -w -o "$scratch/nvcc" "$here/launches.cu" || exit 2
commands=("$scratch/nvcc")
for dslc in "$@"; do commands+=("$dslc run --device gpu --quiet $here/launches.cu --"); done
for built in ${BUILT:-}; do commands+=("$built"); done
export DSLC=--quiet DSLC_DEVICE=gpu

for command in "${commands[@]}"; do
    echo "== ${command/$scratch\//}"
    $command 20 1000
done

# One launch and one row: nearly all of the time is that of the process.
for run in $(seq "$runs"); do
    for at in "${!commands[@]}"; do
        begin=${EPOCHREALTIME/./}
        ${commands[at]} 1 1 >/dev/null 2>&1
        echo $((${EPOCHREALTIME/./} - begin)) >>"$scratch/process.$at"
    done
done
echo "== process, ms: first, median of $runs"
for at in "${!commands[@]}"; do
    first=$(head -n1 "$scratch/process.$at")
    median=$(sort -n "$scratch/process.$at" | sed -n "$((runs / 2 + 1))p")
    awk -v c="${commands[at]/$scratch\//}" -v f="$first" -v m="$median" 'BEGIN { printf "%8.1f %8.1f  %s\n", f / 1e3, m / 1e3, c }'
done
