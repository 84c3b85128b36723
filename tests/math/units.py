"""The tables of ir/src/approx/table.rs, from a GPU's results: units.py FOLDER > table.rs. Needs numpy and scipy.

FOLDER has results of `units dump`; units.md has the commands.

A row is three integers c0, c1, c2, such that c0 + c1 x + c2 square(x), in units of 2^-40, truncates to the result at each x of 17 bits.
Each result bounds that sum from both sides. Linear programming gives the range of c1 and of c2 that the bounds leave, which has one
integer, or few; integer arithmetic then gives the range of c0. Of each range the number with most zeros at its end is taken.
"""
import sys

import numpy as np
from scipy.optimize import linprog

PLACES = 40
X = np.arange(1 << 17, dtype=np.int64)


def square(x):
    """The sum over pairs of bits i, j < i of 2^(i+j+1), and over bits of 2^2i, without terms below 2^19, in units of 2^19."""
    total = np.zeros_like(x)
    for i in range(10, 17):
        total += (x >> i & 1) * (((x & (1 << i) - 1) >> 18 - i) + (1 << 2 * i - 19))
    return total


SQUARE = square(X)


def bounds(bits):
    """The sums that truncate to a positive float: from the first number to before the second."""
    bits = bits.astype(np.int64) & 0x7FFFFFFF
    digits = np.where(bits == 0, 0, bits & 0x7FFFFF | 0x800000)
    shift = PLACES - 23 + (bits >> 23) - 127
    left, right = np.maximum(shift, 0), np.maximum(-shift, 0)
    low = digits << left >> np.minimum(right, 63)
    return low, low + (np.int64(1) << left)


def extent(low, high, x, which):
    """The least and the largest c1 (which = 1) or c2 (2) of any real solution."""
    scale = np.array([1.0, 1 / 131072, 1 / 32768])
    columns = np.stack([np.ones(len(x)), x * scale[1], SQUARE[x] * scale[2]], 1)
    middle = low[len(low) // 2]
    unit = 131072.0
    low, high = (low - middle) / unit, (high - middle) / unit
    chosen = set(np.linspace(0, len(x) - 1, 60).astype(int))
    ends = []
    for sign in (1, -1):
        # Bounds are added until the solution breaks none: few of them matter.
        while True:
            some = sorted(chosen)
            goal = [sign * (i == which) for i in range(3)]
            rows = np.vstack([columns[some], -columns[some]])
            limits = np.concatenate([high[some], -low[some]])
            found = linprog(goal, A_ub=rows, b_ub=limits, bounds=[(None, None)] * 3, method="highs").x
            if found is None:
                sys.exit("no polynomial gives these results")
            sums = columns @ found
            worst = [np.argmax(sums - high), np.argmax(low - sums)]
            if max((sums - high)[worst[0]], (low - sums)[worst[1]]) < 1e-6 or chosen.issuperset(worst):
                break
            chosen.update(map(int, worst))
        ends.append(found[which] * unit * scale[which])
    return ends


def zeros(number):
    return (number & -number).bit_length() if number else 99


def roundest(low, high):
    for places in range(60, -1, -1):
        number = -(-low >> places) << places
        if number <= high:
            return number


def integers(ends):
    low, high = ends
    return sorted(range(int(np.floor(low - 1e-3)), int(np.ceil(high + 1e-3)) + 1), key=lambda n: -zeros(n))


def row(low, high, x):
    firsts = integers(extent(low, high, x, 1))
    for c2 in integers(extent(low, high, x, 2)):
        for c1 in firsts:
            rest = c1 * x + c2 * SQUARE[x]
            least, most = int((low - rest).max()), int((high - 1 - rest).min())
            if least <= most:
                return roundest(least, most), c1, c2
    sys.exit("no integers give these results")


def rows(bits, x, skip_first=False):
    """One row for each run of len(x) results. The first result of all is an exception of some functions."""
    low, high = bounds(bits)
    found = []
    for at in range(0, len(bits), len(x)):
        skip = int(skip_first and at == 0)
        part = slice(at + skip, at + len(x))
        found.append(row(low[part], high[part], x[skip:]))
    return found


def sine(bits):
    """Results for all floats from 0.5 to 8, as results for the 2^23 parts of a quarter turn."""
    x = np.arange(0x3F000000, 0x41000000, dtype=np.uint32).view(np.float32).astype(np.float64)
    exact = x * np.float64(np.float32(0.15915494))
    turns = exact.astype(np.float32)
    up = turns.astype(np.float64) > exact
    turns = (turns.view(np.uint32) - up).astype(np.uint32).view(np.float32)
    parts = np.floor(turns.astype(np.float64) * 2**25).astype(np.int64)
    parts = np.where(parts >> 23 & 1, ~parts, parts) & 0x7FFFFF
    known = np.full(1 << 23, -1, dtype=np.int64)
    known[parts] = bits & 0x7FFFFFFF
    assert (known[parts] == (bits & 0x7FFFFFFF)).all(), "not a function of the parts"
    found = []
    for at in range(0, 1 << 23, 1 << 17):
        there = np.flatnonzero(known[at : at + (1 << 17)] >= 0)
        low, high = bounds(known[at + there])
        found.append(row(low, high, there))
    return found


def tanh(bits):
    """Every 16th result from 2^-8 to 8."""
    found = []
    for exponent, index_bits in enumerate([0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3]):
        length = 1 << 19 - index_bits
        x = np.arange(length, dtype=np.int64) * 16 >> 6 - index_bits
        for at in range(0, 1 << 19, length):
            low, high = bounds(bits[(exponent << 19) + at :][:length])
            # Several arguments with the same x.
            starts = np.flatnonzero(np.diff(x, prepend=-1))
            found.append(row(np.maximum.reduceat(low, starts), np.minimum.reduceat(high, starts), x[starts]))
    return found


def write(name, doc, found):
    print(f"\n/// {doc}\n#[rustfmt::skip]\npub(super) static {name}: [Row; {len(found)}] = [")
    line = "   "
    for numbers in found:
        text = " ({}, {}, {}),".format(*numbers)
        if len(line) + len(text) > 138:
            print(line)
            line = "   "
        line += text
    print(line + "\n];")


def main():
    folder = sys.argv[1]
    read = lambda name: np.fromfile(f"{folder}/{name}.raw", dtype="<u4")
    half = 1 << 23
    print("//! The tables of the units: `c0`, `c1`, `c2` of a row, in units of 2^-40. Made by `tests/math/units.py` from an H100's results.\n")
    print("use super::Row;")
    write("RCP", "1 / m for m from 1 to 2.", rows(read("rcp"), X[::2]))
    bits = read("rsqrt")
    write("RSQRT_EVEN", "1 / sqrt(m).", rows(bits[:half], X, True))
    write("RSQRT_ODD", "1 / sqrt(2 m).", rows(bits[half:], X))
    bits = read("sqrt")
    write("SQRT_EVEN", "sqrt(m).", rows(bits[:half], X))
    write("SQRT_ODD", "sqrt(2 m).", rows(bits[half:], X))
    write("EX2", "2^f for f from 0 to 1.", rows(read("ex2") - half, X))
    write("LG2", "log2(m).", rows(read("lg2"), X, True))
    write("SIN", "The sine of a quarter turn's parts.", sine(read("sin")))
    write("TANH", "The hyperbolic tangent from 2^-8 to 8: a number of rows for each power of 2.", tanh(read("tanh")))


main()
