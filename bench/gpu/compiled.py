#!/usr/bin/env python3
"""Compares dslc's counts, as written and as compiled, with a GPU's: bench/gpu/compiled.py OUT [CSV]     (OUT from bench/gpu/compiled.sh)

Prints a row for each kernel: how many of its counters are equal as written and as compiled, and those that differ. A kernel is counted once, at its
first launch. Writes what the GPU counted to the file CSV. Exit code 1 if a program has no counts.
"""

import csv
import json
import pathlib
import sys

# The simulator's name, and ncu's counters whose sum it is. There is no counter of shared requests: ncu's counts instructions, also where a
# predicate is false in all lanes.
COUNTERS = {
    "shared_load_transactions": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"],
    "shared_store_transactions": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
    "global_load_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
    "global_load_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
    "global_store_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"],
    "global_store_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
    "global_atomic_requests": [
        "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    ],
}


def measured(path):
    """The counters of each launch, in order."""
    rows = list(csv.reader(path.open(newline="")))
    head = next((row for row in rows if row and row[0] == "ID"), None)
    if head is None:
        return []
    launches = []
    for row in rows[rows.index(head) + 1 :]:
        if not row or not row[0].isdigit():
            continue
        cells = dict(zip(head, row))
        values = {}
        for name, parts in COUNTERS.items():
            found = [cells.get(part, "").replace(",", "") for part in parts]
            values[name] = sum(int(float(value)) for value in found if value)
        launches.append((cells["Kernel Name"], values))
    return launches


def write(path, rows):
    """Program, kernel, and what the GPU counted at its first launch."""
    root = pathlib.Path(__file__).resolve().parents[2]
    places = ["bench/gpu/kernels/{}.cu", "examples/{}.k", "tests/programs/{}.k"]
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["program", "kernel", *COUNTERS])
        for program, launch, gpu in rows:
            found = [place.format(program) for place in places if (root / place.format(program)).exists()]
            out.writerow([*found, launch["kernel"], *(gpu[name] for name in COUNTERS)])


def main():
    folder = pathlib.Path(sys.argv[1])
    rows, missing = [], []
    for path in sorted(folder.glob("*.json")):
        raw = path.with_suffix(".raw.csv")
        try:
            launches = json.loads(path.read_text())["launches"]
        except ValueError:
            launches = []
        if not launches or not raw.exists():
            missing.append(path.stem)
            continue
        seen = set()
        for launch, (_, gpu) in zip(launches, measured(raw)):
            if launch["kernel"] in seen:
                continue
            seen.add(launch["kernel"])
            rows.append((path.stem, launch, gpu))
    equal = {"metrics": 0, "compiled_metrics": 0}
    near = dict(equal)
    counted = 0
    for program, launch, gpu in rows:
        compiled = launch.get("compiled_metrics")
        if compiled is None:
            print(f"{program} {launch['kernel']}: not counted: {launch.get('compiled_because')}")
            continue
        counted += 1
        differing = []
        for kind in equal:
            counts = launch[kind]
            wrong = [name for name, value in gpu.items() if counts.get(name) != value]
            far = [name for name in wrong if abs(counts.get(name, 0) - gpu[name]) > 0.03 * gpu[name]]
            equal[kind] += not wrong
            near[kind] += not far
            if kind == "compiled_metrics":
                differing = [f"{name} {launch['metrics'].get(name)} {counts.get(name)} gpu {gpu[name]}" for name in wrong]
        if differing:
            print(f"{program} {launch['kernel']}: " + "; ".join(differing))
    print(f"{len(rows)} kernels, {counted} counted as compiled")
    for kind, name in [("metrics", "as written"), ("compiled_metrics", "as compiled")]:
        print(f"{name}: all counters equal in {equal[kind]}, within 3 % in {near[kind]}")
    if len(sys.argv) > 2:
        write(pathlib.Path(sys.argv[2]), rows)
    if missing:
        print("without counts: " + " ".join(missing))
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
