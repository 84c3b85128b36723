"""Many configurations: ``dslc sweep``, on this machine or on several through an engine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Union

from ._errors import DslcError
from ._run import _call

_PathLike = Union[str, "os.PathLike[str]"]


class Sweep:
    """The results of a sweep, in the order of its configurations."""

    def __init__(self, path: Path, table: str) -> None:
        #: The file of results, JSON lines.
        self.path = path
        #: The command's output: the best, and the Pareto set.
        self.table = table
        with path.open(encoding="utf-8") as lines:
            #: The rows of the file.
            self.results: list[dict[str, Any]] = [json.loads(line) for line in lines]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each result, for ``pandas.DataFrame(sweep.rows())``: the values of its axes, its status, what was measured."""
        return [
            {"n": one["n"], **one["at"], "status": one["status"], "error": one.get("error"), **one.get("measured", {})}
            for one in self.results
        ]

    def to_parquet(self, path: _PathLike) -> None:
        """Writes the rows as a Parquet file; needs pyarrow."""
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.Table.from_pylist(self.rows()), os.fspath(path))

    def __len__(self) -> int:
        return len(self.results)

    def __str__(self) -> str:
        return self.table

    def __repr__(self) -> str:
        return f"<dslc sweep, {len(self)} results in {self.path}>"


def sweep(
    spec: _PathLike,
    *,
    engine: str | None = None,
    batches: int | None = None,
    results: _PathLike | None = None,
    options: Iterable[str] = (),
) -> Sweep:
    """Runs the configurations of a specification (``docs/sweep.md``) that have no result yet, and returns all results.

    Without ``engine`` they run on all cores of this machine. ``"ray"`` runs them on the Ray cluster that this process or this machine is
    in, ``"ray://HOST:10001"`` on another one. ``batches`` is into how many tasks the sweep is split, four for
    each core as a rule. A task whose node dies runs again elsewhere. The table is the same in each case.
    """
    path = Path(spec)
    if not path.is_file():
        raise DslcError(f"there is no specification `{path}`")
    out = Path(results) if results is not None else path.with_suffix(".results.jsonl")
    if engine is not None:
        from . import _ray

        _ray.run(path, out, engine, batches)
    words = ["sweep", os.fspath(path), "--results", os.fspath(out), *options]
    done = _call(words)
    # 1: no configuration is good, which is a result.
    if done.returncode not in (0, 1) or not out.is_file():
        raise DslcError(done.stderr.strip() or f"dslc ended with code {done.returncode}")
    return Sweep(out, done.stdout)
