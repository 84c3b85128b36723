#!/usr/bin/env bash
# Counts of kernels as compiled, by dslc and by this machine's GPU.
#
#   bench/gpu/compiled.sh DSLC OUT [PROGRAM...]      default: kernels/*.cu, ../../examples/*.k
#
# Writes for each program what the simulator counts (NAME.json), what ncu counts of each launch (NAME.raw.csv) and of each machine
# instruction (NAME.sass.csv) into the folder OUT. bench/gpu/compiled.py compares them; it needs no GPU. Needs ncu and dslc-ptx.
set -uo pipefail
[ $# -ge 2 ] || { sed -n '4p' "$0"; exit 2; }
dslc=$(realpath "$1") out=$(realpath -m "$2")
shift 2
cd "$(dirname "$0")"
programs=("$@")
[ ${#programs[@]} -gt 0 ] || programs=(kernels/*.cu ../../examples/*.k)
mkdir -p "$out"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >"$out/device.txt"
ncu --version | tail -n 1 >>"$out/device.txt"
date -u +%F >>"$out/device.txt"

metrics=smsp__inst_executed.sum
for op in ld st atom; do
    metrics+=,smsp__inst_executed_op_shared_$op.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_$op.sum
done
for op in ld st atom red; do
    metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_$op.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_$op.sum
done
metrics+=,l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum,l1tex__t_requests_pipe_lsu_mem_local_op_st.sum

simulate() {
    local name
    name=$(basename "${1%.*}")
    timeout 120 "$dslc" run --counts both --format json --cures never --no-checks "$1" >"$out/$name.json" 2>"$out/$name.err" || true
}
export -f simulate
export dslc out
printf '%s\n' "${programs[@]}" | xargs -P "$(nproc)" -I{} bash -c 'simulate {}'

for program in "${programs[@]}"; do
    name=$(basename "${program%.*}")
    report=$(mktemp -u)
    timeout 120 ncu --clock-control none --cache-control none --section SourceCounters --metrics "$metrics" --import-source yes \
        --launch-count 12 -f -o "$report" "$dslc" run --quiet --device gpu "$program" >/dev/null 2>"$out/$name.ncu.err" || continue
    for page in raw source; do
        source=()
        [ $page = raw ] || source=(--print-source sass)
        ncu -i "$report.ncu-rep" --csv --print-units base --page $page "${source[@]}" >"$out/$name.$page.csv" 2>/dev/null
    done
    rm -f "$report.ncu-rep"
done
