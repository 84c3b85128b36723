#!/usr/bin/env python3
"""What a small run takes from its start to its end, by one dslc or by several in turns: bench/starts.py DSLC [DSLC ...] [--rounds N]

Medians and least of wall-clock milliseconds: of nothing (`/bin/true`, what the system takes for any process), of `dslc --version`, and of a
run, a check and a compilation of examples/reverse.k. Machines differ threefold in what a page fault costs, and a quiet minute from a busy
one by as much: compare what one call prints.
"""

import argparse
import pathlib
import statistics
import subprocess
import time

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "reverse.k"
WORDS = {
    "--version": ["--version"],
    "run --cures never": ["run", "--cures", "never", EXAMPLE],
    "run": ["run", EXAMPLE],
    "check": ["check", EXAMPLE],
    "ptx": ["ptx", "--arch", "sm_90", EXAMPLE],
}


def milliseconds(command):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - start) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dslc", nargs="+")
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()
    commands = {"/bin/true": ["/bin/true"]}
    for name, words in WORDS.items():
        for number, dslc in enumerate(arguments.dslc):
            commands[f"{name} [{number}]"] = [dslc, *words]
    times = {name: [] for name in commands}
    for _ in range(arguments.rounds):
        for name, command in commands.items():
            times[name].append(milliseconds(command))
    for number, dslc in enumerate(arguments.dslc):
        print(f"[{number}] {dslc}")
    for name, row in times.items():
        print(f"{name:<24} median {statistics.median(row):6.1f}   least {min(row):6.1f}")


if __name__ == "__main__":
    main()
