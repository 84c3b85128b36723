#!/usr/bin/env python3
"""Kernels of PTX texts: what dslc's machine leaves in memory, and what a GPU leaves there.

    ptx_bits.py draw DSLC FOLDER COUNT FILE.ptx…   runs kernels with simple parameters on dslc, keeps those that run without a finding,
                                                    and writes FOLDER/jobs.txt, the texts and FOLDER/expected.txt
    ptx_bits.sh FOLDER                              runs them on a GPU, and writes FOLDER/got.txt
    ptx_bits.py compare FOLDER                      compares the two
"""
import json, os, random, re, struct, subprocess, sys

BYTES = 1 << 16
MOST_BYTES = 1 << 20
GRID, BLOCK, DYNAMIC = 2, 64, 16384


def words(seed):
    out = bytearray()
    for at in range(BYTES // 4):
        x = (at * 2654435761 + seed) & 0xFFFFFFFF
        x ^= x >> 15
        x = x * 2246822519 & 0xFFFFFFFF
        x ^= x >> 13
        out += struct.pack("<I", 0x3F800000 | x >> 9 if seed % 2 else x & 15)
    return bytes(out)


def npy(data):
    head = "{'descr': '<u4', 'fortran_order': False, 'shape': (%d,), }" % (len(data) // 4)
    head = head.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return "%016x" % value


def arguments(entry, random_):
    """The arguments of an entry, or None if a parameter is no pointer and no number."""
    found = []
    for number, line in enumerate(re.findall(r"\.param ([^,)]*)", entry)):
        if "[" in line:
            return None
        if ".ptr" in line:
            found.append("b:%d:%d" % (BYTES, random_.randrange(1, 1000)))
        elif ".u64" in line or ".s64" in line or ".b64" in line:
            found.append("l:64")
        elif ".f32" in line:
            found.append("f:1.5")
        elif ".u32" in line or ".s32" in line or ".b32" in line:
            found.append("i:64")
        elif ".u8" in line or ".b8" in line:
            found.append("i:1")
        else:
            return None
    return found if any(word[0] == "b" for word in found) else None


def simulate(dslc, ptx, kernel, args, folder):
    given, options, names = [], [], []
    for number, word in enumerate(args):
        kind, value = word[0], word[2:]
        if kind != "b":
            given.append(value)
            continue
        name = "b%d" % number
        path = os.path.join(folder, name + ".npy")
        open(path, "wb").write(npy(words(int(value.split(":")[1]))))
        options += ["--buffer", "%s=@%s" % (name, path), "--save", "%s=%s" % (name, path + ".out.npy")]
        names.append(path + ".out.npy")
        given.append(name)
    launch = "%s<<<%d, %d, %d>>>(%s)" % (kernel, GRID, BLOCK, DYNAMIC, ", ".join(given))
    command = [dslc, "run", ptx, "--launch", launch, "--format", "json", "--timeout", "4"] + options
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return None, "time"
    try:
        report = json.loads(ran.stdout)
    except ValueError:
        return None, (ran.stderr.strip().splitlines() or ["?"])[0]
    findings = report.get("findings") or []
    if ran.returncode != 0 or findings:
        return None, findings[0].get("message", "a finding") if findings else "exit code"
    return [fnv(open(name, "rb").read()[128:]) for name in names], None


def draw(dslc, folder, count, files):
    os.makedirs(folder, exist_ok=True)
    random_ = random.Random(11)
    jobs, why = [], {}
    entries = []
    for path in files:
        text = open(path).read()
        # Reading a text again for each of its kernels takes long.
        if len(text) > MOST_BYTES:
            continue
        for found in re.finditer(r"\.visible \.entry ([\w$]+)\((.*?)\)", text, re.S):
            entries.append((path, found.group(1), found.group(2)))
    random_.shuffle(entries)
    with open(os.path.join(folder, "jobs.txt"), "w") as out, open(os.path.join(folder, "expected.txt"), "w") as expected:
        for path, kernel, params in entries:
            args = arguments(params, random_)
            if args is None:
                why["parameters"] = why.get("parameters", 0) + 1
                continue
            hashes, reason = simulate(dslc, path, kernel, args, folder)
            if hashes is None:
                why[reason[:60]] = why.get(reason[:60], 0) + 1
                continue
            before = [fnv(words(int(word.split(":")[2]))) for word in args if word[0] == "b"]
            if before == hashes:
                why["writes nothing"] = why.get("writes nothing", 0) + 1
                continue
            name = os.path.basename(path)
            open(os.path.join(folder, name), "w").write(open(path).read())
            print(name, kernel, GRID, BLOCK, DYNAMIC, *args, file=out, flush=True)
            print(*hashes, file=expected, flush=True)
            jobs.append(kernel)
            if len(jobs) == count:
                break
    print(len(jobs), "kernels;", "not taken:", why)


def compare(folder):
    read = lambda name: [line.split() for line in open(os.path.join(folder, name))]
    jobs, expected, got = read("jobs.txt"), read("expected.txt"), read("got.txt")
    same = 0
    for job, one, other in zip(jobs, expected, got):
        same += one == other
        if one != other:
            print("differs:", job[1], one, other)
    print(same, "of", len(jobs), "kernels leave the same bits")


if sys.argv[1] == "draw":
    draw(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:])
else:
    compare(sys.argv[2])
