#!/usr/bin/env bash
# Whole programs as `dslc nvcc` builds them, beside nvcc's builds of the same files on a GPU: does each print the same?
#
#     bench/gpu/programs.sh build DSLC FOLDER      here: builds every program into FOLDER, with libdslcrt.so
#     bench/gpu/programs.sh compare FOLDER         on a machine with nvcc and a GPU: builds with nvcc, runs both, compares
#
# What both print on standard output and the exit codes are compared. Standard error, where times and reports go, is not.
set -uo pipefail
cd "$(dirname "$0")/../.."
programs=(tests/features/*.k tests/programs/*.k examples/*.k native/tests/programs/*.cu)

name_of() { echo "${1//\//_}" | sed 's/\.[a-z]*$//'; }

build() {
    local dslc=$1 out=$2 failed=0
    mkdir -p "$out"
    cp "$(dirname "$dslc")/libdslcrt.so" "$out/"
    for program in "${programs[@]}"; do
        local name=$(name_of "$program")
        if ! "$dslc" nvcc -std=c++17 -O1 -x cu -I"$(dirname "$program")" "$program" -o "$out/$name" -Xlinker '-rpath=$ORIGIN' 2>"$out/$name.build"; then
            echo "not built by dslc: $program"
            failed=$((failed + 1))
        fi
        rm -f "$out/$name.build"
    done
    echo "built ${#programs[@]} less $failed"
}

compare() {
    local out=$1 same=0 differs=0 unbuilt=0 arch
    arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n1 | tr -d .)
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    for program in "${programs[@]}"; do
        local name=$(name_of "$program")
        [ -x "$out/$name" ] || continue
        if ! nvcc -std=c++17 -O1 -arch="$arch" -x cu --extended-lambda --expt-relaxed-constexpr -I"$(dirname "$program")" "$program" -o "$out/$name.nvcc" 2>/dev/null; then
            unbuilt=$((unbuilt + 1))
            echo "not built by nvcc: $program"
            continue
        fi
        (cd "$(dirname "$program")" && timeout 60 "$OLDPWD/$out/$name.nvcc" >"$OLDPWD/$out/$name.gpu" 2>/dev/null; echo "ended with $?" >>"$OLDPWD/$out/$name.gpu")
        (cd "$(dirname "$program")" && DSLC="--quiet --fail-on never" timeout 60 "$OLDPWD/$out/$name" >"$OLDPWD/$out/$name.sim" 2>/dev/null; echo "ended with $?" >>"$OLDPWD/$out/$name.sim")
        if cmp -s "$out/$name.gpu" "$out/$name.sim"; then
            same=$((same + 1))
        else
            differs=$((differs + 1))
            echo "differs: $program"
            diff "$out/$name.gpu" "$out/$name.sim" | head -n 6
        fi
    done
    echo "same $same, different $differs, not built by nvcc $unbuilt"
}

case ${1:-} in
build) build "$2" "$3" ;;
compare) compare "$2" ;;
*) sed -n 2,7p "$0" ;;
esac
