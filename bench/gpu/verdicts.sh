#!/usr/bin/env bash
# verdicts.sh OUT FOLDER [PTXDIR]: how each program ends on this machine's GPU: built by nvcc, and (with the executables that
# `programs.sh build`-like steps left in PTXDIR) by dslc. A program that runs for 10 seconds hangs.
set -u
out=$1; from=$2; ours=${3:-}
arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
work=$(mktemp -d)
verdict() { # COMMAND...: the last line of what it prints
  local text
  text=$(timeout -s KILL 10 "$@" 2>/dev/null | tail -1)
  [ -n "$text" ] && echo "$text" || echo "hangs or dies"
}
{
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
  nvcc --version | tail -2 | head -1
  for program in "$from"/*.cu; do
    name=$(basename "$program" .cu)
    if nvcc -arch="$arch" -o "$work/$name" "$program" 2>"$work/log"; then by_nvcc=$(verdict "$work/$name"); else by_nvcc="not built: $(head -1 "$work/log")"; fi
    if [ -n "$ours" ]; then by_dslc=$(DSLC_DEVICE=gpu verdict "$ours/$name"); else by_dslc=-; fi
    echo "$name | nvcc: $by_nvcc | dslc: $by_dslc"
  done
} | tee "$out/verdicts.txt"
