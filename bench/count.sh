#!/bin/sh
# Times `--count-only` on large grids, and compares its counts with those of full runs at sizes that those reach: bench/count.sh [DSLC]
set -eu
dslc=$(realpath "${1:-$(dirname "$0")/../target/release/dslc}")
cd "$(dirname "$0")/count"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The launch of a program as JSON, without the way it was counted.
launch() {
    "$dslc" run --cures never --format json "$@" | python3 -c '
import json, sys
launch = json.load(sys.stdin)["launches"][0]
for name in "counted", "reason": launch.pop(name, None)
print(json.dumps(launch, sort_keys=True))'
}

row() {
    name=$1 small=$2
    shift 2
    best=$(for _ in 1 2 3 4 5; do
        python3 -c '
import subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(round(1000 * (time.perf_counter() - start), 1))' "$dslc" run --count-only "$@"
    done | sort -n | head -1)
    from=$("$dslc" run --count-only "$@" | grep -o 'counted from [0-9,]* of [0-9,]* blocks')
    launch --count-only -D "N=$small" "$@" > "$work/counted"
    launch --no-checks -D "N=$small" "$@" > "$work/full"
    cmp -s "$work/counted" "$work/full" && same=equal || same=DIFFERENT
    printf '%-28s %8s ms  %s; at N = %s: %s\n' "$name" "$best" "$from" "$small" "$same"
}

row 'transposition [32][32]' 2048 transpose.cu
row 'transposition [32][33]' 2048 -D PAD=1 transpose.cu
row 'naive product' 1024 naive.cu
row 'tiled product' 1024 tiled.cu
row 'stencil' 2048 stencil.cu
