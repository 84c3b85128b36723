#!/usr/bin/env bash
# What compute-sanitizer's four tools report on the labelled programs, next to dslc's findings.
#
#   bench/gpu/sanitizer.sh [DSLC] > sanitizer.csv
#
# One row for each program of tests/findings (faults and sound): the kinds in its labels, the kinds that dslc reports, and each tool's
# count of errors (racecheck: hazards) on the code that dslc compiles, run on this machine's GPU. `timeout`: not done after 30 s, for
# example because threads wait forever. `refused`: dslc would not launch it.
set -uo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
dslc=${1:-$here/target/release/dslc}
cd "$here" || exit 2
for tool in compute-sanitizer python3 "$dslc"; do
    command -v "$tool" >/dev/null || { echo "sanitizer.sh: $tool is not here" >&2; exit 2; }
done

row() {
    local file=$1 dslc=$2 options planted found cells="" out code
    options=$(sed -n '1s|^//~ options: ||p' "$file")
    planted=$(grep -o '//~ [a-z_ ]*' "$file" | grep -v options: | sed 's|//~ ||; s|note ||; s| *$||' | sort -u | tr '\n' ' ')
    # shellcheck disable=SC2086
    found=$(timeout 30 "$dslc" run --format json $options "$file" 2>/dev/null | python3 -c '
import json, sys
try:
    findings = json.load(sys.stdin)["findings"]
    kinds = {f["kind"] for f in findings if f["severity"] != "note"}
    print(" ".join(sorted(kinds)) or "-")
except ValueError:
    print("none")')
    for tool in memcheck racecheck initcheck synccheck; do
        out=$(timeout -k 5 30 compute-sanitizer --tool $tool "$dslc" run --quiet --device gpu "$file" 2>&1)
        code=$?
        if [ $code = 124 ] || [ $code = 137 ]; then
            cells+=,timeout
        else
            cells+=,$(printf '%s\n' "$out" | sed -n 's/.*\(ERROR\|RACECHECK\) SUMMARY: \([0-9]*\).*/\2/p' | tail -n1)
        fi
    done
    printf '%s,%s,%s%s\n' "${file#tests/findings/}" "$(echo $planted)" "$found" "$cells"
}
export -f row

echo "program,planted,dslc,memcheck,racecheck,initcheck,synccheck"
printf '%s\n' tests/findings/faults/*.k tests/findings/sound/*.k | xargs -P 4 -I{} bash -c 'row "$1" "$2"' _ {} "$dslc" | sort
