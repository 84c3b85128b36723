#!/usr/bin/env bash
# The speed-up of launches with CPU threads: bench/cores.sh DSLC [KERNEL:SIZE …]
#
#   JOBS="2 4 8 16"  numbers of threads beside one; those beyond the machine's processors are left out
#   ROUNDS=3         rounds; medians over them are reported
#   LAUNCHES=6       extra launches for each thread that the time of a launch is taken from, as in bench/run.sh: on 16 threads 96
#   APART=1          also: the most that this machine could give, from one-thread processes side by side
#
# Milliseconds of a launch on one thread and on the most, and the speed-up on more threads, without checks and with all of them.
# Each round measures one thread and then more of them. The medians of the rounds' ratios are reported, because the speed of shared
# machines changes from one second to the next. "apart" is the throughput of that many one-thread processes relative to one: the limit
# that shared caches, memory and cores set.
set -euo pipefail
[ $# -ge 1 ] || { sed -n 2p "$0"; exit 2; }
dslc=$(realpath "$1")
shift
cd "$(dirname "$0")"
rows=("$@")
[ ${#rows[@]} -gt 0 ] || rows=(reduce:16777216 transpose32:4096 sgemm16:768 sgemm64:768 mandel:2048 gemm_naive:512)
rounds=${ROUNDS:-3} launches=${LAUNCHES:-6}
jobs=()
for j in ${JOBS:-2 4 8 16}; do [ "$j" -le "$(nproc)" ] && jobs+=("$j"); done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ms COMMAND…: milliseconds
ms() {
    local start=$EPOCHREALTIME
    "$@" >/dev/null 2>"$work/errors" </dev/null || { cat "$work/errors" >&2; exit 1; }
    awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print 1000 * (b - a) }'
}
launch() { # kernel size checks jobs: milliseconds of a launch
    local one many n=$((launches * $4))
    one=$(ms "$dslc" run --jobs "$4" "$3" "$1.k" -- "$2" 0 1)
    many=$(ms "$dslc" run --jobs "$4" "$3" "$1.k" -- "$2" 0 $((1 + n)))
    awk -v one="$one" -v many="$many" -v n="$n" 'BEGIN { print (many - one) / n }'
}
side_by_side() { # count kernel size checks launches
    local k
    for ((k = 0; k < $1; k++)); do "$dslc" run --jobs 1 "$4" "$2.k" -- "$3" 0 "$5" & done
    wait
}
apart() { # kernel size checks count: milliseconds of a launch while so many processes run it
    local one many
    one=$(ms side_by_side "$4" "$1" "$2" "$3" 1)
    many=$(ms side_by_side "$4" "$1" "$2" "$3" $((1 + launches)))
    awk -v one="$one" -v many="$many" -v n="$launches" 'BEGIN { print (many - one) / n }'
}
median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

grep -m1 'model name' /proc/cpuinfo || true
printf '%-24s %-14s %10s %10s' kernel checks "1, ms" "${jobs[-1]}, ms"
for j in "${jobs[@]}"; do printf ' %7s' "x $j"; done
[ -z "${APART:-}" ] || printf ' %9s' "apart"
echo
for row in "${rows[@]}"; do
    kernel=${row%:*} size=${row#*:}
    for checks in --no-checks --quiet; do
        for ((round = 0; round < rounds; round++)); do
            for j in 1 "${jobs[@]}"; do launch "$kernel" "$size" "$checks" "$j" >>"$work/$kernel$checks.$j"; done
            [ -z "${APART:-}" ] || apart "$kernel" "$size" "$checks" "${jobs[-1]}" >>"$work/$kernel$checks.apart"
        done
        times=$work/$kernel$checks
        label=${checks/--quiet/with checks}
        printf '%-24s %-14s %10.1f %10.2f' "$kernel $size" "${label/--no-checks/without}" "$(median "$times.1")" "$(median "$times.${jobs[-1]}")"
        for j in "${jobs[@]}"; do
            paste "$times.1" "$times.$j" | awk '{ print $1 / $2 }' >"$times.ratio"
            printf ' %7.2f' "$(median "$times.ratio")"
        done
        if [ -n "${APART:-}" ]; then
            paste "$times.1" "$times.apart" | awk -v n="${jobs[-1]}" '{ print n * $1 / $2 }' >"$times.ratio"
            printf ' %9.2f' "$(median "$times.ratio")"
        fi
        echo
    done
done
