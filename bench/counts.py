#!/usr/bin/env python3
"""What counting as compiled takes, next to what is written: bench/counts.py DSLC [--rounds N]

Wall-clock milliseconds, medians of rounds in turns: each program as written, both ways with its PTX in the cache (warm), and both ways without it
(cold). Programs are those of bench with a size of a second or less, with all checks, and examples/reverse.k for what a small run takes.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).parent
PROGRAMS = [HERE.parent / "examples" / "reverse.k", *(path for path in sorted(HERE.glob("*.k")) if path.stem != "checks")]


def milliseconds(command, cache):
    environment = {**os.environ, "XDG_CACHE_HOME": cache}
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, check=True)
    return (time.perf_counter() - start) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dslc")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    ratios = []
    print(f"{'':20}{'written':>10}{'warm':>10}{'cold':>10}{'warm/written':>14}")
    for program in PROGRAMS:
        run = [arguments.dslc, "run", "--cures", "never", program, "--counts"]
        times = {"written": [], "warm": [], "cold": []}
        with tempfile.TemporaryDirectory() as warm:
            milliseconds([*run, "both"], warm)
            for _ in range(arguments.rounds):
                times["written"].append(milliseconds([*run, "written"], warm))
                times["warm"].append(milliseconds([*run, "both"], warm))
                with tempfile.TemporaryDirectory() as cold:
                    times["cold"].append(milliseconds([*run, "both"], cold))
        written, warm_ms, cold_ms = (statistics.median(times[kind]) for kind in ("written", "warm", "cold"))
        if program.parent == HERE:
            ratios.append(warm_ms / written)
        print(f"{program.stem:20}{written:10.1f}{warm_ms:10.1f}{cold_ms:10.1f}{warm_ms / written:14.2f}")
    print(f"median of bench: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
