#!/usr/bin/env bash
# Checks that proved cures also help on hardware. Each program is cured by `dslc fix --apply` in a copy, and `dslc verify` compares the
# cured program with this GPU: every byte that reaches the host, and the counts with ncu's if ncu may read counters.
#   bench/gpu/cures.sh DSLC PROGRAM.k...
set -u
dslc=$(realpath "$1"); shift
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cured=0 same=0
for program in "$@"; do
    copy=$work/$(basename "$program")
    cp "$program" "$copy"
    "$dslc" fix --apply "$copy" > "$work/said" 2>&1
    if cmp -s "$program" "$copy"; then
        echo "none  $program"
        continue
    fi
    cured=$((cured + 1))
    if "$dslc" verify --timeout 60 "$copy" > "$work/verdict" 2>&1; then
        same=$((same + 1))
        echo "same  $program: $(grep -c '' < <(diff "$program" "$copy" | grep '^>')) lines changed; $(tail -1 "$work/verdict")"
    else
        echo "DIFF  $program"
        tail -12 "$work/verdict" | sed 's/^/      /'
    fi
done
echo "$same of $cured cured programs are the same on the GPU"
