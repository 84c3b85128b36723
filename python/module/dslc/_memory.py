"""Arrays as the memory of a launch: which of them share bytes, and arrays that stay on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import DslcError

if TYPE_CHECKING:
    import numpy

#: Bytes, and the ranges of uninitialised bytes, in ascending order.
_Content = tuple[bytes, list[tuple[int, int]]]


class Unset:
    """Memory for a result, whose elements have no value before the launch.

    A kernel that reads one before it writes it, or leaves one out, is reported. ``dslc.unset(out)`` is passed in place of ``out``, and ``out``
    has the result afterwards.
    """

    def __init__(self, array: Any) -> None:
        self.array = array


def unset(array: Any) -> Unset:
    """``array`` as a result: what it holds before is not given to the kernel."""
    return Unset(array)


class DeviceArray:
    """An array on the device: ``to_device(array)`` or ``device_array(shape, dtype)`` makes one, ``copy_to_host()`` reads it.

    It keeps its content from launch to launch, and knows which of its bytes nothing has written. A slice of it is the same memory.
    """

    def __init__(self, content: numpy.ndarray, unset: numpy.ndarray) -> None:
        self._content = content
        #: The bytes of each element; true for uninitialised ones.
        self._unset = unset

    @property
    def shape(self) -> tuple[int, ...]:
        return self._content.shape

    @property
    def dtype(self) -> numpy.dtype:
        return self._content.dtype

    @property
    def ndim(self) -> int:
        return self._content.ndim

    @property
    def size(self) -> int:
        return self._content.size

    @property
    def nbytes(self) -> int:
        return self._content.nbytes

    def __len__(self) -> int:
        return len(self._content)

    def __repr__(self) -> str:
        return f"<device array {self.dtype.name}{list(self.shape)}>"

    def __getitem__(self, index: Any) -> DeviceArray:
        part = self._content[index]
        if not hasattr(part, "flags") or part.base is None:
            raise TypeError("a part of a device array is a slice: `array[4:8]`; use `copy_to_host()` to read elements")
        if not part.flags.c_contiguous:
            raise TypeError("a part of a device array must lie in one piece")
        return DeviceArray(part, self._unset[index])

    def copy_to_host(self, array: Any = None) -> numpy.ndarray:
        """Its content, as a new NumPy array or in ``array``. An error if nothing has written some of it."""
        import numpy

        missing = numpy.flatnonzero(self._unset.reshape(self.size, self.dtype.itemsize).any(axis=1))
        if missing.size:
            first, last = int(missing[0]), int(missing[0])
            for at in missing[1:]:
                if at != last + 1:
                    break
                last = int(at)
            raise DslcError(f"{_elements(first, last)} never written, of {self.size} that are read: no kernel and no copy wrote there")
        if array is None:
            return self._content.copy()
        array[...] = self._content
        return array

    #: CuPy's name for it.
    get = copy_to_host

    def copy_to_device(self, array: Any) -> None:
        """Puts the elements of a NumPy array into it."""
        self._content[...] = array
        self._unset[...] = False


def to_device(array: Any) -> DeviceArray:
    """A copy of a NumPy array on the device."""
    import numpy

    content = numpy.array(array, order="C")
    return DeviceArray(content, numpy.zeros((*content.shape, content.dtype.itemsize), bool))


def device_array(shape: int | tuple[int, ...], dtype: Any = "float32") -> DeviceArray:
    """An array on the device whose elements have no value yet."""
    import numpy

    content = numpy.zeros(shape, dtype)
    return DeviceArray(content, numpy.ones((*content.shape, content.dtype.itemsize), bool))


class Operand:
    """An array that a launch has an argument for."""

    def __init__(self, at: int, where: str, value: Any, element_bytes: int, is_const: bool) -> None:
        #: The index of the argument, and its name in messages.
        self.at, self.where = at, where
        self.value, self.element_bytes, self.is_const = value, element_bytes, is_const
        self.array = value._content if isinstance(value, DeviceArray) else value.array if isinstance(value, Unset) else value
        self.is_unset = isinstance(value, Unset)
        #: The address in the host's memory.
        start = self.array.__array_interface__["data"][0]
        self.first, self.end = start, start + self.array.nbytes

    @property
    def is_in_one_piece(self) -> bool:
        return bool(self.array.flags.c_contiguous)

    def whole(self) -> _Content:
        """What it holds, where it shares nothing."""
        size = self.array.nbytes
        if self.is_unset:
            return bytes(size), [(0, size)]
        unset = _ranges(self.value._unset.reshape(-1)) if isinstance(self.value, DeviceArray) else []
        return self.array.tobytes(), unset

    def fill(self, content: bytearray, unset: numpy.ndarray, base: int) -> None:
        """Puts what it holds into memory that begins where ``base`` is in the host's."""
        from_byte = self.first - base
        part = slice(from_byte, from_byte + self.array.nbytes)
        content[part] = self.array.tobytes()
        if isinstance(self.value, DeviceArray):
            unset[part] = self.value._unset.reshape(-1)
        elif not self.is_unset:
            unset[part] = False

    def take(self, content: bytes, unset: list[tuple[int, int]], from_byte: int) -> None:
        """Takes what the memory holds after the launch. Memory of ``dslc.unset`` has to be written by then."""
        import numpy

        part = content[from_byte : from_byte + self.array.nbytes]
        self.array[...] = numpy.frombuffer(part, dtype=self.array.dtype).reshape(self.array.shape)
        inside = [(max(a - from_byte, 0), min(b - from_byte, self.array.nbytes)) for a, b in unset]
        inside = [(a, b) for a, b in inside if a < b]
        if isinstance(self.value, DeviceArray):
            self.value._unset[...] = False
            if inside:
                bits = numpy.zeros(self.array.nbytes, bool)
                for a, b in inside:
                    bits[a:b] = True
                self.value._unset[...] = bits.reshape(self.value._unset.shape)

    def missing(self, unset: list[tuple[int, int]], from_byte: int) -> str | None:
        """Which elements of ``dslc.unset`` memory the kernel did not write."""
        inside = [(a - from_byte, b - from_byte) for a, b in unset if b > from_byte and a < from_byte + self.array.nbytes]
        if not self.is_unset or not inside:
            return None
        first, end = inside[0]
        which = _elements(max(first, 0) // self.element_bytes, (min(end, self.array.nbytes) - 1) // self.element_bytes)
        return f"{self.where} is `unset`, and the kernel did not write all of it: {which} never written"


def _elements(first: int, last: int) -> str:
    return f"element {first} was" if first == last else f"elements {first} to {last} were"


class Memories:
    """The memory of a launch: arrays that share bytes are parts of one."""

    def __init__(self, operands: list[Operand]) -> None:
        #: The arrays in each memory, by their start in the host's memory.
        self._groups: list[list[Operand]] = []
        #: For each argument that is an array: its memory, and the byte of the memory at which the array begins.
        self.places: dict[int, tuple[int, int]] = {}
        end = 0
        for operand in sorted((one for one in operands if one.is_in_one_piece), key=lambda one: (one.first, -one.end)):
            if self._groups and operand.first < end:
                self._groups[-1].append(operand)
            else:
                self._groups.append([operand])
                end = operand.end
            end = max(end, operand.end)
        # Arrays with gaps are copied to separate memory, which is wrong if they share elements that the kernel writes.
        for operand in operands:
            if not operand.is_in_one_piece:
                _refuse_shared(operand, operands)
                self._groups.append([operand])
        for number, group in enumerate(self._groups):
            for operand in group:
                begin = operand.first - group[0].first if operand.is_in_one_piece else 0
                self.places[operand.at] = (number, begin)

    def before(self) -> list[_Content]:
        """What each memory holds before the launch."""
        import numpy

        contents = []
        for group in self._groups:
            if len(group) == 1:
                contents.append(group[0].whole())
                continue
            base = group[0].first
            size = max(one.end for one in group) - base
            content, unset = bytearray(size), numpy.ones(size, bool)
            for operand in group:
                operand.fill(content, unset, base)
            contents.append((bytes(content), _ranges(unset)))
        return contents

    def after(self, contents: list[tuple[bytes, list[tuple[int, int]]] | None]) -> str | None:
        """Takes what each memory holds after the launch. Says which memory has no value yet, and takes nothing then."""
        found = [(one, *contents[number], begin) for one, number, begin in self._written(contents)]
        for operand, _, unset, begin in found:
            missing = operand.missing(unset, begin)
            if missing is not None:
                return missing
        for operand, content, unset, begin in found:
            operand.take(content, unset, begin)
        return None

    def _written(self, contents: list[Any]) -> list[tuple[Operand, int, int]]:
        every = ((one, *self.places[one.at]) for group in self._groups for one in group)
        return [(one, number, begin) for one, number, begin in every if contents[number] is not None and not one.is_const]


def _refuse_shared(operand: Operand, operands: list[Operand]) -> None:
    import numpy

    for other in operands:
        if other is not operand and not (other.is_const and operand.is_const) and numpy.shares_memory(operand.array, other.array):
            raise ValueError(f"{operand.where} shares elements with argument {other.at + 1}, and does not lie in one piece: pass a copy")


def _ranges(flags: numpy.ndarray) -> list[tuple[int, int]]:
    """The ranges where flags are true."""
    import numpy

    if not flags.any():
        return []
    edges = numpy.flatnonzero(numpy.diff(numpy.concatenate(([False], flags, [False])).astype(numpy.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2])]
