#!/usr/bin/env bash
# 10,080 configurations of three kernels in one process: bench/sweep.sh [DSLC]. Reports which share of the threads' time was simulation.
# PARTS=1: also as four parts, one after the other, and merged; the results have to be equal.
set -euo pipefail
cd "$(dirname "$0")/.."
dslc=${1:-target/release/dslc}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
time "$dslc" sweep bench/sweep/tiles.toml --results "$results/one.jsonl" --top 3
if [ -n "${PARTS:-}" ]; then
    for part in 1 2 3 4; do
        "$dslc" sweep bench/sweep/tiles.toml --shard $part/4 --results "$results/$part.jsonl" --top 0 >/dev/null
    done
    "$dslc" merge "$results"/[1-4].jsonl -o "$results/merged.jsonl"
    cmp "$results/one.jsonl" "$results/merged.jsonl" && echo "the parts together are the same as one run"
fi
