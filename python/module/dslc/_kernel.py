"""Kernels from source, launched on the simulator with NumPy arrays."""

from __future__ import annotations

import json
import operator
import os
import struct
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Union

from . import _dslc
from ._errors import CompileError, DslcError, LaunchError, NotFoundError
from ._memory import DeviceArray, Memories, Operand, Unset
from ._report import Report
from ._run import _macro, binary

_PathLike = Union[str, "os.PathLike[str]"]

#: NumPy's names for the kinds of numbers.
_WORDS = {"b": "bool", "i": "int", "u": "uint", "f": "float"}


class Kernel:
    """A kernel, ready to be launched: ``kernel(grid, block, *arguments)``."""

    def __init__(self, compiled: _dslc.Kernel, arch: str, warnings: str) -> None:
        self._compiled = compiled
        #: The architecture, unless a launch gives another one.
        self.arch = arch
        #: The compiler's warnings; empty if there are none.
        self.warnings = warnings

    @property
    def name(self) -> str:
        """Its name, of an instance with its arguments."""
        return self._compiled.name

    @property
    def prototype(self) -> str:
        """``saxpy(float a, const float *x, float *y, int n)``."""
        return self._compiled.prototype

    def __repr__(self) -> str:
        return f"<kernel {self.prototype}>"

    def __getitem__(self, shape: Any) -> Callable[..., Report]:
        """``kernel[grid, block](*arguments)``, as Numba writes a launch; ``kernel[grid, block, stream, shared]`` with dynamic shared memory."""
        shape = shape if isinstance(shape, tuple) else (shape,)
        if not 2 <= len(shape) <= 4:
            raise ValueError(f"a launch is written `kernel[grid, block]`, not with {len(shape)} values in brackets")
        grid, block, *rest = shape
        # Launches run one after the other, whatever the stream.
        shared = rest[1] if len(rest) == 2 else None

        def launch(*arguments: Any, **options: Any) -> Report:
            return self._launch(sys._getframe(1), grid, block, arguments, {"shared": shared, **options})

        return launch

    def __call__(
        self,
        grid: int | tuple[int, ...],
        block: int | tuple[int, ...],
        *arguments: Any,
        shared: int | None = None,
        arch: str | None = None,
        cooperative: bool = False,
        checks: bool = True,
        order: str = "ascending",
        jobs: int = 0,
        limit: int | None = None,
        count_only: bool = False,
        counts: str = "written",
        shared_mem: int | None = None,
    ) -> Report:
        """Launches it on a new simulator and returns the report.

        ``grid`` and ``block`` are numbers or tuples of up to three, x first. A pointer takes a NumPy array: it is copied to the device, and back
        unless the kernel has it ``const``. Arrays that share memory share it on the device, too. ``dslc.unset(array)`` is for results alone,
        ``dslc.to_device(array)`` for what stays on the device between launches, ``None`` for a null pointer. A number takes a number, a structure
        its ``bytes`` or a NumPy scalar of its size. CuPy's form, ``kernel(grid, block, (arguments,))``, means the same.

        ``shared`` is the size of ``extern __shared__`` memory in bytes (CuPy: ``shared_mem``). ``checks=False`` looks for no races or unset
        values. ``count_only`` counts from a few blocks where that is exact; arrays then keep what they had. ``limit`` is in warp instructions.
        ``counts="compiled"`` counts the accesses of the kernel as dslc's back end compiles it, ``"both"`` those next to the source's.

        Raises ``TypeError`` or ``ValueError`` for arguments that do not fit, ``LaunchError`` if the launch did not end. What is found in one that
        ends is in the report: see ``Report.assert_clean``.
        """
        options = {
            "shared": shared if shared_mem is None else shared_mem,
            "arch": arch,
            "cooperative": cooperative,
            "checks": checks,
            "order": order,
            "jobs": jobs,
            "limit": limit,
            "count_only": count_only,
            "counts": counts,
        }
        # CuPy passes the arguments as a tuple, which is never an argument itself.
        if len(arguments) == 1 and isinstance(arguments[0], (tuple, list)):
            arguments = tuple(arguments[0])
        return self._launch(sys._getframe(1), grid, block, arguments, options)

    def _launch(self, caller: FrameType, grid: Any, block: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Report:
        how = {**_OPTIONS, **{key: value for key, value in options.items() if value is not None}}
        unknown = [key for key in how if key not in _OPTIONS]
        if unknown:
            raise TypeError(f"a launch has no option {unknown[0]!r}; it has {', '.join(_OPTIONS)}")
        order = how.pop("order")
        if order not in ("ascending", "descending"):
            raise ValueError(f"order is 'ascending' or 'descending', not {order!r}")
        if how["counts"] not in ("written", "compiled", "both"):
            raise ValueError(f"counts is 'written', 'compiled' or 'both', not {how['counts']!r}")
        if how["counts"] != "written":
            _find_back_end()
        declared = self._compiled.parameters
        if len(declared) != len(arguments):
            raise TypeError(f"{self.name} takes {len(declared)} arguments, not {len(arguments)}: {self.prototype}")
        given = [_given(k, one, value) for k, (one, value) in enumerate(zip(declared, arguments))]
        memories = Memories([one for one in given if isinstance(one, Operand)])
        how |= {
            "arch": how["arch"] or self.arch,
            "grid": _extents("grid", grid),
            "block": _extents("block", block),
            "descending": order == "descending",
            "caller": (caller.f_code.co_filename, caller.f_lineno),
        }
        passed = [(*memories.places[one.at], one.element_bytes) if isinstance(one, Operand) else one for one in given]
        try:
            ran = self._compiled.launch(how, memories.before(), passed)
        except ValueError as error:
            raise LaunchError(str(error)) from None
        data = json.loads(ran.json())
        report = Report(data, messages=ran.messages(), text=ran.text, html=ran.html, metric=lambda name: _metric(ran, name))
        failure = ran.failure
        if failure is None and not how["count_only"]:
            failure = memories.after(ran.after())
        if failure is not None:
            raise LaunchError(failure, report)
        return report


#: The options of a launch besides its shape and arguments.
_OPTIONS: dict[str, Any] = {
    "shared": None,
    "arch": None,
    "cooperative": False,
    "checks": True,
    "order": "ascending",
    "jobs": 0,
    "limit": None,
    "count_only": False,
    "counts": "written",
}


def _find_back_end() -> None:
    """Lets the variable ``DSLC_PTX`` name the program ``dslc-ptx`` that lies beside ``dslc``, if it is there."""
    if "DSLC_PTX" not in os.environ:
        try:
            folder = os.path.dirname(binary())
        except DslcError:
            return
        path = os.path.join(folder, "dslc-ptx.exe" if os.name == "nt" else "dslc-ptx")
        if os.path.isfile(path):
            os.environ["DSLC_PTX"] = path


def kernel(
    source: _PathLike,
    name: str | None = None,
    *,
    defines: Mapping[str, object] | None = None,
    include: Iterable[_PathLike] = (),
    arch: str = "sm_90",
) -> Kernel:
    """Compiles CUDA source, or reads PTX, and returns one of its kernels.

    ``source`` is the text, or the path of a file (a ``Path``, or a ``str`` without line breaks that ends in ``.cu``, ``.cuh``, ``.k``, ``.h`` or
    ``.ptx``), which may include files beside it. PTX is read as it is: a pointer takes any array, and every array is copied back. ``name`` may be left out if there is one kernel; ``"fill<float, 4>"`` makes that instance of a template.
    ``defines`` are macros: ``{"TILE": 16}``.

    Raises ``CompileError`` with the compiler's messages.
    """
    folders = [os.fspath(folder) for folder in include]
    text, place = _source(source)
    if place != _NAMELESS:
        folders.insert(0, os.path.dirname(place) or ".")
    options = {
        "defines": [(key, _macro(value)) for key, value in (defines or {}).items()],
        "instances": [name] if name and "<" in name else [],
        "include": folders,
        "arch": arch,
    }
    try:
        compiled = _dslc.compile(place, text, options)
    except ValueError as error:
        raise CompileError(str(error)) from None
    if name is None:
        names = compiled.names
        if len(names) > 1:
            raise DslcError(f"the source has several kernels, so a name is needed: {', '.join(names)}")
        name = names[0]
    try:
        return Kernel(compiled.kernel(name), arch, compiled.warnings)
    except ValueError as error:
        raise DslcError(str(error)) from None


#: The name in messages of a source that is not a file.
_NAMELESS = "<source>"


def _source(source: _PathLike) -> tuple[str, str]:
    """The text, and what messages call it."""
    is_path = not isinstance(source, str) or ("\n" not in source and source.endswith((".cu", ".cuh", ".k", ".h", ".ptx")))
    if not is_path:
        return str(source), _NAMELESS
    path = os.fspath(source)
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace"), path
    except OSError as error:
        raise DslcError(f"cannot read `{path}`: {error.strerror}") from None


def _extents(what: str, given: int | tuple[int, ...]) -> tuple[int, ...]:
    extents = (given,) if not isinstance(given, (tuple, list)) else tuple(given)
    if not 1 <= len(extents) <= 3:
        raise ValueError(f"{what} has one to three extents, not {len(extents)}")
    sizes = []
    for extent in extents:
        try:
            size = operator.index(extent)
        except TypeError:
            raise TypeError(f"{what} has the extent {extent!r}; it takes a whole number, so divide with `//`") from None
        if not 0 <= size < 1 << 32:
            raise ValueError(f"{what} has the extent {extent}; it is a number from 0 to 2^32 - 1")
        sizes.append(size)
    return tuple(sizes) + (1,) * (3 - len(sizes))


_Declared = tuple[str, bool, str, int, bool]


def _given(k: int, declared: _Declared, value: Any) -> Any:
    """An argument as the compiled part takes it."""
    text, is_pointer, kind, size, is_const = declared
    where = f"argument {k + 1}, `{text}`,"
    if not is_pointer:
        return _value(where, kind, size, value)
    if value is None:
        return size
    array = value._content if isinstance(value, DeviceArray) else value.array if isinstance(value, Unset) else value
    if hasattr(array, "__cuda_array_interface__") and not hasattr(array, "__array_interface__"):
        raise TypeError(f"{where} gets memory of a GPU ({type(array).__name__}): copy it to the host, e.g. `.get()` or `.cpu().numpy()`")
    if not hasattr(array, "dtype") or not hasattr(array, "__array_interface__"):
        raise TypeError(f"{where} is a pointer: it takes a NumPy array, not {type(array).__name__}{_hint(array)}")
    dtype = array.dtype
    # A pointer to structures or bytes accepts elements of any kind that fill them.
    if kind and (dtype.kind != kind or dtype.itemsize != size or not dtype.isnative):
        raise TypeError(f"{where} wants an array of {_wanted(kind, size)}, not of {dtype.name if dtype.isnative else dtype.str}")
    if not kind and array.nbytes % size:
        raise TypeError(f"{where} has elements of {size} bytes, and the array's {array.nbytes} bytes are no multiple of that")
    if not is_const and not array.flags.writeable:
        raise TypeError(f"{where} is written by the kernel, and the array is read-only")
    if isinstance(value, Unset):
        if is_const:
            raise TypeError(f"{where} is only read by the kernel, so it cannot be `unset`")
    return Operand(k, where, value, size, is_const)


def _hint(value: Any) -> str:
    """How to make an array of it."""
    if isinstance(value, (list, tuple, range)):
        return "; `numpy.array(…, dtype)` makes one of it"
    return "; use `.numpy()`" if hasattr(value, "numpy") else ""


def _value(where: str, kind: str, size: int, value: Any) -> bytes:
    if hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0:
        # A NumPy scalar is used as its number.
        value = value.item() if kind else value.tobytes()
    if not kind:
        content = bytes(value) if isinstance(value, (bytes, bytearray, memoryview)) else None
        if content is None or len(content) != size:
            raise TypeError(f"{where} is a structure: it takes its {size} bytes")
        return content
    if kind == "f":
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"{where} takes a number, not {type(value).__name__}")
        return struct.pack({2: "<e", 4: "<f", 8: "<d"}[size], value)
    if isinstance(value, float) or not hasattr(value, "__index__"):
        raise TypeError(f"{where} takes a whole number, not {value!r}")
    number = int(value)
    if kind == "b":
        return bytes([number != 0])
    try:
        return number.to_bytes(size, "little", signed=kind == "i")
    except OverflowError:
        raise ValueError(f"{where} cannot hold {number}") from None


def _wanted(kind: str, size: int) -> str:
    return "bool" if kind == "b" else f"{_WORDS[kind]}{8 * size}"


def _metric(ran: _dslc.Run, name: str) -> float | None:
    try:
        return ran.metric(name)
    except ValueError as error:
        raise NotFoundError(str(error)) from None
