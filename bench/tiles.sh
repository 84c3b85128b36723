#!/usr/bin/env bash
# Times products with tiles in registers, as courses write them: bench/tiles.sh DSLC…
#
#   ROUNDS=3     rounds, in which the binaries take turns; the least user time is reported
#   N=512        rows of the matrices
#   LAUNCHES=20  launches
#   PROGRAMS=    some of column, square, double (square in double precision), wide; all by default
#
# Seconds of user time of a whole run without checks and with all of them. Each program compares some elements with the host's.
set -euo pipefail
[ $# -ge 1 ] || { sed -n 2p "$0"; exit 2; }
here=$(dirname "$0")/tiles
n=${N:-512} launches=${LAUNCHES:-20}
TIMEFORMAT=%U
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for ((round = 0; round < ${ROUNDS:-3}; round++)); do
    for program in ${PROGRAMS:-column square double wide}; do
        words=("${program/double/square}")
        [ "$program" != double ] || words+=(-D REAL=double)
        for dslc in "$@"; do
            for checks in "--no-checks" "--order ascending"; do
                read -ra options <<<"$checks"
                { time "$dslc" run --jobs 1 --cures never "${words[@]:1}" "${options[@]}" "$here/${words[0]}.cu" -- "$n" "$launches" \
                    >"$work/out" 2>&1; } 2>"$work/time" || { cat "$work/out" >&2; exit 1; }
                printf '%s\t%s\t%s\t%s\n' "$program" "$dslc" "${checks#--}" "$(cat "$work/time")"
            done
        done
    done
done | sort | awk -F'\t' '{ key = $1 "\t" $2 "\t" $3; if (!(key in least) || $4 < least[key]) least[key] = $4 }
    END { for (key in least) print key "\t" least[key] }' | sort
