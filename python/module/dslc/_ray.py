"""A sweep on a Ray cluster: each task is one part of it, run by the command line of the node it is on.

Nothing is lost with a node: Ray starts its tasks again elsewhere, and a part gives the same lines wherever and however often it runs. Each part
that is done lies in a folder beside the results until all are there, so a sweep that was cut off goes on.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

from ._dslc import __version__
from ._errors import DslcError
from ._run import _call, binary

#: A cluster listens on each address of its machines without a password, whatever Ray's options, so none is started without a request.
_NO_CLUSTER = (
    "no Ray cluster runs on this machine. `ray start --head` starts one: it listens on all addresses of the machine, without a password, so do that "
    "only in a network that you trust. Without an engine, a sweep uses all cores of this machine"
)
#: Tasks for each core: few enough that each takes seconds, and enough that all cores end together.
_TASKS_PER_CORE = 4
#: Most bytes that are sent to each node.
_FOLDER_BYTES = 64 << 20


def run(spec: Path, results: Path, engine: str, batches: int | None) -> None:
    """Runs what has no result yet; then all results are in the file."""
    try:
        import ray
    except ImportError:
        raise DslcError("the engine `ray` is not installed: `pip install 'dslc[ray]'`") from None
    if engine != "ray" and engine != "auto" and not engine.startswith("ray://"):
        raise DslcError(f"there is no engine `{engine}`: it is `ray`, `auto` or `ray://HOST:PORT`")
    if not ray.is_initialized():
        address = os.environ.get("RAY_ADDRESS", "auto") if engine == "ray" else engine
        try:
            ray.init(address=address, log_to_driver=False, logging_level="error")
        except ConnectionError as error:
            raise DslcError(_NO_CLUSTER if address == "auto" else f"no Ray cluster answers at {address}: {error}") from None
    folder = results.with_name(results.name + ".parts")
    folder.mkdir(parents=True, exist_ok=True)
    # The results of an earlier start.
    _merge(results, folder)
    cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
    many = batches or _TASKS_PER_CORE * cores
    packed = ray.put(_pack(spec))
    known = ray.put(results.read_bytes() if results.is_file() else b"")
    remote = ray.remote(_part).options(num_cpus=1, max_retries=-1)
    waiting: dict[Any, int] = {}
    for number in range(1, many + 1):
        waiting[remote.remote(packed, spec.name, known, number, many, __version__, os.environ.get("DSLC"))] = number
    started, failed = time.monotonic(), []
    while waiting:
        done, _ = ray.wait(list(waiting), num_returns=1)
        for one in done:
            number = waiting.pop(one)
            try:
                lines = ray.get(one)
            except Exception as error:  # noqa: BLE001: whatever it is, the other parts go on
                failed.append((number, error))
                continue
            temporary = folder / f"{number}-of-{many}.tmp"
            temporary.write_bytes(lines)
            temporary.rename(folder / f"{number}-of-{many}.jsonl")
        _progress(many - len(waiting), many, started)
    _merge(results, folder)
    if failed:
        number, error = failed[0]
        raise DslcError(f"{len(failed)} of {many} parts failed; what the others found is in {results}. Part {number}: {error}")
    shutil.rmtree(folder)


def _part(packed: bytes, spec: str, known: bytes, number: int, many: int, version: str, program: str | None) -> bytes:
    """A task: the lines of one part."""
    if version != __version__:
        raise DslcError(f"this node has dslc {__version__}, the sweep was started with {version}")
    if program and Path(program).is_file():
        os.environ["DSLC"] = program
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            if sys.version_info >= (3, 12):
                archive.extractall(folder, filter="data")
            else:
                archive.extractall(folder)  # noqa: S202: it is the user's own folder
        results = Path(folder, "results.jsonl")
        results.write_bytes(known)
        shard = ["--shard", f"{number}/{many}", "--jobs", "1"]
        words = [binary(), "sweep", str(Path(folder, spec)), "--results", str(results), *shard]
        ended = 0
        while (done := _dslc_of(words)).returncode < 0:
            # The system needed memory, perhaps for another process: tries once more. Finished results are in the file.
            ended += 1
            if ended % 2 == 0:
                _give_up(words[:-2] + ["--dry-run"], results, -done.returncode)
        # 1: no configuration is good.
        if done.returncode not in (0, 1):
            raise DslcError(done.stderr.strip())
        return results.read_bytes() if results.is_file() else b""


def _dslc_of(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def _give_up(listing: list[str], results: Path, signal: int) -> None:
    """The first configuration without a result is the one that cannot be run: on one thread, they run in order."""
    known = {json.loads(line)["key"] for line in _whole_lines(results)}
    listed = (line.split(" ", 2) for line in _dslc_of(listing).stdout.splitlines())
    number, key, at = next(one for one in listed if one[1] not in known)
    row = {"n": int(number), "key": key, "at": json.loads(at), "status": "internal", "error": f"dslc was ended by signal {signal}", "measured": {}}
    lines = [*_whole_lines(results), json.dumps(row, separators=(",", ":"))]
    results.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def _whole_lines(results: Path) -> list[str]:
    """Without half a line at the end, where a process was ended."""
    text = results.read_text(encoding="utf-8") if results.is_file() else ""
    return text[: text.rfind("\n") + 1].splitlines()


def _pack(spec: Path) -> bytes:
    """The folder of the specification: its programs and what they include lie there or below."""
    folder = spec.resolve().parent
    size = 0
    packed = io.BytesIO()

    def wanted(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        nonlocal size
        name = Path(member.name).name
        if name.endswith((".results.jsonl", ".parts")) or name.startswith(".git"):
            return None
        size += member.size
        if size > _FOLDER_BYTES:
            raise DslcError(
                f"the folder `{folder}` has more than {_FOLDER_BYTES >> 20} MiB, and each node gets a copy: "
                "put the specification, its programs and what they include into one of their own"
            )
        return member

    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(folder, arcname=".", filter=wanted)
    return packed.getvalue()


def _merge(results: Path, folder: Path) -> None:
    """All lines that there are become the file of results."""
    parts = sorted(folder.glob("*.jsonl"))
    if not parts:
        return
    files = [str(path) for path in [*([results] if results.is_file() else []), *parts]]
    merged = folder / "merged.tmp"
    done = _call(["merge", *files, "-o", str(merged)])
    if done.returncode != 0:
        raise DslcError(done.stderr.strip())
    merged.rename(results)


def _progress(done: int, many: int, started: float) -> None:
    if not sys.stderr.isatty():
        return
    left = (time.monotonic() - started) / max(done, 1) * (many - done)
    end = "\n" if done == many else "\r"
    print(f"{done} of {many} parts, {left:.0f} s left ", end=end, file=sys.stderr, flush=True)
