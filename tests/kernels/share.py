#!/usr/bin/env python3
"""Which share of the kernels in a folder of CUDA files `dslc check --kernels` understands.

    tests/kernels/share.py [--dslc PATH] [--reasons N] [--list FILE] FOLDER

FOLDER has a folder for each collection, laid out as its authors did. Every .cu file is checked alone, with each folder of its
collection that holds headers on the include path; a kernel that several files include counts once, as understood if one of them
understands it. Prints a table in Markdown, then the N most frequent reasons; FILE gets a line for each kernel.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

HEADERS = {".h", ".hpp", ".cuh", ".hu", ".inl", ".cu", ".hh"}


def include_folders(collection):
    """The folders of a collection that have headers, and their parents: what its build would name with -I, and more."""
    holding = {path.parent for path in collection.rglob("*") if path.suffix in HEADERS}
    folders = {collection}
    for folder in holding:
        while folder != collection:
            folders.add(folder)
            folder = folder.parent
    return sorted(folders, key=lambda folder: (len(folder.parts), str(folder)))


def check(dslc, path, folders):
    """The kernels of one file, or None if the tool ended without a report."""
    near = sorted(folders, key=lambda folder: -len(os.path.commonpath([folder, path.parent])))
    command = [dslc, "check", "--kernels", "--format", "json"]
    for folder in near[:60]:
        command += ["-I", str(folder)]
    try:
        done = subprocess.run(command + [str(path)], capture_output=True, text=True, timeout=120)
        return json.loads(done.stdout)["kernels"], done.stderr
    except (subprocess.TimeoutExpired, json.JSONDecodeError) as trouble:
        return None, str(trouble)


def general(reason):
    """A reason without what is particular to the file."""
    return re.sub(r"`[^`]*`", lambda m: m.group() if re.fullmatch(r"`[\w:]+`", m.group()) else "`…`", reason)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--dslc", default="target/release/dslc")
    parser.add_argument("--reasons", type=int, default=15)
    parser.add_argument("--list", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    rows, reasons, lines, failed, n_guessed = [], collections.Counter(), [], [], 0
    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
    for collection in sorted(path for path in args.folder.iterdir() if path.is_dir()):
        folders = include_folders(collection)
        files = sorted(collection.rglob("*.cu"))
        kernels = {}
        reports = pool.map(lambda path: check(args.dslc, path, folders), files)
        for path, (report, trouble) in zip(files, reports):
            if report is None:
                failed.append(f"{path}: {trouble}")
                continue
            for kernel in report:
                place = (os.path.realpath(kernel["file"]), kernel["line"], kernel["name"])
                known = kernels.get(place)
                if known is None or (kernel["ok"] and not known["ok"]):
                    kernels[place] = kernel
        if not kernels:
            continue
        shared = [kernel for kernel in kernels.values() if kernel["shared"]]
        understood = lambda some: sum(kernel["ok"] for kernel in some)
        rows.append((collection.name, len(kernels), understood(kernels.values()), len(shared), understood(shared)))
        for (file, line, name), kernel in sorted(kernels.items()):
            if kernel["ok"]:
                n_guessed += kernel["with"] is not None
                lines.append(f"ok\t{file}:{line}\t{name}")
            else:
                reasons[general(kernel["reason"])] += 1
                lines.append(f"no\t{file}:{line}\t{name}\t{kernel['reason_file']}:{kernel['reason_line']}\t{kernel['reason']}")
    rows.append(("all", *(sum(row[n] for row in rows) for n in range(1, 5))))
    share = lambda part, whole: f"{100 * part / whole:.0f} %" if whole else "-"
    print("| collection | kernels | understood | | with shared memory | understood | |\n|---|---|---|---|---|---|---|")
    for name, n, n_ok, n_shared, n_shared_ok in rows:
        print(f"| {name} | {n} | {n_ok} | {share(n_ok, n)} | {n_shared} | {n_shared_ok} | {share(n_shared_ok, n_shared)} |")
    print(f"\n{n_guessed} of the understood kernels are templates that nothing in their file instantiates: they were tried with arguments that dslc made up.")
    if args.reasons:
        print()
        for reason, n in reasons.most_common(args.reasons):
            print(f"{n:5}  {reason}")
    if args.list:
        args.list.write_text("\n".join(lines) + "\n")
    for failure in failed:
        print(f"no report: {failure}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
