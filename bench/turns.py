#!/usr/bin/env python3
"""Two dslc in turns on a machine that others share: bench/turns.py OLD NEW KERNEL [KERNEL ...] [--pairs N]

Kernels are named as for bench/launches.py. Other processes can make a launch twice as slow from one second to the next; two runs that follow
each other mostly see the same machine. So what is reported is the median of the ratios of such pairs, CPU time of the user of a launch, of NEW
to OLD, and the quartiles.
"""

import argparse
import statistics

import launches

# Approximate time of all launches of a process, in milliseconds.
WANTED_MS = 250


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("old")
    arguments.add_argument("new")
    arguments.add_argument("kernels", nargs="+")
    arguments.add_argument("--pairs", type=int, default=14)
    given = arguments.parse_args()
    pair = given.old, given.new
    print("kernel | without checks: new / old (quartiles), old ms, new ms | with checks: the same")
    for kernel in given.kernels:
        texts = []
        for checks in (False, True):
            alone = {dslc: min(launches.cpu_ms(dslc, checks, kernel, 0) for _ in range(5)) for dslc in pair}
            one = max(launches.cpu_ms(given.old, checks, kernel, 4) - alone[given.old], 0.4) / 4
            count = max(2, min(200, int(WANTED_MS / one)))
            times = {dslc: [] for dslc in pair}
            for _ in range(given.pairs):
                for dslc in pair:
                    times[dslc].append((launches.cpu_ms(dslc, checks, kernel, count) - alone[dslc]) / count)
            ratios = [new / old for old, new in zip(*times.values(), strict=True)]
            low, middle, high = statistics.quantiles(ratios, n=4)
            old, new = (statistics.median(times[dslc]) for dslc in pair)
            texts.append(f"{middle:.2f} ({low:.2f} to {high:.2f}) {old:.2f} {new:.2f}")
        print(kernel, *texts, sep=" | ", flush=True)


if __name__ == "__main__":
    main()
