#!/usr/bin/env bash
# How often a GPU shows the outcomes of the litmus tests, built by nvcc and by dslc:
#
#   bench/gpu/litmus.sh build DSLC INTO            anywhere: builds tests/litmus with `dslc nvcc`, with libdslcrt.so beside them
#   bench/gpu/litmus.sh run INTO [RUNS] > counts   on a machine with nvcc and a GPU; RUNS launches of 1024 groups each (200)
#
# A row has a test, the model's verdict on its outcome, and how often nvcc's and dslc's programs showed it. The last line has the
# number of forbidden outcomes, which has to be 0.
set -u
tests=$(dirname "$0")/../../tests/litmus
case "${1:-} $#" in
"build 3")
    mkdir -p "$3"
    cp "$(dirname "$2")/libdslcrt.so" "$3/"
    for program in "$tests"/*.cu; do
        "$2" nvcc -O1 -arch=sm_90 "$program" -o "$3/$(basename "$program" .cu)" -Xlinker '-rpath=$ORIGIN' || echo "not built: $program"
    done
    ;;
"run 2" | "run 3")
    runs=${3:-200}
    arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
    work=$(mktemp -d)
    bad=0
    # OUTCOME COMMAND... : how often it shows the outcome
    times() {
        local outcome=$1 text
        shift
        text=$(timeout -s KILL 120 "$@" "$runs" 2>/dev/null) || { echo "does not end"; return; }
        sed -n "s/^$outcome: //p" <<<"$text" | grep . || echo 0
    }
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    nvcc --version | tail -2 | head -1
    printf '%s\n' "$tests"/*.cu | xargs -P "$(nproc)" -I{} sh -c 'nvcc -arch="$1" -o "$2/$(basename "$3" .cu)" "$3" 2>/dev/null' sh "$arch" "$work" {}
    for program in "$tests"/*.cu; do
        name=$(basename "$program" .cu)
        label=$(sed -n '1s,// \([a-z]*\): .*,\1,p' "$program")
        outcome=$(sed -n '1s,// [a-z]*: ,,p' "$program")
        by_nvcc="not built"
        [ -x "$work/$name" ] && by_nvcc=$(times "$outcome" "$work/$name")
        by_dslc="not built"
        [ -x "$2/$name" ] && by_dslc=$(DSLC_DEVICE=gpu times "$outcome" "$2/$name")
        echo "$name | $label $outcome | nvcc: $by_nvcc | dslc: $by_dslc"
        for seen in "$by_nvcc" "$by_dslc"; do
            if [ "$label" = forbidden ] && [ "$seen" != 0 ] && [ "$seen" != "not built" ]; then
                bad=$((bad + 1))
            fi
        done
    done
    echo "forbidden outcomes seen, or programs that do not end: $bad"
    ;;
*) sed -n 2,8p "$0" ;;
esac
