#!/usr/bin/env bash
# Compares the output of whole programs built by `dslc nvcc` with nvcc's builds of the same files on a GPU.
#
#     bench/gpu/programs.sh build DSLC FOLDER      here: builds every program into FOLDER, with libdslcrt.so
#     bench/gpu/programs.sh compare FOLDER         on a machine with nvcc and a GPU: builds with nvcc, runs both, compares
#     bench/gpu/programs.sh build DSLC FOLDER ROOT and `compare FOLDER ROOT`: instead of the repository's programs those of ROOT, a folder
#                                                  each, with a file BUILD and a file RUN (shell lines; `$NVCC` is the compiler)
#
# A program of dslc's runs twice: on the simulator, and on the GPU (`DSLC_DEVICE=gpu`). The standard outputs and exit codes are compared, but not standard error, which has times and reports.
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

# run NAME HOW COMMAND...: writes the output and the exit code to NAME.HOW
run() {
    local to=$1.$2
    shift 2
    timeout 60 "$@" >"$to" 2>"$to.err" </dev/null
    echo "ended with $?" >>"$to"
}

# judge NAME PROGRAM: compares both of dslc's with nvcc's
same=0 differs=0 gpu_same=0 gpu_differs=0 unbuilt=0
judge() {
    if cmp -s "$1.nvcc.out" "$1.sim"; then same=$((same + 1)); else
        differs=$((differs + 1))
        echo "differs on the simulator: $2"
        diff "$1.nvcc.out" "$1.sim" | head -n 4
    fi
    if cmp -s "$1.nvcc.out" "$1.gpu"; then gpu_same=$((gpu_same + 1)); else
        gpu_differs=$((gpu_differs + 1))
        echo "differs on the GPU: $2"
        diff "$1.nvcc.out" "$1.gpu" | head -n 4
        head -n 2 "$1.gpu.err"
    fi
}

arch() { echo "sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n1 | tr -d .)"; }

# Runs no more jobs in the background than there are cores.
in_turn() { while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done; }

compare() {
    local out=$PWD/$1 arch=$(arch)
    export DSLC="--quiet --fail-on never"
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    for program in "${programs[@]}"; do
        local name=$(name_of "$program")
        [ -x "$out/$name" ] || continue
        nvcc -std=c++17 -O1 -arch="$arch" -x cu --extended-lambda --expt-relaxed-constexpr -I"$(dirname "$program")" "$program" -o "$out/$name.nvcc" 2>/dev/null &
        in_turn
    done
    wait
    for program in "${programs[@]}"; do
        local name=$(name_of "$program")
        [ -x "$out/$name" ] || continue
        if ! [ -x "$out/$name.nvcc" ]; then
            unbuilt=$((unbuilt + 1))
            echo "not built by nvcc: $program"
            continue
        fi
        pushd "$(dirname "$program")" >/dev/null
        run "$out/$name" nvcc.out "$out/$name.nvcc"
        run "$out/$name" sim "$out/$name"
        DSLC_DEVICE=gpu run "$out/$name" gpu "$out/$name"
        popd >/dev/null
        judge "$out/$name" "$program"
    done
    echo "simulator: same $same, different $differs; GPU: same $gpu_same, different $gpu_differs; not built by nvcc $unbuilt"
}

# build_folders DSLC OUT ROOT
build_folders() {
    local dslc=$(realpath "$1") out=$2 root=$3 failed=0 all=0
    mkdir -p "$out"
    cp "$(dirname "$dslc")/libdslcrt.so" "$out/"
    for folder in "$root"/*/; do
        [ -f "$folder/BUILD" ] || continue
        local name=$(basename "$folder")
        all=$((all + 1))
        rm -rf "$out/$name"
        cp -r "$folder" "$out/$name"
        if ! (cd "$out/$name" && NVCC="$dslc nvcc" bash -c "$(cat BUILD)" >build.log 2>&1 </dev/null); then
            echo "not built by dslc: $name"
            failed=$((failed + 1))
            touch "$out/$name/UNBUILT"
        fi
    done
    echo "built $all less $failed"
}

compare_folders() {
    local out=$PWD/$1 root=$2 arch=$(arch)
    export DSLC="--quiet --fail-on never" LD_LIBRARY_PATH=$out:${LD_LIBRARY_PATH:-}
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    for folder in "$out"/*/; do
        local name=$(basename "$folder")
        [ -f "$folder/BUILD" ] && [ ! -f "$folder/UNBUILT" ] || continue
        rm -rf "$out/$name.nvcc"
        cp -r "$root/$name" "$out/$name.nvcc"
        (cd "$out/$name.nvcc" && NVCC="nvcc -arch=$arch" bash -c "$(cat BUILD)" >build.log 2>&1 </dev/null || touch UNBUILT) &
        in_turn
    done
    wait
    for folder in "$out"/*/; do
        local name=$(basename "$folder")
        case $name in *.nvcc) continue ;; esac
        [ -f "$folder/BUILD" ] && [ ! -f "$folder/UNBUILT" ] || continue
        if [ -f "$out/$name.nvcc/UNBUILT" ]; then
            unbuilt=$((unbuilt + 1))
            echo "not built by nvcc: $name"
            continue
        fi
        pushd "$out/$name.nvcc" >/dev/null
        run "$out/$name" nvcc.out bash -c "$(cat RUN)"
        popd >/dev/null
        pushd "$out/$name" >/dev/null
        run "$out/$name" sim bash -c "$(cat RUN)"
        DSLC_DEVICE=gpu run "$out/$name" gpu bash -c "$(cat RUN)"
        popd >/dev/null
        judge "$out/$name" "$name"
    done
    echo "simulator: same $same, different $differs; GPU: same $gpu_same, different $gpu_differs; not built by nvcc $unbuilt"
}

case "${1:-} $#" in
"build 3") build "$2" "$3" ;;
"build 4") build_folders "$2" "$3" "$4" ;;
"compare 2") compare "$2" ;;
"compare 3") compare_folders "$2" "$3" ;;
*) sed -n 2,10p "$0" ;;
esac
