"""Packs a wheel smaller: python recompress.py WHEEL. The same files in the same deflate format, for which zopfli looks longer.

Python's `zipfile` has no way to name another compressor, so a member that is being written gets one (`_compressor`, Python 3.9 to 3.14).
"""

import sys
import zipfile
from pathlib import Path

import zopfli.zlib

#: The bytes of a zlib stream before and after the deflate stream.
_HEAD, _TAIL = 2, 4
#: More rounds take minutes and save a thousandth.
_ROUNDS = 1


class _Packed:
    """A compressor that takes all before it gives anything."""

    def __init__(self) -> None:
        self._data = bytearray()

    def compress(self, data: bytes) -> bytes:
        self._data += data
        return b""

    def flush(self) -> bytes:
        return zopfli.zlib.compress(bytes(self._data), numiterations=_ROUNDS)[_HEAD:-_TAIL]


def main(path: Path) -> None:
    smaller = path.with_suffix(".tmp")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(smaller, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            data = old.read(info)
            with new.open(info, "w", force_zip64=False) as member:
                member._compressor = _Packed()
                member.write(data)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(smaller) as new:
        assert old.namelist() == new.namelist() and all(old.read(name) == new.read(name) for name in old.namelist())
    print(f"{path.name}: {path.stat().st_size:,} bytes, packed again {smaller.stat().st_size:,}")
    smaller.rename(path)


main(Path(sys.argv[1]))
