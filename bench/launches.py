#!/usr/bin/env python3
"""What a launch costs in the simulator, by one dslc or by several in turns: bench/launches.py DSLC [DSLC ...]

Each kernel is run without checks and with all of them, on one thread. The time of a launch is that of a process with N launches more, less
that of a process without, divided by N, both of them the least of the rounds: CPU time of the user, so that other processes on the machine
matter less than they do for time on the wall. The last lines are geometric means: of each dslc against the first, and of what checks cost.

The kernels are those of bench/gpu/kernels at their small size, the ten that nobody tunes for by themselves, and with --tuned the eight of
bench/run.sh at its large sizes; --kernels also knows those of bench/later. Many launches of the former take less than a millisecond: single ratios of those mean little.
"""

import argparse
import math
import pathlib
import resource
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
SUITE = HERE / "gpu" / "kernels"
ASIDE = (
    "dgemm_register layer_norm spmv_ell jacobi3d radix_split hash_table lennard_jones monte_carlo bilateral"
    " edit_distance"
).split()
# Written after the changes that they judge; see bench/later.
LATER = [path.stem for path in sorted((HERE / "later").glob("*.cu"))]
# Sizes as in bench/run.sh.
TUNED = {
    "reduce": 4194304,
    "transpose32": 2048,
    "transpose33": 2048,
    "sgemm16": 512,
    "sgemm64": 512,
    "gemm_naive": 256,
    "gemv_half": 2048,
    "mandel": 1024,
}
# Approximate time of all launches of a process, in milliseconds.
WANTED_MS = 400


def command(kernel, launches):
    """Arguments of `dslc run`, of a program that makes so many launches beyond its first."""
    if kernel in LATER:
        return [HERE / "later" / f"{kernel}.cu", "--", str(1 + launches)]
    if kernel in TUNED:
        return [HERE / f"{kernel}.k", "--", str(TUNED[kernel]), "0", str(1 + launches)]
    return [SUITE / f"{kernel}.cu", "--", "0", str(launches)]


def cpu_ms(dslc, checks, kernel, launches):
    """CPU milliseconds of a process."""
    options = ["--jobs", "1", "--order", "ascending", "--cures", "never"]
    options += [] if checks else ["--no-checks"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        [dslc, "run", *options, *command(kernel, launches)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode not in (0, 1):
        sys.exit(f"{kernel}: {done.stderr.decode()}")
    return 1000 * (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)


def measure(dslcs, kernel, rounds):
    """Milliseconds of a launch, by dslc and whether with checks."""
    few = max((cpu_ms(dslcs[0], True, kernel, 4) - cpu_ms(dslcs[0], True, kernel, 0)) / 4, 0.1)
    launches = max(2, min(100, int(WANTED_MS / few)))
    least = {}
    for _ in range(rounds):
        for dslc in dslcs:
            for checks in (False, True):
                for count in (0, launches):
                    key = dslc, checks, count
                    least[key] = min(least.get(key, math.inf), cpu_ms(dslc, checks, kernel, count))
    return {
        (dslc, checks): (least[dslc, checks, launches] - least[dslc, checks, 0]) / launches
        for dslc in dslcs
        for checks in (False, True)
    }


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("dslc", nargs="+")
    arguments.add_argument("--rounds", type=int, default=4)
    arguments.add_argument("--kernels", help="only these, with commas between them")
    arguments.add_argument("--tuned", action="store_true", help="the eight of bench/run.sh, too")
    given = arguments.parse_args()
    others = [path.stem for path in sorted(SUITE.glob("*.cu")) if path.stem not in ASIDE]
    groups = {"aside": ASIDE, "others": others}
    if given.tuned:
        groups["tuned"] = list(TUNED)
    if given.kernels:
        groups = {"given": given.kernels.split(",")}
    print("kernel | no checks, ms | all checks, ms | x slower; of each dslc")
    for group, kernels in groups.items():
        rows = []
        for kernel in kernels:
            row = measure(given.dslc, kernel, given.rounds)
            texts = [
                f"{row[dslc, False]:.2f} {row[dslc, True]:.2f} {row[dslc, True] / row[dslc, False]:.2f}"
                if row[dslc, False] > 0
                else "too short"
                for dslc in given.dslc
            ]
            print(kernel, *texts, sep=" | ", flush=True)
            if all(time > 0 for time in row.values()):
                rows.append(row)
        if not rows:
            continue
        first = given.dslc[0]
        for dslc in given.dslc:
            slower = mean([row[dslc, True] / row[dslc, False] for row in rows])
            against = [mean([row[dslc, checks] / row[first, checks] for row in rows]) for checks in (False, True)]
            print(
                f"{group}, {len(rows)} kernels, {dslc}: checks x {slower:.2f};"
                f" against the first: {against[0]:.3f} without, {against[1]:.3f} with"
            )


if __name__ == "__main__":
    main()
