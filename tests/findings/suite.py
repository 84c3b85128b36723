#!/usr/bin/env python3
"""Runs a suite of labelled CUDA programs through `dslc run` and says where the labels and the findings differ.

    tests/findings/suite.py DSLC FOLDER [DSLC-OPTIONS …]

A file is bad if its name begins with `race_` or its first line with `//xfail`, good otherwise; one that names `MUTATION` is run a second
time with that defined, and bad then. A file with a `main` is run as it is. Of one without, each kernel is launched with the `--blockDim` and
`--gridDim` of its header (GPUVerify's: a number, or [x,y,z]; the grid is cut to 4 blocks in each direction), buffers of 64 Ki elements
counting up for its pointers, and for its other parameters 1, or what `__requires(name == number)` says.

Notes count as found for the bad and not for the good.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ELEMENTS = 65536
# What GPUVerify's kernels say to GPUVerify; lines are the file's plus one.
GPUVERIFY = "#define __requires(x)\n"


def numbers(text, key, most):
    found = re.search(rf"--{key}=(\[[\d,\s]+\]|\d+)", text)
    values = [int(n) for n in re.findall(r"\d+", found.group(1))] if found else [1]
    return "(" + ", ".join(str(min(n, most)) for n in values) + ")"


def launches(text):
    """Options that launch each kernel of a file without a main."""
    options = []
    for name, params in re.findall(r"__global__\s+void\s+(\w+)\s*\(([^)]*)\)", text):
        args = []
        for k, param in enumerate(p.strip() for p in params.split(",") if p.strip() not in ("", "void")):
            if "*" not in param:
                value = re.search(rf"__requires\(\s*{param.split()[-1]}\s*==\s*(\d+)\s*\)", text)
                args.append(value.group(1) if value else "1")
                continue
            ty = re.sub(r"\b(const|volatile|restrict|__restrict__|__restrict)\b", "", param.split("*")[0]).strip()
            ty = re.sub(r"(long|short) int", r"\1", ty)
            args.append(f"{name}{k}")
            options += ["--buffer", f"{name}{k}={ty}[{ELEMENTS}]:iota"]
        shape = f"{numbers(text, 'gridDim', 4)}, {numbers(text, 'blockDim', 1024)}"
        if re.search(r"extern\s+__shared__", text):
            shape += ", 16384"
        options += ["--launch", f"{name}<<<{shape}>>>({', '.join(args)})"]
    return options


def run(dslc, path, options, bad):
    text = path.read_text(errors="replace")
    options = options + re.findall(r"-D\w+(?:=\S+)?", text.split("__global__")[0])
    if not re.search(r"\bmain\s*\(", text):
        options += launches(text)
    with tempfile.NamedTemporaryFile("w", suffix=".cu") as file:
        file.write(GPUVERIFY + text)
        file.flush()
        args = [dslc, "run", "--format", "json", "--limit", "20000000", *options, file.name]
        try:
            done = subprocess.run(args, capture_output=True, text=True, timeout=60)
            report = json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            return "not run", ["timeout"]
        except json.JSONDecodeError:
            return "not run", done.stderr.strip().splitlines()[-1:]
    if report.get("diagnostics"):
        said = [d["message"] for d in report["diagnostics"] if d["severity"] == "error"]
        return "not run", said[:2]
    found = [f for f in report["findings"] if bad or f["severity"] != "note"]
    lines = lambda f: sorted({a["line"] for a in f["accesses"]})
    said = sorted({f"{f['severity']} {f['kind']} {lines(f)}" for f in found})
    return ("found" if found else "silent"), said


def main():
    dslc, folder, *options = sys.argv[1:]
    table = {}
    for path in sorted(pathlib.Path(folder).rglob("*.cu")):
        text = path.read_text(errors="replace")
        bad = path.name.startswith("race_") or text.startswith("//xfail")
        runs = [(bad, [])] + ([(True, ["-DMUTATION"])] if "MUTATION" in text else [])
        for bad, more in runs:
            outcome, said = run(dslc, path, options + more, bad)
            key = ("bad" if bad else "good", outcome)
            table[key] = table.get(key, 0) + 1
            if key not in (("bad", "found"), ("good", "silent")):
                what = " ".join([str(path.relative_to(folder)), *more])
                print(f"{what}: labelled {key[0]}, {outcome}: {'; '.join(said)}")
    for label in ("bad", "good"):
        counts = {o: table.get((label, o), 0) for o in ("found", "silent", "not run")}
        print(f"{label}: {sum(counts.values())}, found {counts['found']}, silent {counts['silent']}, not run {counts['not run']}")


if __name__ == "__main__":
    main()
