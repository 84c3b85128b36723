#!/usr/bin/env bash
# All comparisons on a machine with an NVIDIA GPU, as one Markdown page.
#
#   bench/gpu/evidence.sh [DSLC] [PAGE] [OPTIONS]      default: target/release/dslc, evidence.md
#
# Options (bench/gpu/evidence.py --help): --speed (needs nvcc), --kernels FOLDER (more programs to verify), --jobs N, --only PART,…
# Needs a driver and a GPU. Uses ncu and compute-sanitizer if they are installed, and says so if not. Python 3 without packages.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dslc=${1:-$here/../../target/release/dslc}
page=${2:-evidence.md}
shift $(($# < 2 ? $# : 2))
exec python3 "$here/evidence.py" "$dslc" "$page" "$@"
