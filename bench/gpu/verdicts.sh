#!/usr/bin/env bash
# How each program of a folder ends on a GPU, built by nvcc and by dslc:
#
#   bench/gpu/verdicts.sh build DSLC FOLDER INTO      anywhere: builds FOLDER's programs with `dslc nvcc`, with libdslcrt.so beside them
#   bench/gpu/verdicts.sh run FOLDER INTO > verdicts  on a machine with nvcc and a GPU
#
# A verdict is the last line that the program prints. A program that runs for 6 seconds hangs.
set -u
case "${1:-} $#" in
"build 4")
    mkdir -p "$4"
    cp "$(dirname "$2")/libdslcrt.so" "$4/"
    for program in "$3"/*.cu; do
        "$2" nvcc -O1 -arch=sm_90 "$program" -o "$4/$(basename "$program" .cu)" -Xlinker '-rpath=$ORIGIN' || echo "not built: $program"
    done
    ;;
"run 3")
    arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
    work=$(mktemp -d)
    # COMMAND...
    verdict() {
        local text
        text=$(timeout -s KILL 6 "$@" 2>/dev/null | tail -1)
        echo "${text:-hangs or dies}"
    }
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    nvcc --version | tail -2 | head -1
    for program in "$2"/*.cu; do
        name=$(basename "$program" .cu)
        by_nvcc="not built"
        nvcc -arch="$arch" -o "$work/$name" "$program" 2>/dev/null && by_nvcc=$(verdict "$work/$name")
        echo "$name | nvcc: $by_nvcc | dslc: $(DSLC_DEVICE=gpu verdict "$3/$name")"
    done
    ;;
*) sed -n 2,7p "$0" ;;
esac
