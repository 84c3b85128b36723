#!/usr/bin/env bash
# Speed of the host code of compiled programs: bench/host.sh DSLC
#
#   ROUNDS=5      rounds of the loops, in turns; the least time of each counts
#   STARTS=40     starts of the small program
#
# Ten host loops, compiled by `dslc nvcc -O2` and by `g++ -O2` (CXX): milliseconds and their ratio. Then the start of a program with
# one kernel, and of the same program without CUDA: milliseconds of whole processes, least and median.
set -euo pipefail
[ $# = 1 ] || { sed -n 2p "$0"; exit 2; }
dslc=$(realpath "$1")
cd "$(dirname "$0")/host"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$dslc" nvcc -O2 -std=c++17 -x cu loops.cpp -o "$work/ours"
"${CXX:-g++}" -O2 -std=c++17 loops.cpp -o "$work/plain"
for ((round = 0; round < ${ROUNDS:-5}; round++)); do
    for side in ours plain; do DSLC=--quiet "$work/$side" >>"$work/$side.times"; done
done
awk 'FNR == NR { if (!($1 in ours) || $2 < ours[$1]) ours[$1] = $2; sum[$1] = $3; next }
     { if (!($1 in plain)) { names[++n] = $1 } if (!($1 in plain) || $2 < plain[$1]) plain[$1] = $2
       if (sum[$1] != $3) { print $1 ": results differ: " sum[$1] " and " $3; exit 1 } }
     END { print "| loop | dslc nvcc, ms | g++, ms | ratio |\n|---|---|---|---|"
           for (i = 1; i <= n; i++) { r = ours[names[i]] / plain[names[i]]; product += log(r)
               printf "| %s | %.2f | %.2f | %.2f |\n", names[i], ours[names[i]], plain[names[i]], r }
           printf "| geometric mean | | | %.2f |\n", exp(product / n) }' "$work/ours.times" "$work/plain.times"

"$dslc" nvcc -O2 start.cu -o "$work/start"
"${CXX:-g++}" -O2 -DPLAIN -x c++ start.cu -o "$work/none"
for ((round = 0; round < ${STARTS:-40}; round++)); do
    for side in start none; do
        begin=$EPOCHREALTIME
        DSLC=--quiet "$work/$side" >/dev/null 2>&1
        awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print 1000 * (b - a) }' >>"$work/$side.starts"
    done
done
for side in start none; do
    sort -n "$work/$side.starts" | awk -v side="$side" '{ t[NR] = $1 }
        END { printf "%s: least %.1f ms, median %.1f ms\n", side == "start" ? "with one kernel" : "without CUDA", t[1], t[int((NR + 1) / 2)] }'
done
