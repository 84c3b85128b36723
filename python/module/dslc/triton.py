"""Triton kernels on the simulator, without a GPU.

>>> import dslc.triton                                                  # doctest: +SKIP
>>> report = dslc.triton.run(add, (4,), x, y, out, 1000, BLOCK=256)     # doctest: +SKIP
>>> report.assert_clean()                                               # doctest: +SKIP

It needs the package ``triton``, which compiles the kernel to PTX. Accesses and findings are at the lines of the Python file.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Union

from ._errors import CompileError, DslcError
from ._kernel import Kernel, kernel
from ._memory import DeviceArray, Unset
from ._report import Report

_Grid = Union[int, "tuple[int, ...]", Callable[[Mapping[str, Any]], "tuple[int, ...]"]]

#: Triton's names for the elements of arrays.
_ELEMENTS = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32",
    "uint64": "u64", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "float8_e4m3fn": "fp8e4nv",
    "float8_e5m2": "fp8e5",
}  # fmt: skip

#: Triton kernels that were compiled.
_COMPILED: dict[Any, tuple[Kernel, int, int]] = {}


def run(
    function: Any,
    grid: _Grid,
    *arguments: Any,
    num_warps: int = 4,
    num_stages: int = 3,
    arch: str = "sm_90",
    launch: Mapping[str, Any] | None = None,
    **named: Any,
) -> Report:
    """Compiles a ``@triton.jit`` function as Triton does for these arguments, launches it on a new simulator and returns the report.

    ``grid`` is a number, a tuple, or a function of the named arguments that returns one, as for Triton. Arguments are NumPy arrays (also
    ``dslc.unset`` and arrays that stay on the device) and numbers, by position or by name; those that the function has as ``tl.constexpr`` are
    compiled in. ``launch`` has options of :meth:`dslc.Kernel.__call__`, such as ``{"checks": False}``.

    Raises ``CompileError`` with Triton's message, or if the PTX has an instruction that dslc does not know.
    """
    values = _bound(function, arguments, named)
    constants = {name: value for name, value in values.items() if _is_constant(function, name, value)}
    passed = {name: value for name, value in values.items() if name not in constants}
    signature = {name: _type(name, value) for name, value in passed.items()}
    divisible = tuple(name for name, value in passed.items() if _is_divisible(value))
    key = (function, tuple(signature.items()), tuple(constants.items()), divisible, num_warps, num_stages, arch)
    try:
        found = _COMPILED.get(key)
    except TypeError:
        raise TypeError("a `tl.constexpr` argument has a value that is not hashable") from None
    if found is None:
        found = _compile(function, signature, constants, divisible, num_warps, num_stages, arch)
        _COMPILED[key] = found
    compiled, threads, shared = found
    shape = grid({**values, "num_warps": num_warps, "num_stages": num_stages}) if callable(grid) else grid
    given = list(passed.values())
    # Scratch memory that Triton adds to the parameters, and that most kernels do not use.
    hidden = len(compiled._compiled.parameters) - len(given)
    return compiled(shape, threads, *given, *[None] * hidden, shared=shared, **(launch or {}))


def _bound(function: Any, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments, by the function's names and in their order."""
    names = getattr(function, "arg_names", None)
    if names is None:
        # `triton.autotune` and `triton.heuristics` wrap the function.
        inner = getattr(function, "fn", None)
        if inner is not None and hasattr(inner, "arg_names"):
            raise TypeError("the function is tuned: pass `function.fn` and the arguments of one configuration")
        raise TypeError(f"a function with `@triton.jit` is expected, not {type(function).__name__}")
    if len(arguments) > len(names):
        raise TypeError(f"{len(arguments)} arguments, and the function takes {len(names)}: {', '.join(names)}")
    values = dict(zip(names, arguments))
    for name, value in named.items():
        if name not in names:
            raise TypeError(f"the function has no argument {name!r}; it has {', '.join(names)}")
        if name in values:
            raise TypeError(f"the argument {name!r} is given twice")
        values[name] = value
    defaults = {parameter.name: parameter.default for parameter in function.params if parameter.has_default}
    missing = [name for name in names if name not in values and name not in defaults]
    if missing:
        raise TypeError(f"arguments are missing: {', '.join(missing)}")
    return {name: values[name] if name in values else defaults[name] for name in names}


def _is_constant(function: Any, name: str, value: Any) -> bool:
    """Whether Triton compiles the value in: ``tl.constexpr``, ``None``, and the integer 1."""
    parameter = next(parameter for parameter in function.params if parameter.name == name)
    is_one = isinstance(value, int) and not isinstance(value, bool) and value == 1
    return parameter.is_constexpr or value is None or (is_one and not parameter.do_not_specialize)


def _content(value: Any) -> Any:
    """The NumPy array of an argument that is one."""
    return value._content if isinstance(value, DeviceArray) else value.array if isinstance(value, Unset) else value


def _type(name: str, value: Any) -> str:
    """Triton's type of an argument."""
    array = _content(value)
    if hasattr(array, "__array_interface__") and getattr(array, "shape", ()) != ():
        element = _ELEMENTS.get(array.dtype.name)
        if element is None:
            raise TypeError(f"the argument {name!r} is an array of {array.dtype.name}, which Triton does not have")
        return f"*{element}"
    if isinstance(array, bool):
        return "i1"
    try:
        number = operator.index(array)
    except TypeError:
        if isinstance(array, float) or hasattr(array, "__float__"):
            return "fp32"
        raise TypeError(f"the argument {name!r} is a NumPy array or a number, not {type(array).__name__}") from None
    return "i32" if -(1 << 31) <= number < 1 << 31 else "i64" if number < 1 << 63 else "u64"


def _is_divisible(value: Any) -> bool:
    """Whether Triton may rely on a multiple of 16: an address, or a number."""
    array = _content(value)
    if hasattr(array, "__array_interface__") and getattr(array, "shape", ()) != ():
        # On the device an array begins at a multiple of 256, and a view as far from there as on the host.
        whole = array
        while getattr(whole, "base", None) is not None and hasattr(whole.base, "__array_interface__"):
            whole = whole.base
        return (array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]) % 16 == 0
    return isinstance(array, int) and not isinstance(array, bool) and array % 16 == 0


def _compile(
    function: Any,
    signature: Mapping[str, str],
    constants: Mapping[str, Any],
    divisible: tuple[str, ...],
    num_warps: int,
    num_stages: int,
    arch: str,
) -> tuple[Kernel, int, int]:
    """The kernel, the threads of its blocks, and its shared memory in bytes."""
    try:
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
    except ImportError:
        raise DslcError("Triton is not installed: pip install 'dslc[triton]'") from None
    names = function.arg_names
    places = {name: (names.index(name),) for name in names}
    source = ASTSource(
        function,
        signature={name: signature.get(name, "constexpr") for name in names},
        constexprs={places[name]: value for name, value in constants.items()},
        attrs={places[name]: [["tt.divisibility", 16]] for name in divisible},
    )
    capability = int("".join(digit for digit in arch if digit.isdigit()))
    options = {"num_warps": num_warps, "num_stages": num_stages}
    try:
        made = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    except Exception as error:
        raise CompileError(f"Triton: {error}") from error
    compiled = kernel(made.asm["ptx"], made.metadata.name, arch=arch)
    return compiled, 32 * made.metadata.num_warps, made.metadata.shared
