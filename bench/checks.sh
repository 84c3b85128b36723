#!/usr/bin/env bash
# The cost of all checks, by kernel of bench/checks.k: bench/checks.sh [DSLC …]
#
#   ELEMENTS=8388608 LAUNCHES=5 ROUNDS=5 JOBS=1
#
# Milliseconds of user and system time of a launch (LAUNCHES launches minus none, best of the rounds) without checks and with.
set -euo pipefail
cd "$(dirname "$0")/.."
n=${ELEMENTS:-8388608} launches=${LAUNCHES:-5} rounds=${ROUNDS:-5} jobs=${JOBS:-1}
[ $# -gt 0 ] || set -- target/release/dslc

# The best of the rounds, in ms, of a run with these options: best LAUNCHES KERNEL DSLC [OPTION]
best() {
    local count=$1 kernel=$2 dslc=$3 least="" now
    shift 3
    for _ in $(seq "$rounds"); do
        now=$(TIMEFORMAT='%U %S'; { time "$dslc" run -q --jobs "$jobs" "$@" bench/checks.k -- "$kernel" "$n" "$count" >/dev/null; } 2>&1 |
            tail -n1 | awk '{ print int(1000 * ($1 + $2)) }')
        [ -z "$least" ] || [ "$now" -lt "$least" ] && least=$now
    done
    echo "$least"
}

printf '%-12s %-28s %10s %10s %8s\n' kernel dslc "off, ms" "on, ms" slower
for kernel in scan in_place histogram stencil permute; do
    for dslc in "$@"; do
        for option in --no-checks ""; do
            none=$(best 0 $kernel "$dslc" $option)
            all=$(best "$launches" $kernel "$dslc" $option)
            if [ -n "$option" ]; then off=$((all - none)); else on=$((all - none)); fi
        done
        awk -v k=$kernel -v d="$dslc" -v off=$off -v on=$on -v l="$launches" \
            'BEGIN { printf "%-12s %-28s %10.1f %10.1f %8.1f\n", k, d, off / l, on / l, (off > 0) ? on / off : 0 }'
    done
done
