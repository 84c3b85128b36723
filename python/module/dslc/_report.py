"""Reports as objects: what each access cost, and what was found."""

from __future__ import annotations

import difflib
import html as _html
import json as _json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ._errors import NotCleanError, NotFoundError

_SEVERITIES = ("error", "warning")


@dataclass(frozen=True)
class Compiled:
    """The accesses that the compiler made of one of the source. None: it is part of another one, or the value is in a register."""

    requests: int
    #: Passes over the banks of shared memory.
    transactions: int | None
    #: Sectors of global memory.
    sectors: int | None
    #: Bytes of one lane's access, of each kind of access.
    widths: tuple[int, ...]

    @classmethod
    def _of(cls, compiled: dict[str, Any], space: str) -> Compiled:
        return cls(
            compiled["requests"],
            compiled["transactions"] if space == "shared" else None,
            compiled["sectors"] if space == "global" else None,
            tuple(compiled["widths"]),
        )

    def _plus(self, other: Compiled) -> Compiled:
        def add(a: int | None, b: int | None) -> int | None:
            return None if a is None or b is None else a + b

        return Compiled(
            self.requests + other.requests,
            add(self.transactions, other.transactions),
            add(self.sectors, other.sectors),
            tuple(sorted({*self.widths, *other.widths})),
        )


@dataclass(frozen=True)
class Site:
    """An access of the source, with what it cost in one launch or in several.

    A count is ``None`` where it means nothing (transactions of global memory, sectors of shared memory), and where the architecture's rules do
    not model it.
    """

    text: str
    line: int
    column: int
    file: str
    #: ``"shared"``, ``"global"``, ``"local"`` or ``"constant"``.
    space: str
    #: ``"load"``, ``"store"`` or ``"atomic"``.
    op: str
    #: Bytes of one lane's access.
    width: int
    #: Memory instructions that were executed with at least one active lane.
    requests: int
    #: Passes over the banks of shared memory.
    transactions: int | None
    #: The transactions that the same requests would take without conflicts.
    ideal: int | None
    #: The most ways of any conflict in one request: 1 without conflicts.
    max_degree: int | None
    #: Sectors of 32 bytes of global memory.
    sectors: int | None
    #: Sectors that the requested bytes would fill.
    ideal_sectors: int | None
    #: Bytes that the lanes requested.
    bytes: int
    #: What the compiler made of it, if launches were also counted as compiled.
    compiled: Compiled | None = None

    @property
    def bank_conflicts(self) -> int | None:
        """Transactions beyond the ideal."""
        if self.transactions is None or self.ideal is None:
            return None
        return self.transactions - self.ideal

    @property
    def transactions_per_request(self) -> float | None:
        """1.0 without conflicts, 32.0 at worst."""
        return None if self.transactions is None else self.transactions / max(self.requests, 1)

    @property
    def sectors_per_request(self) -> float | None:
        """4.0 for 32 lanes that read 4 bytes each, side by side."""
        return None if self.sectors is None else self.sectors / max(self.requests, 1)

    @classmethod
    def _of(cls, site: dict[str, Any]) -> Site:
        space = site["space"]

        def only(wanted: str, name: str) -> int | None:
            return site.get(name) if space == wanted else None

        return cls(
            text=site["text"],
            line=site["line"],
            column=site["column"],
            file=site.get("file", ""),
            space=space,
            op=site["op"],
            width=site["width"],
            requests=site["requests"],
            transactions=only("shared", "transactions"),
            ideal=only("shared", "ideal"),
            max_degree=only("shared", "max_degree"),
            sectors=only("global", "sectors"),
            ideal_sectors=only("global", "ideal_sectors"),
            bytes=site["bytes"],
            compiled=Compiled._of(site["compiled"], space) if site.get("compiled") else None,
        )

    def _plus(self, other: Site) -> Site:
        def both(join: Callable[[int, int], int], a: int | None, b: int | None) -> int | None:
            return None if a is None or b is None else join(a, b)

        def add(a: int, b: int) -> int:
            return a + b

        return Site(
            self.text,
            self.line,
            self.column,
            self.file,
            self.space,
            self.op if self.op == other.op else f"{self.op}, {other.op}",
            self.width,
            self.requests + other.requests,
            both(add, self.transactions, other.transactions),
            both(add, self.ideal, other.ideal),
            both(max, self.max_degree, other.max_degree),
            both(add, self.sectors, other.sectors),
            both(add, self.ideal_sectors, other.ideal_sectors),
            self.bytes + other.bytes,
            None if self.compiled is None or other.compiled is None else self.compiled._plus(other.compiled),
        )


@dataclass(frozen=True)
class Finding:
    """Something that is wrong."""

    #: The code for ``dslc explain``: ``"R0205"``.
    code: str
    #: ``"race"``, ``"uninitialized"``, ``"out_of_bounds"``, …
    kind: str
    #: ``"error"``, ``"warning"`` or ``"note"``.
    severity: str
    #: What is wrong, in one sentence.
    message: str
    #: One thing to try.
    advice: str | None
    #: The line of the first access; 0 if there is none.
    line: int
    #: The kernel's name; empty for a finding of the host.
    kernel: str
    #: How often it occurred.
    count: int
    #: The whole finding, as in the JSON report.
    data: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def _of(cls, finding: dict[str, Any]) -> Finding:
        accesses = finding.get("accesses") or [{}]
        return cls(
            code=finding["code"],
            kind=finding["kind"],
            severity=finding["severity"],
            message=finding["message"],
            advice=finding.get("advice"),
            line=accesses[0].get("line", 0),
            kernel=finding.get("kernel") or "",
            count=finding.get("count", 1),
            data=finding,
        )


def _letters(text: str) -> str:
    return "".join(text.split())


class Launch:
    """One launch: its shape, its counts, its accesses."""

    def __init__(self, data: dict[str, Any]) -> None:
        #: The whole launch, as in the JSON report.
        self.data = data
        #: Its number, from 0.
        self.index: int = data["index"]
        #: The kernel's name.
        self.kernel: str = data["kernel"]
        #: Blocks in each direction.
        self.grid: tuple[int, ...] = tuple(data["grid"])
        #: Threads of a block in each direction.
        self.block: tuple[int, ...] = tuple(data["block"])
        #: Bytes of shared memory of a block.
        self.shared_bytes: int = sum(data["shared_bytes"].values())
        #: Sums over all accesses: ``metrics["shared_load_bank_conflicts"]``.
        self.metrics: dict[str, Any] = data["metrics"]
        #: The accesses that were executed, in the order of the source.
        self.sites: list[Site] = [Site._of(site) for site in data["sites"]]

    def __repr__(self) -> str:
        return f"<launch {self.index} of {self.kernel}, grid {self.grid}, block {self.block}, {len(self.sites)} accesses>"


class Report:
    """What a run, or a launch, cost, and what was found in it.

    ``str(report)`` is a text for people, and in a notebook the report shows itself as a table.
    """

    def __init__(
        self,
        data: dict[str, Any],
        *,
        messages: str = "",
        text: Callable[[], str] | None = None,
        html: Callable[[], str] | None = None,
        metric: Callable[[str], float | None] | None = None,
    ) -> None:
        #: The whole JSON report (schema ``dslc-report/1``).
        self.data = data
        #: The messages of the findings, with the source's lines; empty if there are none.
        self.messages = messages
        #: ``"sm_90"``.
        self.arch: str = data["arch"]
        #: The program's output.
        self.stdout: str = data.get("stdout", "")
        #: The value that ``main`` returned; 0 for a kernel.
        self.exit_code: int = data.get("exit_code", 0)
        #: The launches, in order.
        self.launches: list[Launch] = [Launch(launch) for launch in data["launches"]]
        #: The findings.
        self.findings: list[Finding] = [Finding._of(finding) for finding in data["findings"]]
        #: The lines that waste most, as in the JSON report.
        self.hot_spots: list[dict[str, Any]] = data.get("hot_spots") or []
        #: Edits; those with ``verified`` were run, and help. ``holds`` says for which runs: ``proved``, ``checked`` or ``idea``.
        self.suggestions: list[dict[str, Any]] = data.get("suggestions") or []
        self._text, self._html, self._metric = text, html, metric

    # --- what was found

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found that is an error or a warning."""
        return not any(finding.severity in _SEVERITIES for finding in self.findings)

    def assert_clean(self) -> None:
        """Raises ``NotCleanError`` with the messages, if something was found that is an error or a warning."""
        if self.is_clean:
            return
        found = [finding for finding in self.findings if finding.severity in _SEVERITIES]
        lines = "\n".join(f"line {finding.line}: {finding.message}" for finding in found)
        many = f"{len(found)} findings" if len(found) > 1 else "a finding"
        raise NotCleanError(f"the run is not clean: {many}\n\n{self.messages or lines}")

    # --- what it cost

    def site(self, text: str, op: str | None = None, *, kernel: str | None = None) -> Site:
        """The access with that source text: ``report.site("tile[threadIdx.x][threadIdx.y]")``. White space does not matter.

        Counts are summed over all launches, of ``kernel`` if it is given, over all places with that text, and over loads and stores unless ``op``
        (``"load"``, ``"store"``, ``"atomic"``) says which. There must be such an access; the ``NotFoundError`` lists those there are.
        """
        total: Site | None = None
        for launch, site in self._sites(kernel):
            if _letters(site.text) == _letters(text) and op in (None, site.op):
                total = site if total is None else total._plus(site)
        if total is None:
            known: list[str] = []
            for launch, site in self._sites(kernel):
                line = f"  line {site.line:>4}  {site.space} {site.op}  {site.text}"
                if line not in known:
                    known.append(line)
            there = "these were executed:\n" + "\n".join(known) if known else "no access was executed"
            raise NotFoundError(f"there is no {op or 'access'} `{text}`{f' in `{kernel}`' if kernel else ''}; {there}")
        return total

    def metric(self, name: str, *, kernel: str | None = None) -> float | None:
        """A metric by its name.

        It may be a sum of the report (``"shared_load_bank_conflicts"``), or one of nvprof's or ncu's names: ``"gst_efficiency"``, 1.0 for 100 %.
        It is made of the counts of all launches together, or of those of one kernel. ``None``: the rules do not model it, or there was nothing
        to count.
        """
        launches = [launch for launch in self.launches if kernel in (None, launch.kernel)]
        if not launches:
            raise NotFoundError(f"there is no launch of `{kernel}`" if kernel else "no kernel was launched")
        if all(name in launch.metrics for launch in launches):
            values = [launch.metrics[name] for launch in launches]
            return None if None in values else sum(values)
        if self._metric:
            return self._metric(name)
        rows = self.data.get("profiler_metrics", [])
        for row in rows:
            if row["kernel"] == kernel and name in row["values"]:
                return row["values"][name]
        named = [other for row in rows[:1] for other in row["values"]]
        near = difflib.get_close_matches(name, [*launches[0].metrics, *named], cutoff=0.5)
        hint = f"near it: {', '.join(near)}; " if near else ""
        names = "`dslc run --metrics list` lists nvprof's and ncu's names, " if named else ""
        raise NotFoundError(f"there is no metric `{name}`; {hint}{names}the report's own are {', '.join(sorted(launches[0].metrics))}")

    def rows(self) -> list[dict[str, Any]]:
        """A row for each access of each launch, for ``pandas.DataFrame(report.rows())`` or ``polars.DataFrame(report.rows())``."""
        return [
            {
                "launch": launch.index,
                "kernel": launch.kernel,
                "grid": "x".join(map(str, launch.grid)),
                "block": "x".join(map(str, launch.block)),
                "file": site.file,
                "line": site.line,
                "text": site.text,
                "space": site.space,
                "op": site.op,
                "width": site.width,
                "requests": site.requests,
                "transactions": site.transactions,
                "ideal": site.ideal,
                "bank_conflicts": site.bank_conflicts,
                "max_degree": site.max_degree,
                "sectors": site.sectors,
                "ideal_sectors": site.ideal_sectors,
                "bytes": site.bytes,
                "compiled_requests": site.compiled and site.compiled.requests,
                "compiled_transactions": site.compiled and site.compiled.transactions,
                "compiled_sectors": site.compiled and site.compiled.sectors,
            }
            for launch, site in self._sites(None)
        ]

    def _sites(self, kernel: str | None) -> Iterator[tuple[Launch, Site]]:
        for launch in self.launches:
            if kernel in (None, launch.kernel):
                for site in launch.sites:
                    yield launch, site

    # --- as text

    def to_json(self) -> str:
        """The JSON report."""
        return _json.dumps(self.data, indent=2)

    def to_html(self) -> str:
        """A page with the source, counts and pictures, which needs no network. A program is run again for it; runs do not differ."""
        if self._html is None:
            raise ValueError("this report was read from JSON: it has no source to show")
        return self._html()

    def __str__(self) -> str:
        return self._text() if self._text else self._table()

    def __repr__(self) -> str:
        many = len(self.launches)
        found = "clean" if self.is_clean else f"{len(self.findings)} findings"
        return f"<dslc report for {self.arch}: {many} launch{'es' if many != 1 else ''}, {found}>"

    def _table(self) -> str:
        head = ("line", "access", "requests", "trans.", "ideal", "sectors", "ideal")
        rows = [
            (str(site.line), f"{site.space} {site.op}  {site.text}", str(site.requests))
            + tuple(
                "" if count is None else str(count)
                for count in (site.transactions, site.ideal, site.sectors, site.ideal_sectors)
            )
            for site in self._summed()
        ]
        widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]

        def line(row: tuple[str, ...]) -> str:
            cells = (cell.ljust(width) if k == 1 else cell.rjust(width) for k, (cell, width) in enumerate(zip(row, widths)))
            return "  ".join(cells).rstrip()

        parts = [repr(self).strip("<>"), *(line(row) for row in [head, *rows])]
        return "\n".join(parts + ([self.messages] if self.messages else []))

    def _summed(self) -> list[Site]:
        """Each access once, over all launches."""
        summed: dict[tuple[str, int, int, str], Site] = {}
        for _, site in self._sites(None):
            key = (site.file, site.line, site.column, site.op)
            summed[key] = summed[key]._plus(site) if key in summed else site
        return [summed[key] for key in sorted(summed)]

    def _repr_html_(self) -> str:
        def cell(value: Any, tag: str = "td", left: bool = False) -> str:
            text = "" if value is None else _html.escape(str(value))
            return f"<{tag} style='text-align:{'left' if left else 'right'}'>{text}</{tag}>"

        head = "".join(
            cell(name, "th", k in (1, 2))
            for k, name in enumerate(("line", "access", "", "requests", "transactions", "ideal", "ways", "sectors", "ideal"))
        )
        rows = []
        for site in self._summed():
            wasteful = (site.bank_conflicts or 0) > 0 or (site.sectors or 0) > (site.ideal_sectors or 0)
            values = (site.requests, site.transactions, site.ideal, site.max_degree, site.sectors, site.ideal_sectors)
            cells = cell(site.line) + cell(f"{site.space} {site.op}", left=True)
            cells += f"<td style='text-align:left'><code>{_html.escape(site.text)}</code></td>" + "".join(map(cell, values))
            rows.append(f"<tr{' style=background:#fde0dc' if wasteful else ''}>{cells}</tr>")
        found = "".join(
            f"<li><b>{_html.escape(finding.severity)}</b> line {finding.line}: {_html.escape(finding.message)}</li>"
            for finding in self.findings
        )
        title = _html.escape(repr(self).strip("<>"))
        return f"<p>{title}</p><ul>{found}</ul><table><tr>{head}</tr>{''.join(rows)}</table>"

