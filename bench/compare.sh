#!/usr/bin/env bash
# Compares two dslc binaries on the kernels of bench/run.sh, in turns: bench/compare.sh OLD NEW
#
#   ROUNDS=7      rounds; medians over them are reported
#   LAUNCHES=5    extra launches that the time of a launch is taken from, as in bench/run.sh
#
# Milliseconds of a launch at SIZE=large, on one thread, without checks and with all of them; then of a whole small run, and of
# only the front end on 9,000 functions.
set -euo pipefail
[ $# = 2 ] || { sed -n 2p "$0"; exit 2; }
binaries=("$(realpath "$1")" "$(realpath "$2")")
cd "$(dirname "$0")/.."

rounds=${ROUNDS:-7} launches=${LAUNCHES:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ms COMMAND…: milliseconds
ms() {
    local start=$EPOCHREALTIME
    "$@" >/dev/null 2>"$work/errors" </dev/null || { cat "$work/errors" >&2; exit 1; }
    awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print 1000 * (b - a) }'
}

awk 'BEGIN {
    for (i = 0; i < 9000; i++)
        printf "__device__ int f%d(int a, int b) { int s = 0; for (int i = 0; i < a; i++) s += i * b + %d; return s; }\n", i, i
    print "__global__ void k(int *o) { o[threadIdx.x] = f1(1, 2); }"
}' >"$work/functions.k"

for ((round = 0; round < rounds; round++)); do
    for row in "reduce 4194304" "transpose32 2048" "transpose33 2048" "sgemm16 512" "sgemm64 512" "gemm_naive 256" "gemv_half 2048" "mandel 1024"; do
        read -r kernel size <<<"$row"
        for checks in --no-checks --quiet; do
            for side in 0 1; do
                run() { ms "${binaries[side]}" run --jobs 1 "$checks" "bench/$kernel.k" -- "$size" 0 "$1"; }
                one=$(run 1)
                many=$(run $((1 + launches)))
                label=${checks/--quiet/with checks}
                awk -v one="$one" -v many="$many" -v n="$launches" 'BEGIN { print (many - one) / n }' >>"$work/$kernel, ${label/--no-checks/without}.$side"
            done
        done
    done
    for side in 0 1; do
        ms "${binaries[side]}" run --quiet examples/transpose.k >>"$work/a small run.$side"
        ms "${binaries[side]}" check "$work/functions.k" >>"$work/check of 9000 functions.$side"
    done
done

median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
printf '%-28s %10s %10s %8s\n' "ms" old new "new/old"
for file in "$work"/*.0; do
    name=$(basename "$file" .0)
    awk -v name="$name" -v old="$(median "$file")" -v new="$(median "${file%.0}.1")" 'BEGIN { printf "%-28s %10.2f %10.2f %8.2f\n", name, old, new, new / old }'
done
