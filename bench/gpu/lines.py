#!/usr/bin/env python3
"""Sums up what bench/gpu/lines.sh wrote: `python3 bench/gpu/lines.py OUT [CSV]`. The second file gets a row for each line that was compared.

A line and kind of access is *marked* if its machine instructions are others than the compiled kernel's: the assembler moved, merged or dropped
some. Of the others, the share is printed that costs the same. Totals are those of a kernel and kind of access, over all its launches."""

import csv
import json
import sys
from collections import Counter
from pathlib import Path

rows = []
lines, kernels, totals, skipped = Counter(), Counter(), Counter(), Counter()
for path in sorted(Path(sys.argv[1]).glob("*.json")):
    try:
        report = json.loads(path.read_text())
    except ValueError:
        error = path.with_suffix(".err").read_text().strip().splitlines()
        skipped["; ".join(error[-1:]) or "no report"] += 1
        continue
    if not report["counters"]:
        skipped[report["counters_missing"]] += 1
        continue
    if report["differences"]:
        print(f"{path.stem}: results differ")
    for kernel in report["counters"]["kernels"]:
        if kernel["counted_as"] != "compiled":
            skipped[f"not counted as compiled: {kernel['because']}"] += 1
            continue
        name = f"{path.stem} {kernel['kernel']}"
        marked = 0
        for line in kernel["lines"]:
            verdict = line["verdict"]
            if verdict == "changed by the compiler":
                marked += 1
                print(f"{name} line {line['line']} {line['access']}: {line['how']}")
            elif verdict == "different":
                print(f"{name} line {line['line']} {line['access']}: {line['simulated']} and {line['measured']}")
            lines[verdict] += 1
            measured = line["measured"]["cost"] if verdict != "not compared" else ""
            rows.append((report["program"], kernel["kernel"], line["line"], line["access"], line["simulated"]["cost"], measured, line["how"] or verdict))
        kernels["marked" if marked else "not marked"] += 1
        for total in kernel["counters"]:
            ours, theirs = total["simulated"], total["measured"]
            if ours is None or theirs is None or not ours and not theirs:
                continue
            if total["access"] == "shared store":
                theirs -= kernel["store_replays"]
            off = abs(ours - theirs) / max(theirs, 1)
            totals["same" if off == 0 else "within 3 %" if off <= 0.03 else "further off"] += 1
            if off > 0:
                print(f"{name} {total['access']}: {ours} simulated, {theirs} measured")
if len(sys.argv) > 2:
    with open(sys.argv[2], "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("program", "kernel", "line", "access", "simulated", "measured", "verdict"))
        writer.writerows(rows)
print(f"\nlines: {dict(lines)}\nkernels: {dict(kernels)}\ntotals: {dict(totals)}\nskipped: {dict(skipped)}")
compared = lines["same"] + lines["different"] + lines["same but on the page"]
print(f"lines without a mark that are the same: {1 - lines['different'] / max(compared, 1):.1%} of {compared}")
print(f"kernels without a mark: {kernels['not marked'] / max(sum(kernels.values()), 1):.1%} of {sum(kernels.values())}")
print(f"totals within 3 %: {1 - totals['further off'] / max(sum(totals.values()), 1):.1%} of {sum(totals.values())}")
