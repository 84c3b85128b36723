"""The access patterns as rows of a C array, and back.

    python3 generate.py patterns.csv pairs.csv > patterns.inc     # id,space,op,width,mask,off0,...,off31 per line
    python3 generate.py --csv patterns.inc > all.csv              # the same table again, ids counted through

One row of `patterns.inc` is one launch of `patterns.k`: which kernel, the mask of active lanes, 32 byte offsets.
"""

import csv
import re
import sys


def code(space, op, width):
    return f"{op}_{space}_{width}".upper() if op in ("ld", "st") else op.upper()


def to_rows(paths):
    for path in paths:
        with open(path, newline="") as table:
            for row in csv.DictReader(table):
                offsets = ",".join(row[f"off{lane}"] for lane in range(32))
                yield f"{code(row['space'], row['op'], row['width'])},0x{row['mask']},{offsets},"


def to_csv(path):
    yield "id,space,op,width,mask," + ",".join(f"off{lane}" for lane in range(32))
    with open(path) as rows:
        for number, line in enumerate(rows):
            name, mask, offsets = line.strip().rstrip(",").split(",", 2)
            plain = re.fullmatch(r"(LD|ST)_(SHARED|GLOBAL)_(\d+)", name)
            if plain:
                op, space, width = plain.group(1).lower(), plain.group(2).lower(), plain.group(3)
            else:
                op, space, width = name.lower(), "global" if name == "RED_ADD" else "shared", "4"
            yield f"{number},{space},{op},{width},{mask[2:]},{offsets}"


def main(arguments):
    lines = to_csv(arguments[1]) if arguments[0] == "--csv" else to_rows(arguments)
    sys.stdout.write("".join(line + "\n" for line in lines))


main(sys.argv[1:])
