#!/usr/bin/env python3
"""Asks nvcc which headers bring which names, and writes dsl/library/headers.txt anew.

    bench/gpu/headers.py [NVCC]        (needs nvcc and its host compiler, no GPU)

The names are those of the file as it is; a name is added by writing it into a row. One program per header has a `using` or an `#ifdef` per
name, so that one compilation answers for all of them.
"""
import concurrent.futures, pathlib, re, subprocess, sys, tempfile

TABLE = pathlib.Path(__file__).parents[2] / "dsl/library/headers.txt"
LINES = 5  # Of a program, per name.


def program(header, names):
    text = f"#include <{header}>\nint present;\n" if header else "\nint present;\n"
    for k, name in enumerate(names):
        path = "cooperative_groups::thread_block" if name == "cooperative_groups" else name
        path = "std::chrono::duration" if name == "std::chrono" else path
        text += f"#ifdef {name.replace(':', '_')}\nnamespace n{k} {{ using ::present; }}\n#else\nnamespace n{k} {{ using ::{path}; }}\n#endif\n"
    return text


def brought(nvcc, header, names):
    """The names that are there behind an `#include <header>`; None if there is no such header."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "t.cu"
        file.write_text(program(header, names))
        command = [nvcc, "-std=c++17", "--cuda", "-Xcudafe", "--error_limit=100000", "-o", "/dev/null", str(file)]
        said = subprocess.run(command, capture_output=True, text=True)
        said = said.stdout + said.stderr
    if "fatal error" in said or "catastrophic" in said:
        return None
    lines = [int(line) for line in re.findall(r"t\.cu\((\d+)\): error", said)]
    absent = {(line - 3) // LINES for line in lines if line > 2}
    return {name for k, name in enumerate(names) if k not in absent}


def main():
    nvcc = sys.argv[1] if len(sys.argv) > 1 else "nvcc"
    lines = TABLE.read_text().splitlines()
    comment = [line for line in lines if line.startswith("#") or not line]
    rows = [line.split(": ") for line in lines if ": " in line and not line.startswith("#")]
    headers = next(headers.split() for names, headers in rows if names == "headers")
    rows = [(names.split(), brings.split()) for names, brings in rows if names != "headers"]
    names = [name for names, _ in rows for name in names]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answers = dict(zip(["", *headers], pool.map(lambda header: brought(nvcc, header, names), ["", *headers])))
    for header in [header for header in headers if answers[header] is None]:
        sys.exit(f"nvcc knows no <{header}>")
    out = comment + ["headers: " + " ".join(headers)]
    for names, (first, *others) in rows:
        # The samples' own headers are not part of nvcc.
        if first not in headers:
            out.append(f"{' '.join(names)}: {' '.join([first, *others])}")
            continue
        implicit = [name for name in names if name in answers[""]]
        if implicit:
            print(f"nvcc knows {' '.join(implicit)} without a header", file=sys.stderr)
        more = [header for header in headers if header != first and any(name in answers[header] for name in names)]
        out.append(f"{' '.join(names)}: {' '.join([first, *more])}")
    TABLE.write_text("\n".join(out) + "\n")


main()
