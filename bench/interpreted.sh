#!/usr/bin/env bash
# Speed of host code that `dslc run` interprets: bench/interpreted.sh DSLC
#
#   ROUNDS=3      measurements of each program, in turns; the least counts
#   PROGRAMS=aside    those that were never used while the host was made faster
#
# Ten programs that both C++ and dslc accept. Each repeats its loop as often as its argument says. Its time is the CPU time of the
# process with the number below, minus that with 0; for g++ -O2 (CXX) with twenty times the number. Checksums must be equal.
set -euo pipefail
[ $# = 1 ] || { sed -n 2p "$0"; exit 2; }
dslc=$(realpath "$1")
cd "$(dirname "$0")/interpreted"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%3U %3S'

case "${PROGRAMS:-}" in
    '') programs='product:16 sort:20 hash:50 histogram:150 sieve:80 lcg:300 strings:30 particles:1000 stencil:300 scan:250' ;;
    aside) programs='aside/search:500 aside/lists:600 aside/polynomial:400 aside/bits:150 aside/division:300 aside/edits:120 aside/heap:80
        aside/paths:25 aside/queens:600 aside/bodies:30000' ;;
    *) programs=$PROGRAMS ;;
esac

# The CPU milliseconds of a command, whose output goes to a file.
cpu() {
    { time "${@:2}" >"$1" 2>"$work/messages"; } 2>"$work/time"
    awk '{ printf "%d", 1000 * ($1 + $2) }' "$work/time"
}

echo '| loop | dslc, ms | g++, ms | ratio |'
echo '|---|---|---|---|'
for entry in $programs; do
    program=${entry%:*} number=${entry#*:} ours=999999999 plain=999999999
    "${CXX:-g++}" -O2 -x c++ "$program.cu" -o "$work/plain"
    for ((round = 0; round < ${ROUNDS:-3}; round++)); do
        empty=$(cpu "$work/nothing" "$dslc" run -q "$program.cu" -- 0)
        whole=$(cpu "$work/ours.out" "$dslc" run -q "$program.cu" -- "$number")
        if ((whole - empty < ours)); then ours=$((whole - empty)); fi
        empty=$(cpu "$work/nothing" "$work/plain" 0)
        whole=$(cpu "$work/nothing" "$work/plain" $((20 * number)))
        if ((whole - empty < plain)); then plain=$((whole - empty)); fi
    done
    "$work/plain" "$number" >"$work/plain.out"
    cmp -s "$work/ours.out" "$work/plain.out" || { echo "$program: results differ" >&2; exit 1; }
    awk -v name="${program##*/}" -v ours="$ours" -v plain="$plain" 'BEGIN {
        plain /= 20; printf "| %s | %.0f | %.2f | %.1f |\n", name, ours, plain, ours / plain }' | tee -a "$work/rows"
done
awk -F'|' '{ product += log($5); n++ } END { printf "| geometric mean | | | %.1f |\n", exp(product / n) }' "$work/rows"
