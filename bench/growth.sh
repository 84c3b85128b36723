#!/usr/bin/env bash
# Shows that cost grows linearly with the threads of the grid: bench/growth.sh [KERNEL [LOG2-OF-MOST]]
#
# CPU time of a launch of reduce (or transpose32, transpose33) from 2^16 to 2^26 threads, the best of three, small grids launched
# several times. The last column should stay constant (except where data no longer fits the CPU's caches).
set -euo pipefail
cd "$(dirname "$0")/.."

kernel=${1:-reduce} most=${2:-26}
cargo build --release --quiet
TIMEFORMAT=%U
cpu_seconds() { # size launches
    { time target/release/dslc run --jobs 1 --no-checks "bench/$kernel.k" -- "$1" 0 "$2" >/dev/null 2>&1; } 2>&1
}

printf '%-12s %10s %12s %16s\n' kernel threads ms "ns per thread"
for ((log = 16; log <= most; log += 2)); do
    case $kernel in
        reduce) size=$((1 << log)) ;;
        *) size=$((1 << (log / 2 + 1))) ;; # four elements a thread
    esac
    extra=$((log < 24 ? 1 << (24 - log) : 1))
    for _ in 1 2 3; do
        echo "$(cpu_seconds "$size" 1) $(cpu_seconds "$size" $((1 + extra)))"
    done | awk -v kernel="$kernel" -v n="$((1 << log))" -v extra="$extra" '
        { t = ($2 - $1) / extra; if (NR == 1 || t < best) best = t }
        END { printf "%-12s %10d %12.3f %16.3f\n", kernel, n, 1000 * best, 1e9 * best / n }'
done
