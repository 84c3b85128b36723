"""Whole programs: the command line ``dslc run``, with its report as an object."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Union

from ._errors import CompileError, DslcError
from ._report import Report

_PathLike = Union[str, "os.PathLike[str]"]


def binary() -> str:
    """The program ``dslc``: the one of the variable ``DSLC``, of this wheel, or of ``PATH``."""
    given = os.environ.get("DSLC")
    if given:
        return given
    name = "dslc.exe" if os.name == "nt" else "dslc"
    for scheme in (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")):
        path = Path(sysconfig.get_path("scripts", scheme)) / name
        if path.is_file():
            return str(path)
    found = shutil.which("dslc")
    if found is None:
        raise DslcError("the program `dslc` is not there: install the wheel again, or let the variable DSLC name it")
    return found


def run(
    file: _PathLike | Sequence[_PathLike],
    *,
    args: Iterable[object] = (),
    arch: str | None = None,
    defines: Mapping[str, object] | None = None,
    include: Iterable[_PathLike] = (),
    timeout: float | None = None,
    options: Iterable[str] = (),
) -> Report:
    """Runs a program in the simulator, with its ``main``.

    ``args`` are the program's arguments, ``defines`` its macros (``{"TILE": 16}``), ``options`` anything else that ``dslc run`` takes:
    ``["--schedules", "100"]``. What the program prints is ``report.stdout``. A program that is wrong at run time has findings, and
    ``report.assert_clean()`` raises them.

    Raises ``CompileError`` with the compiler's messages, and ``DslcError`` if dslc could not do its work.
    """
    files = [file] if isinstance(file, (str, os.PathLike)) else list(file)
    options = list(options)
    words = ["run", *_options(arch, defines, include, timeout), *options, *map(os.fspath, files)]
    arguments = ["--", *map(str, args)]
    # On a GPU nothing is counted.
    counts = [] if any(str(option).startswith("--device") for option in options) else ["--metrics", "all"]
    done = _call([*words, "--format", "json", *counts, *arguments])
    try:
        data = json.loads(done.stdout)
    except ValueError:
        message = done.stderr.strip() or f"dslc ended with code {done.returncode} and no report"
        raise DslcError(_in_python(message, files)) from None
    # The compiler's warnings are diagnostics, too.
    if any(one["severity"] == "error" for one in data.get("diagnostics", ())):
        raise CompileError(done.stderr.strip())

    def page() -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.html")
            again = _call([*words, "--format", "json", "--html", path, *arguments])
            if not os.path.exists(path):
                raise DslcError(again.stderr.strip())
            return Path(path).read_text(encoding="utf-8")

    return Report(data, messages=done.stderr, html=page)


def _in_python(message: str, files: list[_PathLike]) -> str:
    """What the command line says, with what Python has for its options."""
    message = message.removeprefix("dslc: ")
    if "the program has no main(): launch a kernel" in message:
        return f"the program has no main(): launch its kernels one by one with `dslc.kernel({os.fspath(files[0])!r}, name)(grid, block, …)`"
    return message


def _options(
    arch: str | None,
    defines: Mapping[str, object] | None,
    include: Iterable[_PathLike],
    timeout: float | None,
) -> list[str]:
    words = []
    if arch is not None:
        words += ["--arch", arch]
    for name, value in (defines or {}).items():
        words += ["-D", f"{name}={_macro(value)}"]
    for folder in include:
        words += ["-I", os.fspath(folder)]
    if timeout is not None:
        words += ["--timeout", str(timeout)]
    return words


def _macro(value: object) -> str:
    """A macro's text: ``True`` is 1."""
    return str(int(value)) if isinstance(value, bool) else str(value)


def _call(words: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1"}
    program = binary()
    try:
        return subprocess.run(
            [program, *words],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=environment,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except OSError as error:
        raise DslcError(f"cannot run `{program}`: {error}") from None
