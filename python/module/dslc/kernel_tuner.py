"""Kernel Tuner's problems, results and caches; dslc as its first filter, before a GPU is asked.

A configuration that does not compile, that CUDA would not launch, that races, reads what nobody wrote or goes out of bounds need not be timed::

    import kernel_tuner
    from dslc.kernel_tuner import Filter
    first = Filter("vector_add", source, size, args)
    kernel_tuner.tune_kernel("vector_add", source, size, args, tune_params, restrictions=first.restriction(tune_params))

``Problem`` reads and writes problems in the T1 format, ``Results`` results in the T4 format, ``Cache`` Kernel Tuner's cache files.
"""

from __future__ import annotations

import ast
import functools
import itertools
import json
import math
import os
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Union

from ._errors import CompileError, DslcError, LaunchError
from ._kernel import kernel
from ._report import Report

__all__ = ["Cache", "Filter", "Problem", "Results", "Verdict"]

_PathLike = Union[str, "os.PathLike[str]"]
#: Numbers of blocks in each direction that usually run: the blocks at the edges of larger grids do the same as these.
_BLOCKS = (8, 4, 2)


@dataclass(frozen=True)
class Verdict:
    """What became of a configuration."""

    configuration: dict[str, Any]
    #: In T4's words: ``"correct"``, ``"compile"``, ``"runtime"`` (it cannot be launched, or a thread traps), ``"correctness"`` (a race, an
    #: uninitialised value …) or ``"constraints"`` (a requirement is not met).
    invalidity: str
    #: One line; empty if it is correct.
    reason: str
    #: The measurements: transactions of shared memory, sectors of global memory, …
    measurements: dict[str, float] = field(default_factory=dict)
    report: Report | None = field(default=None, repr=False, compare=False)

    @property
    def is_correct(self) -> bool:
        """Whether a GPU should be asked."""
        return self.invalidity == "correct"


class Filter:
    """Compiles and runs configurations in the simulator. Its arguments are those of Kernel Tuner's ``tune_kernel``.

    ``Filter(…)(configuration)`` says whether a configuration is worth a GPU's time, ``verdict`` tells why, and ``restriction`` is for ``tune_kernel``.
    ``block_size_names`` may be expressions. ``blocks`` is how many blocks run in each direction; kernels that look at ``gridDim`` see that grid. ``None`` runs all of them. ``require`` is
    asked of each clean report: ``lambda report: report.metric("shared_load_bank_conflicts") == 0``.
    """

    def __init__(
        self,
        kernel_name: str,
        kernel_source: _PathLike,
        problem_size: int | str | Sequence[int | str],
        arguments: Sequence[Any],
        *,
        grid_div_x: Sequence[str] | None = None,
        grid_div_y: Sequence[str] | None = None,
        grid_div_z: Sequence[str] | None = None,
        block_size_names: Sequence[str] = ("block_size_x", "block_size_y", "block_size_z"),
        defines: Mapping[str, Any] | None = None,
        smem_args: Mapping[str, Any] | None = None,
        arch: str = "sm_90",
        blocks: tuple[int, int, int] | None = _BLOCKS,
        require: Callable[[Report], bool] | None = None,
        include: Iterable[_PathLike] = (),
    ) -> None:
        self.kernel_name, self.kernel_source, self.arguments = kernel_name, kernel_source, list(arguments)
        self.problem_size = (problem_size,) if isinstance(problem_size, (int, str)) else tuple(problem_size)
        # Kernel Tuner divides x by the block's size by default.
        self.grid_div = ([block_size_names[0]] if grid_div_x is None else grid_div_x, grid_div_y or (), grid_div_z or ())
        self.block_size_names = tuple(block_size_names)
        self.defines = dict(defines or {})
        self.smem_args, self.arch, self.blocks, self.require = smem_args, arch, blocks, require
        self.include = list(include)
        self._known: dict[tuple[Any, ...], Verdict] = {}

    def __call__(self, configuration: Mapping[str, Any] | None = None, **parameters: Any) -> bool:
        return self.verdict({**(configuration or {}), **parameters}).is_correct

    def restriction(self, tune_params: Mapping[str, Any]) -> Callable[..., bool]:
        """What ``tune_kernel`` takes as ``restrictions``: a function of these parameters' values."""
        names = list(tune_params)

        # The tuner calls it with the values, or with a dictionary. It must not be a lambda: the tuner would parse its text.
        def worth(*values: Any) -> bool:
            if len(values) == 1 and isinstance(values[0], Mapping):
                return self(values[0])
            return self(dict(zip(names, values)))

        return worth

    def grid(self, configuration: Mapping[str, Any]) -> tuple[int, int, int]:
        """How many blocks the problem takes."""
        extents = []
        names = {**dict(zip(self.block_size_names, self.block(configuration))), **self.defines, **configuration}
        for size, divisors in itertools.zip_longest(self.problem_size, self.grid_div[:3]):
            whole = int(_evaluate(size, names)) if size is not None else 1
            over = math.prod(int(_evaluate(one, names)) for one in divisors or ())
            extents.append(-(-whole // max(over, 1)))
        return tuple(extents[:3])  # type: ignore[return-value]

    def block(self, configuration: Mapping[str, Any]) -> tuple[int, int, int]:
        """Threads of a block. As with Kernel Tuner, x is 256 if no parameter says it, and the others are 1."""
        names = {**dict(zip(self.block_size_names, (256, 1, 1))), **self.defines, **configuration}
        return tuple(int(_evaluate(one, names)) for one in self.block_size_names)  # type: ignore[return-value]

    def verdict(self, configuration: Mapping[str, Any]) -> Verdict:
        """What becomes of a configuration. It is run once."""
        key = tuple(sorted((name, repr(value)) for name, value in configuration.items()))
        if key not in self._known:
            self._known[key] = self._run(dict(configuration))
        return self._known[key]

    def _run(self, configuration: dict[str, Any]) -> Verdict:
        def bad(invalidity: str, error: object, report: Report | None = None) -> Verdict:
            return Verdict(configuration, invalidity, _first_line(str(error)), report=report)

        defines = {"kernel_tuner": 1, **self.defines, **configuration}
        grid, block = self.grid(configuration), self.block(configuration)
        if self.blocks is not None:
            grid = tuple(map(min, grid, self.blocks))  # type: ignore[assignment]
        shared = None
        if self.smem_args:
            size = self.smem_args["size"]
            shared = int(size(configuration) if callable(size) else _evaluate(size, configuration))
        for name, extent in zip("xyz", grid):
            defines.setdefault(f"grid_size_{name}", extent)
        try:
            compiled = kernel(self.kernel_source, self.kernel_name, defines=defines, arch=self.arch, include=self.include)
        except CompileError as error:
            return bad("compile", error)
        # A configuration must not see the results of another one.
        arguments = [one.copy() if hasattr(one, "copy") and getattr(one, "ndim", 0) else one for one in self.arguments]
        try:
            report = compiled(grid, block, *arguments, shared=shared)
        except LaunchError as error:
            return bad("runtime", error, error.report)
        found = [one for one in report.findings if one.severity in ("error", "warning")]
        if found:
            return bad("correctness", f"line {found[0].line}: {found[0].message}", report)
        if self.require is not None and not self.require(report):
            return bad("constraints", "what was required is not so", report)
        return Verdict(configuration, "correct", "", _measured(report), report)


def _measured(report: Report) -> dict[str, float]:
    """What a launch cost, for the tuner's records."""
    metrics = report.launches[0].metrics
    names = {
        "shared_transactions": ("shared_load_transactions", "shared_store_transactions", "shared_atomic_transactions"),
        "shared_bank_conflicts": ("shared_load_bank_conflicts", "shared_store_bank_conflicts"),
        "global_sectors": ("global_load_sectors", "global_store_sectors", "global_atomic_sectors"),
        "warp_instructions": ("warp_instructions",),
    }
    measured = {}
    for name, parts in names.items():
        values = [metrics.get(part) for part in parts]
        if None not in values:
            measured[name] = sum(values)
    return measured


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


class Problem:
    """A tuning problem in the T1 format. ``data`` is all of it, and is written as it was read."""

    def __init__(self, data: dict[str, Any], folder: _PathLike = ".") -> None:
        self.data, self.folder = data, Path(folder)

    @classmethod
    def read(cls, path: _PathLike) -> Problem:
        return cls(_read(path), Path(path).parent)

    def write(self, path: _PathLike) -> None:
        Path(path).write_text(json.dumps(self.data, indent=4), encoding="utf-8")

    @property
    def parameters(self) -> dict[str, list[Any]]:
        """Each parameter with its values: they are written as Python, ``"list(range(1, 9))"``."""
        space = self.data["ConfigurationSpace"]["TuningParameters"]
        return {one["Name"]: list(_evaluate(one["Values"], {})) for one in space}

    @property
    def conditions(self) -> list[str]:
        return [one["Expression"] for one in self.data["ConfigurationSpace"].get("Conditions", [])]

    def configurations(self) -> Iterator[dict[str, Any]]:
        """Those that the conditions allow; the last parameter changes fastest."""
        parameters = self.parameters
        for values in itertools.product(*parameters.values()):
            one = dict(zip(parameters, values))
            if all(_evaluate(condition, one) for condition in self.conditions):
                yield one

    def filter(self, **options: Any) -> Filter:
        """The filter for its kernel; options are those of ``Filter``, ``problem_size`` among them: the problem's own may be large."""
        import numpy

        spec = self.data["KernelSpecification"]
        if spec["Language"] != "CUDA":
            raise DslcError(f"the kernel is written in {spec['Language']}, and dslc takes CUDA")
        size = options.pop("problem_size", spec.get("ProblemSize"))
        names = {"ProblemSize": size if not isinstance(size, int) else [size], **self.parameters}
        arguments = [_argument(numpy, one, names) for one in spec.get("Arguments", [])]
        divisors = {f"grid_div_{axis}": spec.get(f"GridDiv{axis.upper()}") for axis in "xyz"}
        if size is None:
            # The blocks are given instead.
            extents = spec["GlobalSize"]
            size = tuple(extents.get(axis, "1") for axis in "XYZ")
            in_threads = spec.get("GlobalSizeType", "CUDA") != "CUDA"
            local = spec["LocalSize"]
            divisors = {f"grid_div_{axis.lower()}": [local.get(axis, "1")] if in_threads else [] for axis in "XYZ"}
        shared = spec.get("SharedMemory")
        if shared:
            options.setdefault("smem_args", {"size": shared})
        blocks = {"block_size_names": [spec["LocalSize"].get(axis, "1") for axis in "XYZ"]}
        return Filter(spec["KernelName"], self.folder / spec["KernelFile"], size, arguments, **{**divisors, **blocks, **options})

    def run(self, configurations: Iterable[Mapping[str, Any]] | None = None, **options: Any) -> Results:
        """Runs configurations, all of them if none are given, and returns the results."""
        first = self.filter(**options)
        all_of_them = self.configurations() if configurations is None else configurations
        return Results.of(first.verdict(one) for one in all_of_them)


class Results:
    """Results in the T4 format. ``data`` is all of it, and is written as it was read."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    @classmethod
    def read(cls, path: _PathLike) -> Results:
        return cls(_read(path))

    def write(self, path: _PathLike) -> None:
        Path(path).write_text(json.dumps(self.data, indent=4), encoding="utf-8")

    @classmethod
    def of(cls, verdicts: Iterable[Verdict], objective: str = "global_sectors") -> Results:
        """The results of verdicts."""
        results = [
            {
                "timestamp": str(datetime.now(timezone.utc)),
                "configuration": one.configuration,
                "times": {"compilation": 0, "benchmark": 0, "framework": 0, "search_algorithm": 0, "validation": 0, "runtimes": []},
                "invalidity": one.invalidity,
                "correctness": int(one.is_correct),
                "measurements": [{"name": name, "value": value, "unit": ""} for name, value in one.measurements.items()],
                "objectives": [objective],
            }
            for one in verdicts
        ]
        return cls({"results": results, "schema_version": "1.0.0"})

    def correct(self) -> list[dict[str, Any]]:
        """The configurations that are worth a GPU's time."""
        return [one["configuration"] for one in self.data["results"] if one["invalidity"] == "correct"]

    def __len__(self) -> int:
        return len(self.data["results"])


class Cache:
    """A cache file of Kernel Tuner. One that is still open, as a run that was cut off leaves it, can be read, too."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    @classmethod
    def read(cls, path: _PathLike) -> Cache:
        text = Path(path).read_text(encoding="utf-8")
        try:
            return cls(json.loads(text))
        except ValueError:
            # The tuner closes the braces only at its end.
            try:
                return cls(json.loads(text.rstrip().rstrip(",") + "}\n}"))
            except ValueError as error:
                raise DslcError(f"`{path}` is no cache of Kernel Tuner: {error}") from None

    def write(self, path: _PathLike) -> None:
        """Writes it as the tuner does: a line for each configuration."""
        Path(path).write_text(self.text(), encoding="utf-8")

    def text(self) -> str:
        """The file's text."""
        head = {name: value for name, value in self.data.items() if name != "cache"}
        lines = [f"{json.dumps(key)}: {json.dumps(one)}" for key, one in self.data["cache"].items()]
        return json.dumps(head, indent="")[:-2] + ',\n"cache": {\n' + ",\n".join(lines) + "\n}\n}"

    def drop(self, verdicts: Iterable[Verdict]) -> Cache:
        """The same, and the configurations that are not correct marked as Kernel Tuner marks failures: it does not run them."""
        words = {"compile": "CompilationFailedConfig", "runtime": "RuntimeFailedConfig"}
        data = {**self.data, "cache": dict(self.data["cache"])}
        keys = data["tune_params_keys"]
        for one in verdicts:
            if one.is_correct:
                continue
            entry = {name: one.configuration[name] for name in keys}
            entry[data["objective"]] = words.get(one.invalidity, "InvalidConfig")
            for name in ("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"):
                entry[name] = 0
            entry["timestamp"] = str(datetime.now(timezone.utc))
            data["cache"][",".join(str(one.configuration[name]) for name in keys)] = entry
        return Cache(data)


def _read(path: _PathLike) -> dict[str, Any]:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DslcError(f"cannot read `{path}`: {error.strerror}") from None
    except ValueError as error:
        raise DslcError(f"`{path}` is no JSON: {error}") from None


#: T1's types as NumPy's types, and the number of components of an element.
_TYPES = {"half": "float16", "float": "float32", "double": "float64"}


def _argument(numpy: Any, one: dict[str, Any], names: dict[str, Any]) -> Any:
    """An argument that a problem describes."""
    named = one.get("Name", "an argument")
    if one.get("MemType") == "Constant" or one["MemoryType"] in ("Symbol", "Local"):
        raise DslcError(f"`{named}` is memory of kind {one.get('MemType', one['MemoryType'])}, which is not supported yet")
    kind = one["Type"].rstrip("0123456789") if one["Type"].startswith(("half", "float", "double")) else one["Type"]
    lanes = int(one["Type"][len(kind) :] or 1) if kind in _TYPES else 1
    try:
        dtype = numpy.dtype(_TYPES.get(kind, kind))
    except TypeError:
        raise DslcError(f"`{named}` is of type {one['Type']}, which is not supported yet") from None
    if one["MemoryType"] == "Scalar":
        return dtype.type(one["FillValue"])
    count = lanes * int(_evaluate(one["Size"], names))
    fill = one.get("FillType", "Constant")
    if fill == "Constant":
        return numpy.full(count, one.get("FillValue", 0), dtype)
    if fill == "Random":
        # The values do not matter, but have to be the same in each run.
        random = numpy.random.default_rng(one.get("RandomSeed", 1)).random(count)
        return (random * one.get("FillValue", 1)).astype(dtype)
    raise DslcError(f"`{named}` is filled by {fill}, which is not supported yet")


_FUNCTIONS: dict[str, Any] = {"range": range, "list": list, "min": min, "max": max, "sum": sum, "abs": abs, "int": int, "math": math, "ceil": math.ceil}
_ALLOWED = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.List, ast.Tuple, ast.Subscript,
    ast.Slice, ast.Call, ast.ListComp, ast.comprehension, ast.Store, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip


class _Powers(ast.NodeTransformer):
    """`a ** b` could take all memory and time there is."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow):
            return node
        return ast.Call(ast.Name("_power", ast.Load()), [node.left, node.right], [])


def _power(base: Any, exponent: Any) -> Any:
    if abs(base) > 1 << 32 or abs(exponent) > 64:
        raise ValueError("a power is too large")
    return base**exponent


@functools.lru_cache(maxsize=1024)
def _compiled(text: str) -> types.CodeType:
    """An expression of a problem file. They come from anybody, so no attribute and no other function can be reached."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise DslcError(f"`{text}` is no expression: {error.msg}") from None
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS)
        if not isinstance(node, _ALLOWED) or is_call:
            raise DslcError(f"`{text}` has more than numbers, parameters and their arithmetic")
    return compile(ast.fix_missing_locations(_Powers().visit(tree)), "<expression>", "eval")


def _evaluate(text: Any, names: Mapping[str, Any]) -> Any:
    """Its value; what is no text is its own."""
    if not isinstance(text, str):
        return text
    code = _compiled(text)
    try:
        return eval(code, {"__builtins__": {}, **_FUNCTIONS, **names, "_power": _power})  # noqa: S307: checked
    except Exception as error:  # noqa: BLE001
        raise DslcError(f"`{text}` has no value: {error}") from None
