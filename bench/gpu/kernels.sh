#!/usr/bin/env bash
# 40 kernels of many fields, built by nvcc -O3 and by dslc, on this machine's GPU: the time of each, and whether the bits are equal.
#
#   bench/gpu/kernels.sh [DSLC]      default: target/release/dslc
#
#   KERNELS="nbody philox"           only these; default: all
#   ROUNDS=3 RUNS=11                 processes of each compiler, in turns, and timed launches of each
#   CSV=FILE                         also the numbers alone
#
# Prints two tables: of the kernels that guide changes of the code generator, and of ten that are kept aside and never tuned for. A
# kernel is a program in kernels/; its second line has the size that fills the GPU. "bits" compares the results at the small size on the
# simulator, and on the GPU from both compilers, and at the large size from both. Fails if a program's own check fails.
set -uo pipefail
cd "$(dirname "$0")/kernels"
dslc=${1:-../../../target/release/dslc}
case $dslc in /* | ../*) ;; */*) dslc=$OLDPWD/$dslc ;; esac
rounds=${ROUNDS:-3} runs=${RUNS:-11}
aside=" dgemm_register layer_norm spmv_ell jacobi3d radix_split hash_table lennard_jones monte_carlo bilateral edit_distance "
read -ra kernels <<<"${KERNELS:-$(ls -- *.cu | sed 's/\.cu$//' | tr '\n' ' ')}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for tool in nvcc ptxas cuobjdump nvidia-smi "$dslc"; do
    command -v "$tool" >/dev/null || { echo "kernels.sh: $tool is not here" >&2; exit 2; }
done
arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n1 | tr -d .)
export dslc arch scratch

# The registers of both builds and, at the small size, all three results.
prepare() {
    local k=$1
    nvcc -std=c++17 -O3 -arch=native -w -o "$scratch/$k" "$k.cu" 2>"$scratch/$k.log" || { echo "$k: nvcc: $(head -n1 "$scratch/$k.log")"; return; }
    "$dslc" ptx --arch "$arch" "$k.cu" -o "$scratch/$k.ptx" 2>"$scratch/$k.log" || { echo "$k: dslc: $(head -n1 "$scratch/$k.log")"; return; }
    cuobjdump -res-usage "$scratch/$k" 2>/dev/null | grep -A1 "Function _Z${#k}$k" | sed -n 's/.*REG:\([0-9]*\) STACK:\([0-9]*\).*/\1 \2/p' >"$scratch/$k.nvcc.registers"
    ptxas -v -arch="$arch" -o /dev/null "$scratch/$k.ptx" 2>&1 | awk -v k="'$k'" '/Compiling entry/ { mine = index($0, k) }
        mine && /stack frame/ { stack = $1 } mine && /Used/ { print $5, stack; exit }' >"$scratch/$k.dslc.registers"
    "$scratch/$k" >"$scratch/$k.small.nvcc" 2>&1
    "$dslc" run --quiet "$k.cu" >"$scratch/$k.small.sim" 2>/dev/null
    "$dslc" run --quiet --device gpu --arch "$arch" "$k.cu" >"$scratch/$k.small.gpu" 2>&1
}
export -f prepare
printf '%s\n' "${kernels[@]}" | xargs -P "$(nproc)" -I{} bash -c 'prepare {}'

field() { sed -n "s/.*$2=\([^ ]*\).*/\1/p" "$1" | tail -n "${3:-1}"; }

for _ in $(seq "$rounds"); do
    for k in "${kernels[@]}"; do
        size=$(sed -n 's|^// large: ||p' "$k.cu")
        "$scratch/$k" "$size" "$runs" >>"$scratch/$k.large.nvcc" 2>&1
        "$dslc" run --quiet --device gpu --arch "$arch" "$k.cu" -- "$size" "$runs" >>"$scratch/$k.large.gpu" 2>&1
    done
done

median() { field "$1" time_ms "$rounds" | sort -n | sed -n "$((rounds / 2 + 1))p"; }

# Which bits are equal: a word for the table.
bits() {
    local nvcc gpu sim large
    nvcc=$(field "$scratch/$1.small.nvcc" bits) gpu=$(field "$scratch/$1.small.gpu" bits) sim=$(field "$scratch/$1.small.sim" bits)
    large=$([ "$(field "$scratch/$1.large.nvcc" bits)" = "$(field "$scratch/$1.large.gpu" bits)" ] && echo same || echo differ)
    if [ "$sim" != "$gpu" ]; then echo "SIMULATOR DIFFERS"; elif [ "$nvcc" = "$gpu" ] && [ "$large" = same ]; then echo yes; else echo no; fi
}

row() {
    local k=$1 nvcc dslc_ms
    nvcc=$(median "$scratch/$k.large.nvcc") dslc_ms=$(median "$scratch/$k.large.gpu")
    if [ -z "$nvcc" ] || [ -z "$dslc_ms" ]; then
        echo "$k did not run: $(cat "$scratch/$k".large.* 2>/dev/null | grep -v check= | head -n1)" >>"$scratch/failed"
        return
    fi
    grep -l 'check=WRONG' "$scratch/$k".small.* "$scratch/$k".large.* 2>/dev/null | sed "s|.*/||; s|\$| is wrong|" >>"$scratch/failed"
    echo "$k,$nvcc,$dslc_ms,$(bits "$k"),$(cut -d' ' -f1 "$scratch/$k.nvcc.registers"),$(cut -d' ' -f1 "$scratch/$k.dslc.registers"),$(sed -n '1s|^// \([^:]*\):.*|\1|p' "$k.cu")"
}

table() {
    echo "| kernel | field | nvcc ms | dslc ms | dslc/nvcc | same bits | registers nvcc, dslc |"
    echo "|---|---|---:|---:|---:|---|---|"
    awk -F, '{ printf "| %s | %s | %.4f | %.4f | %.3f | %s | %s, %s |\n", $1, $7, $2, $3, $3 / $2, $4, $5, $6; logs += log($3 / $2)
               over += $3 / $2 > 1.05 }
        END { printf "\nGeometric mean of %d: %.3f; above 1.05: %d.\n\n", NR, exp(logs / NR), over }' "$1"
}

for k in "${kernels[@]}"; do
    case $aside in *" $k "*) row "$k" >>"$scratch/aside.csv" ;; *) row "$k" >>"$scratch/main.csv" ;; esac
done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n1 | sed 's/^/Device and driver: /'
nvcc --version | sed -n 's/.*release \([^,]*\),.*/nvcc: \1/p'
for set in main aside; do
    [ -s "$scratch/$set.csv" ] || continue
    printf '\n%s\n\n' "$([ $set = main ] && echo 'Kernels' || echo 'Kept aside')"
    table "$scratch/$set.csv"
    [ -z "${CSV:-}" ] || sed "s/^/$set,/" "$scratch/$set.csv" >>"$CSV"
done
if [ -s "$scratch/failed" ]; then
    cat "$scratch/failed"
    exit 1
fi
