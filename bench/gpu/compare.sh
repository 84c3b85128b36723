#!/usr/bin/env bash
# Compares nvcc -O3 and dslc on the same source, on this machine's GPU: medians of events, runs of the two interleaved.
#
#   bench/gpu/compare.sh [DSLC] [ROUNDS]      default: target/release/dslc, 3
#
# Prints a Markdown table: for each kernel the median of the rounds' medians, the ratio dslc/nvcc (below 1: dslc is faster), whether
# both results have the same bits, and the geometric mean. Fails if a checksum differs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dslc=${1:-$here/../../target/release/dslc}
rounds=${2:-3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for tool in nvcc nvidia-smi "$dslc"; do
    command -v "$tool" >/dev/null || { echo "compare.sh: $tool is not here" >&2; exit 2; }
done
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n1 | tr -d .)
arch=sm_$capability
nvcc -O3 -arch="$arch" -x cu -o "$scratch/nvcc" "$here/speed.k"

for _ in $(seq "$rounds"); do
    "$scratch/nvcc" 1 21 | sed 's/^/nvcc /' >>"$scratch/times"
    "$dslc" run --device gpu --arch "$arch" --quiet "$here/speed.k" -- 1 21 | grep ' ms ' | sed 's/^/dslc /' >>"$scratch/times"
done

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n1 | sed 's/^/Device and driver: /'
nvcc --version | sed -n 's/.*release \([^,]*\),.*/nvcc: \1/p'
echo
sort -k1,1 -k2,2 -k3,3n "$scratch/times" | awk '
    { key = $1 " " $2; times[key, ++n[key]] = $3; unit[$2] = $6; rate[key, n[key]] = $5
      if (!(key in sum)) sum[key] = $7; else if (sum[key] != $7) sum[key] = "unsteady" }
    END { for (key in n) { m = int((n[key] + 1) / 2); print key, times[key, m], rate[key, m], sum[key], unit[substr(key, 6)] } }
' >"$scratch/medians"
awk '
    NR == FNR { if ($1 == "nvcc" && !seen[$2]++) order[++count] = $2; next }
    { ms[$1, $2] = $3; rate[$1, $2] = $4; sum[$1, $2] = $5; unit[$2] = $6 }
    END {
        print "| kernel | nvcc ms | dslc ms | dslc | dslc/nvcc | same bits |"
        print "|---|---:|---:|---:|---:|---|"
        for (i = 1; i <= count; i++) {
            k = order[i]
            if (!(("dslc", k) in ms)) { printf "| %s | %s | missing | | | |\n", k, ms["nvcc", k]; bad = 1; continue }
            ratio = ms["dslc", k] / ms["nvcc", k]
            same = sum["dslc", k] == sum["nvcc", k]
            printf "| %s | %.4f | %.4f | %.1f %s | %.3f | %s |\n", k, ms["nvcc", k], ms["dslc", k], rate["dslc", k], unit[k], ratio, same ? "yes" : "NO"
            if (!same) bad = 1
            if (k != "copy_memcpy") { logs += log(ratio); kernels++; if (ratio > worst) { worst = ratio; slowest = k } }
        }
        printf "\nGeometric mean of dslc/nvcc over %d kernels: %.3f; slowest: %s at %.3f.\n", kernels, exp(logs / kernels), slowest, worst
        exit bad
    }
' "$scratch/times" "$scratch/medians"
