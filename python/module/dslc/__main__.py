"""``python -m dslc sweep SPEC --engine ray``: what the command line starts for an engine."""

from __future__ import annotations

import argparse
import sys

from . import DslcError, sweep


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m dslc")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("sweep", help="run the configurations of a specification on an engine")
    one.add_argument("spec")
    one.add_argument("--engine", help="`ray`, `auto` or `ray://HOST:PORT`; without it, this machine")
    one.add_argument("--batches", type=int, help="into how many tasks the sweep is split")
    one.add_argument("--results", help="the file of results")
    given = parser.parse_args()
    try:
        done = sweep(given.spec, engine=given.engine, batches=given.batches, results=given.results)
    except DslcError as error:
        print(f"dslc: {error}", file=sys.stderr)
        return 2
    print(done.table, end="")
    return 0 if any(one["status"] == "ok" for one in done.results) else 1


if __name__ == "__main__":
    sys.exit(main())
