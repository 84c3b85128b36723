#!/usr/bin/env python3
"""What each shortcut of the simulator saves: bench/shortcuts.py [DSLC]     (default: target/release/dslc)

For each kernel of bench/compare.sh, a tree sum, and each shortcut: the time of a program with six launches without the shortcut over the time with all, on one
thread; the least of five rounds, first without checks, then with all of them.
"""

import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHORTCUTS = "arrays rounds idle patterns replay races ranges host vectors".split()
KERNELS = """reduce 4194304, tree_sum 4194304, transpose32 2048, transpose33 2048, sgemm16 512, sgemm64 512, gemm_naive 256, gemv_half 2048, mandel 1024"""
ROUNDS = 5


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main():
    dslc = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/release/dslc")
    print("kernel".ljust(24), "ms".rjust(8), *(name.rjust(9) for name in SHORTCUTS), "all".rjust(9))
    ways = {"": [], **{name: ["--plain=" + name] for name in SHORTCUTS}, "all": ["--plain"]}
    for checks in ["--no-checks", "--quiet"]:
        for row in KERNELS.split(","):
            kernel, size = row.split()
            program = ["--cures", "never", str(ROOT / f"bench/{kernel}.k"), "--", size, "0", "6"]
            times = {way: [] for way in ways}
            for _ in range(ROUNDS):
                for way, options in ways.items():
                    times[way].append(seconds([dslc, "run", "--jobs", "1", checks, *options, *program]))
            least = {way: min(all_of) for way, all_of in times.items()}
            label = kernel + (", checked" if checks == "--quiet" else "")
            ratios = (f"{least[way] / least['']:9.2f}" for way in ways if way)
            print(label.ljust(24), f"{1000 * least['']:8.1f}", *ratios, flush=True)


main()
