#!/usr/bin/env python3
"""Verifies programs on this machine's GPU, runs compute-sanitizer on them, and writes a page about it.

Parts: results (bits), counters (where ncu is installed), numbers, sanitizer, speed. Exit code 1 if something differs.
With --results, what each program gave is kept in a folder, and a later run goes on from there.
"""

import argparse
import collections
import concurrent.futures
import datetime
import json
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]


def output(command, **options):
    """Standard output of a command, or the empty string."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, **options).stdout.strip()
    except OSError:
        return ""


def arguments(program):
    """Arguments that a program's header asks for."""
    for line in program.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("//~ args:"):
            return line.removeprefix("//~ args:").split()
    return []


def kept(options, part, program, work):
    """What `work()` gives, from the results of an earlier run if it is there; None when the time is over."""
    path = options.results / part / (short(program).replace("/", "_") + ".json") if options.results else None
    if path and path.exists():
        return json.loads(path.read_text())
    if time.monotonic() > options.deadline:
        return None
    result = work()
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result))
    return result


def verify(dslc, program, more):
    """One program on both devices: its report and what was said."""
    name = str(program.relative_to(ROOT)) if program.is_relative_to(ROOT) else str(program)
    command = [dslc, "verify", "--format", "json", "--jobs", "2", *more, name, "--", *arguments(program)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=1200, check=False)
    except subprocess.TimeoutExpired:
        return [None, "no end within 20 minutes"]
    try:
        return [json.loads(done.stdout), done.stderr.strip()]
    except json.JSONDecodeError:
        return [None, (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]]


def verify_all(dslc, programs, options, part, more):
    """All programs: triples of program, report and what was said; programs without time are left out."""
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = lambda program: kept(options, part, program, lambda: verify(dslc, program, more))
        found = list(pool.map(work, programs))
    return [(program, *result) for program, result in zip(programs, found) if result]


def check(dslc, program, tool):
    """One program under one of compute-sanitizer's tools: how many errors, or None if it did not run."""
    command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "99", dslc, "run", "--device", "gpu", "--quiet"]
    command += [str(program), "--", *arguments(program)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=600, check=False)
    except subprocess.TimeoutExpired:
        return [None, "no end within 10 minutes"]
    text = done.stdout + done.stderr
    lines = [line for line in text.splitlines() if line.startswith("=========")]
    summary = next((line for line in reversed(lines) if "SUMMARY" in line), "")
    if "ERROR SUMMARY: 0 errors" in summary or ("RACECHECK SUMMARY: 0 hazards" in summary):
        return [0, ""]
    detail = next((line.removeprefix("=========").strip() for line in lines if "=========     " not in line and "COMPUTE-SANITIZER" not in line), text.strip()[-200:])
    return [(1 if summary else None), f"{summary.removeprefix('=========').strip()} {detail}".strip()]


def short(program):
    return str(program.relative_to(ROOT)) if program.is_relative_to(ROOT) else program.name


def header(dslc, out):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    gpu = output(["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"]).splitlines()
    name, driver, capability = (gpu[0].split(", ") + ["", ""])[:3] if gpu else ("unknown", "unknown", "unknown")
    version = output([dslc, "--version"])
    ncu = output(["ncu", "--version"]).splitlines()
    sanitizer = output(["compute-sanitizer", "--version"]).splitlines()
    tool = lambda lines: next((line for line in lines if line.startswith("Version")), "not installed")
    out.append("# What a GPU says\n")
    out.append(f"{now}, {name} (compute capability {capability}), driver {driver}, {version}.")
    out.append(f"Nsight Compute: {tool(ncu)}. compute-sanitizer: {tool(sanitizer)}.")
    out.append("Made by `bench/gpu/evidence.sh`.\n")


def results(dslc, programs, options, out):
    """The part about bits. Gives whether all is well."""
    results = verify_all(dslc, programs, options, "results", ["--no-ncu"])
    good = [r for r in results if r[1] and not r[1]["differences"]]
    bad = [r for r in results if not r[1] or r[1]["differences"]]
    out.append("## Results: simulator and GPU, bit for bit\n")
    copied = sum(r[1]["bytes"] for r in good)
    out.append(f"{len(good)} of {len(results)} programs: every byte that reached the host ({copied:,} in all), the output and the exit code are the same.")
    if len(results) < len(programs):
        out.append(f"There was no time for {len(programs) - len(results)} more.")
    out.append("")
    for program, report, why in bad:
        differences = report["differences"] if report else [{"line": 0, "what": "did not run", "text": why}]
        lines = collections.Counter(f"line {d['line']}: {d['what']}: {d['text']}" for d in differences)
        out.extend(f"- `{short(program)}` {line}" + (f" ({times} times)" if times > 1 else "") for line, times in lines.items())
    if bad:
        out.append("")
    return not bad


def counters(dslc, programs, options, out):
    """The part about counters. Gives whether all is well."""
    if not shutil.which("ncu"):
        out.append("## Counters\n\nncu is not installed here.\n")
        return True
    results = verify_all(dslc, programs, options, "counters", [])
    kernels = {"same": 0, "explained": 0, "different": 0}
    rows = {"same": 0, "changed by the compiler": 0, "different": 0, "same but on the page": 0, "not compared": 0}
    exceptions, missing, launches, replayed = [], [], 0, 0
    for program, report, why in results:
        if not report:
            missing.append((program, why))
            continue
        if report["counters"] is None:
            if report["kernels"]:
                missing.append((program, report["counters_missing"]))
            continue
        for kernel in report["counters"]["kernels"]:
            kernels[kernel["verdict"]] += 1
            launches += kernel["launches"]
            replayed += kernel["store_replays"] > 0
            for row in kernel["lines"]:
                rows[row["verdict"]] += 1
                ours, theirs = row["simulated"], row["measured"]
                if row["verdict"] in ("changed by the compiler", "different"):
                    figures = f"{ours['instructions']} instructions cost {ours['cost']} in the simulator, {theirs['instructions']} cost {theirs['cost']} on the GPU"
                    exceptions.append((row["verdict"] == "different", short(program), kernel["kernel"], row["line"], row["access"], row["how"] or "DIFFERENT", figures))
            for counter in kernel["counters"]:
                if kernel["verdict"] == "different" and not counter["same"]:
                    exceptions.append((True, short(program), kernel["kernel"], 0, counter["access"], f"{counter['unit']}: {counter['simulated']} simulated, {counter['measured']} measured", ""))
    out.append("## Counters: simulator and ncu\n")
    if len(results) < len(programs):
        out.append(f"There was no time for {len(programs) - len(results)} of {len(programs)} programs.")
    out.append(f"{sum(kernels.values())} kernels, {launches} launches. All wavefronts and sectors are the same: {kernels['same']} kernels. "
               f"They differ only where the compiler made other accesses than the source's, or where the hardware replayed stores that met others ({replayed}): "
               f"{kernels['explained']}. Different otherwise: {kernels['different']}.")
    out.append(f"By source line and kind of access: {rows['same']} the same, {rows['changed by the compiler']} changed by the compiler, "
               f"{rows['different']} different, {rows['same but on the page']} the same by the kernel's counter and not on ncu's page, "
               f"{rows['not compared']} counted per kernel only.\n")
    for program, why in missing:
        out.append(f"- `{short(program)}`: not measured: {why}")
    if exceptions:
        out.append("\n| program | kernel | line | access | what happened | figures |\n|---|---|---:|---|---|---|")
        for _, program, kernel, line, access, how, figures in sorted(exceptions):
            out.append(f"| {program} | {kernel} | {line} | {access} | {how} | {figures} |")
    out.append("")
    return not kernels["different"]


def sanitized(dslc, programs, options, out):
    """The part about compute-sanitizer. Gives whether it found nothing."""
    out.append("## compute-sanitizer\n")
    if not shutil.which("compute-sanitizer"):
        out.append("compute-sanitizer is not installed here.\n")
        return True
    work = [(program, tool) for tool in TOOLS for program in programs]
    found = []
    clean = {tool: 0 for tool in TOOLS}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        run = lambda item: kept(options, item[1], item[0], lambda: check(dslc, *item))
        for (program, tool), result in zip(work, pool.map(run, work)):
            errors, detail = result or (None, "there was no time")
            if errors == 0:
                clean[tool] += 1
            else:
                found.append(f"- `{short(program)}`, {tool}: {detail}")
    for tool in TOOLS:
        out.append(f"- {tool}: nothing found in {clean[tool]} of {len(programs)} programs")
    out.extend(found)
    out.append("")
    return not found


def numbers(dslc, out):
    """Bits of arithmetic on special values against the recorded ones."""
    expected = (ROOT / "tests/h200/numbers.out").read_text()
    found = output([dslc, "run", "--device", "gpu", "--quiet", "tests/h200/numbers.k"], cwd=ROOT) + "\n"
    same = found == expected
    out.append("## Arithmetic on special values\n")
    out.append(f"`tests/h200/numbers.k` prints {'what' if same else 'something else than what'} `tests/h200/numbers.out` has: NaNs, infinities, denormals, zero divisors, shifts.\n")
    return same


def speed(dslc, out):
    """Hook: nvcc beside dslc, by bench/gpu/compare.sh."""
    done = subprocess.run([str(ROOT / "bench/gpu/compare.sh"), dslc], capture_output=True, text=True, check=False)
    out.append("## Speed beside nvcc -O3\n")
    out.append((done.stdout + done.stderr).strip() + "\n")
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dslc")
    parser.add_argument("page")
    parser.add_argument("--speed", action="store_true", help="compare with nvcc too")
    parser.add_argument("--kernels", action="append", default=[], help="a folder with more programs to verify")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--only", default="results,counters,numbers,sanitizer,speed", help="parts, with commas")
    parser.add_argument("--results", type=pathlib.Path, help="a folder to keep what each program gave")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin nothing after so long")
    options = parser.parse_args()
    options.deadline = time.monotonic() + options.seconds
    dslc = str(pathlib.Path(options.dslc).resolve())
    parts = options.only.split(",")
    examples = sorted((ROOT / "examples").glob("*.k"))
    programs = examples + sorted((ROOT / "tests/programs").glob("*.k")) + [ROOT / "tests/h200/seedkernels.k"]
    for folder in options.kernels:
        programs += sorted(pathlib.Path(folder).resolve().rglob("*.k"))
    out, good = [], True
    header(dslc, out)
    if "results" in parts:
        good &= results(dslc, programs, options, out)
    if "counters" in parts:
        good &= counters(dslc, programs, options, out)
    if "numbers" in parts:
        good &= numbers(dslc, out)
    if "sanitizer" in parts:
        good &= sanitized(dslc, examples, options, out)
    if "speed" in parts and options.speed:
        good &= speed(dslc, out)
    pathlib.Path(options.page).write_text("\n".join(out).rstrip() + "\n")
    return 0 if good else 1


sys.exit(main())
