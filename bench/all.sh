#!/usr/bin/env bash
# Makes all measurements in README.md's tables (some minutes): bench/all.sh
#
# Large sizes on one thread and on two, small sizes next to Oclgrind, peak memory of a run. The machine should do nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== large sizes, one thread"
SIZE=large ROUNDS=5 LAUNCHES=10 THREADS=1 bench/run.sh
echo "== large sizes, two threads"
SIZE=large ROUNDS=5 LAUNCHES=10 THREADS=2 bench/run.sh
echo "== small sizes, one thread"
ROUNDS=3 LAUNCHES=50 THREADS=1 bench/run.sh
if [ -x /usr/bin/time ]; then
    echo "== most memory, MB, two threads"
    for run in reduce:4194304 transpose32:2048 transpose33:2048 sgemm16:512 mandel:1024; do
        /usr/bin/time -f "${run%:*} %M" target/release/dslc run --jobs 2 --no-checks "bench/${run%:*}.k" -- "${run#*:}" 0 3 2>&1 >/dev/null |
            awk 'NF == 2 { printf "%-12s %.0f\n", $1, $2 / 1024 }'
    done
fi
