#!/usr/bin/env bash
# Times dslc, Oclgrind and PoCL on the same eight kernels: bench/run.sh [KERNEL …]
#
#   ROUNDS=5      rounds; in each round every tool runs every kernel once, and medians over the rounds are reported, and the least
#   THREADS=1     CPU threads for every tool
#   SIZE=oclgrind sizes that an emulator finishes in seconds; SIZE=large: 2^22, 2048^2, 512^3, 256^3, 2048^2, 1024^2, without Oclgrind
#   DSLC=FILE     a dslc that is built already; else it is built
#   LAUNCHES=5    extra launches that the kernel time of dslc is taken from
#
# The time is that of one launch. The OpenCL driver measures it around the launch; for dslc, whose clock does not exist inside the
# simulated program, it is (time of a run with 1 + LAUNCHES launches - time of a run with 1) / LAUNCHES.
# The last columns are the speed of dslc relative to the other tool: at 0.5 it takes twice the tool's time.
# Every tool's result is checked against the host once before anything is timed.
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${ROUNDS:-5} threads=${THREADS:-1} launches=${LAUNCHES:-5} size=${SIZE:-oclgrind}
kernels=("$@")
[ ${#kernels[@]} -gt 0 ] || kernels=(reduce transpose32 transpose33 sgemm16 sgemm64 gemm_naive gemv_half mandel)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { printf '%s\n' "$*" >&2; }

size_of() {
    case $size-$1 in
        oclgrind-reduce) echo 262144 ;;
        oclgrind-transpose*) echo 512 ;;
        oclgrind-sgemm*) echo 128 ;;
        oclgrind-gemv_half) echo 512 ;;
        oclgrind-gemm_naive) echo 128 ;;
        oclgrind-mandel) echo 256 ;;
        large-reduce) echo 4194304 ;;
        large-transpose*) echo 2048 ;;
        large-sgemm*) echo 512 ;;
        large-gemv_half) echo 2048 ;;
        large-gemm_naive) echo 256 ;;
        large-mandel) echo 1024 ;;
        *) say "no size for SIZE=$size and kernel $1"; exit 2 ;;
    esac
}

# The unit that is counted per second: threads, multiply-adds, or rounds of the loop.
work_of() {
    local n
    n=$(size_of "$1")
    case $1 in
        reduce) echo "$n threads" ;;
        transpose*) echo "$((n * n / 4)) threads" ;;
        gemv_half) echo "$((n * n)) multiply-adds" ;;
        sgemm* | gemm_naive) echo "$((n * n * n)) multiply-adds" ;;
        mandel) echo "$(sed -n 's/.*rounds=//p' "$work/check-mandel") rounds" ;;
    esac
}

[ -n "${DSLC:-}" ] || cargo build --release --quiet
dslc=${DSLC:-target/release/dslc}
tools=(dslc dslc-checks)

if command -v cc >/dev/null && cc -O2 -o "$work/opencl" bench/peers/opencl.c -lOpenCL 2>"$work/cc.log"; then
    if [ "$size" = large ]; then
        say "Oclgrind: left out at SIZE=large"
    elif command -v oclgrind >/dev/null; then
        tools+=(oclgrind oclgrind-races)
    else
        say "Oclgrind: not installed (Debian: oclgrind)"
    fi
    if "$work/opencl" bench/peers/kernels.cl reduce 256 1 2>/dev/null | grep -qiE 'pthread|cpu'; then
        tools+=(pocl)
    else
        say "PoCL: not installed (Debian: pocl-opencl-icd)"
    fi
else
    say "OpenCL peers: no C compiler or no OpenCL headers (Debian: ocl-icd-opencl-dev)"
fi

run_dslc() { # kernel check launches options…
    local kernel=$1 check=$2 n_launches=$3
    shift 3
    "$dslc" run --jobs "$threads" "$@" "bench/$kernel.k" -- "$(size_of "$kernel")" "$check" "$n_launches"
}

seconds_of() { # command…: wall seconds
    local start=$EPOCHREALTIME
    "$@" >/dev/null
    awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}

opencl() { # kernel repeats wrapper…: seconds of one launch
    local kernel=$1 repeats=$2
    shift 2
    env POCL_MAX_PTHREAD_COUNT="$threads" "$@" "$work/opencl" bench/peers/kernels.cl "$kernel" "$(size_of "$kernel")" "$repeats" |
        awk '$4 != 0 { print "wrong result: " $0 > "/dev/stderr"; exit 1 } { print $3 }'
}

once() { # tool kernel: seconds of one launch
    local options=() one many
    case $1 in
        dslc | dslc-checks)
            [ "$1" = dslc-checks ] || options=(--no-checks)
            one=$(seconds_of run_dslc "$2" 0 1 "${options[@]}")
            many=$(seconds_of run_dslc "$2" 0 $((1 + launches)) "${options[@]}")
            echo "$one" >>"$work/$2-$1-one"
            echo "$many" >>"$work/$2-$1-many"
            awk -v one="$one" -v many="$many" -v n="$launches" 'BEGIN { t = (many - one) / n; print (t > 0 ? t : "nan") }'
            ;;
        oclgrind) opencl "$2" 1 oclgrind --num-threads "$threads" ;;
        oclgrind-races) opencl "$2" 1 oclgrind --num-threads "$threads" --data-races ;;
        pocl) opencl "$2" 5 ;;
    esac
}

for kernel in "${kernels[@]}"; do
    run_dslc "$kernel" 1 1 --no-checks >"$work/check-$kernel" || { say "dslc: wrong result for $kernel"; exit 1; }
done

for ((round = 1; round <= rounds; round++)); do
    say "round $round of $rounds"
    for kernel in "${kernels[@]}"; do
        for tool in "${tools[@]}"; do
            once "$tool" "$kernel" >>"$work/$kernel-$tool"
        done
    done
done

median() { sort -g "$1" | awk '$1 != "nan" { v[++n] = $1 } END { if (n) print v[int((n + 1) / 2)]; else print "nan" }'; }

# Other processes on the machine can only increase a time. Of two times that are subtracted, each has to be its own minimum.
least() { # kernel tool
    case $2 in
        dslc*) { sort -g "$work/$1-$2-one" | head -1; sort -g "$work/$1-$2-many" | head -1; } | awk -v n="$launches" 'NR == 1 { one = $1 } END { t = ($1 - one) / n; print (t > 0 ? t : "nan") }' ;;
        *) sort -g "$work/$1-$2" | head -1 ;;
    esac
}

printf '%-12s %-15s %10s %10s %14s  %-14s %s\n' kernel tool "median ms" "least ms" "per second" of "dslc is, by medians and by the least"
for kernel in "${kernels[@]}"; do
    read -r amount unit <<<"$(work_of "$kernel")"
    base=$(median "$work/$kernel-dslc")
    base_least=$(least "$kernel" dslc)
    for tool in "${tools[@]}"; do
        awk -v kernel="$kernel" -v tool="$tool" -v t="$(median "$work/$kernel-$tool")" -v least="$(least "$kernel" "$tool")" -v base="$base" \
            -v base_least="$base_least" -v amount="$amount" -v unit="$unit" \
            'function ratio(t, base) { return (t + 0 > 0 && base + 0 > 0) ? sprintf("%.2fx", t / base) : "?" }
             BEGIN { if (t + 0 > 0) printf "%-12s %-15s %10.3f %10.3f %14.4g  %-14s %s\n", kernel, tool, 1000 * t, 1000 * least, amount / t, unit, (tool == "dslc" ? "" : ratio(t, base) " " ratio(least, base_least) " as fast");
                     else printf "%-12s %-15s %10s\n", kernel, tool, "too short" }'
    done
done
